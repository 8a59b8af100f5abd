//! The summaries themselves, and beside them the features of another reduction.

use std::borrow::Cow;

use super::{Estimates, Projection, ReduceError, Reduction};
use crate::stream::Stream;
use crate::table::Table;
use crate::view::View;

/// Raw statistics first, then what another reduction makes of them: a weighting rule may choose among both
/// (Harrison & Baker, section 5.1).
#[derive(Debug)]
pub struct Beside(pub Box<dyn Reduction>);

impl Reduction for Beside {
    fn fit(&self, view: &View<'_>, rng: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        Ok(Box::new(Both(self.0.fit(view, rng)?)))
    }
}

struct Both(Box<dyn Projection>);

impl Projection for Both {
    fn names(&self, statistics: &[String], parameters: &[String]) -> Vec<String> {
        [statistics.to_vec(), self.0.names(statistics, parameters)].concat()
    }

    fn learned(&self) -> Estimates {
        self.0.learned()
    }

    fn knows(&self, unit: &[f64]) -> bool {
        self.0.knows(unit)
    }

    fn features<'a>(&self, summaries: &'a Table) -> Cow<'a, Table> {
        let made = self.0.features(summaries);
        let columns = summaries.columns() + made.columns();
        let mut data = Vec::with_capacity(summaries.rows() * columns);
        for (raw, made) in summaries.iter().zip(made.iter()) {
            data.extend_from_slice(raw);
            data.extend_from_slice(made);
        }
        Cow::Owned(Table::from_rows(columns, data))
    }
}
