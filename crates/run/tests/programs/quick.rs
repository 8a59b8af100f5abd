//! The protocol `lines` with a program so quick that it is given some rows at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;

use counterpoise_core::problem::Failure;
use counterpoise_core::table::Table;
use counterpoise_run::command::Lines;
use counterpoise_run::executor::{Executor, Threads};

use super::{jobs, program, python};

/// What the programs have noted.
struct Notes {
    /// How often each seed was begun.
    begun: BTreeMap<u32, usize>,
    /// How many requests were found at a time, at the most.
    found: usize,
    /// Programs that have found more than one.
    crowded: usize,
}

impl Notes {
    fn read(text: &str) -> Self {
        let (mut begun, mut found, mut crowded) = (BTreeMap::new(), 0, BTreeSet::new());
        for line in text.lines() {
            match *line.split(' ').collect::<Vec<_>>() {
                ["begun", seed] => *begun.entry(seed.parse().unwrap()).or_default() += 1,
                ["found", count, _, pid] => {
                    let count = count.parse().unwrap();
                    found = found.max(count);
                    crowded.extend((count > 1).then_some(pid));
                }
                _ => panic!("{line}"),
            }
        }
        Self { begun, found, crowded: crowded.len() }
    }

    /// Simulations that were begun again.
    fn again(&self) -> usize {
        self.begun.values().sum::<usize>() - self.begun.len()
    }
}

/// Checks that every row has what it should, or where it is bad these texts with its own seed and last words; and that as many
/// programs as should were told more than one row at a time. On a busy machine no program is quick: it is then tried again.
#[track_caller]
fn check(mode: &str, bad: Option<&[&str]>, shape: (usize, usize, f64), crowded: usize) -> Notes {
    let notes = (0..10).map(|_| attempt(mode, bad, shape)).find(|notes| notes.crowded >= crowded);
    notes.expect("it was never given more than one row at a time")
}

#[track_caller]
fn attempt(mode: &str, bad: Option<&[&str]>, (threads, rows, timeout): (usize, usize, f64)) -> Notes {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes");
    let words = [python(), "quick.py", mode, notes.to_str().unwrap()];
    let simulator = Lines::new(program(&words, timeout), None).unwrap();
    let thetas = Table::from_rows(1, (0..rows).map(|row| 1.0 / (row as f64 + 3.0)).collect());
    let (mut seen, mut failed) = (vec![false; rows], 0);
    let rows: Vec<usize> = (0..rows).collect();
    let mut see = |row: usize, outcome: &Result<(), Failure>, values: &[f64]| {
        assert!(!std::mem::replace(&mut seen[row], true), "row {row} came twice");
        let seed = jobs(&thetas).external_seed(row);
        match (outcome, bad.filter(|_| seed.is_multiple_of(100))) {
            (Ok(()), None) => {
                let pair = [f64::from(seed % 1000), thetas.at(row, 0)];
                assert!(values.chunks(2).all(|values| values == pair), "row {row}: {values:?}");
            }
            (Err(failure), Some(texts)) => {
                failed += 1;
                let (seed, words) =
                    (format!("; seed {seed}"), format!("its last words:\n    last words of {seed}"));
                for text in texts.iter().copied().chain([&*seed, &*words]) {
                    assert!(failure.to_string().contains(text), "row {row}: `{text}` is not in: {failure}");
                }
                assert_eq!(matches!(failure, Failure::TimedOut(..)), mode == "hang", "{failure}");
                assert_eq!(failure.to_string().matches("last words of").count(), 1, "of others: {failure}");
            }
            (outcome, bad) => panic!("row {row}, bad {}: {outcome:?}", bad.is_some()),
        }
    };
    Threads::new(&simulator, threads, None)
        .run(jobs(&thetas), &rows, &mut |chunk| {
            for (slot, &row) in chunk.rows.iter().enumerate() {
                see(row, &chunk.outcomes[slot], chunk.summaries.row(slot));
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(seen.iter().all(|&seen| seen));
    assert!(bad.is_none() || failed > 2, "the test is pointless");
    let notes = Notes::read(&fs::read_to_string(notes).unwrap());
    assert!(notes.found <= 64, "{} rows at a time", notes.found);
    notes
}

#[test]
fn rows_of_a_quick_program_are_simulated_once() {
    for threads in [1, 2] {
        assert_eq!(check("good", None, (threads, 3_000, 20.0), 1).again(), 0);
    }
}

/// Answers that a pipe cannot hold: neither side waits for the other.
#[test]
fn long_answers_of_a_quick_program() {
    assert_eq!(check("wide", None, (2, 500, 20.0), 1).again(), 0);
}

#[test]
fn rows_that_wait_behind_a_failure_are_not_to_blame() {
    // Programs after the first are told many rows too.
    check("exit", Some(&["it exited with code 3 without an answer"]), (1, 3_000, 20.0), 4);
    check("id", Some(&["its answer has the id 2 and not the id 1"]), (2, 3_000, 20.0), 1);
    let declines = check("decline", Some(&["simulator declined: no such rate"]), (1, 3_000, 20.0), 1);
    // Only they, and each once: a second time alone.
    let again = declines.begun.iter().filter(|&(_, &times)| times > 1);
    assert!(
        again.clone().all(|(seed, &times)| seed % 100 == 0 && times == 2),
        "{:?}",
        again.collect::<Vec<_>>()
    );
}

#[test]
fn the_time_of_a_row_is_its_own() {
    check("hang", Some(&["simulator exceeded 1s: it gave no answer within 1 s"]), (2, 800, 1.0), 1);
}

/// It loses what it is given beside the first row: that is noticed, and not held against the rows.
#[test]
fn a_program_that_does_not_read_line_by_line_is_given_one_row_at_a_time() {
    assert_eq!(check("careless", None, (1, 3_000, 1.0), 1).crowded, 1, "it is noticed once");
}
