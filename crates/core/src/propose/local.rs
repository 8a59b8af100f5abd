//! A Gaussian kernel with a covariance of its own around each particle, from its nearest neighbours.

use nalgebra::{DMatrix, DVector};

use super::covariance::{add_step, factor, weighted_covariance, whiten, whiten_in_place};
use super::mixture::Ancestors;
use super::{Kernel, Proposal, ProposeError};
use crate::population::Population;
use crate::problem::Prior;
use crate::stream::Stream;
use crate::table::Table;

/// Resamples a particle, then adds a Gaussian step with the covariance of its neighbourhood (Filippi et al.
/// 2013). It follows bent and split posteriors that one covariance would smear out.
#[derive(Clone, Debug)]
pub struct Local {
    /// Neighbours as a share of the population; at least `dimension + 2` are used.
    pub share: f64,
}

impl Default for Local {
    fn default() -> Self {
        Self { share: 0.2 }
    }
}

impl Proposal for Local {
    fn fit(&self, _: &Prior, population: &Population) -> Result<Box<dyn Kernel>, ProposeError> {
        let (m, d) = (population.len(), population.units.columns());
        let count = ((m as f64 * self.share).ceil() as usize).clamp((d + 2).min(m), m);
        let weights = population.weights.normalised();
        let equal = vec![1.0 / m as f64; m];
        let mut particles = Vec::with_capacity(m);
        for (i, centre) in population.units.iter().enumerate() {
            let rows = neighbours(&population.units, centre, count);
            let covariance = weighted_covariance(&population.units, &equal, Some(&rows));
            let covariance = covariance + offset(&population.units, &rows, centre);
            let factor = factor(covariance, population)?;
            let ln_scale = libm::log(weights[i]) - (0..d).map(|j| libm::log(factor[(j, j)])).sum::<f64>();
            particles.push(Particle { whitened: whiten(&factor, centre), factor, ln_scale });
        }
        Ok(Box::new(LocalKernel {
            centres: population.units.clone(),
            ancestors: Ancestors::new(weights),
            particles,
        }))
    }
}

/// What the covariance of the rows gains when it is taken about `centre` and not about their mean: a particle at the
/// edge has its neighbours on one side, and a kernel that forgets this steps too little and is weighted wildly.
fn offset(units: &Table, rows: &[usize], centre: &[f64]) -> DMatrix<f64> {
    let mean = |j: usize| rows.iter().map(|&row| units.at(row, j)).sum::<f64>() / rows.len() as f64;
    let step = DVector::from_fn(centre.len(), |j, _| mean(j) - centre[j]);
    &step * step.transpose()
}

/// The `count` rows nearest to `centre`, ties to the lower row.
fn neighbours(units: &Table, centre: &[f64], count: usize) -> Vec<usize> {
    let square = |row: &[f64]| row.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let mut order: Vec<(f64, usize)> = units.iter().enumerate().map(|(i, row)| (square(row), i)).collect();
    if count < order.len() {
        order.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    let mut rows: Vec<usize> = order[..count].iter().map(|&(_, i)| i).collect();
    rows.sort_unstable();
    rows
}

struct Particle {
    factor: DMatrix<f64>,
    whitened: Vec<f64>,
    /// Log importance weight less the log determinant of the factor.
    ln_scale: f64,
}

struct LocalKernel {
    centres: Table,
    ancestors: Ancestors,
    particles: Vec<Particle>,
}

impl Kernel for LocalKernel {
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        let ancestor = self.ancestors.draw(rng);
        unit.copy_from_slice(self.centres.row(ancestor));
        add_step(&self.particles[ancestor].factor, rng, unit);
    }

    fn ln_density(&self, unit: &[f64]) -> f64 {
        let mut white = unit.to_vec();
        let exponents = self.particles.iter().map(|particle| {
            white.copy_from_slice(unit);
            whiten_in_place(&particle.factor, &mut white);
            let square: f64 = white.iter().zip(&particle.whitened).map(|(a, b)| (a - b) * (a - b)).sum();
            particle.ln_scale - 0.5 * square
        });
        // A running log-sum-exp in row order.
        let (mut top, mut sum) = (f64::NEG_INFINITY, 0.0);
        for exponent in exponents {
            if exponent > top {
                sum = sum * libm::exp(top - exponent) + 1.0;
                top = exponent;
            } else if exponent > top - 700.0 {
                sum += libm::exp(exponent - top);
            }
        }
        top + libm::log(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_is_that_of_the_draws() {
        super::super::testing::conformance(&Local::default());
    }

    #[test]
    fn a_step_stays_within_its_own_cluster() {
        use crate::stream::{Seed, Stage};
        let (prior, mut population) = super::super::testing::population(40, 2);
        for row in 0..40 {
            let shift = if row % 2 == 0 { 1.2 } else { -1.2 };
            population.units.row_mut(row).iter_mut().for_each(|value| *value = (*value - 0.3) / 10.0 + shift);
        }
        let kernel = Local::default().fit(&prior, &population).unwrap();
        let mut rng = Seed(1).stream(Stage::Propose, 1, 0);
        for _ in 0..1000 {
            let mut unit = [0.0; 2];
            kernel.draw(&mut rng, &mut unit);
            assert!((unit[0].abs() - 1.2).abs() < 0.6, "{unit:?} lies between the clusters");
        }
    }
}
