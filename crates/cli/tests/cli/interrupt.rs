//! An interrupt stops a run cleanly; a second one ends it.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use super::{Bench, TOY};

/// A run that would take hours, once it has finished a generation.
fn start(bench: &Bench) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterpoise"))
        .current_dir(bench.folder.path())
        .args(["run", "p.toml", "--json", "--into", "long", "--set", "method.generations=10000"])
        .args(["--set", "method.simulations=20000", "--set", "method.keep=200"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.starts_with("generation 0 (1 of 10000)"), "{line}");
    (child, stderr)
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn the_first_keeps_what_is_committed() {
    for name in ["-INT", "-TERM"] {
        let bench = Bench::new(TOY);
        let (mut child, mut stderr) = start(&bench);
        signal(&child, name);
        let (mut said, mut printed) = (String::new(), String::new());
        stderr.read_to_string(&mut said).unwrap();
        child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{said}");
        assert!(said.contains("stopping; interrupt again to end at once"), "{said}");
        assert!(
            said.contains("interrupted: ")
                && said.contains("are kept in long\nthis goes on: counterpoise run p.toml"),
            "{said}"
        );
        let run: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!((&run["finished"], &run["stopped_by"]), (&false.into(), &"interrupt".into()));
        assert!(run["generations"].as_u64().unwrap() >= 1 && bench.path("long/posterior.parquet").exists());
        assert_eq!(bench.run(&["show", "long", "--json"]).exits(0).json(), run);
    }
}

/// A table that would take an hour: its rows are made as they are written, and nothing of it is left.
#[test]
fn a_table_of_simulations_is_not_left_half_written() {
    let bench = Bench::new(TOY);
    let partial = || {
        let files = std::fs::read_dir(bench.folder.path()).unwrap();
        files.map(|file| file.unwrap()).find(|file| file.file_name() != "p.toml")
    };
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterpoise"))
        .current_dir(bench.folder.path())
        .args(["simulate", "p.toml", "--rows", "100000000", "--out", "s.csv"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while partial().and_then(|file| file.metadata().ok()).is_none_or(|file| file.len() < 1 << 20) {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    signal(&child, "-INT");
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{said}");
    assert!(said.contains("interrupted: s.csv was not written"), "{said}");
    assert!(partial().is_none());
}

#[test]
fn the_second_ends_at_once() {
    let problem = TOY.replace("\"toy-sorted\"\ndraws = 3", "\"dimerization\"\ninitial = 2_000_000");
    let problem = problem
        .replace("theta = { law = \"log-uniform\", low = 1, high = 100 }\n", "")
        .replace("[parameters]\n", "");
    let values = "values = { x1 = 2.5, x2 = 5, x3 = 9 }";
    let bench = Bench::new(&problem.replace(values, "file = \"o.csv\""));
    let header =
        bench.run(&["simulate", "p.toml", "--rows", "1", "--set", "model.initial=10"]).exits(0).stdout;
    let names: Vec<&str> = header.lines().next().unwrap().split(',').skip(4).collect();
    bench.write("o.csv", format!("{}\n{}\n", names.join(","), vec!["1"; names.len()].join(",")));
    let mut child = Command::new(env!("CARGO_BIN_EXE_counterpoise"))
        .current_dir(bench.folder.path())
        .args(["run", "p.toml", "--chunk", "200"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !bench.path("runs").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // By then it simulates: before, an orderly stop would be over before the second interrupt.
    std::thread::sleep(std::time::Duration::from_secs(1));
    signal(&child, "-INT");
    let mut said = String::new();
    while !said.contains("stopping") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
    }
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
