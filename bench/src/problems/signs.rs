//! Three parameters that are seen only by their squares and one weak reading each: up to eight modes, of unequal mass.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;

use super::cells::Cells;
use super::normal::variate;
use super::{Known, between, prior};

const D: usize = 3;
const END: f64 = 3.0;
/// Noise of the two readings of a square, and of the weak reading of the parameter itself.
const SQUARE: f64 = 0.7;
const WEAK: f64 = 3.0;

pub struct Signs;

impl Simulator for Signs {
    fn summaries(&self) -> usize {
        3 * D
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        for (t, seen) in theta.iter().zip(summaries.chunks_exact_mut(3)) {
            seen[0] = t * t + SQUARE * variate(rng);
            seen[1] = t * t + SQUARE * variate(rng);
            seen[2] = t + WEAK * variate(rng);
        }
        Ok(())
    }
}

impl Known for Signs {
    fn prior(&self) -> Prior {
        prior((0..D).map(|_| between(-END, END)).collect())
    }

    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let mut draws = vec![Vec::with_capacity(D); count];
        for seen in observed.chunks_exact(3) {
            let ln_density = |point: &[f64]| {
                let t = point[0];
                let squares = seen[..2].iter().map(|s| ((s - t * t) / SQUARE).powi(2)).sum::<f64>();
                -0.5 * (squares + ((seen[2] - t) / WEAK).powi(2))
            };
            let cells = Cells { bounds: &[(-END, END)], first: 400, enough: 5_000 };
            let column = cells.draw(&ln_density, count, rng);
            draws.iter_mut().zip(column).for_each(|(row, point)| row.push(point[0]));
        }
        draws
    }
}
