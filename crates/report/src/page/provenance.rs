//! Where the run comes from, and how to repeat it.

use maud::{Markup, html};

use crate::run::Run;

/// The longest description that is shown.
const LONGEST: usize = 200_000;

/// Versions, seed, command and the whole description.
pub(super) fn section(run: &Run) -> Markup {
    let (summary, description) = (&run.summary, &run.description);
    let mut whole = serde_json::to_string_pretty(description).unwrap_or_default();
    if whole.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|&at| whole.is_char_boundary(at)).unwrap_or(0);
        whole.truncate(end);
        whole.push_str("\n... the rest is in run.json");
    }
    let seed = description["seed"].as_u64().map_or_else(String::new, |seed| seed.to_string());
    html! {
        table { tbody {
            @if let Some(file) = summary["origin"]["problem_file"].as_str() { tr { th { "problem file" } td { (file) } } }
            tr { th { "directory" } td {
                @if let Some(directory) = &run.directory { (directory.display()) } @else { "none: the run was in memory" }
            } }
            tr { th { "made by" } td { "counterpoise " (description["version"].as_str().unwrap_or("?")) } }
            tr { th { "report by" } td { "counterpoise " (env!("CARGO_PKG_VERSION")) } }
            tr { th { "seed" } td id="seed" { (seed) } }
            @if let Some(command) = summary["origin"]["command"].as_str() { tr { th { "to repeat it" } td { code { (command) } } } }
        } }
        details {
            summary { "Problem and method, as the run understood them" }
            pre { (whole) }
        }
    }
}
