//! The first generation's simulations, made once for several methods.

use std::ops::ControlFlow;

use counterpoise_core::problem::Simulator;
use counterpoise_core::simulate::{Chunk, Jobs};

use crate::executor::{Executor, ExecutorError, Threads};

/// Runs jobs on one thread and remembers those of the first generation. All methods that use it in turn, with the same
/// prior, seed and number of simulations, are judged on the same simulations there.
pub struct FirstShared<S> {
    inner: Threads<S>,
    first: Vec<Chunk>,
}

impl<S: Simulator> FirstShared<S> {
    /// An executor for a simulator.
    pub fn new(simulator: S) -> Self {
        Self { inner: Threads::new(simulator, 1, None), first: Vec::new() }
    }
}

impl<S: Simulator> Executor for FirstShared<S> {
    fn summaries(&self) -> usize {
        self.inner.summaries()
    }

    fn run(
        &mut self,
        jobs: Jobs<'_>,
        rows: &[usize],
        sink: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
    ) -> Result<(), ExecutorError> {
        if jobs.generation > 0 {
            return self.inner.run(jobs, rows, sink);
        }
        if self.first.is_empty() {
            let first = &mut self.first;
            self.inner.run(jobs, rows, &mut |chunk| {
                first.push(chunk);
                ControlFlow::Continue(())
            })?;
        }
        for chunk in &self.first {
            if sink(chunk.clone()).is_break() {
                break;
            }
        }
        Ok(())
    }
}
