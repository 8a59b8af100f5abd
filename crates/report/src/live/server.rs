//! Three answers: the page, its sections, and events as they come.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use maud::{Markup, PreEscaped, html};
use tokio::net::TcpListener;
use tokio::sync::watch::Receiver;

use super::follow::Seen;
use super::query;
use crate::page;

#[derive(Clone)]
struct Shared {
    bound: SocketAddr,
    token: Option<Arc<str>>,
    seen: Receiver<Arc<Seen>>,
}

/// Answers until the process ends.
pub(super) async fn serve(
    listener: TcpListener,
    bound: SocketAddr,
    token: Option<String>,
    seen: Receiver<Arc<Seen>>,
) -> std::io::Result<()> {
    let shared = Shared { bound, token: token.map(Into::into), seen };
    let router = Router::new()
        .route("/", get(whole))
        .route("/body", get(body))
        .route("/events", get(events))
        .layer(from_fn_with_state(shared.clone(), guard))
        .with_state(shared);
    axum::serve(listener, router).await
}

/// Whether two texts are equal, in a time that does not depend on where they differ.
fn equal(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Whether a request may be answered: with the token, or on loopback under a name of this machine. (A page elsewhere can give its own name
/// the address of this machine, and would then be let in by the browser.)
fn is_welcome(shared: &Shared, headers: &HeaderMap, asked: Option<&str>) -> bool {
    if let Some(token) = &shared.token {
        let given = asked.and_then(|asked| asked.split('&').find_map(|part| part.strip_prefix("token=")));
        return given.is_some_and(|given| equal(given, token));
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.strip_suffix(&format!(":{}", shared.bound.port())).unwrap_or(host);
    let ip = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let welcome = is_welcome(&shared, request.headers(), request.uri().query());
    let mut response = if welcome {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "open the whole address that `counterpoise watch` printed\n").into_response()
    };
    let policy = format!("{}; frame-ancestors 'none'", page::policy(true));
    let fixed = [
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (CONTENT_SECURITY_POLICY, &policy),
    ];
    for (name, value) in fixed {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn page_type() -> [(axum::http::HeaderName, &'static str); 1] {
    [(CONTENT_TYPE, "text/html; charset=utf-8")]
}

async fn whole(State(shared): State<Shared>) -> Response {
    let seen = shared.seen.borrow().clone();
    let query = query(shared.token.as_deref());
    let body = PreEscaped(seen.body.to_string());
    (page_type(), page::document(&seen.title, &body, Some((&query, &status(&seen))))).into_response()
}

async fn body(State(shared): State<Shared>) -> Response {
    let seen = shared.seen.borrow().clone();
    (page_type(), seen.body.to_string()).into_response()
}

async fn events(State(shared): State<Shared>) -> impl IntoResponse {
    let first = (shared.seen, true);
    let events = stream::unfold(first, |(mut seen, first)| async move {
        if !first {
            seen.changed().await.ok()?;
        }
        let status = seen.borrow_and_update().status.to_string();
        Some((Ok::<_, Infallible>(Event::default().event("status").data(status)), (seen, false)))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(10)))
}

/// The lines above the page, which the script keeps up to date.
fn status(seen: &Seen) -> Markup {
    let text = |id: &str| seen.status["texts"][id].as_str().unwrap_or_default().to_owned();
    let rows = [
        ("live-state", "run"),
        ("live-step", "generations"),
        ("live-done", "simulations"),
        ("live-rate", "rate"),
        ("live-left", "time left"),
        ("live-failed", "failed"),
    ];
    html! {
        div id="live" data-version=(seen.version) {
            progress id="progress" max=(seen.status["planned"]) value=(seen.status["done"]) {}
            dl { @for (id, name) in rows { div { dt { (name) } dd id=(id) { (text(id)) } } } }
            p.lost id="live-trouble" { (text("live-trouble")) }
            p.lost id="connection" role="status" {}
            ul id="failures" aria-label="failures, the newest first" {}
        }
    }
}
