//! Two parameters whose signs the data cannot tell: two modes by symmetry, and ten statistics of noise.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;

use super::cells::Cells;
use super::normal::variate;
use super::{Known, between, prior};

const SD: f64 = 0.3;
const NOISE: usize = 10;

pub struct Modes;

impl Simulator for Modes {
    fn summaries(&self) -> usize {
        2 + NOISE
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        summaries[0] = theta[0] * theta[0] + SD * variate(rng);
        summaries[1] = theta[0] * theta[1] + SD * variate(rng);
        summaries[2..].fill_with(|| variate(rng));
        Ok(())
    }
}

impl Known for Modes {
    fn prior(&self) -> Prior {
        prior(vec![between(-3.0, 3.0), between(-3.0, 3.0)])
    }

    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let ln_density = |t: &[f64]| {
            let square = (observed[0] - t[0] * t[0]) / SD;
            let product = (observed[1] - t[0] * t[1]) / SD;
            -0.5 * (square * square + product * product)
        };
        let cells = Cells { bounds: &[(-3.0, 3.0), (-3.0, 3.0)], first: 120, enough: 60_000 };
        cells.draw(&ln_density, count, rng)
    }
}
