//! A run that was stopped goes on, and ends as if it had not been.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Bench, TOY};

/// Runs the command that the program said goes on.
fn go_on(bench: &Bench, stderr: &str) -> super::Done {
    let command = stderr.split("this goes on: counterpoise ").nth(1).expect(stderr).lines().next().unwrap();
    let words: Vec<String> = command.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
    bench.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn posterior(bench: &Bench, run: &str) -> Vec<u8> {
    fs::read(bench.path(run).join("posterior.parquet")).unwrap()
}

/// Everything that a run keeps but times, the name of its directory and the command.
fn result(bench: &Bench, run: &str) -> Value {
    let mut summary = bench.run(&["show", run, "--json"]).exits(0).json();
    summary["seconds"] = Value::Null;
    summary["directory"] = Value::Null;
    summary["origin"] = Value::Null;
    summary
}

#[test]
fn a_limit_of_simulations_holds_inside_a_generation_and_says_how_to_go_on() {
    let bench = Bench::new(TOY);
    bench.run(&["run", "p.toml", "--into", "whole"]).exits(0);
    for limit in [1usize, 37, 399, 400, 401, 799] {
        let into = format!("cut {limit}");
        let set = format!("stop.simulations={limit}");
        let arguments =
            ["run", "p.toml", "--into", &into, "--set", &set, "--json", "--chunk", "7", "--threads", "2"];
        let done = bench.run(&arguments).exits(3).says("stopped at the limit of simulations");
        assert_eq!(done.json()["simulations"], limit, "never one more");
        assert_eq!(done.json()["generations"], limit / 400);
        assert!(
            done.stderr.contains(&format!("--into 'cut {limit}' --set stop.simulations=800")),
            "{}",
            done.stderr
        );
        // The same command again makes nothing, and changes nothing.
        assert_eq!(bench.run(&arguments).exits(3).json()["simulations"], limit);
        bench.run(&["verify", &into]).exits(0);
        // The shell would join the words of the directory.
        let more = ["run", "p.toml", "--into", &into, "--set", "stop.simulations=800", "--threads", "1"];
        let done = bench.run(&more).exits(0);
        let left = limit % 400;
        if left > 0 {
            let line = format!("generation {} goes on after {left} of 400 simulations", limit / 400);
            assert!(done.stderr.contains(&line), "{}", done.stderr);
        }
        assert!(posterior(&bench, &into) == posterior(&bench, "whole"), "cut at {limit}");
        assert_eq!(result(&bench, &into), result(&bench, "whole"), "cut at {limit}");
        let simulations =
            |run: &str| fs::read(bench.path(run).join("generations/001/simulations.parquet")).unwrap();
        assert!(simulations(&into) == simulations("whole"));
    }
}

#[test]
fn the_command_that_is_printed_goes_on() {
    let bench = Bench::new(TOY);
    bench.run(&["run", "p.toml", "--into", "whole"]).exits(0);
    let done = bench.run(&["run", "p.toml", "--into", "cut", "--set", "stop.simulations=100"]).exits(3);
    go_on(&bench, &done.stderr).exits(0);
    assert!(posterior(&bench, "cut") == posterior(&bench, "whole"));
    // Seconds are those of a process: the same command goes on.
    let limits = ["--set", "stop.seconds=1e-9", "--chunk", "50", "--threads", "1"];
    let mut done = bench.run(&[&["run", "p.toml", "--into", "slow"], &limits[..]].concat()).exits(3);
    assert!(done.stderr.contains("stopped at the limit of seconds"), "{}", done.stderr);
    for _ in 0..60 {
        done = go_on(&bench, &done.stderr);
        if done.code == 0 {
            break;
        }
    }
    assert!(done.code == 3, "a nanosecond is too short for anything: {}", done.stderr);
}

#[test]
fn seconds_add_up_over_processes() {
    let bench = Bench::new(TOY);
    let first = bench.run(&["run", "p.toml", "--json", "--set", "stop.simulations=400"]).exits(3).json();
    let second = bench.run(&["run", "p.toml", "--json"]).exits(0).json();
    let total = |run: &Value| run["seconds"]["total"].as_f64().unwrap();
    assert!(total(&second) > total(&first) && total(&first) > 0.0);
}

#[test]
fn generations_and_limits_may_change_and_nothing_else() {
    let bench = Bench::new(TOY);
    bench.run(&["run", "p.toml", "--into", "three", "--set", "method.generations=3"]).exits(0);
    bench.run(&["run", "p.toml", "--into", "r"]).exits(0);
    let more = bench.run(&["run", "p.toml", "--into", "r", "--set", "method.generations=3"]).exits(0);
    let more = more.says("the same run goes on: method.generations was 2 and is now 3");
    assert!(!more.stderr.contains("generation 1 ("), "{}", more.stderr);
    assert!(posterior(&bench, "r") == posterior(&bench, "three"));
    // Fewer than are done: they are kept.
    let fewer = bench.run(&["run", "p.toml", "--into", "r", "--json"]).exits(0);
    let fewer = fewer.says("3 generations are done already");
    assert_eq!((&fewer.json()["generations"], &fewer.json()["finished"]), (&3.into(), &true.into()));
    assert!(posterior(&bench, "r") == posterior(&bench, "three"));
    bench
        .run(&["run", "p.toml", "--into", "r", "--set", "method.generations=3"])
        .exits(0)
        .says("already finished");
    // Another name and another limit are no other run.
    let renamed = ["run", "p.toml", "--into", "r", "--set", "method.generations=3", "--set", "name=\"x\""];
    bench.run(&renamed).exits(0).says("name was \"toy problem\" and is now \"x\"");
    let other = ["run", "p.toml", "--into", "r", "--set", "method.seed=8", "--set", "method.keep=50"];
    let other = bench
        .run(&other)
        .exits(2)
        .says("r holds another run:\n  method.keep was 40 and is now 50\n  seed was 7 and is now 8\n");
    other.says("hint: use --into with another directory");
    bench.run(&["verify", "r"]).exits(0);
}

/// A process at work and one that was killed at it.
#[cfg(unix)]
#[test]
fn two_processes_and_a_dead_one() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let bench = Bench::new(TOY);
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterpoise"))
        .current_dir(bench.folder.path())
        .args(["run", "p.toml", "--into", "r", "--set", "method.generations=10000"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let many = ["run", "p.toml", "--into", "r", "--set", "method.generations=10000"];
    let second = bench.run(&many).exits(2);
    second.says(&format!("error: r is in use by process {} on ", child.id())).says("hint: wait for it");
    bench.run(&["verify", "r"]).exits(0);
    child.kill().unwrap();
    child.wait().unwrap();
    let third = bench.run(&[&many[..], &["--set", "stop.seconds=1e-9"]].concat()).exits(3);
    third.says(&format!("taking over from process {} on ", child.id())).says("which has ended");
    // Somebody on another machine may be alive, for all that can be seen from here.
    bench.write("r/lock", "{\"host\":\"elsewhere\",\"process\":1,\"began\":1}\n");
    let refused = bench.run(&many).exits(2).says("in use by process 1 on elsewhere");
    refused.says("hint: if that process is no longer running, remove r/lock");
}

/// What `auto` stood for when these directories were made.
const OLD_AUTO: [&str; 6] =
    ["--set", "method.reduction=none", "--set", "method.adjust=none", "--set", "method.proposal=covariance"];

/// A directory of the first format, as an earlier version left it.
#[test]
fn format_1_is_shown_and_not_extended() {
    let bench = Bench::new(TOY);
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-1");
    fs::create_dir(bench.path("old")).unwrap();
    for file in ["run.json", "posterior.parquet"] {
        fs::copy(old.join(file), bench.path("old").join(file)).unwrap();
    }
    let shown = bench.run(&["show", "old", "--json"]).exits(0).json();
    assert_eq!((&shown["generations"], &shown["finished"]), (&2.into(), &true.into()));
    let run = |more: &[&str]| bench.run(&[&["run", "p.toml", "--into", "old"], &OLD_AUTO[..], more].concat());
    run(&[]).exits(0).says("already finished");
    bench.run(&["verify", "old"]).exits(0);
    bench.run(&["export", "old", "--to", "old.csv"]).exits(0);
    let longer = run(&["--set", "method.generations=3"]).exits(2);
    longer.says("has format 1, without simulations: it cannot be extended");
}

/// A directory of this format, kept for the versions to come.
#[test]
fn format_2_is_shown_verified_and_extended() {
    let bench = Bench::new(TOY);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-2");
    copy(&kept, &bench.path("kept"));
    bench.run(&["verify", "kept"]).exits(0);
    let shown = bench.run(&["show", "kept", "--json"]).exits(0).json();
    assert_eq!((&shown["generations"], &shown["simulations"]), (&1.into(), &500.into()));
    bench
        .run(&[&["run", "p.toml", "--into", "kept"], &OLD_AUTO[..]].concat())
        .exits(0)
        .says("generation 1 goes on after 100 of 400 simulations");
    bench.run(&["verify", "kept"]).exits(0);
}

/// A finished directory of the same format, as it was written before columns were split and compressed by gzip: its posterior is made
/// again in the way of today, which is no damage.
#[test]
fn format_2_with_snappy_is_verified_mended_and_extended() {
    let bench = Bench::new(&format!("{TOY}weighting = \"uniform\"\nadjust = \"linear\"\n"));
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-2-snappy");
    copy(&kept, &bench.path("kept"));
    bench.run(&["verify", "kept"]).exits(0);
    bench.run(&["run", "p.toml", "--into", "kept"]).exits(0).says("already finished");
    bench.run(&["export", "kept", "--to", "before.csv"]).exits(0);
    let written = fs::read(bench.path("kept/posterior.parquet")).unwrap();
    fs::remove_file(bench.path("kept/posterior.parquet")).unwrap();
    bench.run(&["run", "p.toml", "--into", "kept"]).exits(0);
    assert_ne!(fs::read(bench.path("kept/posterior.parquet")).unwrap(), written);
    bench.run(&["verify", "kept"]).exits(0);
    bench.run(&["export", "kept", "--to", "after.csv"]).exits(0);
    let read = |name: &str| fs::read_to_string(bench.path(name)).unwrap();
    assert_eq!(read("before.csv"), read("after.csv"));
    // It goes on as a run that this version began, but for the digits that this version leaves out: the last of its two generations was
    // weighed in double precision, and single precision has steps of 6e-8.
    bench.run(&["run", "p.toml", "--into", "kept", "--set", "method.generations=3"]).exits(0);
    bench.run(&["run", "p.toml", "--into", "new", "--set", "method.generations=3"]).exits(0);
    for directory in ["kept", "new"] {
        bench.run(&["verify", directory]).exits(0);
        bench.run(&["export", directory, "--to", &format!("{directory}.csv")]).exits(0);
    }
    let (kept, new) = (read("kept.csv"), read("new.csv"));
    assert_eq!(kept.lines().count(), new.lines().count());
    for (kept, new) in kept.lines().skip(1).zip(new.lines().skip(1)) {
        for (kept, new) in kept.split(',').zip(new.split(',')) {
            let (kept, new): (f64, f64) = (kept.parse().unwrap(), new.parse().unwrap());
            assert!((kept - new).abs() <= 2e-6 * new.abs(), "{kept} {new}");
        }
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
