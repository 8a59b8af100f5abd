//! Gaussians around particles, each with a covariance of its own.

use nalgebra::DMatrix;

use super::super::Kernel;
use super::super::covariance::{add_step, whiten};
use super::super::mixture::{Ancestors, exp};
use crate::stream::Stream;
use crate::table::Table;
use crate::vectors::{Loop, vectorised};

/// Components that are looked at together: sums in four vectors, so that none waits for another.
const LANES: usize = 32;
/// Exponents so far below the largest add nothing.
const NEGLIGIBLE: f32 = 24.0;

/// A weighted sum of Gaussians, its density normalised.
pub(super) struct Gaussians {
    centres: Table,
    ancestors: Ancestors,
    /// Lower triangular factors of the covariances.
    roots: Vec<DMatrix<f64>>,
    /// Where points are measured from, so that single precision is enough: relative errors of the sums stay near 1e-5, far
    /// below their Monte-Carlo error.
    middle: Vec<f64>,
    /// Their inverses and the whitened centres, entry by entry and within an entry component by component, padded to
    /// whole lanes: for each block of lanes the rows of the triangle, each followed by the centre's coordinate.
    entries: Vec<f32>,
    /// Log weight less the log determinant of the factor, and the constant of a Gaussian; padded with nothing.
    ln_scale: Vec<f32>,
}

impl Gaussians {
    pub(super) fn new(units: &Table, weights: &[f64], roots: Vec<DMatrix<f64>>) -> Self {
        let (n, d) = (units.rows(), units.columns());
        let inverse = |root: &DMatrix<f64>| -> Vec<Vec<f64>> {
            let column = |k: usize| {
                let mut unit = vec![0.0; d];
                unit[k] = 1.0;
                whiten(root, &unit)
            };
            (0..d).map(column).collect()
        };
        let per_block = LANES * (d * (d + 1) / 2 + d);
        let mut entries = vec![0.0; n.div_ceil(LANES) * per_block];
        let mut ln_scale = vec![f32::NEG_INFINITY; n.next_multiple_of(LANES)];
        let middle: Vec<f64> =
            (0..d).map(|j| units.iter().map(|unit| unit[j]).sum::<f64>() / n as f64).collect();
        for (at, (unit, root)) in units.iter().zip(&roots).enumerate() {
            let from_middle: Vec<f64> = unit.iter().zip(&middle).map(|(x, middle)| x - middle).collect();
            let (columns, white) = (inverse(root), whiten(root, &from_middle));
            let block = &mut entries[at / LANES * per_block..][..per_block];
            let mut entry = at % LANES;
            for j in 0..d {
                for column in columns.iter().take(j + 1) {
                    block[entry] = column[j] as f32;
                    entry += LANES;
                }
                block[entry] = white[j] as f32;
                entry += LANES;
            }
            ln_scale[at] = (libm::log(weights[at].max(f64::MIN_POSITIVE)) + ln_constant(root)) as f32;
        }
        Self { centres: units.clone(), ancestors: Ancestors::new(weights), roots, middle, entries, ln_scale }
    }

    /// Log density of all components but one.
    pub(super) fn ln_density_without(&self, unit: &[f64], but: Option<usize>) -> f64 {
        let per_block = self.entries.len() * LANES / self.ln_scale.len();
        let unit: Vec<f32> = unit.iter().zip(&self.middle).map(|(x, middle)| (x - middle) as f32).collect();
        let (mut top, mut sum) = (f32::NEG_INFINITY, 0.0);
        for (block, scales) in self.ln_scale.chunks_exact(LANES).enumerate() {
            let entries = &self.entries[block * per_block..(block + 1) * per_block];
            let mut exponents = vectorised(Exponents { entries, scales, unit: &unit });
            if let Some(but) = but.filter(|but| but / LANES == block) {
                exponents[but % LANES] = f32::NEG_INFINITY;
            }
            let largest = exponents.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            if largest > top {
                sum *= libm::exp(f64::from(top - largest));
                top = largest;
            }
            if largest > top - NEGLIGIBLE {
                sum += vectorised(Sum { exponents, top });
            }
        }
        f64::from(top) + libm::log(sum)
    }
}

/// The logarithm of a Gaussian's density at its centre.
pub(super) fn ln_constant(root: &DMatrix<f64>) -> f64 {
    let d = root.nrows();
    let ln_determinant: f64 = (0..d).map(|j| libm::log(root[(j, j)])).sum();
    -0.5 * d as f64 * libm::log(std::f64::consts::TAU) - ln_determinant
}

impl Kernel for Gaussians {
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        let ancestor = self.ancestors.draw(rng);
        unit.copy_from_slice(self.centres.row(ancestor));
        add_step(&self.roots[ancestor], rng, unit);
    }

    fn ln_density(&self, unit: &[f64]) -> f64 {
        self.ln_density_without(unit, None)
    }
}

/// Logarithms of the densities of a block of components at a point.
struct Exponents<'a> {
    entries: &'a [f32],
    scales: &'a [f32],
    unit: &'a [f32],
}

impl Loop for Exponents<'_> {
    type Output = [f32; LANES];

    #[inline(always)]
    fn run(self) -> [f32; LANES] {
        let Self { entries, scales, unit } = self;
        let mut squares = [0.0; LANES];
        let mut rows = entries.chunks_exact(LANES);
        for j in 0..unit.len() {
            let mut white = [0.0; LANES];
            for (x, row) in unit[..=j].iter().zip(&mut rows) {
                for lane in 0..LANES {
                    white[lane] += row[lane] * x;
                }
            }
            if let Some(centre) = rows.next() {
                for lane in 0..LANES {
                    let step = white[lane] - centre[lane];
                    squares[lane] += step * step;
                }
            }
        }
        let mut exponents = [0.0; LANES];
        for lane in 0..LANES {
            exponents[lane] = scales[lane] - 0.5 * squares[lane];
        }
        exponents
    }
}

/// The sum of the exponentials of some exponents less the largest of all.
struct Sum {
    exponents: [f32; LANES],
    top: f32,
}

impl Loop for Sum {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut terms = self.exponents;
        for term in &mut terms {
            *term = exp(*term - self.top);
        }
        terms.iter().map(|&term| f64::from(term)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    #[test]
    fn the_density_is_that_of_the_sum() {
        let (units, steps) = (gaussian(21, 3, 0.0, 1.0, 1), gaussian(21, 6, 0.0, 0.3, 2));
        let weights: Vec<f64> = (0..21).map(|i| (i + 1) as f64 / 231.0).collect();
        let root = |i: usize| {
            let s = steps.row(i);
            DMatrix::from_row_slice(3, 3, &[1.0 + s[0], 0.0, 0.0, s[1], 0.5, 0.0, s[2], s[3], 0.8])
        };
        let sum = Gaussians::new(&units, &weights, (0..21).map(root).collect());
        let at = [0.3, -0.7, 1.1];
        let one = |i: usize| {
            let white =
                whiten(&root(i), &[at[0] - units.at(i, 0), at[1] - units.at(i, 1), at[2] - units.at(i, 2)]);
            let square: f64 = white.iter().map(|x| x * x).sum();
            weights[i] * libm::exp(ln_constant(&root(i)) - 0.5 * square)
        };
        let without = |but: usize| -> f64 { (0..21).filter(|&i| i != but).map(one).sum() };
        // As near as single precision is.
        assert!((sum.ln_density(&at) - libm::log(without(99))).abs() < 2e-6);
        assert!((sum.ln_density_without(&at, Some(17)) - libm::log(without(17))).abs() < 2e-6);
    }

    #[test]
    fn narrow_ridges_far_from_the_origin_keep_their_digits() {
        // A thousandth wide, a hundred times as long as across, at (3, -2).
        let shape = gaussian(40, 2, 0.0, 1e-3, 1);
        let units =
            Table::from_rows(2, shape.iter().flat_map(|s| [3.0 + s[0], -2.0 + s[0] + 1e-2 * s[1]]).collect());
        let root = DMatrix::from_row_slice(2, 2, &[1e-3, 0.0, 1e-3, 1e-5]);
        let weights = vec![1.0 / 40.0; 40];
        let sum = Gaussians::new(&units, &weights, vec![root.clone(); 40]);
        for at in units.iter() {
            let one = |unit: &[f64]| {
                let white = whiten(&root, &[at[0] - unit[0], at[1] - unit[1]]);
                libm::exp(ln_constant(&root) - 0.5 * white.iter().map(|x| x * x).sum::<f64>()) / 40.0
            };
            let plain = libm::log(units.iter().map(one).sum::<f64>());
            assert!((sum.ln_density(at) - plain).abs() < 1e-4, "{} {plain}", sum.ln_density(at));
        }
    }
}
