//! The page of a run while it goes on, served to a browser.
//!
//! One thread looks at the directory, twice a second, and never writes into it; the server hands on what it last saw. So a run that ends,
//! is restarted, or is in the middle of writing a generation changes what is shown, and nothing else.

mod follow;
mod server;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::run::{ReportError, Run};
use follow::Follow;

/// Why a run cannot be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// There is nothing to watch.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// The system gives no random numbers or threads.
    #[error("cannot start: {0}")]
    Start(String),
}

/// Serves the page of the run in a directory, until the process ends. `ready` is told the address to open.
///
/// On a loopback address everybody on this machine can read the page; on any other, those who know the token in the address that `ready`
/// is told.
///
/// # Errors
/// Where there is no run, or the address cannot be used.
pub fn serve(directory: &Path, address: SocketAddr, ready: impl FnOnce(&str)) -> Result<(), LiveError> {
    let start = |error: &dyn std::fmt::Display| LiveError::Start(error.to_string());
    let run = Run::read(directory)?;
    let token = if address.ip().is_loopback() { None } else { Some(token()?) };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| start(&error))?;
    runtime.block_on(async {
        let listen = |source| LiveError::Listen { address, source };
        let listener = tokio::net::TcpListener::bind(address).await.map_err(listen)?;
        let bound = listener.local_addr().map_err(listen)?;
        let follow = Follow::new(directory, run);
        let (sender, receiver) = tokio::sync::watch::channel(follow.seen());
        std::thread::Builder::new()
            .name("follow".into())
            .spawn(move || follow.go(&sender))
            .map_err(|error| start(&error))?;
        ready(&url(bound, token.as_deref()));
        server::serve(listener, bound, token, receiver).await.map_err(|error| start(&error))
    })
}

/// The address to open; a wildcard is no address, so the machine's name has to be put there.
fn url(bound: SocketAddr, token: Option<&str>) -> String {
    let host = match bound.ip() {
        ip if ip.is_unspecified() => "HOST".to_owned(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        IpAddr::V4(ip) => ip.to_string(),
    };
    format!("http://{host}:{}/{}", bound.port(), query(token))
}

/// What every request must carry.
fn query(token: Option<&str>) -> String {
    token.map_or_else(String::new, |token| format!("?token={token}"))
}

fn token() -> Result<String, LiveError> {
    let mut bytes = [0; 18];
    getrandom::fill(&mut bytes).map_err(|error| LiveError::Start(error.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
