//! Forty raw values of two normal laws in equal parts, whose locations have no order: two modes.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;

use super::cells::Cells;
use super::normal::variate;
use super::{Known, between, prior};

const VALUES: usize = 40;
const SD: f64 = 0.5;

pub struct Mixture;

impl Simulator for Mixture {
    fn summaries(&self) -> usize {
        VALUES
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        summaries.fill_with(|| {
            let part = usize::from(rng.uniform() < 0.5);
            theta[part] + SD * variate(rng)
        });
        Ok(())
    }
}

impl Known for Mixture {
    fn prior(&self) -> Prior {
        prior(vec![between(-3.0, 3.0), between(-3.0, 3.0)])
    }

    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let ln_density = |t: &[f64]| {
            let one = |value: &f64| {
                let (a, b) = ((value - t[0]) / SD, (value - t[1]) / SD);
                // The nearer part, and what the other adds: no underflow.
                let (near, far) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
                -0.5 * near * near + (0.5 * (near * near - far * far)).exp().ln_1p()
            };
            observed.iter().map(one).sum()
        };
        let cells = Cells { bounds: &[(-3.0, 3.0), (-3.0, 3.0)], first: 60, enough: 30_000 };
        cells.draw(&ln_density, count, rng)
    }
}
