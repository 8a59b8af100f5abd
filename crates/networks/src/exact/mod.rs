//! Exact simulation, by the method that is fastest for the network at hand.

mod lanes;
mod logarithm;

pub(crate) use lanes::Lanes;

use counterpoise_core::problem::Failure;

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
