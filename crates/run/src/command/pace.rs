//! How far ahead a program is told its rows: as far as it gets within a moment.

use std::time::{Duration, Instant};

/// Work that a program knows of ahead: no more than this is lost with the program or with this process. Rows that take
/// longer than half of it are told one by one.
const AHEAD: Duration = Duration::from_millis(1);
/// Rows that it knows of, at the most and, where lines are long, at the least.
const MOST: usize = 64;
const LEAST: usize = 4;
/// Bytes that may be on their way, each way; a pipe takes twice as much.
const BYTES: usize = 32_768;
/// Bytes of a line, beside its numbers, and of a number.
const LINE: usize = 64;
const NUMBER: usize = 26;
/// What a row is thought to take before any was seen, so that some twenty quick answers are needed at first.
const UNKNOWN: Duration = Duration::from_millis(4);
/// How much the last rows count.
const SHARE: f64 = 1.0 / 8.0;
/// With fewer rows under way nobody waits for more answers than one.
const FEW: usize = 4;

/// The time that a program takes for a row, of late.
#[derive(Debug)]
pub(super) struct Pace {
    /// Seconds.
    mean: f64,
    /// Since when it has had work, and how many answers it has given since.
    since: Instant,
    answers: u32,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { mean: UNKNOWN.as_secs_f64(), since: now, answers: 0 }
    }

    /// An answer came.
    pub(super) fn count(&mut self) {
        self.answers += 1;
    }

    /// Takes note of the answers since the last time; or of none, where the program had nothing to do.
    pub(super) fn look(&mut self, now: Instant, idle: bool) {
        if self.answers > 0 {
            let each = (now - self.since).as_secs_f64() / f64::from(self.answers);
            self.mean += SHARE * (each - self.mean);
        } else if !idle {
            return;
        }
        (self.since, self.answers) = (now, 0);
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    /// Rows that the program may know of, where lines have so many numbers.
    pub(super) fn ahead(&self, numbers: usize) -> usize {
        let fitting = AHEAD.as_secs_f64() / self.mean.max(1e-9);
        if fitting < 2.0 {
            return 1;
        }
        (fitting as usize).min((BYTES / (LINE + NUMBER * numbers)).clamp(LEAST, MOST))
    }

    /// How long answers may gather, where so many rows are under way: a wake-up for each would cost more than a quick row.
    pub(super) fn gather(&self, told: usize) -> Duration {
        let due = Duration::from_secs_f64(self.mean * told as f64 / 4.0);
        if told < FEW { Duration::ZERO } else { due.min(AHEAD / 4) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pace after so many rows of this time, told one by one.
    fn after(rows: u32, micros: u64) -> (Pace, Instant) {
        let mut now = Instant::now();
        let mut pace = Pace::new(now);
        for _ in 0..rows {
            now += Duration::from_micros(micros);
            pace.count();
            pace.look(now, true);
        }
        (pace, now)
    }

    #[test]
    fn quick_programs_are_told_a_millisecond_ahead_and_others_one_row() {
        for (micros, ahead) in [(5, 64), (50, 19), (400, 2), (600, 1), (1_000_000, 1)] {
            let (pace, _) = after(200, micros);
            assert_eq!(pace.ahead(2), ahead, "{micros}");
            let told = Duration::from_micros(micros) * ahead as u32;
            assert!(ahead == 1 || told <= AHEAD, "{told:?}");
            assert!(pace.gather(ahead) <= told / 4 + Duration::from_micros(1), "{:?}", pace.gather(ahead));
        }
    }

    #[test]
    fn some_answers_must_come_first_and_a_slow_one_counts_for_long() {
        assert_eq!(after(8, 5).0.ahead(2), 1);
        assert!(after(24, 5).0.ahead(2) > 1);
        let (mut pace, mut now) = after(200, 5);
        now += Duration::from_secs(1);
        pace.count();
        pace.look(now, true);
        for _ in 0..20 {
            now += Duration::from_micros(5);
            pace.count();
            pace.look(now, true);
        }
        assert_eq!(pace.ahead(2), 1);
        // An answer that is waited for is no answer, and a rest between two generations is no row.
        let (mut pace, mut now) = after(200, 5);
        for idle in [false, true] {
            now += Duration::from_secs(3);
            pace.look(now, idle);
        }
        now += Duration::from_micros(5);
        pace.count();
        pace.look(now, false);
        assert_eq!(pace.ahead(2), 64);
        pace.forget(now);
        assert_eq!((pace.ahead(2), pace.gather(1)), (1, Duration::ZERO));
    }

    #[test]
    fn long_lines_are_fewer() {
        let (pace, _) = after(200, 5);
        assert_eq!([2, 34, 1_000, 100_000].map(|numbers| pace.ahead(numbers)), [64, 34, 4, 4]);
    }
}
