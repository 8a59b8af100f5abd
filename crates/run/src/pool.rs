//! Threads for the core's parallel work.

use std::sync::atomic::{AtomicUsize, Ordering};

use counterpoise_core::workers::Workers;

/// Runs pieces of work on up to this many threads.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    threads: usize,
}

impl Pool {
    /// A pool of `threads`, at least one.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { threads: threads.max(1) }
    }

    /// As many threads as the machine offers this process.
    #[must_use]
    pub fn available() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }
}

impl Workers for Pool {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        let threads = self.threads.min(count);
        if threads <= 1 {
            (0..count).for_each(task);
            return;
        }
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return;
                }
                task(index);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::workers::map;

    #[test]
    fn every_index_is_run_once_on_any_number_of_threads() {
        for threads in [1, 2, 3, 8] {
            assert_eq!(map(&Pool::new(threads), 100, |i| i * i), (0..100).map(|i| i * i).collect::<Vec<_>>());
        }
    }
}
