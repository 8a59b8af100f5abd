//! `[model.command]`: a simulator that is a program of its own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use counterpoise_core::problem::Simulator;
use counterpoise_run::command::{Lines, Once, Program, ProgramError, files, fingerprint};
use counterpoise_run::executor::Tolerance;
use serde_json::{Map, json};

use super::super::keys;
use super::super::reading::{Section, Value};
use super::{Material, Ready, Surroundings};

/// Seconds, where the file says nothing.
pub(in super::super) const TIMEOUT: f64 = 60.0;
pub(in super::super) const START_TIMEOUT: f64 = 60.0;
/// A year.
const LONGEST: f64 = 31_557_600.0;
/// The share of failures that is borne, where the file says nothing.
pub(in super::super) const MAX_FAILURES: f64 = 0.5;
/// Draws from the prior at which a program may be tried to learn the names of its statistics.
const TRIALS: usize = 5;

/// How a program is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Lines,
    Once,
}

const PROTOCOLS: [(&str, Protocol); 2] = [("lines", Protocol::Lines), ("once", Protocol::Once)];

/// The model of the section, unless a mistake leaves none.
pub(super) fn read(mut section: Section<'_>, surroundings: &Surroundings<'_>) -> Option<Ready> {
    section.only(&keys::names(keys::COMMAND));
    let before = section.mistakes().count();
    let words = read_words(&mut section, "run", "[\"python3\", \"simulate.py\"]", true);
    let protocol = match section.has("protocol") {
        true => section.named("protocol", &PROTOCOLS),
        false => Some(PROTOCOLS[0]),
    };
    let timeout = read_seconds(&mut section, "timeout", TIMEOUT);
    let start_timeout = read_seconds(&mut section, "start_timeout", START_TIMEOUT);
    let tolerance = read_tolerance(&mut section);
    let statistics = read_words(&mut section, "statistics", "[\"mean\", \"max\"]", false);
    // A file that was named without a path has an empty one, where nothing can be started.
    let directory = Path::new(".").join(surroundings.directory);
    let identity = words.as_deref().map(|words| read_identity(&mut section, &directory, words));
    let parameters: Vec<String> = surroundings.parameters?.iter().map(|(name, _)| name.clone()).collect();
    let ((name, protocol), words) = (protocol?, words?);
    if protocol == Protocol::Once {
        check_places(&mut section, &words, &parameters);
    }
    if section.mistakes().count() > before {
        return None;
    }
    let description = json!({ "command": {
        "run": words, "protocol": name, "timeout": timeout.as_secs_f64(), "files": identity,
    } });
    let headline = format!("{}, protocol {name}", shown(&words));
    let program = Program { words, directory, parameters: parameters.clone(), timeout, start_timeout };
    let (simulator, statistics) = start(program, protocol, statistics, surroundings)
        .map_err(|error| refuse(&mut section, &error))
        .ok()?;
    if let Some(name) = statistics.iter().find(|name| parameters.contains(name)) {
        let message = format!("`{name}` is a parameter and a statistic of the program");
        section.mistake("run", message, "give one of them another name".to_owned());
        return None;
    }
    Some(Ready {
        material: Material::Simulator(simulator),
        parameters,
        statistics,
        series: None,
        description,
        headline: Some(headline),
        advice: Some("model.command.timeout = ... would make them counted failures".to_owned()),
        tolerance,
    })
}

/// The words in one short line.
fn shown(words: &[String]) -> String {
    const SHOWN: usize = 60;
    let line: String =
        words.join(" ").chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let short: String = line.chars().take(SHOWN).collect();
    if short == line { line } else { format!("{short} ...") }
}

/// Makes the simulator; where nobody has named its statistics the program is asked, or tried at draws from the prior.
fn start(
    program: Program,
    protocol: Protocol,
    statistics: Option<Vec<String>>,
    surroundings: &Surroundings<'_>,
) -> Result<(Box<dyn Simulator>, Vec<String>), ProgramError> {
    match (protocol, statistics) {
        (Protocol::Lines, statistics) => {
            let lines = Lines::new(program, statistics)?;
            let names = lines.statistics().to_vec();
            Ok((Box::new(lines), names))
        }
        (Protocol::Once, Some(names)) => Ok((Box::new(Once::new(program, names.clone())?), names)),
        (Protocol::Once, None) => {
            let draws = (surroundings.draws)(TRIALS);
            let once = Once::learn(program, draws.iter().map(Vec::as_slice))?;
            let names = once.statistics().to_vec();
            Ok((Box::new(once), names))
        }
    }
}

/// Notes that a program cannot be used.
fn refuse(section: &mut Section<'_>, error: &ProgramError) {
    let hint = match error {
        ProgramError::Start { program, source } if source.kind() == std::io::ErrorKind::NotFound => {
            Some(match program.contains('/') {
                true => "a program with a slash is relative to the problem file".to_owned(),
                false => format!(
                    "it is not on the PATH; a file beside the problem file is written \"./{program}\""
                ),
            })
        }
        ProgramError::Start { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
            Some("make it executable with chmod +x, or name the interpreter first".to_owned())
        }
        _ => Some(
            "start it by hand in the folder of the problem file to see what it does; docs/programs.md has what it must print"
                .to_owned(),
        ),
    };
    section.mistake("run", error.to_string(), hint);
}

/// A list of texts without NUL, if the key is there or must be, and is one.
fn read_words(section: &mut Section<'_>, key: &str, example: &str, needed: bool) -> Option<Vec<String>> {
    let example = format!("{key} = {example}");
    if !section.has(key) {
        if needed {
            section.missing(key, example);
        }
        return None;
    }
    let word = |value: &Value| match value {
        Value::Text(word) if !word.contains('\0') => Some(word.clone()),
        _ => None,
    };
    if let Some(Value::Text(text)) = section.value(key) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let hint = format!("never through a shell: {key} = {}", json!(words));
        section.mistake(key, format!("`{}` must be a list of texts, found text", section.path(key)), hint);
        return None;
    }
    let words: Option<Vec<String>> =
        section.list(key, "a list of texts")?.iter().map(|node| word(&node.value)).collect();
    match words {
        Some(words) if words.first().is_some_and(|word| !word.is_empty()) => Some(words),
        _ => {
            let path = section.path(key);
            section.mistake(
                key,
                format!("`{path}` must be a list of texts, the first of them not empty"),
                example,
            );
            None
        }
    }
}

fn read_seconds(section: &mut Section<'_>, key: &str, default: f64) -> Duration {
    let fits = |seconds: f64| seconds > 0.0 && seconds <= LONGEST;
    let given = section.number_that(key, "a number of seconds above 0, at most a year", fits);
    Duration::from_secs_f64(given.unwrap_or(default))
}

/// How many failures are borne.
fn read_tolerance(section: &mut Section<'_>) -> Tolerance {
    let stop = section.has("failures") && section.choice("failures", &["reject", "stop"]) == Some("stop");
    let fits = |share: f64| (0.0..=1.0).contains(&share);
    let share = section.number_that("max_failures", "a share between 0 and 1", fits);
    if stop && section.has("max_failures") {
        let hint = "with failures = \"stop\" the first failure ends the run".to_owned();
        section.mistake("max_failures", "`max_failures` has no use here", hint);
    }
    if stop { Tolerance::None } else { Tolerance::Share(share.unwrap_or(MAX_FAILURES)) }
}

/// Fingerprints of the files that make the simulator: those among its words, and those of the key `files`.
fn read_identity(
    section: &mut Section<'_>,
    directory: &Path,
    words: &[String],
) -> Map<String, serde_json::Value> {
    let named = files(directory, words).into_iter().map(|name| (name.to_owned(), "run"));
    let given = match section.has("files") {
        true => read_words(section, "files", "[\"model.R\"]", false).unwrap_or_default(),
        false => Vec::new(),
    };
    let all: Vec<(String, &str)> = named.chain(given.into_iter().map(|name| (name, "files"))).collect();
    let mut identity = Map::new();
    for (name, key) in all {
        let path: PathBuf = directory.join(&name);
        match fingerprint(&path) {
            Ok(print) => drop(identity.insert(name, json!(print))),
            Err(error) => {
                let hint = "the path is relative to the problem file".to_owned();
                section.mistake(key, format!("cannot read {}: {error}", path.display()), hint);
            }
        }
    }
    identity
}

/// Notes parameters that a program started for every simulation would not be told.
fn check_places(section: &mut Section<'_>, words: &[String], parameters: &[String]) {
    for name in parameters {
        if name == "seed" {
            let hint = "{seed} is the seed of the simulation: give the parameter another name".to_owned();
            section.mistake("run", "a parameter named `seed` cannot be used with the protocol once", hint);
        }
        let place = format!("{{{name}}}");
        if !words.iter().any(|word| word.contains(&place)) {
            let hint = format!("write {place} where its value should stand");
            section.mistake("run", format!("the parameter `{name}` does not occur in `run`"), hint);
        }
    }
}
