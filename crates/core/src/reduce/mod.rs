//! From summaries to features: what the distance compares.

mod beside;
mod identity;
mod learned;
mod region;
mod semi_automatic;
mod subset;

pub use beside::Beside;
pub use identity::Identity;
pub use learned::Learned;
pub use semi_automatic::SemiAutomatic;
pub use subset::{ApproximateSufficiency, Arms, Bandit, LeastEntropy, LikelihoodRatio, TwoStage};

use std::fmt::Debug;

use crate::stacked::Stacked;
use crate::stream::Stream;
use crate::table::Table;
use crate::view::View;

/// A plan for turning summaries into features; `fit` learns it from the simulations of a generation, whose features
/// are still the summaries.
pub trait Reduction: Debug + Send + Sync {
    /// Fits the projection.
    ///
    /// # Errors
    /// If the simulations do not determine it.
    fn fit(&self, view: &View<'_>, rng: &mut Stream) -> Result<Box<dyn Projection>, ReduceError>;
}

/// A fitted reduction.
pub trait Projection: Send + Sync {
    /// Names of the features, given those of the summaries and the parameters.
    fn names(&self, statistics: &[String], parameters: &[String]) -> Vec<String>;
    /// The features of each row.
    fn features(&self, summaries: Stacked<'_>) -> Features;
    /// Which of the features, the last ones, are estimates, each in units of its error.
    fn learned(&self) -> Estimates {
        Estimates::default()
    }
    /// Whether the features mean anything at a unit-space point: rows elsewhere are not accepted.
    fn knows(&self, _unit: &[f64]) -> bool {
        true
    }
}

/// Features of some rows.
#[derive(Clone, Debug)]
pub enum Features {
    /// The summaries as they are.
    Summaries,
    /// Others instead.
    Instead(Table),
    /// The summaries, and these beside them.
    Beside(Table),
}

impl Features {
    /// The features themselves, given the summaries that they were made of.
    #[must_use]
    pub fn of<'a>(&'a self, summaries: Stacked<'a>) -> Stacked<'a> {
        match self {
            Self::Summaries => summaries,
            Self::Instead(made) => made.into(),
            Self::Beside(made) => summaries.with(made),
        }
    }
}

/// Features that are estimates: first of parameters, then of their squares and products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimates {
    /// Of parameters.
    pub means: usize,
    /// Of squares and products.
    pub products: usize,
}

impl Estimates {
    /// All of them.
    #[must_use]
    pub fn count(self) -> usize {
        self.means + self.products
    }
}

/// Why a reduction could not be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReduceError {
    /// Not enough rows for the regression behind the reduction.
    #[error("the reduction needs at least {needed} usable simulations, found {found}")]
    TooFewRows {
        /// Required.
        needed: usize,
        /// Available.
        found: usize,
    },
    /// Every summary is constant.
    #[error("all {0} statistics are the same in every simulation: they carry no information")]
    NoVariation(usize),
}
