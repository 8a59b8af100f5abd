//! A model that turns parameters into summaries, and the ways one simulation can fail.

use std::time::Duration;

use crate::simulate::{Chunk, Jobs};
use crate::stream::Stream;
use crate::table::Table;

/// Why one simulation has no usable summaries. A value, not an error: the run goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A summary was NaN or infinite.
    #[error("summary {column} is not finite")]
    NotFinite {
        /// First offending column.
        column: usize,
    },
    /// The simulator panicked, exited, or answered nonsense.
    #[error("simulator crashed: {0}")]
    Crashed(String),
    /// The simulator ran longer than allowed.
    #[error("simulator exceeded {0:?}")]
    TimedOut(Duration),
    /// The simulator declined these parameters.
    #[error("simulator declined: {0}")]
    Declined(String),
}

/// A model that turns parameters into summaries.
pub trait Simulator: Send + Sync {
    /// Number of summaries written by [`Simulator::simulate`].
    fn summaries(&self) -> usize;

    /// Simulates once. Must draw only from `rng` and write every element of `summaries`.
    ///
    /// # Errors
    /// A [`Failure`] when there are no summaries for this `theta`: counted, never fatal.
    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure>;

    /// Simulates many rows. Override only for a vectorised simulator.
    fn simulate_rows(&self, jobs: &Jobs<'_>, rows: &[usize]) -> Chunk {
        let mut summaries = Table::filled(rows.len(), self.summaries(), f64::NAN);
        let mut streams = jobs.streams();
        let mut one = |(slot, &row): (usize, &usize)| {
            self.simulate(jobs.theta(row), &mut streams.at(row as u64), summaries.row_mut(slot))
        };
        let outcomes = rows.iter().enumerate().map(&mut one).collect();
        Chunk::new(rows.to_vec(), summaries, outcomes)
    }
}

impl<S: Simulator + ?Sized> Simulator for Box<S> {
    fn summaries(&self) -> usize {
        (**self).summaries()
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        (**self).simulate(theta, rng, summaries)
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, rows: &[usize]) -> Chunk {
        (**self).simulate_rows(jobs, rows)
    }
}
