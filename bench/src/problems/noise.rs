//! Three parameters, each read twice, among 194 statistics that know nothing.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;
use counterpoise_core::variates::Exp1;
use rand::distr::Distribution;

use super::cells::Cells;
use super::normal::variate;
use super::{Known, normal, prior};

const D: usize = 3;
const NOISE: usize = 194;
/// Noise of a reading before it is scaled: its standard deviation, or the scale of Student's law with three degrees of freedom.
const SD: f64 = 0.3;
/// The scale of the normal and of the heavy-tailed reading of each parameter.
const SCALES: [(f64, f64); D] = [(1.0, 0.02), (200.0, 5.0), (0.004, 30.0)];

pub struct Noise;

impl Simulator for Noise {
    fn summaries(&self) -> usize {
        2 * D + NOISE
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        for (j, (theta, (light, heavy))) in theta.iter().zip(SCALES).enumerate() {
            summaries[2 * j] = light * (theta + SD * variate(rng));
            let squares: f64 = (0..3).map(|_| variate(rng).powi(2)).sum();
            summaries[2 * j + 1] = heavy * (theta + SD * variate(rng) / (squares / 3.0).sqrt());
        }
        for (k, slot) in summaries[2 * D..].iter_mut().enumerate() {
            let scale = 10f64.powf(-3.0 + 6.0 * k as f64 / (NOISE - 1) as f64);
            *slot = match k % 5 {
                // Cauchy's law is the ratio of two normals.
                2 => scale * variate(rng) / variate(rng),
                3 => {
                    let beyond: f64 = Exp1.sample(rng);
                    scale * beyond
                }
                // A coin, from rare to frequent.
                4 => f64::from(rng.uniform() < (k as f64 + 1.0) / (NOISE + 1) as f64),
                _ => scale * variate(rng),
            };
        }
        Ok(())
    }
}

impl Known for Noise {
    fn prior(&self) -> Prior {
        prior((0..D).map(|_| normal(1.0)).collect())
    }

    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let mut draws = vec![Vec::with_capacity(D); count];
        for (j, (light, heavy)) in SCALES.into_iter().enumerate() {
            let (light, heavy) = (observed[2 * j] / light, observed[2 * j + 1] / heavy);
            let ln_density = |point: &[f64]| {
                let t = point[0];
                let (z, y) = ((light - t) / SD, (heavy - t) / SD);
                -0.5 * t * t - 0.5 * z * z - 2.0 * (y * y / 3.0).ln_1p()
            };
            let cells = Cells { bounds: &[(-9.0, 9.0)], first: 400, enough: 5_000 };
            let column = cells.draw(&ln_density, count, rng);
            draws.iter_mut().zip(column).for_each(|(row, point)| row.push(point[0]));
        }
        draws
    }
}
