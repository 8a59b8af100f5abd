//! What pages mention in passing, between backticks: files that exist, commands and options that there are.

use std::fs;

use super::blocks::{pages, root};

/// Pages outside of the guide that speak of files and commands too.
const OTHERS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
/// Folders whose files are mentioned by a path from the top.
const FOLDERS: [&str; 8] =
    ["examples/", "docs/", "crates/", "bench/", "reference/", "python/", "guide/", "fuzz/"];
/// What a run of a page leaves there, or another program brings.
const MADE: [&str; 3] = ["python/", "fuzz/found", "bench/."];

/// Every text between single backticks on a line, with its place.
fn mentions() -> Vec<(String, String)> {
    let guide = pages().into_iter().map(|page| format!("docs/{page}"));
    let mut found = Vec::new();
    for page in guide.chain(OTHERS.map(str::to_owned)) {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        let mut inside = false;
        for (at, line) in text.lines().enumerate() {
            inside ^= line.trim_start().starts_with("```");
            if !inside && !line.trim_start().starts_with("```") {
                let spans = line.split('`').skip(1).step_by(2);
                found.extend(spans.map(|span| (format!("{page}:{}", at + 1), span.to_owned())));
            }
        }
    }
    found
}

#[test]
fn files_that_pages_mention_exist() {
    let mut seen = 0;
    for (place, span) in mentions() {
        let is_path = FOLDERS.iter().any(|folder| span.starts_with(folder))
            && !span.contains([' ', '<', '*', '{', ':']);
        if is_path && !MADE.contains(&&*span) {
            assert!(root().join(&span).exists(), "{place}: there is no {span}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn commands_that_pages_mention_have_these_options() {
    let reference = fs::read_to_string(root().join("docs/commands.md")).unwrap();
    let mut seen = 0;
    for (place, span) in mentions() {
        let Some(rest) = span.strip_prefix("counterpoise ") else { continue };
        let mut words = rest.split([' ', '=', '[', ']', ';', '|']).filter(|word| !word.is_empty());
        let Some(command) =
            words.next().filter(|word| word.starts_with(|letter: char| letter.is_lowercase()))
        else {
            continue;
        };
        let section = reference.split(&format!("\n## {command}\n")).nth(1);
        let section = section.unwrap_or_else(|| panic!("{place}: there is no command `{command}`"));
        let section = section.split("\n## ").next().unwrap_or_default();
        for option in words.filter(|word| word.starts_with("--") && word.len() > 2) {
            let known = section.contains(&format!("`{option}")) || ["--quiet", "--help"].contains(&option);
            assert!(known, "{place}: `{command}` has no option {option}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}
