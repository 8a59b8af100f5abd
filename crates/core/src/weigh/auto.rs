//! The rule that users get when they do not choose.

use super::{Choice, Hellinger, WeighError, Weighting};
use crate::stream::Stream;
use crate::view::View;

/// The best rule we have: for now [`Hellinger`] with its defaults.
#[derive(Debug, Default)]
pub struct Auto(Hellinger);

impl Weighting for Auto {
    fn choose(&self, view: &View<'_>, rng: &mut Stream) -> Result<Choice, WeighError> {
        self.0.choose(view, rng)
    }
}
