//! Gaussians around particles, to draw from.

use nalgebra::DMatrix;

use super::super::covariance::add_step;
use super::super::mixture::Ancestors;
use super::bells::Bell;
use crate::stream::Stream;
use crate::table::Table;

/// Gaussians around particles, each drawn from as often as its particle weighs.
pub(super) struct Gaussians {
    centres: Table,
    weights: Vec<f64>,
    ancestors: Ancestors,
    /// Lower triangular factors of the covariances; one for all, or one each.
    roots: Vec<DMatrix<f64>>,
}

impl Gaussians {
    pub(super) fn new(centres: Table, weights: Vec<f64>, roots: Vec<DMatrix<f64>>) -> Self {
        Self { ancestors: Ancestors::new(&weights), centres, weights, roots }
    }

    pub(super) fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        let ancestor = self.ancestors.draw(rng);
        unit.copy_from_slice(self.centres.row(ancestor));
        add_step(self.root(ancestor), rng, unit);
    }

    /// The components of their density, which is a share of another.
    pub(super) fn bells(&self, share: f64) -> impl Iterator<Item = Bell<'_>> {
        let ln_weight = move |weight: f64| libm::log((share * weight).max(f64::MIN_POSITIVE));
        let each = self.centres.iter().zip(&self.weights).enumerate();
        each.map(move |(at, (centre, &weight))| (centre, self.root(at), ln_weight(weight)))
    }

    fn root(&self, particle: usize) -> &DMatrix<f64> {
        &self.roots[particle.min(self.roots.len() - 1)]
    }
}
