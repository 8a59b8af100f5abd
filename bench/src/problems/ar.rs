//! An autoregression of order two from rest, its sixty raw values the statistics. A quarter of the prior explodes, to
//! values of 10^12 at its corners.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::Stream;

use super::cells::Cells;
use super::normal::{Truncated, variate};
use super::{Known, between, log_between, prior};

const STEPS: usize = 60;
const SD: (f64, f64) = (0.3, 3.0);
const WALLS: (f64, f64) = (-1.0, 1.0);

pub struct Autoregression;

impl Simulator for Autoregression {
    fn summaries(&self) -> usize {
        STEPS
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        let (mut last, mut before) = (0.0, 0.0);
        for slot in summaries {
            *slot = theta[0] * last + theta[1] * before + theta[2] * variate(rng);
            (last, before) = (*slot, last);
        }
        Ok(())
    }
}

/// Turns columns to a triangle by Householder's reflections, first column first: normal equations would square a condition
/// number that is 10^12 where the series explodes.
fn triangle(mut columns: [Vec<f64>; 3]) -> [Vec<f64>; 3] {
    for k in 0..3 {
        let norm = columns[k][k..].iter().map(|v| v * v).sum::<f64>().sqrt();
        let pivot = if columns[k][k] > 0.0 { -norm } else { norm };
        let mut axis = columns[k][k..].to_vec();
        axis[0] -= pivot;
        let size: f64 = axis.iter().map(|v| v * v).sum();
        for column in &mut columns[k..] {
            let along: f64 = column[k..].iter().zip(&axis).map(|(v, a)| v * a).sum();
            column[k..].iter_mut().zip(&axis).for_each(|(v, a)| *v -= 2.0 * along / size * a);
        }
    }
    columns
}

impl Known for Autoregression {
    fn prior(&self) -> Prior {
        prior(vec![between(WALLS.0, WALLS.1), between(WALLS.0, WALLS.1), log_between(SD.0, SD.1)])
    }

    /// Cells over `t2` and the logarithm of `t3`, in which the prior is flat; given those, `t1` is a truncated normal.
    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let lagged = |lag: usize| (0..STEPS).map(|t| if t < lag { 0.0 } else { observed[t - lag] }).collect();
        let [a, b, y] = triangle([lagged(1), lagged(2), observed.to_vec()]);
        // The squared errors are (a0 t1 + b0 t2 - y0)^2 + (b1 t2 - y1)^2 + y2^2.
        let first = |t2: f64, sd: f64| Truncated {
            mean: (y[0] - b[0] * t2) / a[0],
            sd: sd / a[0].abs(),
            ends: WALLS,
        };
        let ln_density = |point: &[f64]| {
            let (t2, sd) = (point[0], point[1].exp());
            let errors = (b[1] * t2 - y[1]).powi(2) + y[2] * y[2];
            // Of the sixty densities' factors 1/sd the integral over t1 takes up one.
            first(t2, sd).ln_mass() - (STEPS - 1) as f64 * point[1] - 0.5 * errors / (sd * sd)
        };
        let cells = Cells { bounds: &[WALLS, (SD.0.ln(), SD.1.ln())], first: 60, enough: 30_000 };
        let draws = cells.draw(&ln_density, count, rng);
        let full = |point: Vec<f64>| {
            let (t2, sd) = (point[0], point[1].exp());
            vec![first(t2, sd).draw(rng), t2, sd]
        };
        draws.into_iter().map(full).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_triangle_keeps_the_squared_errors() {
        let (t, columns) =
            ([0.3, -0.8], [vec![1.0, 2.0, -1.0, 0.5], vec![0.0, 1.0, 2.0, -1.0], vec![3.0, 1.0, 0.2, 4.0]]);
        let error = |[a, b, y]: &[Vec<f64>; 3]| -> f64 {
            (0..4).map(|i| (y[i] - t[0] * a[i] - t[1] * b[i]).powi(2)).sum()
        };
        let turned = triangle(columns.clone());
        assert!((error(&columns) - error(&turned)).abs() < 1e-12);
        assert!(turned[0][1..].iter().chain(&turned[1][2..]).chain(&turned[2][3..]).all(|v| v.abs() < 1e-12));
    }
}
