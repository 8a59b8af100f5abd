//! No text, however broken, makes loading panic.

use std::fs;

use counterpoise_core::stream::{Seed, Stage};
use rand::{Rng, RngExt};

use super::*;

const VALID: &str = r#"name = "toy"

[parameters]
theta = { law = "normal", mean = 10, sd = 2.5, low = 0.5, high = 90 }

[model]
builtin = "toy-sorted"
draws = 3

[observed]
file = "observed.csv"

[method]
simulations = 2_000
keep = 0.05
generations = 3
weighting = { rule = "hellinger", estimator = "entropy", order = 0.5, neighbours = 5, cross_fit = true }
proposal = { rule = "local", share = 0.2 }
seed = 7

[stop]
simulations = 1_000_000
seconds = 3600
ess = 10.5
"#;
const DATA: &str = "x1,\"x2\",x3\n1.5,2.5,9e0\n";

/// Pieces that are likely to break something.
const PIECES: [&str; 30] = [
    "nan",
    "-1",
    "0",
    "1e999",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    "\n",
    "#",
    "é",
    "\u{feff}",
    "\r\n",
    ".",
    "true",
    "[model]",
    "\"\"\"",
    "2024-01-01",
    "99999999999999999999999999999999999999999",
    "-0.0",
    "law",
    "\t",
    "\0",
    "inf",
    "[[stop]]",
    "1e-320",
];

fn mutate(text: &str, rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..=bytes.len());
        match rng.random_range(0..6) {
            4 | 5 => {
                let digits: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    bytes[digits[rng.random_range(0..digits.len())]] = rng.random_range(b'0'..=b'9');
                }
            }
            0 => drop(bytes.splice(at..at, PIECES[rng.random_range(0..PIECES.len())].bytes())),
            1 => drop(bytes.drain(at..(at + rng.random_range(0..12)).min(bytes.len()))),
            2 if at < bytes.len() => bytes[at] = rng.random_range(0..=255),
            _ => {
                let piece = PIECES[rng.random_range(0..PIECES.len())].as_bytes();
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece.iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn mutated_files_load_or_are_refused_with_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let (problem, data) = (folder.path().join("problem.toml"), folder.path().join("observed.csv"));
    let mut rng = Seed(20).stream(Stage::Reference, 0, 0);
    let (mut good, mut bad) = (0, 0);
    for round in 0..3_000 {
        let broken_data = round % 3 == 0;
        let text = if broken_data { VALID.as_bytes().to_vec() } else { mutate(VALID, &mut rng) };
        let table = if broken_data { mutate(DATA, &mut rng) } else { DATA.as_bytes().to_vec() };
        fs::write(&problem, text).unwrap();
        fs::write(&data, table).unwrap();
        match load(&problem, &[], Purpose::Infer) {
            Ok(_) => good += 1,
            Err(LoadError::Mistakes(mistakes)) => {
                bad += 1;
                let shown = mistakes.render(round % 2 == 0);
                assert!(shown.contains("problem.toml") || shown.contains("observed.csv"), "{shown}");
            }
            Err(LoadError::Unreadable { reason, .. }) => panic!("{reason}"),
        }
    }
    assert!(good > 100 && bad > 1_000, "{good} loaded and {bad} were refused");
}

#[test]
fn mutated_arguments_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let problem = folder.path().join("problem.toml");
    fs::write(&problem, VALID).unwrap();
    fs::write(folder.path().join("observed.csv"), DATA).unwrap();
    let mut rng = Seed(21).stream(Stage::Reference, 0, 0);
    for _ in 0..2_000 {
        let text = String::from_utf8_lossy(&mutate("method.weighting.neighbours=3", &mut rng)).into_owned();
        if let Err(LoadError::Mistakes(mistakes)) = load(&problem, &[Override::set(&text)], Purpose::Infer) {
            assert!(!mistakes.render(true).is_empty());
        }
    }
}

#[test]
fn the_description_has_every_default_and_survives_json() {
    let folder = tempfile::tempdir().unwrap();
    let problem = folder.path().join("death.toml");
    fs::write(&problem, "[model]\nbuiltin = \"death\"\n[observed]\ntruth = { k = 0.1, sigma = 0.01 }\n")
        .unwrap();
    let loaded = load(&problem, &[], Purpose::Infer).map_err(|_| "mistakes").unwrap();
    let described = &loaded.description;
    assert_eq!(described["name"], "death");
    assert_eq!(described["parameters"]["k"], json!({ "law": "log-uniform", "low": 1e-3, "high": 1e3 }));
    assert_eq!(described["model"]["preset"], "text");
    assert_eq!(described["model"]["initial"], 10.0);
    assert_eq!(described["method"]["keep"], 250);
    assert_eq!(described["method"]["weighting"]["rule"], "auto");
    assert_eq!(described["observed"].as_object().unwrap().len(), 34);
    let text = serde_json::to_string(described).unwrap();
    assert_eq!(&serde_json::from_str::<Value>(&text).unwrap(), described);
}

const NETWORK: &str = r#"[parameters]
k = { law = "uniform", low = 0, high = 1 }
sigma = { law = "uniform", low = 0, high = 1 }

[model.network]
constants = { V = 2 }
rules = { back = "k / V", total = "A + B" }
reactions = """
A + A -> B @ back
B -> 2 A @ { total / V }
"""
initial = { A = "10*V" }
mass_action = "permutations"
times = { to = 1, count = 2, zero = true }
observe = ["A", "half = total / 2"]
noise = { half = { law = "normal", size = "sigma" } }
simulator = { rule = "tau-leaping", epsilon = 0.05 }
max_events = 1000
"#;

#[track_caller]
fn loaded(problem: &Path) -> Loaded {
    match load(problem, &[], Purpose::Simulate) {
        Ok(loaded) => loaded,
        Err(LoadError::Mistakes(mistakes)) => panic!("{}", mistakes.render(false)),
        Err(LoadError::Unreadable { reason, .. }) => panic!("{reason}"),
    }
}

#[test]
fn the_network_of_the_manual_is_one() {
    let manual = include_str!("../../../../docs/problem-file.md");
    let mut pieces = manual.split("```toml\n").filter_map(|piece| piece.split("```").next());
    let example = pieces.find(|piece| piece.contains("[model.network]")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let problem = folder.path().join("manual.toml");
    fs::write(&problem, example).unwrap();
    let loaded = loaded(&problem);
    assert_eq!(loaded.problem.statistics.len(), 40);
    assert_eq!(loaded.problem.statistics[..2], ["S1@5", "S1@10"]);
    assert_eq!(
        loaded.headline.as_deref(),
        Some(
            "4 reactions, 3 species, mass action by combinations (k S (S - 1) / 2 for S + S), direct method"
        )
    );
}

#[test]
fn a_network_is_described_by_all_that_determines_it() {
    let folder = tempfile::tempdir().unwrap();
    let problem = folder.path().join("net.toml");
    fs::write(&problem, NETWORK).unwrap();
    let loaded = loaded(&problem);
    assert_eq!(
        loaded.description["model"],
        json!({ "network": {
            "species": { "A": "10*2", "B": "0" },
            "rules": { "total": "A + B" },
            "reactions": [
                { "reaction": "2 A -> B @ k/2", "mass_action": "permutations" },
                { "reaction": "B -> 2 A @ { total/2 }" },
            ],
            "times": [0.0, 0.5, 1.0],
            "observe": [
                { "name": "A", "value": "A", "once": false },
                { "name": "half", "value": "total/2", "once": false,
                  "noise": { "law": "normal", "size": "sigma" } },
            ],
            "simulator": { "rule": "tau-leaping", "epsilon": 0.05 },
            "max_events": 1000,
        }})
    );
    assert_eq!(loaded.problem.statistics, ["A@0", "A@0.5", "A@1", "half@0", "half@0.5", "half@1"]);
}

#[test]
fn mutated_networks_load_or_are_refused_with_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let problem = folder.path().join("problem.toml");
    let mut rng = Seed(22).stream(Stage::Reference, 0, 0);
    let (mut good, mut bad) = (0, 0);
    for round in 0..3_000 {
        fs::write(&problem, mutate(NETWORK, &mut rng)).unwrap();
        match load(&problem, &[], Purpose::Simulate) {
            Ok(_) => good += 1,
            Err(LoadError::Mistakes(mistakes)) => {
                bad += 1;
                assert!(mistakes.render(round % 2 == 0).contains("problem.toml"));
            }
            Err(LoadError::Unreadable { reason, .. }) => panic!("{reason}"),
        }
    }
    assert!(good > 100 && bad > 1_000, "{good} loaded and {bad} were refused");
}
