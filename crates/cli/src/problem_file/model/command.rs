//! `[model.command]`: a simulator that is a program of its own.

use std::path::Path;
use std::time::Duration;

use counterpoise_run::command::{Lines, Program, ProgramError};
use serde_json::json;

use super::super::reading::{Section, Value};
use super::{Ready, Surroundings};

const KEYS: [&str; 4] = ["run", "protocol", "timeout", "start_timeout"];
const PROTOCOLS: [&str; 1] = ["lines"];
/// Seconds, where the file says nothing.
const TIMEOUT: f64 = 60.0;
const START_TIMEOUT: f64 = 60.0;
/// A year.
const LONGEST: f64 = 31_557_600.0;

/// The model of the section, unless a mistake leaves none.
pub(super) fn read(mut section: Section<'_>, surroundings: &Surroundings<'_>) -> Option<Ready> {
    section.only(&KEYS);
    let before = section.mistakes().count();
    let words = read_words(&mut section);
    let protocol = match section.has("protocol") {
        true => section.choice("protocol", &PROTOCOLS),
        false => Some("lines"),
    };
    let timeout = read_seconds(&mut section, "timeout", TIMEOUT);
    let start_timeout = read_seconds(&mut section, "start_timeout", START_TIMEOUT);
    let parameters: Vec<String> = surroundings.parameters?.iter().map(|(name, _)| name.clone()).collect();
    if section.mistakes().count() > before {
        return None;
    }
    let description =
        json!({ "command": { "run": words, "protocol": protocol, "timeout": timeout.as_secs_f64() } });
    let program = Program {
        words: words?,
        // A file that was named without a path has an empty one, where nothing can be started.
        directory: Path::new(".").join(surroundings.directory),
        parameters: parameters.clone(),
        timeout,
        start_timeout,
    };
    let lines = Lines::new(program, None).map_err(|error| refuse(&mut section, &error)).ok()?;
    Some(Ready {
        statistics: lines.statistics().to_vec(),
        simulator: Box::new(lines),
        parameters,
        series: None,
        description,
        headline: None,
        advice: None,
    })
}

fn refuse(section: &mut Section<'_>, error: &ProgramError) {
    section.mistake("run", error.to_string(), None);
}

/// The program and its arguments.
fn read_words(section: &mut Section<'_>) -> Option<Vec<String>> {
    let example = || "run = [\"python3\", \"simulate.py\"]".to_owned();
    if !section.has("run") {
        section.missing("run", example());
        return None;
    }
    let list = section.list("run", "a list of words")?;
    let words: Option<Vec<String>> = list
        .iter()
        .map(|node| match &node.value {
            Value::Text(word) if !word.contains('\0') => Some(word.clone()),
            _ => None,
        })
        .collect();
    match words {
        Some(words) if words.first().is_some_and(|word| !word.is_empty()) => Some(words),
        _ => {
            let path = section.path("run");
            section.mistake("run", format!("`{path}` must be a list of words"), example());
            None
        }
    }
}

fn read_seconds(section: &mut Section<'_>, key: &str, default: f64) -> Duration {
    let fits = |seconds: f64| seconds > 0.0 && seconds <= LONGEST;
    let given = section.number_that(key, "a number of seconds above 0", fits);
    Duration::from_secs_f64(given.unwrap_or(default))
}
