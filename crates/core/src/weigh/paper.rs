//! Algorithm 2 to the letter of Harrison & Baker, so that the paper can be reproduced.

use super::{Choice, Hellinger, Uniform, WeighError, Weighting};
use crate::divergence::{self, Exponent};
use crate::search::Random;
use crate::stream::Stream;
use crate::view::View;

/// Weights are learned on the very simulations they accept, by the paper's estimator, importance weights
/// ignored. Its optimiser cannot move on a piecewise constant function, so it is the best of random starts.
#[derive(Debug)]
pub struct Paper {
    inner: Hellinger,
}

impl Paper {
    /// `starts` random weight vectors; the estimator as corrected or as printed.
    #[must_use]
    pub fn new(starts: usize, neighbours: usize, order: f64, exponent: Exponent) -> Self {
        Self {
            inner: Hellinger {
                divergence: Box::new(divergence::Paper { neighbours, order, exponent }),
                search: Box::new(Random),
                evaluations: starts,
                cross_fit: false,
                penalty: 0.0,
                starts: vec![Box::new(Uniform)],
                warm: false,
            },
        }
    }
}

impl Default for Paper {
    fn default() -> Self {
        Self::new(300, 5, 0.5, Exponent::Corrected)
    }
}

impl Weighting for Paper {
    fn choose(&self, view: &View<'_>, rng: &mut Stream) -> Result<Choice, WeighError> {
        if view.varying().is_empty() {
            return Err(WeighError::NoVariation(view.spread.len()));
        }
        Ok(self.inner.choose_in_sample(view, rng))
    }
}
