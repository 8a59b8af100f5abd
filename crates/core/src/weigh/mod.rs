//! Choosing the weights of the distance.

mod auto;
mod deviation;
mod formula;
mod hellinger;
mod informed;
mod median;
mod objective;
mod paper;
mod selection;
mod sums;
mod uniform;

pub use auto::Auto;
pub use deviation::Deviation;
pub(crate) use deviation::standard_deviations;
pub use formula::{ByFormula, Formula, baselines};
pub use hellinger::Hellinger;
pub use informed::Informed;
pub use median::Median;
pub use objective::Objective;
pub use paper::Paper;
pub use uniform::Uniform;

use std::fmt::Debug;

use crate::divergence::Space;
use crate::propose::Importance;
use crate::stream::Stream;
use crate::table::Table;
use crate::workers::Workers;

/// All that a weighting rule may see: the simulations of one generation.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Unit-space points, a row each.
    pub units: &'a Table,
    /// Features of the same rows.
    pub features: &'a Table,
    /// Observed features.
    pub observed: &'a [f64],
    /// Rows that may be accepted, ascending.
    pub rows: &'a [u32],
    /// Standard deviation of each feature over those rows; zero where it is constant.
    pub spread: &'a [f64],
    /// Importance weights.
    pub importance: &'a Importance<'a>,
    /// The points, prepared for neighbour searches.
    pub space: &'a Space,
    /// How many rows are kept.
    pub keep: usize,
    /// Weights of the generation before, averaged over its folds.
    pub previous: Option<&'a [f64]>,
    /// Who does parallel work.
    pub workers: &'a dyn Workers,
}

impl View<'_> {
    /// Standard deviation of each feature over `rows`.
    pub(crate) fn deviations(&self, rows: &[u32]) -> Vec<f64> {
        if rows == self.rows { self.spread.to_vec() } else { standard_deviations(self.features, rows) }
    }

    /// Features that vary.
    #[must_use]
    pub fn varying(&self) -> Vec<usize> {
        (0..self.spread.len()).filter(|&j| self.spread[j] > 0.0).collect()
    }
}

/// A rule for choosing non-negative distance weights.
pub trait Weighting: Debug + Send + Sync {
    /// Chooses the weights of this generation.
    ///
    /// # Errors
    /// If the simulations leave nothing to choose.
    fn choose(&self, view: &View<'_>, rng: &mut Stream) -> Result<Choice, WeighError>;
}

/// Distance weights, the rows they were learned from, and the rows in which they accept.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// One weight a feature; the distance uses their squares. Zero for constant features.
    pub weights: Vec<f64>,
    /// Rows the weights were learned from.
    pub learned: Vec<u32>,
    /// Rows among which they accept.
    pub accepts: Vec<u32>,
    /// How many they accept.
    pub keep: usize,
}

/// The outcome of a weighting rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// How rows are accepted: each fold in rows of its own.
    pub folds: Vec<Fold>,
    /// Folds that only judge the rule on simulations it has not seen; empty where `folds` do that themselves.
    pub audit: Vec<Fold>,
    /// Evaluations of the objective in all.
    pub evaluations: usize,
}

/// Why weights could not be chosen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeighError {
    /// Every feature is constant.
    #[error("all {0} statistics are the same in every simulation: they carry no information")]
    NoVariation(usize),
}
