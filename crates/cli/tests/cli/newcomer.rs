//! The first hour: help, a folder to begin with, what `check` says, completions and the manual.

use std::process::Command;

use super::{Bench, TOY, program};

/// A prompt has to fit on the screen as well.
#[test]
fn help_fits_a_screen() {
    let here = tempfile::tempdir().unwrap();
    for arguments in [&["--help"][..], &["-h"], &["help"]] {
        let help = program(here.path(), arguments).exits(0).stdout;
        assert!(help.lines().count() < 24, "{} lines:\n{help}", help.lines().count());
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "longer than 80: {line}");
        }
        for command in
            ["init", "check", "run", "report", "sbml", "--quiet", "--version", "completions", "man"]
        {
            assert!(help.contains(command), "{command} is not in\n{help}");
        }
    }
    assert_eq!(program(here.path(), &[]).exits(2).stderr, program(here.path(), &["-h"]).stdout);
}

#[test]
fn versions_begin_with_the_number() {
    let here = tempfile::tempdir().unwrap();
    let version = program(here.path(), &["--version"]).exits(0).stdout;
    let expected = format!("counterpoise {}", env!("CARGO_PKG_VERSION"));
    let rest = version.strip_prefix(&expected).unwrap().trim_end();
    assert!(rest.is_empty() || rest.starts_with(" (commit "), "{version}");
}

/// Whoever types what `init` prints ends with a page.
#[test]
#[allow(clippy::print_stderr)] // A test that is skipped says so.
fn what_init_prints_can_be_typed() {
    let here = tempfile::tempdir().unwrap();
    let needs = [("python", "python3"), ("shell", "sh"), ("r", "Rscript"), ("julia", "julia")];
    for template in ["death", "network", "python", "r", "table", "sbml", "shell", "julia"] {
        let name = format!("my {template}");
        let printed = program(here.path(), &["init", &name, "--template", template]).exits(0).stdout;
        let missing = needs.iter().find(|(one, interpreter)| {
            *one == template && Command::new(interpreter).arg("--version").output().is_err()
        });
        if let Some((_, interpreter)) = missing {
            eprintln!("skipped: the template {template} needs {interpreter}, which is not installed");
            continue;
        }
        let commands: Vec<&str> =
            printed.lines().filter_map(|line| line.strip_prefix("counterpoise ")).collect();
        assert_eq!(commands.len(), 3, "{printed}");
        for command in commands {
            let command = command.split(" #").next().unwrap().trim();
            let (word, path) = command.split_once(' ').unwrap();
            program(here.path(), &[word, path.trim_matches('\'')]).exits(0);
        }
        let run = format!("runs/my-{template}");
        let page = std::fs::read_to_string(here.path().join(&run).join("report.html")).unwrap();
        assert!(page.contains("<svg"), "{template}");
        let found = program(here.path(), &["show", &run, "--json"]).exits(0).json();
        assert_eq!((&found["problem"], &found["failed"]), (&name.into(), &0.into()));
        // Programs in all languages simulate the same culture.
        for (name, truth) in [("rate", 0.6), ("capacity", 400.0)] {
            let Some(found) = found["parameters"].get(name) else { continue };
            let number = |key: &str| found[key].as_f64().unwrap();
            let near = (number("mean") - truth).abs() < 3.0 * number("sd");
            assert!(near && number("q95") < 2.0 * number("q05"), "{template}: {name} is {found}");
        }
    }
}

#[test]
fn check_says_what_a_run_costs_and_what_comes_next() {
    let bench = Bench::new(TOY);
    let said = bench.run(&["check", "p.toml", "--threads", "2", "--set", "method.seed=3"]).exits(0).stdout;
    assert!(said.contains("a run of 800 simulations in 2 generations takes about "), "{said}");
    // Four numbers and two more of eight bytes, for 400 rows in two generations and a journal.
    assert!(said.contains(" on 2 threads: ") && said.contains("; and 58 kB of disk at most\n"), "{said}");
    assert!(said.ends_with("\nnext: counterpoise run p.toml --set method.seed=3\n"), "{said}");
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn check_warns_of_data_in_other_units() {
    let bench = Bench::new(&TOY.replace("x3 = 9 }", "x3 = 9000 }"));
    let said = bench.run(&["check", "p.toml"]).exits(0).stdout.replace("\n  ", " ");
    let (_, warning) = said.split_once("warning: ").unwrap();
    assert!(
        warning.starts_with("the observed x3 = 9000 is far beyond all simulations from the prior, which"),
        "{said}"
    );
    assert!(warning.contains("compare the units of data and simulator, or widen the prior"), "{said}");
    let both = bench.run(&["check", "p.toml", "--set", "observed.values.x1=-800"]).exits(0).stdout;
    assert!(both.replace("\n  ", " ").contains("x1 = -800") && both.contains("(and so x3)"), "{both}");
}

#[test]
fn check_shows_how_to_repeat_what_always_fails() {
    let bench = Bench::new(&TOY.replace(
        "[model]\nbuiltin = \"toy-sorted\"\ndraws = 3\n",
        "[model.command]\nrun = [\"sh\", \"s.sh\"]\n",
    ));
    bench.write("s.sh", concat!(
        "echo '{\"ready\": true, \"statistics\": [\"x1\", \"x2\", \"x3\"]}'\n",
        "n=1\nwhile read line; do echo \"{\\\"id\\\": $n, \\\"error\\\": \\\"no ink\\\"}\"; n=$((n + 1)); done\n",
    ));
    let said = bench.run(&["check", "p.toml"]).exits(1).stdout;
    assert!(said.contains("20 of them failed; for example at theta = "), "{said}");
    let (_, command) = said.trim_end().split_once("to see it fail again: counterpoise ").unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    bench.run(&words).exits(1).says("no ink");
}

#[test]
fn shells_learn_every_command() {
    let here = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = program(here.path(), &["completions", shell]).exits(0).stdout;
        for word in ["calibrate", "template", "marginals"] {
            assert!(script.contains(word), "{word} is not in the completions of {shell}");
        }
        let path = here.path().join(shell);
        std::fs::write(&path, script).unwrap();
        // The shell itself finds no fault with it, where it is installed.
        if let Ok(read) = Command::new(shell).arg("-n").arg(&path).output() {
            assert!(read.status.success(), "{shell}: {}", String::from_utf8_lossy(&read.stderr));
        }
    }
    program(here.path(), &["completions", "cmd"]).exits(2).says("possible values: bash");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let here = tempfile::tempdir().unwrap();
    let page = program(here.path(), &["man"]).exits(0).stdout;
    assert!(page.contains(".TH counterpoise 1") && page.contains("calibrate"), "{page}");
    let page = program(here.path(), &["man", "run"]).exits(0).stdout;
    assert!(
        page.contains(".TH counterpoise-run 1") && page.contains("Keep the run in this directory"),
        "{page}"
    );
    assert!(page.contains("Goes on with a run that was stopped"), "{page}");
    program(here.path(), &["man", "ran"])
        .exits(2)
        .says("there is no command `ran`")
        .says("hint: one of init, check,");
}
