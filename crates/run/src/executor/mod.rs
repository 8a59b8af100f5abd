//! Ways to run a generation's jobs.

mod intake;
mod threads;
mod tolerant;

pub use threads::Threads;
pub use tolerant::{Tolerance, Tolerant};

use std::ops::ControlFlow;

use counterpoise_core::digest::FailureExample;
use counterpoise_core::simulate::{Chunk, Jobs};

/// Runs jobs somewhere. Chunks may arrive in any order; their content must not depend on it.
pub trait Executor {
    /// Number of summaries a job.
    fn summaries(&self) -> usize;
    /// Whether a row costs so much that it is kept the moment it is finished.
    fn is_dear(&self) -> bool {
        false
    }
    /// Runs `rows` of `jobs`, handing each finished chunk to `sink` until done or `sink` breaks. Nothing is begun after
    /// that, but rows that are finished are still handed on: they may be dear. A chunk without rows says that time
    /// passes: `sink` is called several times a second.
    ///
    /// # Errors
    /// When the executor itself is broken; a failed simulation is a chunk outcome.
    fn run(
        &mut self,
        jobs: Jobs<'_>,
        rows: &[usize],
        sink: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
    ) -> Result<(), ExecutorError>;
}

/// What points at an executor is one.
impl<E: Executor + ?Sized> Executor for &mut E {
    fn summaries(&self) -> usize {
        (**self).summaries()
    }

    fn is_dear(&self) -> bool {
        (**self).is_dear()
    }

    fn run(
        &mut self,
        jobs: Jobs<'_>,
        rows: &[usize],
        sink: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
    ) -> Result<(), ExecutorError> {
        (**self).run(jobs, rows, sink)
    }
}

/// The executor cannot do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// A worker ended without finishing its rows.
    #[error("{missing} rows were never answered")]
    Unanswered {
        /// Rows without an outcome.
        missing: usize,
    },
    /// Something outside broke: a host program, a cluster.
    #[error("{0}")]
    Outside(String),
    /// More simulations failed than is borne.
    #[error("{failed} of {of} simulations failed; for example row {} at theta = {:?}: {}", first.row, first.theta, first.failure)]
    TooManyFailures {
        /// Failed, of those that were judged.
        failed: usize,
        /// Judged.
        of: usize,
        /// An example.
        first: Box<FailureExample>,
    },
}
