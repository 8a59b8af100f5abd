//! Six parameters, each told in another way, among 120 statistics that know nothing.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;
use counterpoise_core::variates::Poisson;
use rand::distr::Distribution;

use super::cells::Cells;
use super::normal::variate;
use super::{Known, between, log_between, normal, prior};

const NOISE: usize = 120;
/// Readings of each parameter: normal, counts, Cauchy, coins, uniform up to it, normal of that scale.
const READINGS: [usize; 6] = [3, 4, 8, 30, 6, 9];
const TOLD: usize = 60;
/// Noise of the first parameter's readings and of the third's.
const SD: f64 = 0.4;
const WIDTH: f64 = 0.3;

pub struct Mixed;

/// The readings of a parameter among the statistics.
fn readings(parameter: usize) -> std::ops::Range<usize> {
    let first = READINGS[..parameter].iter().sum();
    first..first + READINGS[parameter]
}

/// The log density of a parameter, on the scale on which its prior is normal or flat, and the interval it lies in.
fn ln_density(parameter: usize, seen: &[f64], t: f64) -> f64 {
    let sum = |one: &dyn Fn(f64) -> f64| seen.iter().map(|&s| one(s)).sum::<f64>();
    match parameter {
        0 => -0.5 * t * t - 0.5 * sum(&|s| ((s / 50.0 - t) / SD).powi(2)),
        1 => sum(&|s| s * t - t.exp()),
        2 => -0.5 * t * t - sum(&|s| ((s - t) / WIDTH).powi(2).ln_1p()),
        3 => sum(&|s| if s > 0.5 { t.ln() } else { (1.0 - t).ln() }),
        4 if seen.iter().any(|s| s.ln() > t) => f64::NEG_INFINITY,
        4 => -(seen.len() as f64) * t,
        _ => -(seen.len() as f64) * t - 0.5 * sum(&|s| s * s) * (-2.0 * t).exp(),
    }
}

const BOUNDS: [(f64, f64); 6] = [
    (-9.0, 9.0),
    (-1.0, 4.0),
    (-9.0, 9.0),
    (0.0, 1.0),
    (-2.302_585_092_994_045_5, 2.302_585_092_994_045_5),
    (-4.605_170_185_988_091, 4.605_170_185_988_091),
];

impl Simulator for Mixed {
    fn summaries(&self) -> usize {
        TOLD + NOISE
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        for (parameter, &t) in theta.iter().enumerate() {
            for slot in &mut summaries[readings(parameter)] {
                *slot = match parameter {
                    0 => 50.0 * (t + SD * variate(rng)),
                    1 => Poisson::new(t).sample(rng),
                    2 => t + WIDTH * variate(rng) / variate(rng),
                    3 => f64::from(rng.uniform() < t),
                    4 => t * rng.uniform(),
                    _ => t * variate(rng),
                };
            }
        }
        for (k, slot) in summaries[TOLD..].iter_mut().enumerate() {
            let scale = 10f64.powf(-2.0 + 4.0 * k as f64 / NOISE as f64);
            *slot = match k % 4 {
                0 => scale * variate(rng),
                1 => scale * variate(rng) / variate(rng),
                2 => Poisson::new(0.5 + k as f64 / 10.0).sample(rng),
                _ => f64::from(rng.uniform() < 0.3),
            };
        }
        Ok(())
    }
}

impl Known for Mixed {
    fn prior(&self) -> Prior {
        let e = std::f64::consts::E;
        prior(vec![
            normal(1.0),
            log_between(e.powf(BOUNDS[1].0), e.powf(BOUNDS[1].1)),
            normal(1.0),
            between(0.0, 1.0),
            log_between(0.1, 10.0),
            log_between(0.01, 100.0),
        ])
    }

    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let mut draws = vec![Vec::with_capacity(READINGS.len()); count];
        for (parameter, bounds) in BOUNDS.into_iter().enumerate() {
            let seen = &observed[readings(parameter)];
            let is_log = matches!(parameter, 1 | 4 | 5);
            let cells = Cells { bounds: &[bounds], first: 400, enough: 5_000 };
            let column = cells.draw(&|point| ln_density(parameter, seen, point[0]), count, rng);
            for (row, point) in draws.iter_mut().zip(column) {
                row.push(if is_log { point[0].exp() } else { point[0] });
            }
        }
        draws
    }
}
