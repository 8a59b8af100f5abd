//! How soon a program is started again after others have died.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Deaths in a row that are taken for chance.
const CHANCE: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How often to ask whether anybody still waits.
const SLICE: Duration = Duration::from_millis(50);
/// Starts that are tried for a row before it is given up.
const STARTS: u32 = 3;

/// Deaths since the last good answer, of whichever worker.
#[derive(Debug, Default)]
pub(super) struct BackOff {
    deaths: AtomicU32,
}

impl BackOff {
    /// A program has answered as it should.
    pub(super) fn is_well(&self) {
        // Read first: a store by every worker for every row would move the line between processors.
        if self.deaths.load(Ordering::Relaxed) > 0 {
            self.deaths.store(0, Ordering::Relaxed);
        }
    }

    /// A program has died.
    pub(super) fn has_died(&self) {
        self.deaths.fetch_add(1, Ordering::Relaxed);
    }

    /// Starts a program, if need be in some attempts: trouble of a moment should cost no row. `None` when nobody
    /// waits any more.
    pub(super) fn start<T, E>(
        &self,
        mut start: impl FnMut() -> Result<T, E>,
        cut: &dyn Fn() -> bool,
    ) -> Option<Result<T, E>> {
        let mut attempts = 0;
        loop {
            if !self.pause(cut) {
                return None;
            }
            attempts += 1;
            let started = start();
            if started.is_ok() || attempts == STARTS {
                return Some(started);
            }
            self.has_died();
        }
    }

    /// Waits as long as the deaths of late advise; false when nobody waits any more.
    fn pause(&self, cut: &dyn Fn() -> bool) -> bool {
        let (start, pause) = (Instant::now(), after(self.deaths.load(Ordering::Relaxed)));
        while !cut() {
            let left = pause.saturating_sub(start.elapsed());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(SLICE));
        }
        false
    }
}

/// The pause after so many deaths in a row: none at first, then doubled each time.
fn after(deaths: u32) -> Duration {
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
        let back_off = BackOff::default();
        let waited = || {
            let start = Instant::now();
            assert!(back_off.pause(&|| false));
            start.elapsed()
        };
        back_off.has_died();
        back_off.has_died();
        assert!(waited() < FIRST_PAUSE);
        back_off.has_died();
        assert!(waited() >= FIRST_PAUSE);
        assert!(!back_off.pause(&|| true));
        back_off.is_well();
        assert!(waited() < FIRST_PAUSE);
        assert_eq!(after(u32::MAX), LONGEST_PAUSE);
        assert_eq!([after(3), after(4), after(6)].map(|pause| pause.as_millis()), [10, 20, 80]);
    }

    #[test]
    fn a_start_that_fails_is_tried_again_but_not_for_ever() {
        let back_off = BackOff::default();
        let mut tries = 0;
        let started = back_off.start(
            || {
                tries += 1;
                if tries < 3 { Err(tries) } else { Ok(tries) }
            },
            &|| false,
        );
        assert_eq!(started, Some(Ok(3)));
        assert_eq!(back_off.start(|| Err::<(), _>("never"), &|| false), Some(Err("never")));
        assert_eq!(back_off.start(|| Err::<(), _>("never"), &|| true), None, "nobody waits");
    }
}
