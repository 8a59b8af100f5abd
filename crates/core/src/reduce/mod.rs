//! From summaries to features: what the distance compares.

mod identity;

pub use identity::Identity;

use std::borrow::Cow;
use std::fmt::Debug;

use crate::table::Table;

/// A plan for turning summaries into features; `fit` learns it from the usable `rows` of a generation.
pub trait Reduction: Debug + Send + Sync {
    /// Fits the projection.
    ///
    /// # Errors
    /// If the simulations do not determine it.
    fn fit(&self, units: &Table, summaries: &Table, rows: &[u32])
    -> Result<Box<dyn Projection>, ReduceError>;
}

/// A fitted reduction.
pub trait Projection: Send + Sync {
    /// Names of the features, given those of the summaries.
    fn names(&self, statistics: &[String]) -> Vec<String>;
    /// The features of each row; borrowed where nothing changes.
    fn features<'a>(&self, summaries: &'a Table) -> Cow<'a, Table>;
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
}
