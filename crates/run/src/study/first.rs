//! The first generation's simulations, made once for several methods.

use std::ops::ControlFlow;

use counterpoise_core::problem::Simulator;
use counterpoise_core::simulate::{Chunk, Jobs};

use crate::executor::{Executor, ExecutorError, Threads};

/// Runs jobs on one thread and remembers those of the first generation. All methods that use it in turn, with the same
/// prior and seed, are judged on the same simulations there; one that asks for another number of them has its own.
pub struct FirstShared<S> {
    inner: Threads<S>,
    rows: Vec<usize>,
    first: Vec<Chunk>,
}

impl<S: Simulator> FirstShared<S> {
    /// An executor for a simulator.
    pub fn new(simulator: S) -> Self {
        Self { inner: Threads::new(simulator, 1, None), rows: Vec::new(), first: Vec::new() }
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
        if self.rows != rows {
            (self.rows, self.first) = (rows.to_vec(), Vec::new());
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

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::problem::Failure;
    use counterpoise_core::stream::{Seed, Stream};
    use counterpoise_core::table::Table;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts how often it is asked.
    struct Counting(AtomicUsize);

    impl Simulator for Counting {
        fn summaries(&self) -> usize {
            1
        }

        fn simulate(&self, theta: &[f64], _: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
            self.0.fetch_add(1, Ordering::Relaxed);
            summaries[0] = theta[0];
            Ok(())
        }
    }

    #[test]
    fn the_first_generation_is_simulated_once_for_equal_numbers_of_rows() {
        let simulator = Counting(AtomicUsize::new(0));
        let thetas = Table::from_rows(1, (0..30).map(f64::from).collect());
        let mut executor = FirstShared::new(&simulator);
        let mut made = |generation: u32, count: usize| {
            let jobs = Jobs { thetas: &thetas, seed: Seed(1), generation, first: 0 };
            let mut rows = Vec::new();
            let taken = executor.run(jobs, &(0..count).collect::<Vec<_>>(), &mut |chunk: Chunk| {
                rows.extend(chunk.rows);
                ControlFlow::Continue(())
            });
            taken.unwrap();
            rows.sort_unstable();
            assert_eq!(rows, (0..count).collect::<Vec<_>>());
            simulator.0.load(Ordering::Relaxed)
        };
        assert_eq!((made(0, 30), made(0, 30)), (30, 30));
        assert_eq!(made(1, 30), 60, "later generations have proposals of their own");
        assert_eq!(made(0, 10), 70, "fewer simulations are others");
    }
}
