//! Chunks on their way from threads to whoever takes them: each at once, or those of a moment together where they are many.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use counterpoise_core::simulate::Chunk;
use counterpoise_core::table::Table;

/// Chunks that come more often than this, so many of them in a row, are taken together after as long: to be woken for each
/// costs more than a quick simulation. No longer are they unsafe.
const OFTEN: Duration = Duration::from_micros(250);
const ENOUGH: u32 = 32;

/// The receiving end.
#[derive(Debug)]
pub(super) struct Intake {
    receiver: Receiver<Chunk>,
    /// Whether chunks may be put together.
    gathers: bool,
    /// When the last ones were taken, and how many came in a row that came often.
    last: Instant,
    often: u32,
}

impl Intake {
    pub(super) fn new(receiver: Receiver<Chunk>, gathers: bool) -> Self {
        Self { receiver, gathers, last: Instant::now(), often: 0 }
    }

    /// The next chunk, or several in one, within so much time.
    pub(super) fn next(&mut self, most: Duration) -> Result<Chunk, RecvTimeoutError> {
        let lazy = self.gathers && self.often >= ENOUGH;
        if lazy {
            std::thread::sleep(OFTEN);
        }
        let first = self.receiver.recv_timeout(most)?;
        let more: Vec<Chunk> = if lazy { self.receiver.try_iter().collect() } else { Vec::new() };
        let count = 1 + more.len() as u32;
        let now = Instant::now();
        let came_often = now - self.last < OFTEN * count;
        self.often = if came_often { self.often.saturating_add(count) } else { 0 };
        self.last = now;
        Ok(if more.is_empty() { first } else { together(first, more) })
    }

    /// What is left, one by one.
    pub(super) fn rest(self) -> impl Iterator<Item = Chunk> {
        self.receiver.into_iter()
    }
}

/// Several chunks in one, in their order.
fn together(first: Chunk, more: Vec<Chunk>) -> Chunk {
    let columns = first.summaries.columns();
    let (mut rows, mut values, mut outcomes) =
        (first.rows, first.summaries.values().to_vec(), first.outcomes);
    for chunk in more {
        rows.extend(chunk.rows);
        values.extend_from_slice(chunk.summaries.values());
        outcomes.extend(chunk.outcomes);
    }
    Chunk::new(rows, Table::from_rows(columns, values), outcomes)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use counterpoise_core::problem::Failure;

    use super::*;

    fn chunk(row: usize) -> Chunk {
        let outcome = if row % 7 == 3 { Err(Failure::Declined(row.to_string())) } else { Ok(()) };
        let values = if outcome.is_ok() { vec![row as f64, 0.5] } else { vec![f64::NAN; 2] };
        Chunk::new(vec![row], Table::from_rows(2, values), vec![outcome])
    }

    /// Every row comes once and in order, with its own outcome, whether they come together or not.
    #[test]
    fn what_comes_together_is_what_came() {
        for (gathers, most) in [(true, 200), (false, 1_000)] {
            let (sender, receiver) = sync_channel(2_000);
            let mut intake = Intake::new(receiver, gathers);
            (0..1_000).for_each(|row| sender.send(chunk(row)).unwrap());
            drop(sender);
            let (mut taken, mut chunks) = (0, 0);
            while let Ok(chunk) = intake.next(Duration::from_secs(10)) {
                chunks += 1;
                for (slot, &row) in chunk.rows.iter().enumerate() {
                    let one = self::chunk(row);
                    assert_eq!((row, &chunk.outcomes[slot]), (taken, &one.outcomes[0]));
                    assert!(one.outcomes[0].is_err() || chunk.summaries.row(slot) == one.summaries.row(0));
                    taken += 1;
                }
            }
            assert_eq!(taken, 1_000);
            assert!(chunks <= most && (gathers || chunks == 1_000), "{chunks}");
        }
    }

    /// After many quick ones, a slow one and those behind it are not waited for.
    #[test]
    fn rare_chunks_come_at_once() {
        let (sender, receiver) = sync_channel(2_000);
        let mut intake = Intake::new(receiver, true);
        (0..100).for_each(|row| sender.send(chunk(row)).unwrap());
        while intake.next(Duration::ZERO).is_ok() {}
        assert!(intake.often >= ENOUGH);
        std::thread::sleep(100 * OFTEN);
        sender.send(chunk(100)).unwrap();
        assert_eq!(intake.next(Duration::ZERO).unwrap().rows, [100]);
        assert_eq!(intake.often, 0);
        assert!(intake.next(Duration::ZERO).is_err(), "nothing is there");
    }
}
