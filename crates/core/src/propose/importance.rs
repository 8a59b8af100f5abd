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
    source: Option<(&'a Prior, Vec<Part<'a>>, &'a Table)>,
    memory: Vec<AtomicU64>,
}

/// Some of the rows: where they were proposed from.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The kernel; `None` when the prior proposed.
    pub kernel: Option<&'a dyn Kernel>,
    /// The share of all rows that come from here, and the share of the kernel's draws inside the prior's support.
    pub share: f64,
    /// See `share`.
    pub inside: f64,
}

impl Part<'_> {
    fn ln_density(&self, ln_prior: f64, unit: &[f64]) -> f64 {
        let own = match self.kernel {
            Some(kernel) => kernel.ln_density(unit) - libm::log(self.inside),
            None => ln_prior,
        };
        own + libm::log(self.share)
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
        Self::pooled(prior, vec![Part { kernel: Some(kernel), share: 1.0, inside: 1.0 }], units)
    }

    /// The weights of `units`, of which each part was proposed from its own kernel: against the mixture of all of
    /// them, so that a row weighs the same wherever it came from (Veach & Guibas 1995; Owen & Zhou 2000).
    #[must_use]
    pub fn pooled(prior: &'a Prior, parts: Vec<Part<'a>>, units: &'a Table) -> Self {
        let memory = (0..units.rows()).map(|_| AtomicU64::new(UNKNOWN)).collect();
        Self { source: Some((prior, parts, units)), memory }
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
        let Some((_, _, units)) = &self.source else { return 0.0 };
        let value = self.ln_at(units.row(row as usize));
        slot.store(value.to_bits(), Ordering::Relaxed);
        value
    }

    /// The log weight that a simulation at this point would have.
    #[must_use]
    pub fn ln_at(&self, unit: &[f64]) -> f64 {
        let Some((prior, parts, _)) = &self.source else { return 0.0 };
        let ln_prior = prior.ln_density(unit);
        let mut density = f64::NEG_INFINITY;
        for part in parts {
            let own = part.ln_density(ln_prior, unit);
            let (most, least) = if own > density { (own, density) } else { (density, own) };
            density = if least > most - 700.0 { most + libm::log1p(libm::exp(least - most)) } else { most };
        }
        ln_prior - density
    }

    /// Whether the weight of any point can be told.
    #[must_use]
    pub(crate) fn is_known_anywhere(&self) -> bool {
        self.source.is_some()
    }
}
