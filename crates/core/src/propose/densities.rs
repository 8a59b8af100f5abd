//! How densely the rows of a generation were proposed by all generations so far, remembered from one to the next.

use std::sync::atomic::{AtomicU64, Ordering};

/// For each row the logarithm of a sum over the first so many kernels, where it is known. Another generation adds its
/// own kernel and does not look at the others again. What is remembered is a function of the row: the memory never shows
/// in a result.
#[derive(Debug, Default)]
pub struct Densities(Vec<AtomicU64>);

/// Where nothing is remembered of any row.
pub(super) static NOWHERE: Densities = Densities(Vec::new());

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

    /// The sum of a row as far as it is known, over no more than so many kernels, and over how many it runs.
    pub(super) fn known(&self, row: usize, kernels: usize) -> (f64, usize) {
        let nothing = (f64::NEG_INFINITY, 0);
        match self.slot(row, kernels).map_or(UNKNOWN, |slot| slot.load(Ordering::Relaxed)) {
            UNKNOWN => nothing,
            bits if (bits & COUNT) as usize > kernels => nothing,
            bits => (f64::from_bits(bits & !COUNT), (bits & COUNT) as usize),
        }
    }

    /// A sum as it is remembered of a row.
    pub(super) fn rounded(&self, row: usize, kernels: usize, sum: f64) -> f64 {
        let rounded = if self.slot(row, kernels).is_some() { COUNT } else { 0 };
        f64::from_bits(sum.to_bits() & !rounded)
    }

    /// Remembers the sum over so many kernels.
    pub(super) fn remember(&self, row: usize, kernels: usize, sum: f64) {
        if let Some(slot) = self.slot(row, kernels) {
            slot.store(sum.to_bits() & !COUNT | kernels as u64, Ordering::Relaxed);
        }
    }

    fn slot(&self, row: usize, kernels: usize) -> Option<&AtomicU64> {
        self.0.get(row).filter(|_| kernels as u64 <= COUNT)
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

    #[test]
    fn what_is_remembered_is_what_was_told() {
        let memory = Densities::unknown(2);
        assert_eq!(memory.known(0, 4), (f64::NEG_INFINITY, 0));
        let sum = memory.rounded(0, 2, -1.0 / 3.0);
        assert!((sum + 1.0 / 3.0).abs() < 1e-13);
        memory.remember(0, 2, sum);
        assert_eq!(memory.known(0, 2), (sum, 2));
        assert_eq!(memory.known(0, 4), (sum, 2), "there are more by now");
        assert_eq!(memory.known(0, 1), (f64::NEG_INFINITY, 0), "one is too much");
        assert_eq!(memory.known(1, 4), (f64::NEG_INFINITY, 0));
        // More kernels than can be counted, and rows without a place: nothing is remembered, nothing is rounded.
        memory.remember(0, 300, 1.0);
        assert_eq!(memory.known(0, 2), (sum, 2));
        assert_eq!((memory.known(0, 300), memory.rounded(0, 300, 0.1)), ((f64::NEG_INFINITY, 0), 0.1));
        assert_eq!(Densities::default().rounded(0, 2, 0.1), 0.1);
    }
}
