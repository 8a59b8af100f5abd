//! Counts that decay to a background: three rates, thirty places.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;
use counterpoise_core::variates::Poisson;
use rand::distr::Distribution;

use super::cells::Cells;
use super::{Known, log_between, prior};

const PLACES: usize = 30;
/// Height, decay and background.
const BOUNDS: [(f64, f64); 3] = [(2.0, 200.0), (0.1, 10.0), (0.2, 20.0)];

pub struct Counts;

fn place(i: usize) -> f64 {
    0.1 * i as f64
}

impl Simulator for Counts {
    fn summaries(&self) -> usize {
        PLACES
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        for (i, slot) in summaries.iter_mut().enumerate() {
            *slot = Poisson::new(theta[0] * (-theta[1] * place(i)).exp() + theta[2]).sample(rng);
        }
        Ok(())
    }
}

impl Known for Counts {
    fn prior(&self) -> Prior {
        prior(BOUNDS.map(|(low, high)| log_between(low, high)).into())
    }

    /// In logarithms, in which the prior is flat.
    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let ln_density = |logs: &[f64]| {
            let (height, decay, background) = (logs[0].exp(), logs[1].exp(), logs[2].exp());
            // Places are a tenth apart: one exponential for all.
            let factor = (-0.1 * decay).exp();
            let (mut left, mut sum) = (height, 0.0);
            for seen in observed {
                let rate = left + background;
                sum += seen * rate.ln() - rate;
                left *= factor;
            }
            sum
        };
        let bounds = BOUNDS.map(|(low, high)| (low.ln(), high.ln()));
        let cells = Cells { bounds: &bounds, first: 24, enough: 150_000 };
        let mut draws = cells.draw(&ln_density, count, rng);
        draws.iter_mut().flatten().for_each(|value| *value = value.exp());
        draws
    }
}
