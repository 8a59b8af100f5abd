//! Student's law around all particles: what reaches beyond them.

use nalgebra::DMatrix;
use rand::distr::Distribution;

use super::super::covariance::{add_step, whiten_in_place};
use crate::stream::Stream;
use crate::variates::Exp1;

/// Student's law of four degrees of freedom in several dimensions, twice as wide as the particles.
///
/// Of what is proposed from `q`, most is worth keeping where `q` is as the square root of the posterior (`Adaptive`): a
/// posterior that falls off as `exp(-x)` wants proposals that fall off as `exp(-x / 2)`, twice as wide.
pub(super) struct Heavy {
    middle: Vec<f64>,
    /// Factor of the particles' covariance.
    root: DMatrix<f64>,
    /// Logarithm of the density at the middle, times the share of all draws that come from here.
    ln_top: f64,
}

const FREEDOM: f64 = 4.0;
const WIDE: f64 = 2.0;

impl Heavy {
    /// With a share of all draws.
    pub(super) fn new(middle: Vec<f64>, root: DMatrix<f64>, share: f64) -> Self {
        let ln_determinant: f64 = (0..middle.len()).map(|j| libm::log(root[(j, j)])).sum();
        let ln_top = ln_density(0.0, middle.len()) - ln_determinant + libm::log(share);
        Self { middle, root, ln_top }
    }

    pub(super) fn middle(&self) -> &[f64] {
        &self.middle
    }

    pub(super) fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        unit.fill(0.0);
        add_step(&self.root, rng, unit);
        // Half of a chi-squared variate of four degrees of freedom.
        let (one, other): (f64, f64) = (Exp1.sample(rng), Exp1.sample(rng));
        let scale = WIDE * (0.5 * FREEDOM / (one + other).max(f64::MIN_POSITIVE)).sqrt();
        unit.iter_mut().zip(&self.middle).for_each(|(x, middle)| *x = middle + scale * *x);
    }

    /// Adds the share's density at each point, times a factor.
    pub(super) fn add(&self, units: &[&[f64]], factor: f64, into: &mut [f64]) {
        let d = self.middle.len();
        let top = libm::exp(self.ln_top) * factor;
        let mut white = vec![0.0; d];
        for (unit, into) in units.iter().zip(into) {
            let steps = unit.iter().zip(&self.middle).map(|(x, middle)| x - middle);
            white.iter_mut().zip(steps).for_each(|(slot, step)| *slot = step);
            whiten_in_place(&self.root, &mut white);
            let square: f64 = white.iter().map(|x| x * x).sum();
            let fall = 1.0 / (1.0 + square / (FREEDOM * WIDE * WIDE));
            // To the power of half of the degrees of freedom and the dimensions, which is half of a whole number.
            let half = if d % 2 == 1 { fall.sqrt() } else { 1.0 };
            *into += top * half * (0..(FREEDOM as usize + d) / 2).fold(1.0, |power, _| power * fall);
        }
    }
}

/// Log density at a squared distance from the middle, where the particles' covariance is the identity in `d` dimensions.
pub(super) fn ln_density(square: f64, d: usize) -> f64 {
    ln_at_middle(d) - 0.5 * (FREEDOM + d as f64) * libm::log1p(square / (FREEDOM * WIDE * WIDE))
}

fn ln_at_middle(d: usize) -> f64 {
    let d = d as f64;
    libm::lgamma(0.5 * (FREEDOM + d))
        - libm::lgamma(0.5 * FREEDOM)
        - 0.5 * d * libm::log(FREEDOM * std::f64::consts::PI * WIDE * WIDE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Seed, Stage};

    #[test]
    fn draws_lie_where_the_density_says() {
        let root = DMatrix::from_row_slice(2, 2, &[0.5, 0.0, 0.3, 0.2]);
        let heavy = Heavy::new(vec![1.0, -1.0], root, 1.0);
        // The share of draws in the upper right, far out, against the density added up over a fine grid.
        let (cells, low, width) = (600, 0.0, 0.1);
        let at = |i: usize| low + (i as f64 + 0.5) * width;
        let mut expected = 0.0;
        for i in 0..cells {
            for j in 0..cells {
                let mut density = [0.0];
                heavy.add(&[&[2.0 + at(i), at(j)]], width * width, &mut density);
                expected += density[0];
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
