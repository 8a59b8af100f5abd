//! Every example runs as it is, and finds what its README says.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::program;

#[test]
fn every_example_runs_and_finds_what_its_page_says() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in fs::read_dir(&examples).unwrap() {
        let folder = entry.unwrap().path();
        let problem = folder.join("problem.toml");
        if !problem.exists() {
            continue;
        }
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(folder.join("README.md").exists() && folder.join("observed.csv").exists(), "{name}");
        let here = tempfile::tempdir().unwrap();
        let done = program(here.path(), &["run", problem.to_str().unwrap(), "--json"]).exits(0);
        let run = done.json();
        assert_eq!(run["finished"], true, "{name}");
        let parameters = &run["parameters"];
        match name {
            "toy" => toy(parameters),
            "death" => death(parameters),
            "diffusion" => diffusion(parameters),
            "dimerization" => dimerization(parameters),
            "sir" => sir(parameters),
            "table" => near(number(parameters, "k", "log10_mean"), -1.107, 0.35),
            "lotka-volterra" => {
                holds(parameters, &[("birth", 1.0), ("meal", 0.005), ("death", 0.6)]);
            }
            "toggle-switch" => holds(parameters, &[("alpha", 50.0), ("K", 10.0)]),
            "sbml" => {
                holds(parameters, &[("transcription", 10.0), ("translation", 5.0), ("dilution", 0.2)]);
            }
            "ricker" => holds(parameters, &[("log_r", 3.8), ("phi", 10.0)]),
            other => panic!("no test knows what examples/{other} should find"),
        }
        seen += 1;
    }
    assert_eq!(seen, 10);
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
fn sir(parameters: &Value) {
    near(number(parameters, "beta", "mean"), 1.77, 0.15);
    near(number(parameters, "gamma", "mean"), 0.455, 0.05);
}

/// The density is as theta to the power -11 above the largest of ten: the median is 2^(1/10) times that.
fn toy(parameters: &Value) {
    let exact = 9.73118921 * 2f64.powf(0.1);
    near(number(parameters, "theta", "median") / exact, 1.0, 0.08);
}

/// Means of the second dataset in reference/death/summary.csv.
fn death(parameters: &Value) {
    near(number(parameters, "k", "log10_mean"), -1.107, 0.35);
    near(number(parameters, "sigma", "log10_mean"), -2.130, 0.6);
}

/// Mean of the first dataset in reference/diffusion/summary.csv, three of whose standard deviations are allowed. The
/// exact 95 % interval just misses the truth 0.1; the approximate posterior is wider and holds both.
fn diffusion(parameters: &Value) {
    near(number(parameters, "theta", "log10_mean"), -0.806, 0.3);
    let (low, high) = (number(parameters, "theta", "q05"), number(parameters, "theta", "q95"));
    for value in [0.1, 10f64.powf(-0.806)] {
        assert!(low < value && value < high, "{value} is not between {low} and {high}");
    }
}

/// No exact posterior is known: the truth within a factor of two, for the rates that the data tell well.
fn dimerization(parameters: &Value) {
    for (name, truth) in [("k1", 1.0), ("k3", 0.002), ("k4", 0.5)] {
        near((number(parameters, name, "median") / truth).log2(), 0.0, 1.0);
    }
    assert!(number(parameters, "k2", "q05") < 0.04 && 0.04 < number(parameters, "k2", "q95"));
}
