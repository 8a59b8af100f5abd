//! Linear regression of several targets on many regressors, by weighted and penalised least squares.

use nalgebra::DMatrix;

use crate::vectors::{Loop, vectorised};

/// What a regression sees. Points are asked for by number, twice over.
pub(crate) struct Sample<'a> {
    /// Number of points.
    pub(crate) count: usize,
    /// Number of regressors.
    pub(crate) regressors: usize,
    /// Number of targets.
    pub(crate) targets: usize,
    /// Writes the regressors of a point.
    pub(crate) regress: &'a dyn Fn(usize, &mut [f64]),
    /// Writes the targets of a point.
    pub(crate) target: &'a dyn Fn(usize, &mut [f64]),
    /// How much a point counts; 1 for all where every point counts the same.
    pub(crate) weight: &'a dyn Fn(usize) -> f64,
}

/// A fitted regression: `middle + coefficients (x - centre) / scale`.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    centre: Vec<f64>,
    /// Zero for a regressor that is left out.
    scale: Vec<f64>,
    used: Vec<usize>,
    middle: Vec<f64>,
    /// Those of each target in a column, one a regressor in use.
    coefficients: DMatrix<f64>,
}

/// Points whose products are added together: the sums stay in the processor meanwhile.
const BLOCK: usize = 8;

impl Linear {
    /// Fits by least squares with a penalty of `ridge` on each coefficient squared, in units in which regressors
    /// have variance one. `scale` says what their standard deviations are; one of 0 leaves a regressor out. `None`
    /// where no regressor is left or they do not determine the coefficients.
    pub(crate) fn fit(sample: &Sample<'_>, scale: Vec<f64>, ridge: f64) -> Option<Self> {
        let used: Vec<usize> = (0..sample.regressors).filter(|&j| scale[j] > 0.0).collect();
        if used.is_empty() {
            return None;
        }
        let total: f64 = (0..sample.count).map(sample.weight).sum();
        let centre = mean(sample.regressors, sample, sample.regress, total);
        let middle = mean(sample.targets, sample, sample.target, total);
        let (k, d) = (used.len(), sample.targets);
        let (mut gram, mut cross) = (DMatrix::<f64>::zeros(k, k), DMatrix::<f64>::zeros(k, d));
        let (mut raw, mut targets) = (vec![0.0; sample.regressors], vec![0.0; d]);
        let (mut points, mut factors) = (vec![0.0; BLOCK * k], vec![0.0; BLOCK * k]);
        for first in (0..sample.count).step_by(BLOCK) {
            let block = BLOCK.min(sample.count - first);
            for at in 0..block {
                (sample.regress)(first + at, &mut raw);
                (sample.target)(first + at, &mut targets);
                let weight = (sample.weight)(first + at);
                let x = &mut points[at * k..(at + 1) * k];
                for (slot, &j) in used.iter().enumerate() {
                    x[slot] = (raw[j] - centre[j]) / scale[j];
                    let factor = weight * x[slot] / total;
                    factors[at * k + slot] = factor;
                    for p in 0..d {
                        cross[(slot, p)] += factor * (targets[p] - middle[p]);
                    }
                }
            }
            let (points, factors) = (&points[..block * k], &factors[..block * k]);
            vectorised(Products { gram: gram.as_mut_slice(), points, factors, k });
        }
        (0..k).for_each(|b| gram[(b, b)] += ridge);
        let coefficients = gram.cholesky()?.solve(&cross);
        coefficients.iter().all(|b| b.is_finite()).then_some(Self {
            centre,
            scale,
            used,
            middle,
            coefficients,
        })
    }

    /// The coefficients of a target on all regressors in units of their scale; 0 for one that was left out.
    pub(crate) fn standardised(&self, target: usize) -> Vec<f64> {
        let mut all = vec![0.0; self.scale.len()];
        self.used.iter().zip(self.coefficients.column(target).iter()).for_each(|(&j, b)| all[j] = *b);
        all
    }

    /// Writes the targets that are expected at a point.
    pub(crate) fn predict(&self, regressors: &[f64], targets: &mut [f64]) {
        for (p, target) in targets.iter_mut().enumerate() {
            let column = self.coefficients.column(p);
            let terms = self.used.iter().zip(column.iter());
            let sum: f64 = terms.map(|(&j, b)| b * ((regressors[j] - self.centre[j]) / self.scale[j])).sum();
            *target = self.middle[p] + sum;
        }
    }
}

/// The standard deviations of the regressors of a sample; zero where all values are equal.
pub(crate) fn spread(sample: &Sample<'_>) -> Vec<f64> {
    let total: f64 = (0..sample.count).map(sample.weight).sum();
    let centre = mean(sample.regressors, sample, sample.regress, total);
    let mut raw = vec![0.0; sample.regressors];
    let (mut square, mut largest) = (vec![0.0; sample.regressors], vec![0.0_f64; sample.regressors]);
    for point in 0..sample.count {
        (sample.regress)(point, &mut raw);
        let weight = (sample.weight)(point) / total;
        for j in 0..raw.len() {
            let step = raw[j] - centre[j];
            square[j] += weight * step * step;
            largest[j] = largest[j].max(raw[j].abs());
        }
    }
    // Below this a difference from the mean is rounding.
    let noise = |j: usize| 1e-12 * largest[j];
    (0..raw.len()).map(|j| if square[j].sqrt() > noise(j) { square[j].sqrt() } else { 0.0 }).collect()
}

fn mean(width: usize, sample: &Sample<'_>, write: &dyn Fn(usize, &mut [f64]), total: f64) -> Vec<f64> {
    let (mut sums, mut values) = (vec![0.0; width], vec![0.0; width]);
    for point in 0..sample.count {
        write(point, &mut values);
        let weight = (sample.weight)(point);
        sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += weight * value);
    }
    sums.into_iter().map(|sum| sum / total).collect()
}

/// Adds the products of some points to those of all.
struct Products<'a> {
    gram: &'a mut [f64],
    points: &'a [f64],
    factors: &'a [f64],
    k: usize,
}

impl Loop for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { gram, points, factors, k } = self;
        for (b, column) in gram.chunks_exact_mut(k).enumerate() {
            for (x, factors) in points.chunks_exact(k).zip(factors.chunks_exact(k)) {
                let factor = factors[b];
                for (entry, value) in column.iter_mut().zip(x) {
                    *entry += factor * value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    #[test]
    fn a_linear_law_is_found_whatever_the_scales() {
        let x = gaussian(200, 3, 5.0, 2.0, 1);
        let regress = |i: usize, into: &mut [f64]| {
            into.copy_from_slice(&[1e6 * x.at(i, 0), x.at(i, 1), 7.0, 1e-6 * x.at(i, 2)]);
        };
        let target = |i: usize, into: &mut [f64]| {
            into[0] = 1.0 + 2.0 * x.at(i, 0) - x.at(i, 2);
            into[1] = x.at(i, 1);
        };
        let sample = Sample {
            count: 200,
            regressors: 4,
            targets: 2,
            regress: &regress,
            target: &target,
            weight: &|i| if i % 3 == 0 { 0.0 } else { 1.5 },
        };
        let fit = Linear::fit(&sample, spread(&sample), 0.0).unwrap();
        let (mut at, mut expected, mut found) = ([0.0; 4], [0.0; 2], [0.0; 2]);
        for i in 0..200 {
            regress(i, &mut at);
            target(i, &mut expected);
            fit.predict(&at, &mut found);
            assert!((found[0] - expected[0]).abs() < 1e-9 && (found[1] - expected[1]).abs() < 1e-9);
        }
        assert_eq!(fit.standardised(0)[2], 0.0, "a constant is left out");
    }

    #[test]
    fn a_penalty_shrinks_as_its_closed_form_says() {
        // One regressor of variance 1 and slope 3: the ridge estimate is 3 / (1 + ridge).
        let regress = |i: usize, into: &mut [f64]| into[0] = if i == 0 { -1.0 } else { 1.0 };
        let target = |i: usize, into: &mut [f64]| into[0] = if i == 0 { -3.0 } else { 3.0 };
        let sample = Sample {
            count: 2,
            regressors: 1,
            targets: 1,
            regress: &regress,
            target: &target,
            weight: &|_| 1.0,
        };
        let fit = Linear::fit(&sample, vec![1.0], 0.5).unwrap();
        assert!((fit.standardised(0)[0] - 2.0).abs() < 1e-12);
        assert!(Linear::fit(&sample, vec![0.0], 0.5).is_none());
    }
}
