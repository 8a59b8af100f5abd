//! Four parameters of which the data know a sum and a difference well, and the rest hardly.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;

use super::cells::Cells;
use super::normal::{Truncated, variate};
use super::{Known, between, prior};

const WALLS: (f64, f64) = (-2.0, 2.0);
/// Noise of the sum and of the difference, of the product, and of `t2` alone.
const SHARP: f64 = 0.05;
const PRODUCT: f64 = 0.2;
const ALONE: f64 = 1.0;

pub struct Ridge;

impl Simulator for Ridge {
    fn summaries(&self) -> usize {
        4
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        summaries[0] = theta[0] + theta[1] + SHARP * variate(rng);
        summaries[1] = theta[2] - theta[3] + SHARP * variate(rng);
        summaries[2] = theta[0] * theta[2] + PRODUCT * variate(rng);
        summaries[3] = theta[1] + ALONE * variate(rng);
        Ok(())
    }
}

impl Known for Ridge {
    fn prior(&self) -> Prior {
        prior((0..4).map(|_| between(WALLS.0, WALLS.1)).collect())
    }

    /// Cells over `t1` and `t3`; given those, `t2` and `t4` are truncated normals.
    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let (sharp, alone) = (SHARP.powi(-2), ALONE.powi(-2));
        let second = |t1: f64| Truncated {
            mean: (sharp * (observed[0] - t1) + alone * observed[3]) / (sharp + alone),
            sd: (sharp + alone).powf(-0.5),
            ends: WALLS,
        };
        let fourth = |t3: f64| Truncated { mean: t3 - observed[1], sd: SHARP, ends: WALLS };
        let ln_density = |t: &[f64]| {
            let product = (observed[2] - t[0] * t[1]) / PRODUCT;
            // What the sum and the reading of t2 say of each other.
            let apart = (observed[0] - t[0] - observed[3]).powi(2) / (SHARP * SHARP + ALONE * ALONE);
            second(t[0]).ln_mass() + fourth(t[1]).ln_mass() - 0.5 * (product * product + apart)
        };
        let cells = Cells { bounds: &[WALLS, WALLS], first: 80, enough: 40_000 };
        let draws = cells.draw(&ln_density, count, rng);
        draws.into_iter().map(|t| vec![t[0], second(t[0]).draw(rng), t[1], fourth(t[1]).draw(rng)]).collect()
    }
}
