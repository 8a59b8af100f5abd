//! No reduction: the features are the summaries.

use std::borrow::Cow;

use super::{Projection, ReduceError, Reduction};
use crate::stream::Stream;
use crate::table::Table;
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

    fn features<'a>(&self, summaries: &'a Table) -> Cow<'a, Table> {
        Cow::Borrowed(summaries)
    }
}
