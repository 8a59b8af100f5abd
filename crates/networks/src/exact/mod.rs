//! Exact simulation, by the method that is fastest for the network at hand.

mod events;
mod lanes;
mod log;
mod logarithm;
mod next;
mod queue;
mod timed;
mod wide;

pub(crate) use events::Events;
pub(crate) use lanes::Lanes;
pub(crate) use next::{Graph, Next, suits_lanes};
pub(crate) use timed::Timed;

use counterpoise_core::fours::Plain;
use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;

use logarithm::minus_ln;

use crate::expression::program::Register;
use crate::observe::Recorder;

/// When a trajectory is given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Reactions in a trajectory.
    pub(crate) max_events: u64,
    /// Reactions a unit of time above which the clock, a float, would no longer move with each.
    pub(crate) ceiling: f64,
}

impl Limits {
    pub(crate) fn new(max_events: Option<u64>, end: f64) -> Self {
        let ceiling = 1.0 / (f64::EPSILON * end.max(f64::MIN_POSITIVE));
        Self { max_events: max_events.unwrap_or(u64::MAX), ceiling: ceiling.min(f64::MAX) }
    }

    /// # Errors
    /// If there were too many events.
    pub(crate) fn allow(&self, events: u64) -> Result<(), Failure> {
        if events <= self.max_events {
            return Ok(());
        }
        Err(Failure::Declined(format!("it takes more than max_events = {} reactions", self.max_events)))
    }
}

/// Why a trajectory has no end.
pub(crate) enum Ended {
    Failed(Failure),
    /// Nobody waits for it any more.
    Cut,
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Events between two looks at whether anyone still waits.
pub(crate) const PATIENCE: u64 = 1 << 12;

/// A simulator of one trajectory at a time, with the memory it uses again and again.
pub(crate) trait OneByOne {
    /// Makes a trajectory, measured and written down.
    ///
    /// # Errors
    /// If it fails, or is not waited for any more.
    fn trajectory(
        &mut self,
        theta: &[f64],
        rng: &mut Stream,
        summaries: &mut [f64],
        is_cut: &dyn Fn() -> bool,
    ) -> Result<(), Ended>;
}

/// One trajectory.
pub(crate) fn simulate(
    one: &mut dyn OneByOne,
    theta: &[f64],
    rng: &mut Stream,
    summaries: &mut [f64],
) -> Result<(), Failure> {
    match one.trajectory(theta, rng, summaries, &|| false) {
        Err(Ended::Failed(failure)) => Err(failure),
        Ok(()) | Err(Ended::Cut) => Ok(()),
    }
}

/// All the rows of a feed, one after another.
pub(crate) fn simulate_rows(one: &mut dyn OneByOne, columns: usize, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
    let (mut summaries, mut streams) = (vec![f64::NAN; columns], jobs.streams());
    while let Some(row) = feed.next() {
        let ended = one.trajectory(jobs.theta(row), &mut streams.at(row), &mut summaries, &|| feed.is_cut());
        match ended {
            Ok(()) => feed.finish(row, &summaries, Ok(())),
            Err(Ended::Failed(failure)) => feed.finish(row, &summaries, Err(failure)),
            Err(Ended::Cut) => return,
        }
    }
}

/// An exponential variate of mean 1.
#[inline(always)]
fn exponential(rng: &mut Stream) -> f64 {
    // Three lanes of four are nobody's, and are not computed.
    minus_ln(Plain, [rng.uniform(); 4])[0]
}

/// Writes down every observation before `now`: the number of the next.
#[inline(always)]
fn observe(
    recorder: &Recorder,
    next: usize,
    now: f64,
    registers: &[[f64; 1]],
    summaries: &mut [f64],
) -> usize {
    let after = recorder.finder().passed(next, now);
    let value = |register: Register| registers[register as usize][0];
    recorder.record(next..after, value, registers.len(), summaries);
    after
}
