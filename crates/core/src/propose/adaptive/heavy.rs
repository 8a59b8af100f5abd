//! Student's law around all particles: what reaches beyond them.

use nalgebra::DMatrix;
use rand::distr::Distribution;

use super::super::Kernel;
use super::super::covariance::{add_step, whiten_in_place};
use crate::stream::Stream;
use crate::variates::Exp1;

/// Student's law of four degrees of freedom in several dimensions, twice as wide as the particles.
///
/// Of what is proposed from `q`, most is worth keeping where `q` is as the square root of the posterior (`Adaptive`): a
/// posterior that falls off as `exp(-x)` wants proposals that fall off as `exp(-x / 2)`, twice as wide.
pub(super) struct Heavy {
    middle: Vec<f64>,
    /// Factor of the particles' covariance, and the logarithm of its determinant.
    root: DMatrix<f64>,
    ln_determinant: f64,
}

const FREEDOM: f64 = 4.0;
const WIDE: f64 = 2.0;

impl Heavy {
    pub(super) fn new(middle: Vec<f64>, root: DMatrix<f64>) -> Self {
        let ln_determinant = (0..middle.len()).map(|j| libm::log(root[(j, j)])).sum();
        Self { middle, root, ln_determinant }
    }
}

/// Log density at a squared distance from the middle, where the particles' covariance is the identity in `d` dimensions.
pub(super) fn ln_density(square: f64, d: usize) -> f64 {
    let d = d as f64;
    libm::lgamma(0.5 * (FREEDOM + d))
        - libm::lgamma(0.5 * FREEDOM)
        - 0.5 * d * libm::log(FREEDOM * std::f64::consts::PI * WIDE * WIDE)
        - 0.5 * (FREEDOM + d) * libm::log1p(square / (FREEDOM * WIDE * WIDE))
}

impl Kernel for Heavy {
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        unit.fill(0.0);
        add_step(&self.root, rng, unit);
        // Half of a chi-squared variate of four degrees of freedom.
        let (one, other): (f64, f64) = (Exp1.sample(rng), Exp1.sample(rng));
        let scale = WIDE * (0.5 * FREEDOM / (one + other).max(f64::MIN_POSITIVE)).sqrt();
        unit.iter_mut().zip(&self.middle).for_each(|(x, middle)| *x = middle + scale * *x);
    }

    fn ln_density(&self, unit: &[f64]) -> f64 {
        let mut white: Vec<f64> = unit.iter().zip(&self.middle).map(|(x, middle)| x - middle).collect();
        whiten_in_place(&self.root, &mut white);
        ln_density(white.iter().map(|x| x * x).sum(), white.len()) - self.ln_determinant
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Seed, Stage};

    #[test]
    fn draws_lie_where_the_density_says() {
        let root = DMatrix::from_row_slice(2, 2, &[0.5, 0.0, 0.3, 0.2]);
        let heavy = Heavy::new(vec![1.0, -1.0], root);
        // The share of draws in the upper right, far out, against the density added up over a fine grid.
        let (cells, low, width) = (600, 0.0, 0.1);
        let at = |i: usize| low + (i as f64 + 0.5) * width;
        let mut expected = 0.0;
        for i in 0..cells {
            for j in 0..cells {
                expected += libm::exp(heavy.ln_density(&[2.0 + at(i), at(j)])) * width * width;
            }
        }
        let (count, mut unit, mut inside) = (100_000, [0.0; 2], 0.0);
        let mut rng = Seed(1).stream(Stage::Propose, 0, 0);
        for _ in 0..count {
            heavy.draw(&mut rng, &mut unit);
            inside += f64::from(u8::from(unit[0] > 2.0 && unit[1] > 0.0));
        }
        let share = inside / f64::from(count);
        // Five standard errors: one of two million such tests fails by chance.
        let error = (expected * (1.0 - expected) / f64::from(count)).sqrt();
        assert!((share - expected).abs() < 5.0 * error + 1e-4, "{share} {expected}");
        assert!(expected > 0.05, "{expected}");
    }
}
