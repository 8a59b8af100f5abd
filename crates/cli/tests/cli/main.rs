//! The program as its users meet it: files in, text and exit codes out.
// The lint's exception for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod damage;
mod errors;
mod exact;
mod examples;
mod export;
mod faults;
mod guide;
mod interrupt;
mod mistakes;
mod networks;
mod newcomer;
mod programs;
mod report;
mod reproduce;
mod resume;
mod runs;
mod sbml;
mod simulations;
mod studies;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

/// A folder with a problem in it, and the program to try on it.
struct Bench {
    folder: TempDir,
}

/// A problem without mistakes that runs in a moment.
const TOY: &str = r#"name = "toy problem"

[parameters]
theta = { law = "log-uniform", low = 1, high = 100 }

[model]
builtin = "toy-sorted"
draws = 3

[observed]
values = { x1 = 2.5, x2 = 5, x3 = 9 }

[method]
simulations = 400
keep = 40
generations = 2
seed = 7
"#;

impl Bench {
    fn new(problem: &str) -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        bench.write("p.toml", problem);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Runs the program in the folder.
    fn run(&self, arguments: &[&str]) -> Done {
        program(self.folder.path(), arguments)
    }
}

/// What the program answered.
struct Done {
    code: i32,
    stdout: String,
    stderr: String,
}

fn program(folder: &Path, arguments: &[&str]) -> Done {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_counterpoise"));
    let Output { status, stdout, stderr } = command.current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
}

impl Done {
    /// Checks the exit code, showing everything where it is another.
    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Checks that the standard error says something.
    #[track_caller]
    fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "`{text}` is not in:\n{}", self.stderr);
        self
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}
