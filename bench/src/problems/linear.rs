//! Ten parameters, each read once, with noise that is correlated between the readings.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;

use super::algebra::{cholesky, solve};
use super::normal::variate;
use super::{Known, normal, prior};

const D: usize = 10;
const SD: f64 = 0.3;
/// Correlation of the noise of neighbours.
const RHO: f64 = 0.7;

pub struct Linear;

/// The readings of `theta`: noise that follows an autoregression along them.
fn readings(theta: &[f64], rng: &mut Stream, out: &mut [f64]) {
    let mut noise = variate(rng);
    for (slot, theta) in out.iter_mut().zip(theta) {
        *slot = theta + SD * noise;
        noise = RHO * noise + (1.0 - RHO * RHO).sqrt() * variate(rng);
    }
}

/// Covariance of the noise.
fn covariance(i: usize, j: usize) -> f64 {
    SD * SD * RHO.powi(i.abs_diff(j) as i32)
}

impl Simulator for Linear {
    fn summaries(&self) -> usize {
        D
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        readings(theta, rng, summaries);
        Ok(())
    }
}

impl Known for Linear {
    fn prior(&self) -> Prior {
        prior((0..D).map(|_| normal(1.0)).collect())
    }

    /// Matheron's rule: a joint draw of parameters and readings, moved by the gain times the difference in readings.
    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let own = |i, j| if i == j { 1.0 } else { 0.0 };
        let both: Vec<Vec<f64>> =
            (0..D).map(|i| (0..D).map(|j| own(i, j) + covariance(i, j)).collect()).collect();
        let lower = cholesky(&both);
        let draw = |_| {
            let theta: Vec<f64> = (0..D).map(|_| variate(rng)).collect();
            let mut seen = vec![0.0; D];
            readings(&theta, rng, &mut seen);
            let gap = observed.iter().zip(&seen).map(|(s, seen)| s - seen).collect();
            theta.iter().zip(solve(&lower, gap)).map(|(theta, step)| theta + step).collect()
        };
        (0..count).map(draw).collect()
    }
}

#[cfg(test)]
mod tests {
    use counterpoise_core::stream::{Seed, Stage};

    use super::*;

    /// Mean and variance against `C = (I + S^-1)^-1` and `C S^-1 s`, S^-1 of an autoregression being tridiagonal; 4.5
    /// standard errors: 20 comparisons fail in one of 7,000.
    #[test]
    fn moments_are_those_of_the_closed_form() {
        let observed: Vec<f64> = (0..D).map(|j| (j as f64).sin()).collect();
        let inner = |i: usize| if i == 0 || i == D - 1 { 1.0 } else { 1.0 + RHO * RHO };
        let precision = |i: usize, j: usize| match i.abs_diff(j) {
            0 => inner(i),
            1 => -RHO,
            _ => 0.0,
        } / (SD * SD * (1.0 - RHO * RHO));
        let own = |i, j| if i == j { 1.0 } else { 0.0 };
        let sum: Vec<Vec<f64>> =
            (0..D).map(|i| (0..D).map(|j| own(i, j) + precision(i, j)).collect()).collect();
        let lower = cholesky(&sum);
        let pull = (0..D).map(|i| (0..D).map(|j| precision(i, j) * observed[j]).sum()).collect();
        let means = solve(&lower, pull);
        let n = 20_000;
        let draws = Linear.exact(&observed, n, &mut Seed(1).stream(Stage::Draw, 0, 0));
        for j in 0..D {
            let variance = solve(&lower, (0..D).map(|i| own(i, j)).collect())[j];
            let mean = draws.iter().map(|row| row[j]).sum::<f64>() / n as f64;
            let square = draws.iter().map(|row| (row[j] - means[j]).powi(2)).sum::<f64>() / n as f64;
            assert!((mean - means[j]).abs() < 4.5 * (variance / n as f64).sqrt(), "{mean}, not {}", means[j]);
            assert!(
                (square / variance - 1.0).abs() < 4.5 * (2.0 / n as f64).sqrt(),
                "{square}, not {variance}"
            );
        }
    }
}
