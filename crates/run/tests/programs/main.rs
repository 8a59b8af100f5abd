//! Programs that misbehave in every way we know: each failure is counted with its reason, costs its own row alone,
//! leaves no process behind, and is the same on any number of threads.
// The lint's exception for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

mod lines;
mod once;
mod quick;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::Jobs;
use counterpoise_core::stream::Seed;
use counterpoise_core::table::Table;
use counterpoise_run::command::Program;
use counterpoise_run::executor::{Executor, Threads};
use tempfile::TempDir;

/// Rows of a test.
const ROWS: usize = 16;

/// A folder in which every process of a simulator leaves its number.
struct Pids(TempDir);

impl Pids {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn count(&self) -> usize {
        fs::read_dir(self.path()).unwrap().count()
    }

    /// Checks that there were processes and that none is left.
    #[track_caller]
    fn are_gone(&self) {
        assert!(self.count() > 0, "no process was ever started");
        let start = Instant::now();
        for entry in fs::read_dir(self.path()).unwrap() {
            let pid = entry.unwrap().file_name().into_string().unwrap();
            while is_alive(&pid) {
                assert!(start.elapsed() < Duration::from_secs(3), "process {pid} is still there");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// Whether a process runs; one that only waits to be buried by its parent does not.
fn is_alive(pid: &str) -> bool {
    let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap().stdout;
    !(state.is_empty() || state.starts_with(b"Z"))
}

/// The interpreter itself: what is on the path may be a script that looks for it.
fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let words = ["-c", "import sys; print(sys.executable, end='')"];
        let found = std::process::Command::new("python3").args(words).output().unwrap();
        String::from_utf8(found.stdout).unwrap()
    })
}

/// A program of one parameter `k` in the folder of these tests.
fn program(words: &[&str], timeout: f64) -> Program {
    Program {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        directory: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs"),
        parameters: vec!["k".into()],
        timeout: Duration::from_secs_f64(timeout),
        start_timeout: Duration::from_secs(20),
    }
}

type Outcomes = Vec<Result<Vec<f64>, Failure>>;

/// What becomes of every row, on so many threads.
fn run(simulator: &dyn Simulator, threads: usize) -> Outcomes {
    let thetas = thetas();
    let rows: Vec<usize> = (0..ROWS).collect();
    let mut outcomes: Vec<Option<Result<Vec<f64>, Failure>>> = vec![None; ROWS];
    let mut chunks = 0;
    Threads::new(simulator, threads, None)
        .run(jobs(&thetas), &rows, &mut |chunk| {
            // A chunk without rows says that time passes.
            chunks += usize::from(!chunk.rows.is_empty());
            for (slot, &row) in chunk.rows.iter().enumerate() {
                let outcome = chunk.outcomes[slot].clone().map(|()| chunk.summaries.row(slot).to_vec());
                assert!(outcomes[row].replace(outcome).is_none(), "row {row} came twice");
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(chunks, ROWS, "every row is handed on by itself");
    outcomes.into_iter().map(Option::unwrap).collect()
}

fn thetas() -> Table {
    Table::from_rows(1, (0..ROWS).map(|row| 1.0 / (row as f64 + 3.0)).collect())
}

fn jobs(thetas: &Table) -> Jobs<'_> {
    Jobs { thetas, seed: Seed(11), generation: 2, first: 0 }
}

/// What a simulator that works gives for a row: the end of the seed, and the parameter to the last bit.
fn good(row: usize) -> Vec<f64> {
    let thetas = thetas();
    vec![f64::from(jobs(&thetas).external_seed(row) % 1000), thetas.at(row, 0)]
}

/// Whether the simulator misbehaves at a row.
fn is_bad(row: usize) -> bool {
    jobs(&thetas()).external_seed(row).is_multiple_of(4)
}

/// Checks that exactly the rows that should have failed, each with these texts in its reason.
#[track_caller]
fn fails_where_it_should(outcomes: &Outcomes, texts: &[&str]) {
    for (row, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Ok(values) => assert_eq!((values, is_bad(row)), (&good(row), false), "row {row}"),
            Err(failure) => {
                let (seed, failure) = (jobs(&thetas()).external_seed(row), failure.to_string());
                assert!(is_bad(row), "row {row}: {failure}");
                for text in texts.iter().map(|text| (*text).to_owned()).chain([format!("seed {seed}")]) {
                    assert!(failure.contains(&text), "row {row}: `{text}` is not in: {failure}");
                }
            }
        }
    }
    assert!((3..9).contains(&(0..ROWS).filter(|&row| is_bad(row)).count()), "the test is pointless");
}
