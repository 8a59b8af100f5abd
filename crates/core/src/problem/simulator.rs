//! A model that turns parameters into summaries, and the ways one simulation can fail.

use std::sync::Arc;
use std::time::Duration;

use crate::simulate::{Feed, Jobs};
use crate::stream::Stream;

/// Why one simulation has no usable summaries. A value, not an error: the run goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A summary was NaN or infinite.
    #[error("the statistic in place {column} is not finite")]
    NotFinite {
        /// First offending column.
        column: usize,
    },
    /// The simulator panicked, exited, or answered nonsense.
    #[error("simulator failed: {0}")]
    Crashed(String),
    /// The simulator ran longer than allowed; what more is known of it.
    #[error("simulator exceeded {0:?}{colon}{1}", colon = if .1.is_empty() { "" } else { ": " })]
    TimedOut(Duration, String),
    /// The simulator declined these parameters.
    #[error("simulator declined: {0}")]
    Declined(String),
    /// A row of a table whose parameter of this name is missing, or impossible under the prior.
    #[error("the parameter {0} is missing or lies outside the prior")]
    OutsidePrior(Arc<str>),
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

    /// Simulates the rows of a feed until it has none left. Override only for a simulator of many rows at once.
    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let (mut summaries, mut streams) = (vec![f64::NAN; self.summaries()], jobs.streams());
        while let Some(row) = feed.next() {
            summaries.fill(f64::NAN);
            let outcome = self.simulate(jobs.theta(row), &mut streams.at(row), &mut summaries);
            feed.finish(row, &summaries, outcome);
        }
    }

    /// Whether a row costs so much that it is handed on the moment it is finished, so that little is lost where the
    /// run is killed.
    fn is_dear(&self) -> bool {
        false
    }

    /// Rows that are simulated together, where what becomes of one depends on the others: those of one `row / batch`, counted
    /// from the first of the generation. All of them that are in a feed are given to one call, one behind the other.
    fn batch(&self) -> usize {
        1
    }
}

/// What points at a simulator is one.
macro_rules! forward {
    ($pointer:ty) => {
        impl<S: Simulator + ?Sized> Simulator for $pointer {
            fn summaries(&self) -> usize {
                (**self).summaries()
            }

            fn simulate(
                &self,
                theta: &[f64],
                rng: &mut Stream,
                summaries: &mut [f64],
            ) -> Result<(), Failure> {
                (**self).simulate(theta, rng, summaries)
            }

            fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
                (**self).simulate_rows(jobs, feed);
            }

            fn is_dear(&self) -> bool {
                (**self).is_dear()
            }

            fn batch(&self) -> usize {
                (**self).batch()
            }
        }
    };
}

forward!(Box<S>);
forward!(Arc<S>);
forward!(&S);
