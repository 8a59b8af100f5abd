//! Weights by sensitivity: how much each statistic moves the expected parameters near the observation.

use nalgebra::{DMatrix, DVector};

use super::deviation::{invert, standard_deviations};
use super::{Formula, View};
use crate::select;

/// Sensitivity weights (Schälte & Hasenauer 2023): a ridge regression of the parameters on the standardised
/// statistics among the simulations nearest to the observation; each parameter shares out a weight of one
/// among the statistics by the size of their coefficients.
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
        let used: Vec<usize> = (0..spread.len()).filter(|&j| spread[j] > 0.0).collect();
        let mut weights = vec![0.0; spread.len()];
        let Some(coefficients) = regress(view, &near, &used, &spread, self.ridge) else {
            return invert(view.deviations(rows));
        };
        for column in coefficients.column_iter() {
            let total: f64 = column.iter().map(|b| b.abs()).sum();
            if total > 0.0 {
                for (&j, b) in used.iter().zip(column.iter()) {
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

/// Coefficients of each parameter (a column) on each used feature (a row); `None` when nothing varies.
fn regress(
    view: &View<'_>,
    rows: &[u32],
    used: &[usize],
    spread: &[f64],
    ridge: f64,
) -> Option<DMatrix<f64>> {
    let (n, k, d) = (rows.len() as f64, used.len(), view.units.columns());
    if k == 0 {
        return None;
    }
    let mean = |value: &dyn Fn(usize) -> f64| rows.iter().map(|&row| value(row as usize)).sum::<f64>() / n;
    let centre: Vec<f64> = used.iter().map(|&j| mean(&|row| view.features.at(row, j))).collect();
    let middle: Vec<f64> = (0..d).map(|p| mean(&|row| view.units.at(row, p))).collect();
    let mut gram = DMatrix::<f64>::zeros(k, k);
    let mut cross = DMatrix::<f64>::zeros(k, d);
    let mut x = DVector::<f64>::zeros(k);
    for &row in rows {
        let (features, units) = (view.features.row(row as usize), view.units.row(row as usize));
        for (slot, &j) in used.iter().enumerate() {
            x[slot] = (features[j] - centre[slot]) / spread[j];
        }
        for b in 0..k {
            let factor = x[b] / n;
            let column = &mut gram.as_mut_slice()[b * k..(b + 1) * k];
            for (entry, value) in column.iter_mut().zip(x.as_slice()) {
                *entry += factor * value;
            }
            for p in 0..d {
                cross[(b, p)] += factor * (units[p] - middle[p]);
            }
        }
    }
    for b in 0..k {
        gram[(b, b)] += ridge;
    }
    Some(gram.cholesky()?.solve(&cross))
}
