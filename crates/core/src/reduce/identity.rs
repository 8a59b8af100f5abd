//! No reduction: the features are the summaries.

use super::{Features, Projection, ReduceError, Reduction};
use crate::stacked::Stacked;
use crate::stream::Stream;
use crate::view::View;

/// Compares the summaries as they are.
#[derive(Clone, Debug)]
pub struct Identity;

impl Reduction for Identity {
    fn fit(&self, _: &View<'_>, _: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        Ok(Box::new(Self))
    }
}

impl Projection for Identity {
    fn names(&self, statistics: &[String], _: &[String]) -> Vec<String> {
        statistics.to_vec()
    }

    fn features(&self, _: Stacked<'_>) -> Features {
        Features::Summaries
    }
}
