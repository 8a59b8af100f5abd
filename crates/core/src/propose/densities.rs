//! How densely the rows of a generation were proposed by all generations so far, remembered from one to the next.

use std::sync::atomic::{AtomicU64, Ordering};

/// For each row the logarithm of a sum over the first so many kernels, where it is known. Another generation adds its
/// own kernel and does not look at the others again. What is remembered is a function of the row: the memory never shows
/// in a result.
#[derive(Debug, Default)]
pub struct Densities(Vec<AtomicU64>);

/// Marks what is not known; a NaN that arithmetic does not produce.
const UNKNOWN: u64 = u64::MAX;
/// The lowest bits of a sum say over how many kernels it runs, so that both are read and written at once. Sums of rows that
/// have a place here are rounded to the others, to one part in 10^13, whether they are known already or not.
const COUNT: u64 = 0xff;

impl Densities {
    /// Nothing is known of any row.
    #[must_use]
    pub fn unknown(rows: usize) -> Self {
        Self((0..rows).map(|_| AtomicU64::new(UNKNOWN)).collect())
    }

    /// The sum over all of so many kernels; `more` gives that over one more, whose number it is told.
    pub(super) fn sum(&self, row: usize, kernels: usize, more: impl Fn(usize, f64) -> f64) -> f64 {
        let slot = self.0.get(row).filter(|_| kernels as u64 <= COUNT);
        let known = slot.map_or(UNKNOWN, |slot| slot.load(Ordering::Relaxed));
        let (mut sum, mut over) = match known {
            UNKNOWN => (f64::NEG_INFINITY, 0),
            bits => (f64::from_bits(bits & !COUNT), (bits & COUNT) as usize),
        };
        if over > kernels {
            (sum, over) = (f64::NEG_INFINITY, 0);
        }
        let rounded = if slot.is_some() { COUNT } else { 0 };
        for kernel in over..kernels {
            sum = f64::from_bits(more(kernel, sum).to_bits() & !rounded);
        }
        if let Some(slot) = slot.filter(|_| over < kernels) {
            slot.store(sum.to_bits() | kernels as u64, Ordering::Relaxed);
        }
        sum
    }
}

impl Clone for Densities {
    fn clone(&self) -> Self {
        Self::unknown(self.0.len())
    }
}

/// What is remembered is no part of what is compared.
impl PartialEq for Densities {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_is_remembered_is_what_is_computed() {
        let (calls, memory) = (Cell::new(0), Densities::unknown(2));
        let more = |kernel: usize, sum: f64| {
            calls.set(calls.get() + 1);
            let own = -1.0 / (kernel as f64 + 3.0);
            if sum == f64::NEG_INFINITY { own } else { sum.max(own) + 0.1 }
        };
        let at_once = Densities::unknown(1).sum(0, 4, more);
        assert_eq!(calls.get(), 4);
        memory.sum(0, 2, more);
        assert_eq!(memory.sum(0, 4, more).to_bits(), at_once.to_bits());
        assert_eq!(memory.sum(0, 4, more).to_bits(), at_once.to_bits());
        assert_eq!(calls.get(), 8, "each kernel once");
        assert_eq!(memory.sum(1, 4, more).to_bits(), at_once.to_bits());
        let nowhere = Densities::default().sum(0, 4, more);
        assert!((nowhere - at_once).abs() < 1e-12);
        assert_eq!(memory.sum(0, 300, more).to_bits(), Densities::default().sum(0, 300, more).to_bits());
    }
}
