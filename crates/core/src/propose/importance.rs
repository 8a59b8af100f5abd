//! Importance log weights, computed for the rows that are asked for and remembered.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Kernel;
use crate::problem::Prior;
use crate::table::Table;

/// `ln prior - ln kernel` of each row; zero where the prior itself proposed.
///
/// A kernel density costs one pass over the previous population, so only rows that a search looks at or that
/// are kept are ever computed. The values depend on the row alone: the memory can never show in a result.
pub struct Importance<'a> {
    source: Option<(&'a Prior, &'a dyn Kernel, &'a Table)>,
    memory: Vec<AtomicU64>,
}

/// Marks a weight that has not been computed; a NaN that arithmetic does not produce.
const UNKNOWN: u64 = u64::MAX;

impl<'a> Importance<'a> {
    /// Equal weights: the prior proposed.
    #[must_use]
    pub fn equal() -> Self {
        Self { source: None, memory: Vec::new() }
    }

    /// The weights of `units`, which `kernel` proposed.
    #[must_use]
    pub fn new(prior: &'a Prior, kernel: &'a dyn Kernel, units: &'a Table) -> Self {
        let memory = (0..units.rows()).map(|_| AtomicU64::new(UNKNOWN)).collect();
        Self { source: Some((prior, kernel, units)), memory }
    }

    /// Weights that are known, a row each, as their logarithms.
    #[must_use]
    pub fn known(ln: &[f64]) -> Self {
        Self { source: None, memory: ln.iter().map(|value| AtomicU64::new(value.to_bits())).collect() }
    }

    /// Whether all rows weigh the same.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.memory.is_empty()
    }

    /// The log weight of `row`.
    #[must_use]
    pub fn ln(&self, row: u32) -> f64 {
        let Some(slot) = self.memory.get(row as usize) else { return 0.0 };
        let known = slot.load(Ordering::Relaxed);
        if known != UNKNOWN {
            return f64::from_bits(known);
        }
        let Some((prior, kernel, units)) = self.source else { return 0.0 };
        let unit = units.row(row as usize);
        let value = prior.ln_density(unit) - kernel.ln_density(unit);
        slot.store(value.to_bits(), Ordering::Relaxed);
        value
    }
}
