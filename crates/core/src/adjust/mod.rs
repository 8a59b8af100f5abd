//! Moving the accepted parameters to where they would be had their features been the observed ones.

mod forward;
mod judged;
mod modes;
mod nested;
mod regression;
mod thin;
mod ways;

pub use judged::Judged;
pub(crate) use regression::{Points, kernel};
pub use regression::{Regression, Transform};

use std::fmt::Debug;

use crate::population::Population;
use crate::problem::Prior;
use crate::stacked::Stacked;
use crate::table::Table;
use crate::trials::Verdict;
use crate::view::View;

/// What was accepted, with the features it was accepted by.
#[derive(Clone, Copy)]
pub struct Accepted<'a> {
    /// The law of the parameters.
    pub prior: &'a Prior,
    /// The particles.
    pub population: &'a Population,
    /// Their features, in the same order.
    pub features: &'a Table,
    /// Observed features.
    pub observed: &'a [f64],
    /// Distance weights of the features, averaged over folds: those without any are no regressors.
    pub distance_weights: &'a [f64],
}

/// What it was accepted from.
#[derive(Clone, Copy)]
pub struct Simulations<'a> {
    /// All simulations of the generation, by features.
    pub view: &'a View<'a>,
    /// Their parameters on the natural scale.
    pub thetas: Stacked<'a>,
}

/// An adjusted population.
#[derive(Clone, Debug)]
pub struct Adjusted {
    /// The particles.
    pub population: Population,
    /// What spoke for this adjustment, where several were tried.
    pub evidence: Vec<Verdict>,
}

/// A way to correct a finished population. What it makes is the posterior of its generation; proposals of the next
/// come from the population as it was accepted.
pub trait Adjustment: Debug + Send + Sync {
    /// The corrected population.
    ///
    /// # Errors
    /// If there are too few particles for a correction that can be trusted.
    fn adjust(&self, accepted: &Accepted<'_>, all: &Simulations<'_>) -> Result<Adjusted, AdjustError>;
}

/// Why a population could not be adjusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdjustError {
    /// More coefficients than so few particles determine.
    #[error(
        "regression on {regressors} features needs at least {needed} particles, found {found}: keep more, reduce the statistics, or use adjust = \"ridge\""
    )]
    TooManyRegressors {
        /// Features with a weight.
        regressors: usize,
        /// Particles required.
        needed: usize,
        /// Particles there are.
        found: usize,
    },
    /// Features that do not vary among the accepted.
    #[error("no feature varies among the accepted particles: there is nothing to regress on")]
    NoVariation,
}
