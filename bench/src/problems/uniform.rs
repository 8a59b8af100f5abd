//! Eight parameters between hard walls, each read once: the posterior is a truncated normal each.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;

use super::normal::{Truncated, variate};
use super::{Known, between, prior};

const D: usize = 8;
const SD: f64 = 0.3;

pub struct Uniform;

impl Simulator for Uniform {
    fn summaries(&self) -> usize {
        D
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        for (slot, theta) in summaries.iter_mut().zip(theta) {
            *slot = theta + SD * variate(rng);
        }
        Ok(())
    }
}

impl Known for Uniform {
    fn prior(&self) -> Prior {
        prior((0..D).map(|_| between(-1.0, 1.0)).collect())
    }

    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let law = |&mean: &f64| Truncated { mean, sd: SD, ends: (-1.0, 1.0) };
        let laws: Vec<Truncated> = observed.iter().map(law).collect();
        (0..count).map(|_| laws.iter().map(|law| law.draw(rng)).collect()).collect()
    }
}
