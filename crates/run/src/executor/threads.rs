//! Runs an in-process simulator on threads.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Chunk, Jobs};
use counterpoise_core::table::Table;

use super::{Executor, ExecutorError};

/// Rows handed out at a time, at the most, and how long they should take, where the caller does not say.
const LARGEST_CHUNK: usize = 8_192;
const CHUNK_TIME: Duration = Duration::from_millis(500);

/// Runs an in-process simulator on a fixed number of threads.
#[derive(Debug)]
pub struct Threads<S> {
    simulator: S,
    threads: usize,
    chunk: Option<usize>,
}

impl<S: Simulator> Threads<S> {
    /// An executor with `threads` workers. A worker takes `chunk` rows at a time, or where that is `None` as many
    /// as take it about half a second, and no more than a share of what is left: nobody waits long for a slow
    /// row at the end, and a run can be broken off soon.
    pub fn new(simulator: S, threads: usize, chunk: Option<usize>) -> Self {
        Self { simulator, threads: threads.max(1), chunk }
    }

    fn next<'a>(&self, left: &Mutex<&'a [usize]>, pace: usize) -> Option<&'a [usize]> {
        let mut left = left.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let share = (left.len() / (8 * self.threads)).clamp(1, pace);
        let size = self.chunk.unwrap_or(share).max(1).min(left.len());
        let (taken, rest) = left.split_at(size);
        *left = rest;
        (!taken.is_empty()).then_some(taken)
    }

    /// Simulates until nothing is left, or a stop is asked for, or `deliver` takes no more.
    fn work(
        &self,
        jobs: &Jobs<'_>,
        left: &Mutex<&[usize]>,
        stop: &AtomicBool,
        mut deliver: impl FnMut(Chunk) -> bool,
    ) {
        let mut pace = 1;
        while !stop.load(Ordering::Relaxed) {
            let Some(rows) = self.next(left, pace) else { return };
            let clock = Instant::now();
            let chunk = self.simulate(jobs, rows);
            pace = paced(rows.len(), clock.elapsed());
            if !deliver(chunk) {
                return;
            }
        }
    }

    fn simulate(&self, jobs: &Jobs<'_>, rows: &[usize]) -> Chunk {
        catch_unwind(AssertUnwindSafe(|| self.simulator.simulate_rows(jobs, rows)))
            .unwrap_or_else(|_| self.one_by_one(jobs, rows))
    }

    /// After a panic somewhere in a chunk: finds which rows are to blame.
    fn one_by_one(&self, jobs: &Jobs<'_>, rows: &[usize]) -> Chunk {
        let mut summaries = Table::filled(rows.len(), self.simulator.summaries(), f64::NAN);
        let mut outcomes = Vec::with_capacity(rows.len());
        for (slot, &row) in rows.iter().enumerate() {
            let result = catch_unwind(AssertUnwindSafe(|| self.simulator.simulate_rows(jobs, &[row])));
            outcomes.push(match result {
                Ok(chunk) => {
                    summaries.row_mut(slot).copy_from_slice(chunk.summaries.row(0));
                    chunk.outcomes[0].clone()
                }
                Err(payload) => Err(Failure::Crashed(panic_text(&*payload))),
            });
        }
        Chunk::new(rows.to_vec(), summaries, outcomes)
    }
}

/// Rows that should take about [`CHUNK_TIME`], given that so many took so long; at most four times as many.
fn paced(rows: usize, took: Duration) -> usize {
    let fitting = rows as f64 * CHUNK_TIME.as_secs_f64() / took.as_secs_f64().max(1e-9);
    (fitting as usize).clamp(1, (4 * rows).min(LARGEST_CHUNK))
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".into())
}

impl<S: Simulator> Executor for Threads<S> {
    fn summaries(&self) -> usize {
        self.simulator.summaries()
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
        if this.threads == 1 {
            this.work(&jobs, &left, &stop, |chunk| sink(chunk).is_continue());
            return Ok(());
        }
        std::thread::scope(|scope| {
            // Bounded: simulations far ahead of the sink would only fill the memory.
            let (sender, receiver) = mpsc::sync_channel(2 * this.threads);
            for _ in 0..this.threads {
                let (sender, left, stop) = (sender.clone(), &left, &stop);
                scope.spawn(move || this.work(&jobs, left, stop, |chunk| sender.send(chunk).is_ok()));
            }
            drop(sender);
            for chunk in receiver {
                if sink(chunk).is_break() {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_grow_until_they_take_half_a_second() {
        assert_eq!(paced(1, Duration::from_micros(1)), 4);
        assert_eq!(paced(LARGEST_CHUNK, Duration::from_millis(1)), LARGEST_CHUNK);
        assert_eq!(paced(16, Duration::from_secs(4)), 2);
        assert_eq!(paced(1, Duration::from_secs(9)), 1);
    }
}
