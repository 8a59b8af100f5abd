//! Every statistic counts as it comes.

use super::Formula;
use crate::view::View;

/// Weights of one: the statistics' own units decide.
#[derive(Clone, Copy, Debug)]
pub struct Uniform;

impl Formula for Uniform {
    fn name(&self) -> &'static str {
        "uniform"
    }

    fn weights(&self, view: &View<'_>, _: &[u32]) -> Vec<f64> {
        vec![1.0; view.observed.len()]
    }
}
