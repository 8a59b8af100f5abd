//! The smallest of many values, without sorting them all.

use crate::select::{SAMPLE_STEP, sample_rank};
use crate::vectors::{Loop, vectorised};

/// Finds the positions of the smallest distances without sorting them all.
#[derive(Default)]
pub(super) struct Selection {
    keys: Vec<u64>,
    sample: Vec<f32>,
}

/// Values looked through at a time.
const LANES: usize = 8;

impl Selection {
    /// Writes the positions of the `keep` smallest values, ties to the lower position, in no special order.
    pub(super) fn nearest(&mut self, values: &[f32], keep: usize, into: &mut Vec<u32>) {
        let threshold = self.guess(values, keep);
        vectorised(Collect { keys: &mut self.keys, values, threshold });
        if self.keys.len() < keep {
            vectorised(Collect { keys: &mut self.keys, values, threshold: f32::INFINITY });
        }
        if keep < self.keys.len() {
            self.keys.select_nth_unstable(keep);
        }
        into.clear();
        into.extend(self.keys[..keep].iter().map(|&key| key as u32));
    }

    /// A value that at least `keep` others are very likely below.
    fn guess(&mut self, values: &[f32], keep: usize) -> f32 {
        self.sample.clear();
        self.sample.extend(values.iter().step_by(SAMPLE_STEP));
        let rank = sample_rank(self.sample.len(), keep, values.len());
        rank.map_or(f32::INFINITY, |rank| *self.sample.select_nth_unstable_by(rank, f32::total_cmp).1)
    }
}

/// Gathers the values up to a threshold. Non-negative floats sort as their bits do, so a key is value, then
/// position.
struct Collect<'a> {
    keys: &'a mut Vec<u64>,
    values: &'a [f32],
    threshold: f32,
}

impl Loop for Collect<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { keys, values, threshold } = self;
        // Every value of a block with a hit is written, and the next overwrites it where it was none: the
        // processor cannot guess which are hits.
        keys.resize(values.len() + LANES, 0);
        let mut count = 0;
        for (block, lanes) in values.chunks(LANES).enumerate() {
            let mut below = 0;
            for &value in lanes {
                below += u32::from(value <= threshold);
            }
            if below > 0 {
                for (i, &value) in lanes.iter().enumerate() {
                    keys[count] = (u64::from(value.to_bits()) << 32) | (block * LANES + i) as u64;
                    count += usize::from(value <= threshold);
                }
            }
        }
        keys.truncate(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select;
    use crate::stream::{Seed, Stage};
    use rand::RngExt;

    #[test]
    fn selection_equals_sorting() {
        let mut rng = Seed(3).stream(Stage::Weigh, 0, 0);
        for size in [30usize, 100, 5000] {
            // Few distinct values: ties at the threshold.
            let values: Vec<f32> = (0..size).map(|_| rng.random_range(0..40u8).into()).collect();
            for keep in [1, size / 20 + 1, size] {
                let mut found = Vec::new();
                Selection::default().nearest(&values, keep, &mut found);
                found.sort_unstable();
                let exact: Vec<f64> = values.iter().map(|&v| v.into()).collect();
                let expected: Vec<u32> =
                    select::nearest(&exact, keep).into_iter().map(|i| i as u32).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
