//! Choosing the weights of the distance.

mod auto;
mod deviation;
mod formula;
mod genetic;
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
pub use formula::{ByFormula, Formula, baselines};
pub use genetic::Genetic;
pub use hellinger::Hellinger;
pub use informed::Informed;
pub use median::Median;
pub use objective::Objective;
pub use paper::Paper;
pub use uniform::Uniform;

use std::fmt::Debug;

use crate::stream::Stream;
use crate::trials::Verdict;
use crate::view::View;

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
    /// What spoke for this choice, where several rules were tried.
    pub evidence: Vec<Verdict>,
    /// Weights of the simple rules on the statistics, where they were tried among others: a report compares with these. Empty
    /// where each fold is to learn its own.
    pub compared: Vec<(&'static str, Vec<f64>)>,
}

/// Why weights could not be chosen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeighError {
    /// Every feature is constant.
    #[error("all {0} statistics are the same in every simulation: they carry no information")]
    NoVariation(usize),
}
