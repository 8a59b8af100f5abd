//! Importance log weights, computed for the rows that are asked for and remembered.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Kernel;
use super::densities::{Densities, NOWHERE};
use crate::elementary::ln_sum_each;
use crate::problem::Prior;
use crate::table::Table;
use crate::workers::{self, Workers};

/// `ln prior - ln kernel` of each row; zero where the prior itself proposed.
///
/// A kernel density costs one pass over the previous population, so only rows that a search looks at or that
/// are kept are ever computed. The values depend on the row alone: the memory can never show in a result.
pub struct Importance<'a> {
    source: Option<Source<'a>>,
    memory: Vec<AtomicU64>,
}

#[derive(Clone)]
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

    /// Writes how densely rows come from here; `ln_prior` has the prior's own density at each of the points.
    fn ln_densities(&self, units: &[&[f64]], ln_prior: impl Iterator<Item = f64>, into: &mut [f64]) {
        match self.kernel {
            Some(kernel) => kernel.ln_densities(units, into),
            None => into.iter_mut().zip(ln_prior).for_each(|(into, ln)| *into = ln),
        }
        into.iter_mut().for_each(|ln| *ln += self.ln_scale);
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

    /// The weights of some rows, by their places among these. All of them are known then: nobody looks for a place among the rows of
    /// the source.
    #[must_use]
    pub(crate) fn of(&self, rows: &[u32], workers: &dyn Workers) -> Self {
        if self.is_equal() {
            return Self { source: self.source.clone(), memory: Vec::new() };
        }
        let parts = workers::map(workers, rows.len().div_ceil(TOGETHER), |part| {
            let rows = &rows[part * TOGETHER..rows.len().min((part + 1) * TOGETHER)];
            self.look_up(rows);
            rows.iter().map(|&row| AtomicU64::new(self.ln(row).to_bits())).collect::<Vec<AtomicU64>>()
        });
        Self { source: self.source.clone(), memory: parts.into_iter().flatten().collect() }
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
        self.look_up(&[row]);
        f64::from_bits(slot.load(Ordering::Relaxed))
    }

    /// Computes the weights of some rows that will be asked for: many together are quicker than one by one.
    pub(crate) fn look_up(&self, rows: &[u32]) {
        let (Some(source), false) = (&self.source, self.memory.is_empty()) else { return };
        let is_open = |row: &u32| self.memory[*row as usize].load(Ordering::Relaxed) == UNKNOWN;
        let open: Vec<u32> = rows.iter().copied().filter(is_open).collect();
        for rows in open.chunks(TOGETHER) {
            let points: Vec<Point<'_>> = rows.iter().map(|&row| source.point(row as usize)).collect();
            for (&row, value) in rows.iter().zip(source.of(&points)) {
                self.memory[row as usize].store(value.to_bits(), Ordering::Relaxed);
            }
        }
    }

    /// The log weights that simulations at these points would have.
    #[must_use]
    pub fn ln_at(&self, units: &Table) -> Vec<f64> {
        let Some(source) = &self.source else { return vec![0.0; units.rows()] };
        let points: Vec<Point<'_>> = units.iter().map(|unit| (unit, &NOWHERE, 0)).collect();
        points.chunks(TOGETHER).flat_map(|points| source.of(points)).collect()
    }

    /// Whether the weight of any point can be told.
    #[must_use]
    pub(crate) fn is_known_anywhere(&self) -> bool {
        self.source.is_some()
    }
}

/// Points whose densities are computed together.
const TOGETHER: usize = 256;

/// A point, and where it is remembered.
type Point<'a> = (&'a [f64], &'a Densities, usize);

impl Source<'_> {
    fn point(&self, row: usize) -> Point<'_> {
        let unit = self.units.row(row);
        let memory = self.remembered.iter().rev().find(|(first, _)| *first <= row);
        memory.map_or((unit, &NOWHERE, 0), |(first, remembered)| (unit, remembered, row - first))
    }

    /// The log weights of points. Each is the same beside whatever others.
    fn of(&self, points: &[Point<'_>]) -> Vec<f64> {
        let kernels = self.parts.len();
        let ln_prior: Vec<f64> = points.iter().map(|(unit, ..)| self.prior.ln_density(unit)).collect();
        let known = points.iter().map(|(_, remembered, row)| remembered.known(*row, kernels));
        let (mut sums, over): (Vec<f64>, Vec<usize>) = known.unzip();
        let mut densities = vec![0.0; points.len()];
        for (number, part) in self.parts.iter().enumerate() {
            let wanting: Vec<usize> = (0..points.len()).filter(|&at| over[at] <= number).collect();
            let units: Vec<&[f64]> = wanting.iter().map(|&at| points[at].0).collect();
            let densities = &mut densities[..units.len()];
            part.ln_densities(&units, wanting.iter().map(|&at| ln_prior[at]), densities);
            let mut more: Vec<f64> = wanting.iter().map(|&at| sums[at]).collect();
            ln_sum_each(&mut more, densities);
            for (&at, &sum) in wanting.iter().zip(&more) {
                let (_, remembered, row) = points[at];
                sums[at] = remembered.rounded(row, kernels, sum);
            }
        }
        for ((_, remembered, row), &sum) in points.iter().zip(&sums) {
            remembered.remember(*row, kernels, sum);
        }
        ln_prior.iter().zip(&sums).map(|(prior, sum)| prior - sum + self.ln_rows).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;
    use crate::propose::{Adaptive, Proposal};
    use crate::workers::Serial;

    #[test]
    fn weights_by_place_are_those_of_the_rows() {
        let (prior, population) = super::super::testing::population(90, 2);
        let kernel = Adaptive.fit(&prior, &population).unwrap();
        let units = gaussian(700, 2, 0.0, 1.0, 5);
        let parts = vec![Part::new(None, 300, 1.0), Part::new(Some(&*kernel), 400, 0.9)];
        let all = Importance::pooled(&prior, parts, &units, Vec::new());
        let rows: Vec<u32> = (0..700).rev().step_by(2).collect();
        let some = all.of(&rows, &Serial);
        for (place, &row) in (0..).zip(&rows) {
            assert_eq!(some.ln(place), all.ln(row));
        }
        assert!(some.is_known_anywhere() && !some.is_equal());
        assert_eq!(some.ln_at(&units), all.ln_at(&units), "wherever somebody asks");
        assert!(Importance::equal().of(&rows, &Serial).is_equal());
    }
}
