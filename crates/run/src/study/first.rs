//! The first generation's simulations, made once for several methods.

use std::ops::ControlFlow;
use std::time::Instant;

use counterpoise_core::problem::Simulator;
use counterpoise_core::simulate::{Chunk, Jobs};

use crate::executor::{Executor, ExecutorError, Threads};

/// Runs jobs and remembers those of the first generation. All methods that use it in turn, with the same
/// prior and seed, are judged on the same simulations there; one that asks for another number of them has its own.
pub struct FirstShared<S> {
    inner: Threads<S>,
    rows: Vec<usize>,
    first: Vec<Chunk>,
    /// Seconds that making them took, and those of them that the last method was spared.
    cost: f64,
    spared: f64,
}

impl<S: Simulator> FirstShared<S> {
    /// An executor for a simulator, on so many threads.
    pub fn new(simulator: S, threads: usize) -> Self {
        let inner = Threads::new(simulator, threads, None);
        Self { inner, rows: Vec::new(), first: Vec::new(), cost: 0.0, spared: 0.0 }
    }

    /// Seconds that the last method would have taken longer, had it made its first generation itself: with them every method has
    /// its own time, whichever came first.
    #[must_use]
    pub fn spared(&self) -> f64 {
        self.spared
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
        self.spared = self.cost;
        if self.rows != rows {
            let start = Instant::now();
            (self.rows, self.first) = (rows.to_vec(), Vec::new());
            let first = &mut self.first;
            self.inner.run(jobs, rows, &mut |chunk| {
                first.push(chunk);
                ControlFlow::Continue(())
            })?;
            (self.cost, self.spared) = (start.elapsed().as_secs_f64(), 0.0);
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
        let mut executor = FirstShared::new(&simulator, 1);
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
        assert_eq!(executor.spared(), 0.0, "who simulates is spared nothing");
    }

    /// The second method is spared what the first had to wait for.
    #[test]
    fn methods_after_the_first_are_told_what_they_were_spared() {
        struct Slow;
        impl Simulator for Slow {
            fn summaries(&self) -> usize {
                1
            }

            fn simulate(&self, _: &[f64], _: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
                std::thread::sleep(std::time::Duration::from_millis(10));
                summaries[0] = 1.0;
                Ok(())
            }
        }
        let thetas = Table::from_rows(1, vec![0.0; 5]);
        let mut executor = FirstShared::new(Slow, 1);
        let mut spared = || {
            let jobs = Jobs { thetas: &thetas, seed: Seed(1), generation: 0, first: 0 };
            executor.run(jobs, &[0, 1, 2, 3, 4], &mut |_| ControlFlow::Continue(())).unwrap();
            executor.spared()
        };
        assert_eq!(spared(), 0.0);
        assert!(spared() >= 0.05);
        assert!(spared() >= 0.05);
    }
}
