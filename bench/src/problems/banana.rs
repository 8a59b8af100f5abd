//! Two parameters on a bent ridge.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;

use super::cells::Cells;
use super::normal::variate;
use super::{Known, normal, prior};

/// Noise of the two readings.
const SD: (f64, f64) = (0.2, 0.3);

pub struct Banana;

impl Simulator for Banana {
    fn summaries(&self) -> usize {
        2
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        summaries[0] = theta[0] + SD.0 * variate(rng);
        summaries[1] = theta[1] + theta[0] * theta[0] + SD.1 * variate(rng);
        Ok(())
    }
}

impl Known for Banana {
    fn prior(&self) -> Prior {
        prior(vec![normal(1.0), normal(1.0)])
    }

    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let ln_density = |t: &[f64]| {
            let first = (observed[0] - t[0]) / SD.0;
            let second = (observed[1] - t[1] - t[0] * t[0]) / SD.1;
            -0.5 * (t[0] * t[0] + t[1] * t[1] + first * first + second * second)
        };
        let cells = Cells { bounds: &[(-8.0, 8.0), (-8.0, 8.0)], first: 160, enough: 60_000 };
        cells.draw(&ln_density, count, rng)
    }
}
