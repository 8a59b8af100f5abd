//! Importance log weights, computed for the rows that are asked for and remembered.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Densities, Kernel};
use crate::problem::Prior;
use crate::table::Table;

/// `ln prior - ln kernel` of each row; zero where the prior itself proposed.
///
/// A kernel density costs one pass over the previous population, so only rows that a search looks at or that
/// are kept are ever computed. The values depend on the row alone: the memory can never show in a result.
pub struct Importance<'a> {
    source: Option<Source<'a>>,
    memory: Vec<AtomicU64>,
}

struct Source<'a> {
    prior: &'a Prior,
    parts: Vec<Part<'a>>,
    /// Logarithm of the rows in all.
    ln_rows: f64,
    units: &'a Table,
    /// Where generations begin among the rows, and what is remembered of each of theirs.
    remembered: Vec<(usize, &'a Densities)>,
}

/// Some of the rows: where they were proposed from.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    kernel: Option<&'a dyn Kernel>,
    /// Logarithm of the rows that come from here, less that of the share of draws inside the prior's support.
    ln_scale: f64,
    rows: usize,
}

impl<'a> Part<'a> {
    /// So many rows from a kernel, or the prior, of whose draws a share lay `inside` the prior's support.
    #[must_use]
    pub fn new(kernel: Option<&'a dyn Kernel>, rows: usize, inside: f64) -> Self {
        let inside = if kernel.is_some() { inside } else { 1.0 };
        Self { kernel, ln_scale: libm::log(rows as f64) - libm::log(inside), rows }
    }

    fn ln_density(&self, ln_prior: f64, unit: &[f64]) -> f64 {
        self.ln_scale + self.kernel.map_or(ln_prior, |kernel| kernel.ln_density(unit))
    }
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
        Self::pooled(prior, vec![Part::new(Some(kernel), 1, 1.0)], units, Vec::new())
    }

    /// The weights of `units`, of which each part was proposed from its own kernel: against the mixture of all of
    /// them, so that a row weighs the same wherever it came from (Veach & Guibas 1995; Owen & Zhou 2000). What is
    /// remembered is of the same parts, or of the first of them: rows from there on, the last generation's first.
    #[must_use]
    pub fn pooled(
        prior: &'a Prior,
        parts: Vec<Part<'a>>,
        units: &'a Table,
        remembered: Vec<(usize, &'a Densities)>,
    ) -> Self {
        let memory = (0..units.rows()).map(|_| AtomicU64::new(UNKNOWN)).collect();
        let ln_rows = libm::log(parts.iter().map(|part| part.rows).sum::<usize>() as f64);
        Self { source: Some(Source { prior, parts, ln_rows, units, remembered }), memory }
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
        let Some(source) = &self.source else { return 0.0 };
        let value = source.of_row(row as usize);
        slot.store(value.to_bits(), Ordering::Relaxed);
        value
    }

    /// The log weight that a simulation at this point would have.
    #[must_use]
    pub fn ln_at(&self, unit: &[f64]) -> f64 {
        self.source.as_ref().map_or(0.0, |source| source.at(unit, (&Densities::default(), 0)))
    }

    /// Whether the weight of any point can be told.
    #[must_use]
    pub(crate) fn is_known_anywhere(&self) -> bool {
        self.source.is_some()
    }
}

impl Source<'_> {
    fn of_row(&self, row: usize) -> f64 {
        let unit = self.units.row(row);
        let Some(&(first, remembered)) = self.remembered.iter().rev().find(|(first, _)| *first <= row) else {
            return self.at(unit, (&Densities::default(), 0));
        };
        self.at(unit, (remembered, row - first))
    }

    fn at(&self, unit: &[f64], (remembered, row): (&Densities, usize)) -> f64 {
        let ln_prior = self.prior.ln_density(unit);
        let density = remembered.sum(row, self.parts.len(), |part, sum| {
            let own = self.parts[part].ln_density(ln_prior, unit);
            let (most, least) = if own > sum { (own, sum) } else { (sum, own) };
            if least > most - 700.0 { most + libm::log1p(libm::exp(least - most)) } else { most }
        });
        ln_prior - density + self.ln_rows
    }
}
