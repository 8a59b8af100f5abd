//! The summaries themselves, and beside them the features of another reduction.

use super::{Estimates, Features, Projection, ReduceError, Reduction};
use crate::stacked::Stacked;
use crate::stream::Stream;
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

    fn features(&self, summaries: Stacked<'_>) -> Features {
        match self.0.features(summaries) {
            Features::Instead(made) => Features::Beside(made),
            // Summaries beside themselves are copied.
            made => {
                let all: Vec<u32> = (0..summaries.rows() as u32).collect();
                Features::Beside(made.of(summaries).select(&all))
            }
        }
    }
}
