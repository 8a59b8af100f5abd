//! Workers that wait for work, and how soon a new one is started after others have died.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Deaths in a row that are taken for chance.
const CHANCE: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often to ask whether anybody still waits.
const SLICE: Duration = Duration::from_millis(50);

/// Workers that wait for work.
#[derive(Debug)]
pub(super) struct Pool<W> {
    idle: Mutex<Vec<W>>,
    /// Deaths since the last good answer, of whichever worker.
    deaths: AtomicU32,
}

impl<W> Default for Pool<W> {
    fn default() -> Self {
        Self { idle: Mutex::default(), deaths: AtomicU32::new(0) }
    }
}

impl<W> Pool<W> {
    fn idle(&self) -> MutexGuard<'_, Vec<W>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker that waits, if there is one.
    pub(super) fn take(&self) -> Option<W> {
        self.idle().pop()
    }

    /// A worker that has no work at present.
    pub(super) fn put(&self, worker: W) {
        self.idle().push(worker);
    }

    /// All workers that wait.
    pub(super) fn take_all(&self) -> Vec<W> {
        std::mem::take(&mut *self.idle())
    }

    /// A worker has answered as it should.
    pub(super) fn is_well(&self) {
        // Read first: a store by every worker for every row would move the line between processors.
        if self.deaths.load(Ordering::Relaxed) > 0 {
            self.deaths.store(0, Ordering::Relaxed);
        }
    }

    /// A worker has died.
    pub(super) fn has_died(&self) {
        self.deaths.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits as long as the deaths of late advise before another is started; false when nobody waits any more.
    pub(super) fn back_off(&self, cut: &dyn Fn() -> bool) -> bool {
        let (start, pause) = (Instant::now(), pause(self.deaths.load(Ordering::Relaxed)));
        while start.elapsed() < pause {
            if cut() {
                return false;
            }
            std::thread::sleep(SLICE.min(pause.saturating_sub(start.elapsed())));
        }
        true
    }
}

/// The pause after so many deaths in a row: none at first, then doubled each time.
fn pause(deaths: u32) -> Duration {
    match deaths.checked_sub(CHANCE + 1) {
        None => Duration::ZERO,
        Some(over) => (FIRST_PAUSE * 2u32.saturating_pow(over.min(20))).min(LONGEST_PAUSE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_deaths_in_a_row_delay() {
        let pool: Pool<()> = Pool::default();
        let waited = || {
            let start = Instant::now();
            assert!(pool.back_off(&|| false));
            start.elapsed()
        };
        pool.has_died();
        pool.has_died();
        assert!(waited() < FIRST_PAUSE);
        pool.has_died();
        assert!(waited() >= FIRST_PAUSE);
        assert!(!pool.back_off(&|| true));
        pool.is_well();
        assert!(waited() < FIRST_PAUSE);
        assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
        assert_eq!([pause(3), pause(4), pause(6)].map(|pause| pause.as_millis()), [10, 20, 80]);
    }
}
