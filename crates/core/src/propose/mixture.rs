//! Sums of Gaussians over a population: choosing an ancestor, and the logarithm of a weighted sum.

use rand::RngExt;

use crate::stream::Stream;
use crate::vectors::{Loop, vectorised};

const LANES: usize = 16;

/// Chooses ancestors by importance weight: inverts the cumulative weights, entering by a table of equal steps.
#[derive(Clone, Debug)]
pub(super) struct Ancestors {
    cumulative: Vec<f64>,
    /// The first ancestor whose cumulative weight exceeds each step.
    entries: Vec<u32>,
}

impl Ancestors {
    pub(super) fn new(normalised: &[f64]) -> Self {
        let mut total = 0.0;
        let cumulative: Vec<f64> = normalised
            .iter()
            .map(|weight| {
                total += weight;
                total
            })
            .collect();
        let count = cumulative.len();
        let mut at = 0;
        let entry = |step: usize| {
            while at + 1 < count && cumulative[at] <= step as f64 / count as f64 * total {
                at += 1;
            }
            at as u32
        };
        let entries = (0..count).map(entry).collect();
        Self { cumulative, entries }
    }

    pub(super) fn draw(&self, rng: &mut Stream) -> usize {
        let (count, u) = (self.cumulative.len(), rng.random::<f64>());
        let level = u * self.cumulative[count - 1];
        // One step back, should rounding have put the entry too far.
        let mut at = (self.entries[(u * count as f64) as usize] as usize).saturating_sub(1);
        while at + 1 < count && self.cumulative[at] <= level {
            at += 1;
        }
        at
    }
}

/// Points of equal standing in single precision, column by column, measured from their middle and padded to
/// whole lanes with points of weight zero. Relative errors of the sums stay near 1e-6, far below their
/// Monte-Carlo error.
#[derive(Clone, Debug)]
pub(super) struct Cloud {
    middle: Vec<f64>,
    columns: Vec<Vec<f32>>,
    weights: Vec<f32>,
}

impl Cloud {
    pub(super) fn new(points: &[Vec<f64>], weights: &[f64]) -> Self {
        let padded = weights.len().next_multiple_of(LANES);
        let dimension = points.first().map_or(0, Vec::len);
        let mean = |j: usize| points.iter().map(|point| point[j]).sum::<f64>() / points.len() as f64;
        let middle: Vec<f64> = (0..dimension).map(mean).collect();
        let pad = |mut column: Vec<f32>| {
            column.resize(padded, 0.0);
            column
        };
        let column = |j: usize| pad(points.iter().map(|point| (point[j] - middle[j]) as f32).collect());
        let columns = (0..dimension).map(column).collect();
        Self { columns, weights: pad(weights.iter().map(|&weight| weight as f32).collect()), middle }
    }

    /// `ln sum_j w_j exp(-|x - x_j|^2 / 2)`.
    pub(super) fn ln_sum(&self, point: &[f64]) -> f64 {
        let point: Vec<f32> = point.iter().zip(&self.middle).map(|(x, m)| (x - m) as f32).collect();
        let sum = vectorised(Sum { cloud: self, point: &point, offset: 0.0 });
        if sum > 1e-25 {
            return libm::log(sum);
        }
        // Far from every point: measure from the nearest one so that nothing underflows.
        let square =
            |j: usize| self.columns.iter().zip(&point).map(|(c, x)| (c[j] - x) * (c[j] - x)).sum::<f32>();
        let present = (0..self.weights.len()).filter(|&j| self.weights[j] > 0.0);
        let nearest = present.map(square).fold(f32::INFINITY, f32::min) / 2.0;
        libm::log(vectorised(Sum { cloud: self, point: &point, offset: nearest })) - f64::from(nearest)
    }
}

/// `sum_j w_j exp(offset - |x - x_j|^2 / 2)`.
struct Sum<'a> {
    cloud: &'a Cloud,
    point: &'a [f32],
    offset: f32,
}

impl Loop for Sum<'_> {
    type Output = f64;

    /// Lane sums are added in a fixed order, so that the width of the machine's vectors cannot show.
    #[inline(always)]
    fn run(self) -> f64 {
        let Self { cloud, point, offset } = self;
        let mut total = [0.0f32; LANES];
        for (block, weights) in cloud.weights.chunks_exact(LANES).enumerate() {
            let mut squares = [0.0f32; LANES];
            for (column, &x) in cloud.columns.iter().zip(point) {
                let column = &column[block * LANES..(block + 1) * LANES];
                for lane in 0..LANES {
                    let step = column[lane] - x;
                    squares[lane] += step * step;
                }
            }
            for lane in 0..LANES {
                // Padding may lie nearer than any point; its weight is zero.
                total[lane] += weights[lane] * exp((offset - 0.5 * squares[lane]).min(0.0));
            }
        }
        total.iter().map(|&lane| f64::from(lane)).sum()
    }
}

/// `e^x` for `x` at most 0 to a relative 1e-6, free of branches and calls so that it vectorises; zero below -87.
///
/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`, a Taylor polynomial of degree 6 for `e^r`, and `2^n` put together
/// from its bits. `n` is found by adding 1.5 * 2^23, which rounds to a whole number in the low bits.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let bounded = if x > -87.0 { x } else { -87.0 };
    let rounded = bounded * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (bounded - n * LN2_HIGH) - n * LN2_LOW;
    let mut p = 1.0 / 720.0;
    for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p * r + factor;
    }
    let power = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    if x > -87.0 { p * power } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_libm() {
        for i in 0..86_000 {
            let x = -(i as f32) * 0.001;
            let (ours, exact) = (f64::from(exp(x)), libm::exp(f64::from(x)));
            assert!((ours - exact).abs() <= 1e-6 * exact, "{x}: {ours} {exact}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e9), 0.0);
    }

    #[test]
    fn sums_agree_with_the_plain_formula_near_and_far() {
        let points: Vec<Vec<f64>> = (0..37).map(|i| vec![f64::from(i) * 0.1, f64::from(i * i % 7)]).collect();
        let weights: Vec<f64> = (0..37).map(|i| f64::from(i % 5) / 80.0).collect();
        let cloud = Cloud::new(&points, &weights);
        for at in [[0.5, 2.0], [3.0, -1.0], [200.0, 0.0]] {
            let exponents = points.iter().map(|p| -((p[0] - at[0]).powi(2) + (p[1] - at[1]).powi(2)) / 2.0);
            let exponents: Vec<f64> = exponents.collect();
            let top = exponents.iter().zip(&weights).filter(|(_, w)| **w > 0.0).map(|(e, _)| *e);
            let top = top.fold(f64::NEG_INFINITY, f64::max);
            let plain: f64 = exponents.iter().zip(&weights).map(|(e, w)| w * libm::exp(e - top)).sum();
            let expected = top + libm::log(plain);
            assert!((cloud.ln_sum(&at) - expected).abs() < 2e-6 * expected.abs().max(1.0));
        }
    }

    #[test]
    fn ancestors_follow_their_weights() {
        use crate::stream::{Seed, Stage};
        let ancestors = Ancestors::new(&[0.2, 0.0, 0.8]);
        let mut rng = Seed(2).stream(Stage::Propose, 0, 0);
        let mut counts = [0.0f64; 3];
        for _ in 0..10_000 {
            counts[ancestors.draw(&mut rng)] += 1.0;
        }
        // Five standard errors: one false alarm in two million.
        assert!((counts[0] - 2000.0).abs() < 200.0 && counts[1] == 0.0, "{counts:?}");
    }
}
