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
    let rules = "sd,informed,hellinger,uniform+semi-automatic,uniform+two-stage+reduction.trials=60,uniform+bandit,genetic,mad+entropy+ridge";
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
    // How many features there are is known only when they have been chosen: nine or ten here.
    refused(
        &["--rules", "uniform+bandit+reduction.choose=9+linear", "--set", "method.keep=80"],
        "dataset 1, rule uniform+bandit+reduction.choose=9+linear: generation 0: adjusting the accepted parameters: regression on",
    );
    let few = ["--set", "method.simulations=80", "--set", "method.keep=20"];
    refused(
        &[&["--rules", "uniform+semi-automatic"], &few[..]].concat(),
        "the reduction needs at least 82 usable simulations, found 80",
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

#[test]
fn calibration_near_the_observation_and_on_its_own_simulations() {
    let here = folder(TOY);
    let run = |arguments: &[&str]| {
        let arguments =
            [&["calibrate", "p.toml", "--datasets", "40", "--set", "method.weighting=informed"], arguments];
        program(here.path(), &arguments.concat())
    };
    let json = |arguments: &[&str]| run(&[arguments, &["--json"]].concat()).exits(0).json();
    let covered = |found: &serde_json::Value| found["coverage"][2]["covered"].as_f64().unwrap();
    let near = json(&["--around", "--threads", "1"]);
    assert_eq!(near, json(&["--around", "--threads", "2"]));
    assert_eq!(near["truths"], "posterior");
    // Forty datasets: a standard error of 0.05 where all is well.
    assert!(covered(&near) > 0.75, "{near}");
    let page = run(&["--around"]).exits(0).stdout;
    assert!(page.contains("ranks need not be even here although all is well"), "{page}");
    run(&["--reuse"]).exits(2).says("--reuse is for methods of one generation, and this one has 2");
    let one = ["--set", "method.generations=1"];
    let reused = json(&[&["--reuse"], &one[..]].concat());
    assert_eq!(reused["truths"], "reused");
    assert!(covered(&reused) > 0.75, "{reused}");
    let accepted = json(&[&["--reuse", "--around"], &one[..]].concat());
    assert_eq!(accepted["truths"], "accepted");
    assert!(covered(&accepted) > 0.75, "{accepted}");
    run(&[&["--reuse", "--around", "--set", "method.keep=30"], &one[..]].concat())
        .exits(2)
        .says("30 simulations were accepted for the observation: they cannot be 40 datasets");
    // The first generation of a run of the same seed has the same simulations.
    program(here.path(), &["run", "p.toml", "--into", "r", "--quiet"]).exits(0);
    assert_eq!(json(&[&["--reuse=r"], &one[..]].concat()), reused);
    run(&[&["--reuse=r", "--set", "model.draws=9"], &one[..]].concat()).exits(2).says("of another problem");
    run(&[&["--reuse=none"], &one[..]].concat()).exits(2).says("is no directory with a run.json");
}

/// A table whose statistic is the parameter and noise of a tenth: the posterior is normal, and known.
#[test]
fn a_table_is_calibrated_on_its_own_rows() {
    let here = folder(
        r#"
[parameters]
a = { law = "normal", mean = 0, sd = 1 }

[model.table]
file = "t.csv"

[observed]
values = { s = 0.5 }

[method]
keep = 40
weighting = "uniform"
"#,
    );
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
    };
    let mut normal = || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
    let mut text = String::from("a,s\n");
    for _ in 0..4000 {
        let a = normal();
        text.push_str(&format!("{a},{}\n", a + 0.1 * normal()));
    }
    fs::write(here.path().join("t.csv"), &text).unwrap();
    program(here.path(), &["calibrate", "p.toml"]).exits(2).says("--reuse takes its rows as data");
    let run = |arguments: &[&str]| {
        let arguments =
            [&["calibrate", "p.toml", "--datasets", "40", "--json", "--reuse"], arguments].concat();
        program(here.path(), &arguments).exits(0).json()
    };
    for (arguments, truths) in [(&[][..], "reused"), (&["--around"], "accepted")] {
        let found = run(arguments);
        assert_eq!((&found["truths"], &found["datasets"]), (&truths.into(), &40.into()));
        let covered = found["coverage"][2]["covered"].as_f64().unwrap();
        assert!(covered > 0.75, "{found}");
    }
    let arguments = ["calibrate", "p.toml", "--reuse", "--datasets", "5", "--plot", "c.svg", "--quiet"];
    program(here.path(), &arguments).exits(0);
    let drawn = fs::read_to_string(here.path().join("c.svg")).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("ranks of a"), "{drawn}");
    program(here.path(), &arguments).exits(2).says("c.svg exists already");
}
