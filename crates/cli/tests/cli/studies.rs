//! `compare` and `calibrate`, and the methods they are about.

use std::fs;

use super::program;

const TOY: &str = r#"
[model]
builtin = "toy-sorted"

[observed]
truth = { theta = 10 }

[method]
simulations = 1000
keep = 60
generations = 2
"#;

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.toml"), text).unwrap();
    folder
}

#[test]
fn methods_are_judged_on_the_same_data_whatever_the_threads() {
    let here = folder(TOY);
    let rules = "sd,informed,hellinger,uniform+semi-automatic,uniform+two-stage,genetic,mad+entropy+ridge";
    let run = |threads: &str| {
        let arguments =
            ["compare", "p.toml", "--rules", rules, "--datasets", "3", "--json", "--threads", threads];
        let mut found = program(here.path(), &arguments).exits(0).json();
        for rule in found["rules"].as_array_mut().unwrap() {
            rule.as_object_mut().unwrap().remove("seconds");
        }
        found
    };
    let found = run("1");
    assert_eq!(found, run("2"));
    assert_eq!((&found["datasets"], &found["truth"]), (&3.into(), &"given".into()));
    let named = |rule: &str| {
        found["rules"].as_array().unwrap().iter().find(|one| one["rule"] == rule).unwrap().clone()
    };
    let held_out = |rule: &str| named(rule)["held_out"]["mean"].as_f64().unwrap();
    // The largest of ten tells nearly all, and weights by deviations drown it in the others.
    assert!(held_out("informed") > held_out("sd") + 0.05);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let here = folder(TOY);
    let refused = |arguments: &[&str], message: &str| {
        let arguments = [&["compare", "p.toml"], arguments].concat();
        program(here.path(), &arguments).exits(2).says(message);
    };
    refused(&["--rules", "uniform+magic"], "`magic` is no part of a rule");
    refused(&["--datasets", "1"], "1 is not in 2..");
    refused(&["--set", "observed.truth.theta=1000"], "lies outside the prior");
    refused(
        &["--rules", "uniform+linear", "--set", "method.keep=90"],
        "regression on 10 features needs at least 100 particles",
    );
    refused(&["--rules", "uniform+weighting.rule=magic"], "`method.weighting.rule` must be one of");
}

#[test]
fn calibration_sees_what_is_right_and_what_is_too_narrow() {
    let here = folder(TOY);
    let run = |set: &[&str]| {
        let arguments = [&["calibrate", "p.toml", "--datasets", "60", "--json"], set].concat();
        program(here.path(), &arguments).exits(0).json()
    };
    let right = run(&["--set", "method.weighting=informed"]);
    let covered = right["coverage"][2]["covered"].as_f64().unwrap();
    // Sixty datasets: a standard error of 0.04.
    assert!(covered > 0.78, "{right}");
    assert_eq!(right["parameters"][0]["ranks"].as_array().unwrap().len(), 10);
    assert_eq!(right["curve"].as_array().unwrap().len(), 20);
    let verdict = right["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("90 % intervals cover"), "{verdict}");
}

#[test]
fn an_adjusted_run_is_kept_resumed_and_shown() {
    let here = folder(TOY);
    let adjust = ["--set", "method.adjust=linear", "--set", "method.reduction=semi-automatic", "--quiet"];
    let run = |set: &[&str]| program(here.path(), &[&["run", "p.toml", "--json"], &adjust[..], set].concat());
    let whole = run(&["--into", "whole"]).exits(0).json();
    assert_eq!(whole["distance_weights"].as_object().unwrap().keys().collect::<Vec<_>>(), ["mean(theta)"]);
    run(&["--into", "cut", "--set", "stop.simulations=1300"]).exits(3);
    let gone_on = run(&["--into", "cut"]).exits(0).json();
    assert_eq!(whole["parameters"], gone_on["parameters"]);
    let bytes = |path: &str| fs::read(here.path().join(path).join("posterior.parquet")).unwrap();
    assert_eq!(bytes("whole"), bytes("cut"));
    program(here.path(), &["verify", "cut"]).exits(0);
    let file = here.path().join("cut/generations/001/adjusted.parquet");
    let mut damaged = fs::read(&file).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&file, damaged).unwrap();
    let verified = program(here.path(), &["verify", "cut"]).exits(1);
    assert!(format!("{}{}", verified.stdout, verified.stderr).contains("adjusted.parquet"));
}
