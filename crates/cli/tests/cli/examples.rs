//! Every example runs as it is, and finds what its README says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::program;

/// The variable that names a folder with a run of each example.
const RUNS: &str = "COUNTERPOISE_EXAMPLES";

/// A test for each folder: its name, and what must be true of the posterior.
macro_rules! examples {
    ($($test:ident: $folder:literal, $judge:expr;)*) => {
        const FOLDERS: &[&str] = &[$($folder),*];
        $(
            #[test]
            fn $test() {
                if let Some(run) = run($folder) {
                    let judge: fn(&Value) = $judge;
                    judge(&run["parameters"]);
                    as_printed($folder, &run["parameters"]);
                }
            }
        )*
    };
}

examples! {
    toy: "toy", exact_toy;
    death: "death", exact_death;
    diffusion: "diffusion", exact_diffusion;
    dimerization: "dimerization", true_dimerization;
    sir: "sir", same_sir;
    table: "table", |found| near(number(found, "k", "log10_mean"), -1.107, 0.35);
    lotka_volterra: "lotka-volterra", |found| holds(found, &[("birth", 1.0), ("meal", 0.005), ("death", 0.6)]);
    toggle_switch: "toggle-switch", |found| holds(found, &[("alpha", 50.0), ("K", 10.0)]);
    sbml: "sbml", |found| holds(found, &[("transcription", 10.0), ("translation", 5.0), ("dilution", 0.2)]);
    ricker: "ricker", |found| holds(found, &[("log_r", 3.8), ("phi", 10.0)]);
    g_and_k: "g-and-k", |found| agrees(found, &exact("g-and-k"), ["mean", "sd"]);
    ma2: "ma2", |found| agrees(found, &exact("ma2"), ["mean", "sd"]);
    coalescent: "coalescent", |found| agrees(found, &exact("coalescent"), ["log10_mean", "log10_sd"]);
    cells: "cells", |found| holds(found, &[("motility", 0.2), ("division", 0.004)]);
    queue: "queue", |found| holds(found, &[("shortest", 1.0), ("spread", 4.0), ("rate", 0.2)]);
    noise: "noise", exact_noise;
}

#[test]
fn every_example_has_a_test() {
    let mut found: Vec<String> = fs::read_dir(examples())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("problem.toml").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let mut known = FOLDERS.to_vec();
    found.sort_unstable();
    known.sort_unstable();
    assert_eq!(found, known);
}

/// What the page of `noise` says of a distance that takes numbers as they are: it looks at the column that means nothing.
#[test]
fn noise_drowns_the_rest_where_numbers_are_taken_as_they_are() {
    let here = tempfile::tempdir().unwrap();
    let problem = examples().join("noise/problem.toml");
    let arguments = ["run", problem.to_str().unwrap(), "--json", "--set", "method.weighting=uniform"];
    let found = &program(here.path(), &arguments).exits(0).json()["parameters"];
    near(number(found, "mu", "sd"), 3.0, 0.6);
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Runs an example as it is; none where it needs R, and there is none.
#[allow(clippy::print_stderr)] // A test that is skipped says so.
fn run(name: &str) -> Option<Value> {
    let folder = examples().join(name);
    assert!(folder.join("observed.csv").exists(), "{name} has no data");
    let problem = folder.join("problem.toml");
    let needs_r = fs::read_to_string(&problem).unwrap().contains("\"Rscript\"");
    if needs_r && Command::new("Rscript").arg("--version").output().is_err() {
        eprintln!("skipped: the example {name} needs R, which is not installed");
        return None;
    }
    let here = tempfile::tempdir().unwrap();
    // `./check` has run them all already, and says where.
    let runs = std::env::var_os(RUNS).map_or_else(|| here.path().join("runs"), PathBuf::from);
    let into = runs.join(name);
    let words = ["run", problem.to_str().unwrap(), "--json", "--into", into.to_str().unwrap()];
    let done = program(here.path(), &words).exits(0).json();
    assert_eq!(done["finished"], true, "{name}");
    Some(done)
}

/// The exact posterior by the program beside the example.
fn exact(name: &str) -> Value {
    let mut python = Command::new("python3");
    let done = python.arg("-B").arg("exact.py").current_dir(examples().join(name)).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// Centres within an exact deviation, and deviations between seven tenths and twice the exact one.
#[track_caller]
fn agrees(found: &Value, exact: &Value, [centre, width]: [&str; 2]) {
    for name in exact.as_object().unwrap().keys() {
        let (deviation, of) = (number(exact, name, width), number(found, name, width));
        near(number(found, name, centre), number(exact, name, centre), deviation);
        assert!(of > 0.7 * deviation && of < 2.0 * deviation, "{name}: deviation {of}, exactly {deviation}");
    }
}

/// The page of an example shows what it prints. Means differ by less than half of a deviation, since simulators in other
/// languages have other random numbers elsewhere.
#[track_caller]
fn as_printed(name: &str, parameters: &Value) {
    let page = fs::read_to_string(examples().join(name).join("README.md")).unwrap();
    let (_, block) = page.split_once("<!-- output -->\n```text\n").expect("the page has a block of output");
    let lines: Vec<&str> = block.lines().skip(1).take_while(|line| *line != "```").collect();
    assert_eq!(lines.len(), parameters.as_object().unwrap().len(), "{name}: {lines:?}");
    for line in lines {
        let [parameter, mean] = line.split_whitespace().take(2).collect::<Vec<_>>().try_into().unwrap();
        let by = 0.5 * number(parameters, parameter, "sd");
        near(number(parameters, parameter, "mean"), mean.parse().unwrap(), by);
    }
}

/// Ten readings of deviation one, nine of them as their mean, under a normal prior of deviation three.
fn exact_noise(parameters: &Value) {
    let precision = 10.0 + 1.0 / 9.0;
    near(number(parameters, "mu", "mean"), (9.0 * 2.04541925 + 3.36674678) / precision, 0.1);
    near(number(parameters, "mu", "sd"), 1.0 / f64::sqrt(precision), 0.06);
}

fn number(parameters: &Value, name: &str, key: &str) -> f64 {
    parameters[name][key].as_f64().unwrap()
}

#[track_caller]
fn near(found: f64, exact: f64, by: f64) {
    assert!((found - exact).abs() < by, "found {found}, expected {exact} +- {by}");
}

/// The 90 % interval holds the truth, and its ends are within a factor of eight of each other.
#[track_caller]
fn holds(parameters: &Value, truths: &[(&str, f64)]) {
    for &(name, truth) in truths {
        let (low, high) = (number(parameters, name, "q05"), number(parameters, name, "q95"));
        assert!(low < truth && truth < high, "{name} = {truth} is not between {low} and {high}");
        assert!(high / low < 8.0, "{name} is between {low} and {high}");
    }
}

/// What the page says; other seeds of the method move it by less than half of its standard deviation.
fn same_sir(parameters: &Value) {
    near(number(parameters, "beta", "mean"), 1.77, 0.15);
    near(number(parameters, "gamma", "mean"), 0.455, 0.05);
}

/// The density is as theta to the power -11 above the largest of ten: the median is 2^(1/10) times that.
fn exact_toy(parameters: &Value) {
    let exact = 9.73118921 * 2f64.powf(0.1);
    near(number(parameters, "theta", "median") / exact, 1.0, 0.08);
}

/// Means of the second dataset in reference/death/summary.csv.
fn exact_death(parameters: &Value) {
    near(number(parameters, "k", "log10_mean"), -1.107, 0.35);
    near(number(parameters, "sigma", "log10_mean"), -2.130, 0.6);
}

/// Mean of the first dataset in reference/diffusion/summary.csv, three of whose standard deviations are allowed. The
/// exact 95 % interval just misses the truth 0.1; the approximate posterior is wider and holds both.
fn exact_diffusion(parameters: &Value) {
    near(number(parameters, "theta", "log10_mean"), -0.806, 0.3);
    let (low, high) = (number(parameters, "theta", "q05"), number(parameters, "theta", "q95"));
    for value in [0.1, 10f64.powf(-0.806)] {
        assert!(low < value && value < high, "{value} is not between {low} and {high}");
    }
}

/// No exact posterior is known: the truth within a factor of two, for the rates that the data tell well.
fn true_dimerization(parameters: &Value) {
    for (name, truth) in [("k1", 1.0), ("k3", 0.002), ("k4", 0.5)] {
        near((number(parameters, name, "median") / truth).log2(), 0.0, 1.0);
    }
    assert!(number(parameters, "k2", "q05") < 0.04 && 0.04 < number(parameters, "k2", "q95"));
}
