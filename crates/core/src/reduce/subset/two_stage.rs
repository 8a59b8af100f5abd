//! The subset that estimates best on simulated data like the observation (Nunes & Balding 2010, two stages).

use super::super::{Projection, ReduceError, Reduction};
use super::least_entropy::{LeastEntropy, best_subset};
use super::trials::Trials;
use super::{Columns, candidates};
use crate::stream::Stream;
use crate::view::View;

/// The statistics of least entropy pick the simulated datasets that are nearest to the observation; the subset is
/// taken whose accepted parameters are nearest to the true ones of these datasets, on average, by the root of the mean
/// squared error in unit space. A hundred datasets, as in the R package of the paper's first author.
///
/// What departs from the paper, and why: what the first stage does, which see; the second looks at some of the simulations only, and
/// accepts the same share of them, or it would take too long; a dataset is left out of what is accepted for itself; unit space
/// stands for the division by prior variances.
#[derive(Clone, Debug)]
pub struct TwoStage {
    /// Subsets to try in each stage.
    pub trials: usize,
    /// Datasets of the second stage.
    pub datasets: usize,
}

impl Default for TwoStage {
    fn default() -> Self {
        Self { trials: 1_100, datasets: 100 }
    }
}

/// Rows that the second stage accepts from: more would make it slow and hardly better.
const MOST_ROWS: usize = 4_000;

impl Reduction for TwoStage {
    fn fit(&self, view: &View<'_>, _: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        let candidates = candidates(view)?;
        let first = LeastEntropy { trials: self.trials }.choose(view, &candidates);
        let datasets = Trials::new(view, view.rows, view.observed, self.datasets).accepted(&first);
        let step = view.rows.len().div_ceil(MOST_ROWS).max(1);
        let rows: Vec<u32> = view.rows.iter().copied().step_by(step).collect();
        let keep = (view.keep / step).max(20);
        let weights: Vec<f64> = weights(view, &rows);
        let data: Vec<Vec<f64>> =
            datasets.iter().map(|&row| view.features.row(row as usize).to_vec()).collect();
        let trials: Vec<(u32, Trials<'_>)> = datasets
            .iter()
            .zip(&data)
            .map(|(&row, data)| (row, Trials::new(view, &rows, data, keep)))
            .collect();
        let score = |subset: &[usize]| -> f64 {
            let error = |(truth, trials): &(u32, Trials<'_>)| {
                let truth_row = view.units.row(*truth as usize);
                let (mut sum, mut mass) = (0.0, 0.0);
                // A dataset is no evidence about itself.
                for row in trials.accepted(subset).into_iter().filter(|row| row != truth) {
                    let weight = weights[row as usize];
                    let squares = view.units.row(row as usize).iter().zip(truth_row);
                    sum += weight * squares.map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                    mass += weight;
                }
                (sum / mass).sqrt()
            };
            -trials.iter().map(error).sum::<f64>() / trials.len() as f64
        };
        Ok(Columns::of(best_subset(view, &candidates, self.trials, &score), view))
    }
}

/// Importance weights of the given rows, by row; 0 for the others.
fn weights(view: &View<'_>, rows: &[u32]) -> Vec<f64> {
    let logs = crate::workers::map_slice(view.workers, rows, |&row| view.importance.ln(row));
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut weights = vec![0.0; view.units.rows()];
    rows.iter().zip(logs).for_each(|(&row, ln)| weights[row as usize] = libm::exp(ln - top));
    weights
}

#[cfg(test)]
mod tests {
    use super::super::testing::chosen;
    use super::*;

    #[test]
    fn finds_the_statistics_that_tell_something() {
        assert_eq!(chosen(&TwoStage::default()), ["s1", "s4"]);
    }
}
