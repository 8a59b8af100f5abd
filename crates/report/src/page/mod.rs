//! The page: one HTML file that needs nothing else.
//!
//! All that comes from a run is escaped, by `maud` in HTML and by the pictures in SVG. The policy lets the browser run our script
//! and apply our style sheet, both known by their hashes, and nothing else.

mod answer;
mod course;
mod evidence;
mod posterior;
mod predictive;
mod provenance;
mod studies;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use counterpoise_pictures::{Figure, Panel, Style};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::run::Run;

const SCRIPT: &str = include_str!("script.js");
const SHEET: &str = include_str!("style.css");

/// Rows of a table; what is left out is said.
const MOST_ROWS: usize = 1000;

/// The page of a run.
#[must_use]
pub fn page(run: &Run) -> String {
    document(run.name(), &body(run), None)
}

/// What the browser may do.
pub(crate) fn policy(connects: bool) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data:;{} base-uri 'none'; form-action 'none'",
        hash(SHEET),
        hash(SCRIPT),
        if connects { " connect-src 'self';" } else { "" }
    )
}

/// The whole document; a live one has a status above and a query (`?token=...`) for what it asks for.
pub(crate) fn document(title: &str, body: &Markup, live: Option<(&str, &Markup)>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(live.is_some()));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "counterpoise " (env!("CARGO_PKG_VERSION")) };
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(SHEET)) }
            }
            body data-query=[live.map(|(query, _)| query)] {
                @if let Some((_, status)) = live { (status) }
                main id="main" { (body) }
                div id="tip" role="status" hidden {}
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// All sections of a run.
pub(crate) fn body(run: &Run) -> Markup {
    if run.history.is_empty() {
        return html! {
            (answer::heading(run))
            p { "No generation is finished yet." }
            (provenance::section(run))
        };
    }
    let sections = [
        ("answer", "Answer", answer::section(run)),
        ("diagnosis", "Diagnosis", answer::diagnosis(run)),
        ("marginals", "Marginals", posterior::marginals(run)),
        ("pairs", "Pairs", posterior::pairs(run)),
        ("weights", "Distance weights", evidence::weights(run)),
        ("information", "Information", evidence::information(run)),
        ("course", "By generation", course::section(run)),
        ("predictive", "Predictive check", predictive::section(run)),
        ("calibration", "Calibration", studies::calibration(run)),
        ("comparison", "Comparison", studies::comparison(run)),
        ("provenance", "Provenance", provenance::section(run)),
    ];
    let shown = || sections.iter().filter(|(_, _, section)| !section.0.is_empty());
    html! {
        (answer::heading(run))
        nav {
            @for (id, title, _) in shown() { a href={ "#" (id) } { (title) } }
            label { "filter " input id="filter" type="search" placeholder="name" title="shows parameters and statistics with this in their names" autocomplete="off"; }
            span id="filtered" role="status" {}
        }
        @for (id, title, section) in shown() {
            section id=(id) { h2 { (title) } (section) }
        }
    }
}

/// A panel on its own.
fn alone(panel: Panel, description: &str) -> Markup {
    wide(panel, description, 340.0)
}

/// A panel on its own, so many pixels wide where there is room.
fn wide(panel: Panel, description: &str, width: f64) -> Markup {
    PreEscaped(Figure::new(Style::page()).width(width).description(description).panel(panel).svg())
}

/// The same without a legend.
fn bare(panel: Panel, description: &str) -> Markup {
    PreEscaped(Figure::new(Style::page()).description(description).without_legend().panel(panel).svg())
}

/// What was left out of a list.
fn left_out(all: usize) -> Markup {
    html! {
        @if all > MOST_ROWS {
            p.note { "The first " (MOST_ROWS) " of " (all) " are shown." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_our_script_and_style_and_nothing_else() {
        let policy = policy(false);
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"));
        assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'));
        assert!(policy.matches("sha256-").count() == 2 && !policy.contains("connect-src"));
    }

    #[test]
    fn a_title_is_escaped() {
        let text = document("<script>alert(1)</script>", &html! {}, None);
        assert!(text.contains("<title>&lt;script&gt;alert(1)&lt;/script&gt;</title>"));
        assert_eq!(text.matches("<script").count(), 1);
        // An end of the script inside the script would end it.
        assert!(!SCRIPT.contains("</") && !SHEET.contains("</"));
    }
}
