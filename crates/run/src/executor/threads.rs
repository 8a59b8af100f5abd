//! Runs an in-process simulator on threads.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Chunk, Feed, Jobs, simulate_rows};
use counterpoise_core::table::Table;

use super::intake::Intake;
use super::{Executor, ExecutorError};

/// Finished rows handed on together, at the most, and how long they should take, where the caller does not say.
const LARGEST_CHUNK: usize = 8_192;
const CHUNK_TIME: Duration = Duration::from_millis(500);
/// Chunks of a thread that wait for the sink, at the least and at the most, and the numbers in them where each is a row.
const FEWEST_WAITING: usize = 2;
const MOST_WAITING: usize = 64;
const NUMBERS_WAITING: usize = 1 << 16;
/// The sink is called so often at the least.
const TICK: Duration = Duration::from_millis(100);

/// Runs an in-process simulator on a fixed number of threads.
#[derive(Debug)]
pub struct Threads<S> {
    simulator: S,
    threads: usize,
    chunk: Option<usize>,
}

impl<S: Simulator> Threads<S> {
    /// An executor with `threads` workers, which hand on finished rows `chunk` at a time, or where that is `None`
    /// about twice a second. A worker takes a few rows after another from what is left, so nobody waits long for
    /// a slow row before the end. Rows of a simulator that is dear are handed on one by one, and only where they come
    /// quicker than they are worth (some thousands a second) those of a moment together.
    pub fn new(simulator: S, threads: usize, chunk: Option<usize>) -> Self {
        Self { simulator, threads: threads.max(1), chunk }
    }

    /// Simulates until nothing is left, or a stop is asked for, or `deliver` takes no more.
    fn work(&self, jobs: &Jobs<'_>, shared: Shared<'_, '_>, deliver: &mut dyn FnMut(Chunk) -> bool) {
        let mut worker = Worker {
            shared,
            chunk: self.chunk,
            at_once: self.simulator.is_dear(),
            share: 8 * self.threads,
            columns: self.simulator.summaries(),
            batch: (self.simulator.batch().max(1) as u64, jobs.first),
            waiting: &[],
            under_way: Vec::new(),
            finished: Finished::default(),
            pace: 1,
            clock: Instant::now(),
            deliver,
            delivering: false,
        };
        while let Err(panic) =
            catch_unwind(AssertUnwindSafe(|| self.simulator.simulate_rows(jobs, &mut worker)))
        {
            // No row is to blame for a panic of whoever takes the chunks, or of a simulator that took none.
            if worker.delivering || worker.under_way.is_empty() {
                resume_unwind(panic);
            }
            self.one_by_one(jobs, &mut worker);
        }
        worker.hand_on();
    }

    /// Chunks that may wait for the sink, a thread: simulations far ahead of it would only fill the memory. Quick rows that
    /// come one by one need some room.
    fn waiting(&self) -> usize {
        let rows = NUMBERS_WAITING / self.simulator.summaries().max(1);
        if self.simulator.is_dear() { rows.clamp(FEWEST_WAITING, MOST_WAITING) } else { FEWEST_WAITING }
    }

    /// After a panic: finds which of the rows under way are to blame.
    fn one_by_one(&self, jobs: &Jobs<'_>, worker: &mut Worker<'_, '_>) {
        for row in std::mem::take(&mut worker.under_way) {
            let alone = || simulate_rows(&self.simulator, jobs, &[row]);
            let (summaries, outcome) = match catch_unwind(AssertUnwindSafe(alone)) {
                Ok(Chunk { summaries, mut outcomes, .. }) => (summaries, outcomes.swap_remove(0)),
                Err(payload) => {
                    let nothing = Table::filled(1, worker.columns, f64::NAN);
                    (nothing, Err(Failure::Crashed(panic_text(&*payload))))
                }
            };
            worker.finish(row, summaries.row(0), outcome);
        }
    }
}

/// What the workers of a generation share.
#[derive(Clone, Copy)]
struct Shared<'a, 'r> {
    /// Rows that nobody has taken yet.
    left: &'a Mutex<&'r [usize]>,
    stop: &'a AtomicBool,
}

/// Finished rows that have not been handed on.
#[derive(Default)]
struct Finished {
    rows: Vec<usize>,
    summaries: Vec<f64>,
    outcomes: Vec<Result<(), Failure>>,
}

/// One thread's feed: rows from what is left, chunks to whoever takes them.
struct Worker<'a, 'r> {
    shared: Shared<'a, 'r>,
    chunk: Option<usize>,
    /// Whether a finished row is handed on by itself, whatever the chunk.
    at_once: bool,
    /// A worker takes at most one part in so many of what is left.
    share: usize,
    columns: usize,
    /// Rows that belong together, and which row of the generation the first is.
    batch: (u64, u64),
    waiting: &'r [usize],
    /// Rows the simulator has taken and not finished.
    under_way: Vec<usize>,
    finished: Finished,
    /// Finished rows after which the clock is looked at.
    pace: usize,
    clock: Instant,
    deliver: &'a mut dyn FnMut(Chunk) -> bool,
    delivering: bool,
}

impl Worker<'_, '_> {
    /// Takes some rows from what is left: a small part of what makes a chunk.
    fn refill(&mut self) {
        let mut left = self.shared.left.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let fair = (left.len() / self.share).clamp(1, self.pace.div_ceil(16));
        let size = self.chunk.unwrap_or(fair).max(1).min(left.len());
        let (rows, first) = self.batch;
        let number = |row: usize| (row as u64 + first) / rows;
        let belongs = |at: &usize| number(left[*at]) == number(left[*at - 1]);
        let end = if size == 0 { 0 } else { size + (size..left.len()).take_while(belongs).count() };
        (self.waiting, *left) = left.split_at(end);
    }

    fn hand_on(&mut self) {
        let Finished { rows, summaries, outcomes } = std::mem::take(&mut self.finished);
        if rows.is_empty() {
            return;
        }
        let now = Instant::now();
        self.pace = paced(rows.len(), now - self.clock);
        self.clock = now;
        let summaries = Table::from_rows(self.columns, summaries);
        self.delivering = true;
        let wants_more = (self.deliver)(Chunk::new(rows, summaries, outcomes));
        self.delivering = false;
        if !wants_more {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Feed for Worker<'_, '_> {
    fn next(&mut self) -> Option<usize> {
        if self.is_cut() {
            return None;
        }
        if self.waiting.is_empty() {
            self.refill();
        }
        let (&row, rest) = self.waiting.split_first()?;
        self.waiting = rest;
        self.under_way.push(row);
        Some(row)
    }

    fn finish(&mut self, row: usize, summaries: &[f64], outcome: Result<(), Failure>) {
        self.under_way.retain(|&other| other != row);
        self.finished.rows.push(row);
        // What a failed simulation left behind is nobody's.
        match outcome {
            Ok(()) => self.finished.summaries.extend_from_slice(summaries),
            Err(_) => self.finished.summaries.extend(std::iter::repeat_n(f64::NAN, self.columns)),
        }
        self.finished.outcomes.push(outcome);
        // Rows of a millisecond or more can be slower than the pace foresaw: the clock costs nothing beside them.
        let late = || self.pace < 500 && self.chunk.is_none() && self.clock.elapsed() > CHUNK_TIME;
        if self.at_once || self.finished.rows.len() >= self.chunk.unwrap_or(self.pace) || late() {
            self.hand_on();
        }
    }

    fn is_cut(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }
}

/// Rows that should take about [`CHUNK_TIME`], given that so many took so long; at most four times as many.
fn paced(rows: usize, took: Duration) -> usize {
    let fitting = rows as f64 * CHUNK_TIME.as_secs_f64() / took.as_secs_f64().max(1e-9);
    (fitting as usize).clamp(1, (4 * rows).min(LARGEST_CHUNK))
}

/// A chunk that says that time passes.
fn nothing(columns: usize) -> Chunk {
    Chunk::new(Vec::new(), Table::from_rows(columns.max(1), Vec::new()), Vec::new())
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".into())
}

impl<S: Simulator> Executor for Threads<S> {
    fn summaries(&self) -> usize {
        self.simulator.summaries()
    }

    fn is_dear(&self) -> bool {
        self.simulator.is_dear()
    }

    fn run(
        &mut self,
        jobs: Jobs<'_>,
        rows: &[usize],
        sink: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
    ) -> Result<(), ExecutorError> {
        let this = &*self;
        let left = Mutex::new(rows);
        let stop = AtomicBool::new(false);
        let shared = Shared { left: &left, stop: &stop };
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(this.threads * this.waiting());
            let mut intake = Intake::new(receiver, this.simulator.is_dear());
            for _ in 0..this.threads {
                let sender = sender.clone();
                scope.spawn(move || this.work(&jobs, shared, &mut |chunk| sender.send(chunk).is_ok()));
            }
            drop(sender);
            loop {
                let chunk = match intake.next(TICK) {
                    Ok(chunk) => chunk,
                    Err(RecvTimeoutError::Timeout) => nothing(this.simulator.summaries()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if sink(chunk).is_break() {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
            // What was finished meanwhile is not lost, whatever the sink says to it.
            for chunk in intake.rest() {
                let _ = sink(chunk);
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its row number back; panics at row 3, or before it takes any.
    struct Panics {
        at_once: bool,
    }

    impl Simulator for Panics {
        fn summaries(&self) -> usize {
            1
        }

        fn simulate(
            &self,
            theta: &[f64],
            _: &mut counterpoise_core::stream::Stream,
            summaries: &mut [f64],
        ) -> Result<(), Failure> {
            assert!(theta[0] != 3.0, "row 3");
            summaries[0] = theta[0];
            Ok(())
        }

        fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
            assert!(!self.at_once, "at once");
            // Two at a time: the one that does not panic must not be lost with the other.
            while let Some(first) = feed.next() {
                let second = feed.next();
                for row in [Some(first), second].into_iter().flatten().rev() {
                    let (mut summaries, mut rng) = ([0.0], jobs.stream(row));
                    let outcome = self.simulate(jobs.theta(row), &mut rng, &mut summaries);
                    feed.finish(row, &summaries, outcome);
                }
            }
        }
    }

    fn run(threads: usize, at_once: bool, sink: &mut dyn FnMut(Chunk) -> ControlFlow<()>) {
        let thetas = Table::from_rows(1, (0..40).map(f64::from).collect());
        let jobs =
            Jobs { thetas: &thetas, seed: counterpoise_core::stream::Seed(1), generation: 0, first: 0 };
        let rows: Vec<usize> = (0..40).collect();
        Threads::new(Panics { at_once }, threads, Some(5)).run(jobs, &rows, sink).unwrap();
    }

    #[test]
    fn a_panic_costs_its_own_row_alone() {
        for threads in [1, 2] {
            let mut seen = vec![None; 40];
            run(threads, false, &mut |chunk| {
                for (slot, row) in chunk.rows.iter().enumerate() {
                    let outcome = chunk.outcomes[slot].clone().map(|()| chunk.summaries.at(slot, 0));
                    assert!(seen[*row].replace(outcome).is_none(), "row {row} came twice");
                }
                ControlFlow::Continue(())
            });
            for (row, outcome) in seen.into_iter().enumerate() {
                match row {
                    3 => assert_eq!(outcome, Some(Err(Failure::Crashed("row 3".into())))),
                    row => assert_eq!(outcome, Some(Ok(row as f64))),
                }
            }
        }
    }

    #[test]
    fn other_panics_are_passed_on() {
        let mut go_on = |_: Chunk| ControlFlow::Continue(());
        assert!(catch_unwind(AssertUnwindSafe(|| run(1, true, &mut go_on))).is_err());
        let mut panics = |_: Chunk| panic!("the sink");
        assert!(catch_unwind(AssertUnwindSafe(|| run(1, false, &mut panics))).is_err());
    }

    /// Waits at every row but the first until the sink has broken.
    struct Waits(AtomicBool, std::sync::atomic::AtomicUsize);

    impl Simulator for &Waits {
        fn summaries(&self) -> usize {
            1
        }

        fn simulate(
            &self,
            theta: &[f64],
            _: &mut counterpoise_core::stream::Stream,
            summaries: &mut [f64],
        ) -> Result<(), Failure> {
            while theta[0] > 0.0 && !self.0.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            self.1.fetch_add(1, Ordering::SeqCst);
            summaries[0] = theta[0];
            Ok(())
        }
    }

    #[test]
    fn after_a_break_what_is_finished_is_handed_on_and_no_more_is_begun() {
        for threads in [1, 2] {
            let waits = Waits(AtomicBool::new(false), 0.into());
            let thetas = Table::from_rows(1, (0..40).map(f64::from).collect());
            let seed = counterpoise_core::stream::Seed(1);
            let jobs = Jobs { thetas: &thetas, seed, generation: 0, first: 0 };
            let rows: Vec<usize> = (0..40).collect();
            let mut seen = Vec::new();
            let mut sink = |chunk: Chunk| {
                seen.extend(chunk.rows);
                waits.0.store(!seen.is_empty(), Ordering::SeqCst);
                if seen.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            Threads::new(&waits, threads, Some(1)).run(jobs, &rows, &mut sink).unwrap();
            assert_eq!(seen.len(), waits.1.load(Ordering::SeqCst), "finished and not handed on");
            assert!(seen.len() < 40);
        }
    }

    /// Asks for one row after another, as if it knew nothing of batches, and tells from which feed a row came.
    struct Batches;

    impl Simulator for Batches {
        fn summaries(&self) -> usize {
            1
        }

        fn simulate(
            &self,
            _: &[f64],
            _: &mut counterpoise_core::stream::Stream,
            _: &mut [f64],
        ) -> Result<(), Failure> {
            unreachable!()
        }

        fn simulate_rows(&self, _: &Jobs<'_>, feed: &mut dyn Feed) {
            static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            let call = CALLS.fetch_add(1, Ordering::Relaxed) as f64;
            while let Some(row) = feed.next() {
                feed.finish(row, &[call], Ok(()));
                std::thread::yield_now();
            }
        }

        fn batch(&self) -> usize {
            6
        }
    }

    #[test]
    fn a_batch_is_one_workers() {
        let thetas = Table::filled(100, 1, 0.0);
        // Row 1 of these is row 6 of the generation, the first of a batch.
        let jobs =
            Jobs { thetas: &thetas, seed: counterpoise_core::stream::Seed(1), generation: 0, first: 5 };
        let rows: Vec<usize> = (0..100).filter(|row| row % 7 != 2).collect();
        for chunk in [None, Some(1), Some(4)] {
            let mut made = std::collections::BTreeMap::new();
            let mut sink = |chunk: Chunk| {
                made.extend(chunk.rows.iter().copied().zip(chunk.summaries.values().iter().copied()));
                ControlFlow::Continue(())
            };
            Threads::new(Batches, 3, chunk).run(jobs, &rows, &mut sink).unwrap();
            assert!(made.keys().eq(&rows));
            let batch = |row: usize| (row + jobs.first as usize) / 6;
            let of_a_batch = |a: &(&usize, &f64), b: &(&usize, &f64)| batch(*a.0) == batch(*b.0);
            let rows: Vec<(&usize, &f64)> = made.iter().collect();
            for batch in rows.chunk_by(of_a_batch) {
                assert!(batch.iter().all(|(_, call)| *call == batch[0].1), "{batch:?}");
            }
        }
    }

    #[test]
    fn chunks_grow_until_they_take_half_a_second() {
        assert_eq!(paced(1, Duration::from_micros(1)), 4);
        assert_eq!(paced(LARGEST_CHUNK, Duration::from_millis(1)), LARGEST_CHUNK);
        assert_eq!(paced(16, Duration::from_secs(4)), 2);
        assert_eq!(paced(1, Duration::from_secs(9)), 1);
    }
}
