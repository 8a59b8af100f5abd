//! A Gaussian kernel as wide and as tilted as the population: twice its weighted covariance.

use nalgebra::{DMatrix, DVector};
use rand::distr::Distribution;

use super::mixture::{Ancestors, Cloud};
use super::{Kernel, Proposal, ProposeError};
use crate::population::Population;
use crate::problem::Prior;
use crate::stream::Stream;
use crate::table::Table;
use crate::variates::StandardNormal;

/// Resamples a particle, then adds a Gaussian step with twice the population's weighted covariance
/// (Beaumont, Cornuet, Marin & Robert 2009; Filippi et al. 2013).
#[derive(Clone, Debug)]
pub struct Covariance;

impl Proposal for Covariance {
    fn fit(&self, _: &Prior, population: &Population) -> Result<Box<dyn Kernel>, ProposeError> {
        let covariance = 2.0 * weighted_covariance(&population.units, population.weights.normalised(), None);
        let points = (&population.units, population.weights.normalised());
        Ok(Box::new(SharedKernel::new(points, factor(covariance, population)?)))
    }
}

/// The weighted covariance of the chosen rows (all when `rows` is `None`), about their weighted mean.
pub(crate) fn weighted_covariance(units: &Table, normalised: &[f64], rows: Option<&[usize]>) -> DMatrix<f64> {
    let d = units.columns();
    let all: Vec<usize> = (0..units.rows()).collect();
    let rows = rows.unwrap_or(&all);
    let total: f64 = rows.iter().map(|&i| normalised[i]).sum();
    let mut mean = DVector::zeros(d);
    for &i in rows {
        mean += DVector::from_row_slice(units.row(i)) * (normalised[i] / total);
    }
    let mut covariance = DMatrix::zeros(d, d);
    for &i in rows {
        let step = DVector::from_row_slice(units.row(i)) - &mean;
        for a in 0..d {
            for b in 0..d {
                covariance[(a, b)] += normalised[i] / total * step[a] * step[b];
            }
        }
    }
    covariance
}

/// Cholesky factor, with a trace of the diagonal added so that nearly collinear particles still move.
pub(crate) fn factor(
    mut covariance: DMatrix<f64>,
    population: &Population,
) -> Result<DMatrix<f64>, ProposeError> {
    let d = covariance.nrows();
    for j in 0..d {
        covariance[(j, j)] *= 1.0 + 1e-9;
    }
    let degenerate = ProposeError::Degenerate { kept: population.len(), dimension: d };
    match covariance.cholesky() {
        Some(cholesky) => Ok(cholesky.unpack()),
        None => Err(degenerate),
    }
}

/// A mixture of Gaussians around the particles that share one covariance.
pub(super) struct SharedKernel {
    centres: Table,
    ancestors: Ancestors,
    /// Lower triangular.
    factor: DMatrix<f64>,
    /// The centres where the shared covariance is the identity.
    whitened: Cloud,
}

impl SharedKernel {
    pub(super) fn new((units, weights): (&Table, &[f64]), factor: DMatrix<f64>) -> Self {
        let points: Vec<Vec<f64>> = units.iter().map(|unit| whiten(&factor, unit)).collect();
        Self {
            centres: units.clone(),
            ancestors: Ancestors::new(weights),
            whitened: Cloud::new(&points, weights),
            factor,
        }
    }
}

impl Kernel for SharedKernel {
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        unit.copy_from_slice(self.centres.row(self.ancestors.draw(rng)));
        add_step(&self.factor, rng, unit);
    }

    fn ln_density(&self, unit: &[f64]) -> f64 {
        self.whitened.ln_sum(&whiten(&self.factor, unit))
    }
}

/// Adds a Gaussian step with covariance `factor factor^T`.
pub(crate) fn add_step(factor: &DMatrix<f64>, rng: &mut Stream, unit: &mut [f64]) {
    for column in 0..unit.len() {
        let z: f64 = StandardNormal.sample(rng);
        for row in column..unit.len() {
            unit[row] += factor[(row, column)] * z;
        }
    }
}

/// `factor^-1 point` by forward substitution.
pub(crate) fn whiten(factor: &DMatrix<f64>, point: &[f64]) -> Vec<f64> {
    let mut white = point.to_vec();
    whiten_in_place(factor, &mut white);
    white
}

pub(super) fn whiten_in_place(factor: &DMatrix<f64>, white: &mut [f64]) {
    for row in 0..white.len() {
        for column in 0..row {
            white[row] -= factor[(row, column)] * white[column];
        }
        white[row] /= factor[(row, row)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_is_that_of_the_draws() {
        super::super::testing::conformance(&Covariance);
    }

    #[test]
    fn the_step_has_twice_the_weighted_covariance() {
        use crate::population::LogWeights;
        let (_, mut population) = super::super::testing::population(3, 2);
        population.units = Table::from_rows(2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        population.weights = LogWeights::new(vec![0.0, 0.0, libm::log(2.0)]).unwrap();
        // Weights 1/4, 1/4, 1/2: means 1/4 and 1/2, by hand.
        let covariance = weighted_covariance(&population.units, population.weights.normalised(), None);
        for (value, expected) in covariance.iter().zip([3.0 / 16.0, -1.0 / 8.0, -1.0 / 8.0, 1.0 / 4.0]) {
            assert!((value - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn identical_particles_are_refused() {
        let (prior, mut population) = super::super::testing::population(30, 2);
        population.units = Table::filled(30, 2, 0.5);
        assert!(matches!(
            Covariance.fit(&prior, &population),
            Err(ProposeError::Degenerate { kept: 30, .. })
        ));
    }
}
