//! How many of many equal pieces of work are done, and how long the others will take.

use std::sync::Mutex;
use std::time::Instant;

use super::number::duration;
use crate::output::Output;

/// Seconds between two lines.
const PAUSE: f64 = 2.0;

/// Counts pieces of work that end on any thread, and says a line now and then.
pub(crate) struct Tally {
    output: Output,
    what: &'static str,
    total: usize,
    start: Instant,
    state: Mutex<State>,
}

struct State {
    done: usize,
    said: f64,
}

impl Tally {
    /// Nothing done of so many.
    pub(crate) fn new(output: Output, what: &'static str, total: usize) -> Self {
        let state = Mutex::new(State { done: 0, said: 0.0 });
        Self { output, what, total, start: Instant::now(), state }
    }

    /// One more is done.
    pub(crate) fn done(&self) {
        self.more(1);
    }

    /// Some more are done.
    pub(crate) fn more(&self, pieces: usize) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.done += pieces;
        let now = self.start.elapsed().as_secs_f64();
        if now - state.said >= PAUSE && state.done > 0 && state.done < self.total {
            state.said = now;
            let left = now * (self.total - state.done) as f64 / state.done as f64;
            let (done, total, what) = (state.done, self.total, self.what);
            self.output.note(&format!("{done} of {total} {what}, {} left", duration(left)));
        }
    }
}
