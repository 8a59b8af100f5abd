//! One over the standard deviation.

use super::Formula;
use crate::view::View;

/// Every statistic in units of its standard deviation (Beaumont, Zhang & Balding 2002).
#[derive(Clone, Copy, Debug)]
pub struct Deviation;

impl Formula for Deviation {
    fn name(&self) -> &'static str {
        "sd"
    }

    fn weights(&self, view: &View<'_>, rows: &[u32]) -> Vec<f64> {
        invert(view.deviations(rows))
    }
}

/// One over each spread; zero where there is none.
pub(super) fn invert(spreads: Vec<f64>) -> Vec<f64> {
    spreads.into_iter().map(|s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect()
}
