//! Weights by sensitivity: how much each statistic moves the expected parameters near the observation.

use super::Formula;
use super::deviation::invert;
use crate::linear::{Linear, Sample};
use crate::select;
use crate::view::{View, standard_deviations};

/// Sensitivity weights (Schälte & Hasenauer 2023): a ridge regression of the parameters on the standardised
/// statistics among the simulations nearest to the observation; each parameter shares out a weight of one
/// among the statistics by the size of their coefficients, in units of their spread.
///
/// What departs from the paper and from pyABC, its authors' program, and why:
///
/// - The paper leaves the regression open (linear, Gaussian processes, networks) and learns from all simulations. Here it is a linear one near the
///   observation, where sensitivity is asked for, with a small ridge, since statistics may be collinear.
/// - The spread is the standard deviation there, and not the median absolute deviation of all: many of our statistics are counts
///   whose median deviation is zero.
/// - Weights are learned in every generation, not in a few chosen ones, and serve the Euclidean distance, as all rules do here; the paper sums absolute differences.
#[derive(Clone, Debug)]
pub struct Informed {
    /// Share of the rows, the nearest in units of standard deviations, that the regression sees.
    pub share: f64,
    /// Ridge penalty, in units of the statistics' variance.
    pub ridge: f64,
}

impl Default for Informed {
    fn default() -> Self {
        Self { share: 0.3, ridge: 0.01 }
    }
}

/// Rows beyond this many add time and no precision that a weight needs.
const MOST_ROWS: usize = 4_000;

impl Formula for Informed {
    fn name(&self) -> &'static str {
        "informed"
    }

    fn weights(&self, view: &View<'_>, rows: &[u32]) -> Vec<f64> {
        let near = self.near(view, rows);
        let spread = standard_deviations(view.features, &near);
        let sample = Sample {
            count: near.len(),
            regressors: spread.len(),
            targets: view.units.columns(),
            regress: &|i, into| view.features.row(near[i] as usize).write(into),
            target: &|i, into| into.copy_from_slice(view.units.row(near[i] as usize)),
            weight: &|_| 1.0,
        };
        let Some(fit) = Linear::fit(&sample, Some(&spread), self.ridge) else {
            return invert(view.deviations(rows));
        };
        let mut weights = vec![0.0; spread.len()];
        for coefficients in (0..sample.targets).map(|p| fit.standardised(p)) {
            let total: f64 = coefficients.iter().map(|b| b.abs()).sum();
            if total > 0.0 {
                for (j, b) in coefficients.iter().enumerate().filter(|&(j, _)| spread[j] > 0.0) {
                    weights[j] += b.abs() / total / spread[j];
                }
            }
        }
        weights
    }
}

impl Informed {
    fn near(&self, view: &View<'_>, rows: &[u32]) -> Vec<u32> {
        let wanted = 10 * (view.observed.len() + 1);
        let count = ((rows.len() as f64 * self.share) as usize).max(wanted).min(rows.len());
        let scaled = invert(view.deviations(rows));
        let distances = select::distances(view.features, view.observed, &scaled, rows);
        let near = select::nearest(&distances, count);
        let step = count.div_ceil(MOST_ROWS);
        near.into_iter().step_by(step).map(|position| rows[position]).collect()
    }
}
