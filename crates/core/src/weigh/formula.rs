//! Distance weights given by a formula, without a search.

use std::fmt::Debug;

use super::{Choice, Deviation, Fold, Informed, Median, Uniform, WeighError, Weighting};
use crate::stream::Stream;
use crate::view::View;

/// Distance weights as a function of simulations.
pub trait Formula: Debug + Send + Sync {
    /// The name used in problem files and reports.
    fn name(&self) -> &'static str;
    /// One weight a feature, learned from `rows`; only features that vary count.
    fn weights(&self, view: &View<'_>, rows: &[u32]) -> Vec<f64>;
}

/// The rules that every search starts from and every report compares with.
#[must_use]
pub fn baselines() -> Vec<Box<dyn Formula>> {
    vec![Box::new(Uniform), Box::new(Deviation), Box::new(Median::quick()), Box::new(Informed::default())]
}

/// A formula as a weighting rule of its own.
#[derive(Debug)]
pub struct ByFormula(pub Box<dyn Formula>);

impl Weighting for ByFormula {
    fn choose(&self, view: &View<'_>, _: &mut Stream) -> Result<Choice, WeighError> {
        if view.varying().is_empty() {
            return Err(WeighError::NoVariation(view.spread.len()));
        }
        let weights = normalised(self.0.weights(view, view.rows), view.spread);
        let fold =
            Fold { weights, learned: view.rows.to_vec(), accepts: view.rows.to_vec(), keep: view.keep };
        Ok(Choice {
            folds: vec![fold],
            audit: Vec::new(),
            evaluations: 0,
            evidence: Vec::new(),
            compared: Vec::new(),
        })
    }
}

/// Weights are defined up to a common factor: scales them so that the squared weights, each in units of its
/// feature's spread, sum to one. Distances of different folds and generations are then comparable.
pub(super) fn normalised(mut weights: Vec<f64>, spread: &[f64]) -> Vec<f64> {
    for (weight, &spread) in weights.iter_mut().zip(spread) {
        *weight = if spread > 0.0 && weight.is_finite() { weight.abs() } else { 0.0 };
    }
    let total = weights.iter().zip(spread).map(|(w, s)| (w * s) * (w * s)).sum::<f64>().sqrt();
    if total > 0.0 {
        weights.iter_mut().for_each(|w| *w /= total);
    }
    weights
}
