//! A sum of Gaussians, told at many points at once.

use std::f64::consts::LOG2_E;

use nalgebra::DMatrix;

use super::super::covariance::whiten;
use crate::elementary::ln;
use crate::vectors::{Loop, vectorised};

/// Points side by side: in two vectors, so that none waits for another. A point has the same bits beside whatever others.
const LANES: usize = 16;

/// A weighted sum of Gaussians, each with a covariance of its own; normalised where its weights sum to one.
pub(super) struct Bells {
    /// Where points are measured from, so that single precision is enough: relative errors of the sums stay near 1e-5, far
    /// below their Monte-Carlo error.
    middle: Vec<f64>,
    /// Of each component the rows of its factor's inverse, each followed by the whitened centre's coordinate; in units in which
    /// a square is what halves the density so often.
    entries: Vec<f32>,
    /// Each component's height, as a power of two, below the largest of them, which is the unit of all sums.
    heights: Vec<f32>,
    ln_unit: f64,
}

/// A component: its centre, the lower triangular factor of its covariance, and the logarithm of its weight.
pub(super) type Bell<'a> = (&'a [f64], &'a DMatrix<f64>, f64);

impl Bells {
    pub(super) fn new(middle: Vec<f64>, bells: &[Bell<'_>]) -> Self {
        let (d, scale) = (middle.len(), (0.5 * LOG2_E).sqrt());
        let mut entries = Vec::with_capacity(bells.len() * stride(d));
        for (centre, root, _) in bells {
            let from_middle: Vec<f64> = centre.iter().zip(&middle).map(|(x, middle)| x - middle).collect();
            let white = whiten(root, &from_middle);
            let columns: Vec<Vec<f64>> = (0..d).map(|k| inverse_column(root, k)).collect();
            for j in 0..d {
                entries.extend(columns.iter().take(j + 1).map(|column| (scale * column[j]) as f32));
                entries.push((scale * white[j]) as f32);
            }
        }
        let heights: Vec<f64> =
            bells.iter().map(|(_, root, ln_weight)| ln_weight + ln_constant(root)).collect();
        let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ln_unit = if highest.is_finite() { highest } else { 0.0 };
        let heights = heights.iter().map(|height| ((height - ln_unit) * LOG2_E) as f32).collect();
        Self { middle, entries, heights, ln_unit }
    }

    /// The logarithm of what [`Bells::sums`] are told in.
    pub(super) fn ln_unit(&self) -> f64 {
        self.ln_unit
    }

    /// The sum at each point. With `but`, the first point is the centre of this component, the next of the next, and each is
    /// left out at its own. Nothing is left of a sum that is smaller than its unit by a factor of 10^37.
    pub(super) fn sums(&self, points: &[&[f64]], but: Option<usize>, into: &mut [f64]) {
        let d = self.middle.len();
        let mut x = vec![[0.0_f32; LANES]; d];
        for (block, (points, into)) in points.chunks(LANES).zip(into.chunks_mut(LANES)).enumerate() {
            for (lane, point) in points.iter().enumerate() {
                for (x, (value, middle)) in x.iter_mut().zip(point.iter().zip(&self.middle)) {
                    x[lane] = (value - middle) as f32;
                }
            }
            let mut sums = [0.0; LANES];
            let Some(first) = but.map(|but| but + block * LANES) else {
                self.add(0..self.heights.len(), &x, &mut sums);
                into.iter_mut().zip(sums).for_each(|(into, sum)| *into = f64::from(sum));
                continue;
            };
            let own = first..(first + points.len()).min(self.heights.len());
            self.add(0..own.start, &x, &mut sums);
            for (lane, component) in own.clone().enumerate() {
                let before = sums[lane];
                self.add(component..component + 1, &x, &mut sums);
                sums[lane] = before;
            }
            self.add(own.end..self.heights.len(), &x, &mut sums);
            into.iter_mut().zip(sums).for_each(|(into, sum)| *into = f64::from(sum));
        }
    }

    /// The logarithms of these sums, each as it is.
    pub(super) fn ln_sums(&self, points: &[&[f64]], but: Option<usize>, into: &mut [f64]) {
        self.sums(points, but, into);
        let ln_of = |sum: f64| if sum > 0.0 { ln(sum) + self.ln_unit } else { f64::NEG_INFINITY };
        into.iter_mut().for_each(|sum| *sum = ln_of(*sum));
    }

    /// Adds some components to the sums of a block.
    fn add(&self, some: std::ops::Range<usize>, x: &[[f32; LANES]], sums: &mut [f32; LANES]) {
        let stride = stride(x.len());
        let entries = &self.entries[some.start * stride..some.end * stride];
        let heights = &self.heights[some];
        *sums = match *x {
            [a] => vectorised(Few { entries, heights, x: [a], sums: *sums }),
            [a, b] => vectorised(Few { entries, heights, x: [a, b], sums: *sums }),
            [a, b, c] => vectorised(Few { entries, heights, x: [a, b, c], sums: *sums }),
            [a, b, c, d] => vectorised(Few { entries, heights, x: [a, b, c, d], sums: *sums }),
            _ => vectorised(Any { entries, heights, x, sums: *sums }),
        };
    }
}

/// Entries of a component in so many dimensions.
fn stride(d: usize) -> usize {
    d * (d + 1) / 2 + d
}

fn inverse_column(root: &DMatrix<f64>, k: usize) -> Vec<f64> {
    let mut unit = vec![0.0; root.nrows()];
    unit[k] = 1.0;
    whiten(root, &unit)
}

/// The logarithm of a Gaussian's density at its centre.
fn ln_constant(root: &DMatrix<f64>) -> f64 {
    let d = root.nrows();
    let ln_determinant: f64 = (0..d).map(|j| libm::log(root[(j, j)])).sum();
    -0.5 * d as f64 * libm::log(std::f64::consts::TAU) - ln_determinant
}

/// A block of points in few dimensions, which stay in the processor.
struct Few<'a, const D: usize> {
    entries: &'a [f32],
    heights: &'a [f32],
    x: [[f32; LANES]; D],
    sums: [f32; LANES],
}

impl<const D: usize> Loop for Few<'_, D> {
    type Output = [f32; LANES];

    #[inline(always)]
    fn run(self) -> [f32; LANES] {
        let Self { entries, heights, x, mut sums } = self;
        for (entries, &height) in entries.chunks_exact(stride(D)).zip(heights) {
            let (mut squares, mut at) = ([0.0; LANES], 0);
            for j in 0..D {
                let mut white = [0.0; LANES];
                for x in &x[..=j] {
                    for lane in 0..LANES {
                        white[lane] += entries[at] * x[lane];
                    }
                    at += 1;
                }
                for lane in 0..LANES {
                    let step = white[lane] - entries[at];
                    squares[lane] += step * step;
                }
                at += 1;
            }
            for lane in 0..LANES {
                sums[lane] += exp2(height - squares[lane]);
            }
        }
        sums
    }
}

/// A block of points in any dimension.
struct Any<'a> {
    entries: &'a [f32],
    heights: &'a [f32],
    x: &'a [[f32; LANES]],
    sums: [f32; LANES],
}

impl Loop for Any<'_> {
    type Output = [f32; LANES];

    #[inline(always)]
    fn run(self) -> [f32; LANES] {
        let Self { entries, heights, x, mut sums } = self;
        for (entries, &height) in entries.chunks_exact(stride(x.len())).zip(heights) {
            let (mut squares, mut at) = ([0.0; LANES], 0);
            for j in 0..x.len() {
                let mut white = [0.0; LANES];
                for (x, entry) in x[..=j].iter().zip(&entries[at..]) {
                    for lane in 0..LANES {
                        white[lane] += entry * x[lane];
                    }
                }
                at += j + 2;
                for lane in 0..LANES {
                    let step = white[lane] - entries[at - 1];
                    squares[lane] += step * step;
                }
            }
            for lane in 0..LANES {
                sums[lane] += exp2(height - squares[lane]);
            }
        }
        sums
    }
}

/// Two to the power of `x`, which is at most 0, to a relative 3e-7, free of branches and calls so that it vectorises; nothing
/// below -126. The whole part is put together from bits; a polynomial through Chebyshev's points has the rest, within a half.
#[inline(always)]
fn exp2(x: f32) -> f32 {
    /// A small number added to it is rounded to a whole one, which its lowest bits are.
    const ROUND: f32 = 12_582_912.0;
    let bounded = if x > -126.0 { x } else { -126.0 };
    let rounded = bounded + ROUND;
    let r = bounded - (rounded - ROUND);
    let mut p = 0.001_339_086_3;
    for factor in [0.009_676_032, 0.055_503_57, 0.240_221_07, std::f32::consts::LN_2, 1.000_000_1] {
        p = p * r + factor;
    }
    let power = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    if x > -126.0 { p * power } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;
    use crate::table::Table;

    fn made(units: &Table, roots: &[DMatrix<f64>], weights: &[f64]) -> Bells {
        let d = units.columns();
        let middle: Vec<f64> =
            (0..d).map(|j| units.column(j).iter().sum::<f64>() / units.rows() as f64).collect();
        let bells: Vec<Bell<'_>> = units
            .iter()
            .zip(roots)
            .zip(weights)
            .map(|((unit, root), weight)| (unit, root, libm::log(*weight)))
            .collect();
        Bells::new(middle, &bells)
    }

    fn plain(at: &[f64], unit: &[f64], root: &DMatrix<f64>, weight: f64) -> f64 {
        let step: Vec<f64> = at.iter().zip(unit).map(|(x, centre)| x - centre).collect();
        let square: f64 = whiten(root, &step).iter().map(|x| x * x).sum();
        weight * libm::exp(ln_constant(root) - 0.5 * square)
    }

    #[test]
    fn sums_are_those_of_the_definition_and_do_not_depend_on_the_block() {
        for d in [1, 2, 3, 4, 6] {
            let (units, steps) = (gaussian(41, d, 0.0, 1.0, 1), gaussian(41, d, 0.0, 0.2, 2));
            let roots: Vec<DMatrix<f64>> = steps
                .iter()
                .map(|s| {
                    DMatrix::from_fn(d, d, |a, b| match a.cmp(&b) {
                        std::cmp::Ordering::Less => 0.0,
                        std::cmp::Ordering::Equal => 0.8 + s[a],
                        std::cmp::Ordering::Greater => s[b],
                    })
                })
                .collect();
            let weights: Vec<f64> = (0..41).map(|i| f64::from(i + 1) / 861.0).collect();
            let bells = made(&units, &roots, &weights);
            let points: Vec<&[f64]> = units.iter().collect();
            let (mut all, mut others) = (vec![0.0; 41], vec![0.0; 41]);
            bells.ln_sums(&points, None, &mut all);
            bells.ln_sums(&points, Some(0), &mut others);
            for (at, point) in points.iter().enumerate() {
                let of = |i: usize| plain(point, units.row(i), &roots[i], weights[i]);
                let sum = |but: usize| libm::log((0..41).filter(|&i| i != but).map(of).sum::<f64>());
                // As near as single precision is.
                assert!((all[at] - sum(99)).abs() < 3e-6, "{d}: {} {}", all[at], sum(99));
                assert!((others[at] - sum(at)).abs() < 3e-6, "{d}: {} {}", others[at], sum(at));
                let mut alone = [0.0];
                bells.ln_sums(&[point], None, &mut alone);
                assert_eq!(alone[0].to_bits(), all[at].to_bits());
            }
        }
    }

    #[test]
    fn powers_of_two_agree_with_libm() {
        for i in 0..126_000 {
            let x = -(i as f32) * 0.001;
            let (ours, exact) = (f64::from(exp2(x)), libm::exp2(f64::from(x)));
            assert!((ours - exact).abs() <= 3e-7 * exact, "{x}: {ours} {exact}");
        }
        assert_eq!(exp2(-1e9), 0.0);
    }

    #[test]
    fn narrow_ridges_far_from_the_origin_keep_their_digits() {
        // A thousandth wide, a hundred times as long as across, at (3, -2).
        let shape = gaussian(40, 2, 0.0, 1e-3, 1);
        let units =
            Table::from_rows(2, shape.iter().flat_map(|s| [3.0 + s[0], -2.0 + s[0] + 1e-2 * s[1]]).collect());
        let root = DMatrix::from_row_slice(2, 2, &[1e-3, 0.0, 1e-3, 1e-5]);
        let bells = made(&units, &vec![root.clone(); 40], &[1.0 / 40.0; 40]);
        let points: Vec<&[f64]> = units.iter().collect();
        let mut found = vec![0.0; 40];
        bells.ln_sums(&points, None, &mut found);
        for (point, found) in points.iter().zip(found) {
            let sum = libm::log(units.iter().map(|unit| plain(point, unit, &root, 1.0 / 40.0)).sum::<f64>());
            assert!((found - sum).abs() < 1e-4, "{found} {sum}");
        }
    }
}
