//! Linear regression of several targets on many regressors, by weighted and penalised least squares.

use nalgebra::DMatrix;

use crate::products::add_products;
use crate::table::Table;

/// What a regression sees. Points are asked for by number, once.
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

/// A fitted regression: `middle + slopes (x - centre)`.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    centre: Vec<f64>,
    middle: Vec<f64>,
    /// Zero for a regressor that is left out.
    scale: Vec<f64>,
    /// Those of each target, one a regressor.
    slopes: Vec<Vec<f64>>,
}

impl Linear {
    /// Fits by least squares with a penalty of `ridge` on each coefficient squared, in units in which regressors
    /// have variance one. `scale` says what their standard deviations are, if not those of the sample; one of 0
    /// leaves a regressor out. `None` where no regressor is left or they do not determine the coefficients.
    pub(crate) fn fit(sample: &Sample<'_>, scale: Option<&[f64]>, ridge: f64) -> Option<Self> {
        Gathered::of(sample).fit(scale, ridge)
    }

    /// The coefficients of a target on all regressors in units of their scale; 0 for one that was left out.
    pub(crate) fn standardised(&self, target: usize) -> Vec<f64> {
        self.slopes[target].iter().zip(&self.scale).map(|(slope, scale)| slope * scale).collect()
    }

    /// The coefficients of a target on all regressors; 0 for one that was left out.
    pub(crate) fn slopes(&self, target: usize) -> &[f64] {
        &self.slopes[target]
    }

    /// Writes the targets that are expected at a point.
    pub(crate) fn predict(&self, regressors: &[f64], targets: &mut [f64]) {
        for (target, (middle, slopes)) in targets.iter_mut().zip(self.middle.iter().zip(&self.slopes)) {
            let steps = regressors.iter().zip(&self.centre).map(|(x, centre)| x - centre);
            *target = middle + steps.zip(slopes).map(|(step, slope)| slope * step).sum::<f64>();
        }
    }
}

/// The standard deviations of the regressors of a sample; zero where all values are equal.
pub(crate) fn spread(sample: &Sample<'_>) -> Vec<f64> {
    let gathered = Gathered::of(sample);
    gathered.spread(&gathered.products())
}

/// The points of a sample side by side: regressors and targets less their means.
pub(crate) struct Gathered {
    regressors: usize,
    width: usize,
    values: Vec<f64>,
    /// Weights, summing to one.
    weights: Vec<f64>,
    means: Vec<f64>,
    /// Largest size of each regressor.
    largest: Vec<f64>,
}

impl Gathered {
    pub(crate) fn of(sample: &Sample<'_>) -> Self {
        let (regressors, width) = (sample.regressors, sample.regressors + sample.targets);
        let mut weights: Vec<f64> = (0..sample.count).map(sample.weight).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let mut values = vec![0.0; sample.count * width];
        let (mut means, mut largest) = (vec![0.0; width], vec![0.0_f64; regressors]);
        for (at, (point, weight)) in values.chunks_exact_mut(width.max(1)).zip(&weights).enumerate() {
            let (x, y) = point.split_at_mut(regressors);
            (sample.regress)(at, x);
            (sample.target)(at, y);
            largest.iter_mut().zip(&*x).for_each(|(most, x)| *most = most.max(x.abs()));
            means.iter_mut().zip(&*point).for_each(|(mean, value)| *mean += weight * value);
        }
        for point in values.chunks_exact_mut(width.max(1)) {
            point.iter_mut().zip(&means).for_each(|(value, mean)| *value -= mean);
        }
        Self { regressors, width, values, weights, means, largest }
    }

    /// Other targets for the same points, as many.
    pub(crate) fn retarget(&mut self, targets: &Table) {
        let means = &mut self.means[self.regressors..];
        means.fill(0.0);
        for (target, weight) in targets.iter().zip(&self.weights) {
            means.iter_mut().zip(target).for_each(|(mean, value)| *mean += weight * value);
        }
        for (point, target) in self.values.chunks_exact_mut(self.width).zip(targets.iter()) {
            let slots = point[self.regressors..].iter_mut().zip(target.iter().zip(&*means));
            slots.for_each(|(slot, (value, mean))| *slot = value - mean);
        }
    }

    /// See [`Linear::fit`].
    pub(crate) fn fit(&self, scale: Option<&[f64]>, ridge: f64) -> Option<Linear> {
        let products = self.products();
        let (k, d) = (self.regressors, self.width - self.regressors);
        let scale = scale.map_or_else(|| self.spread(&products), <[f64]>::to_vec);
        let used: Vec<usize> = (0..k).filter(|&j| scale[j] > 0.0).collect();
        if used.is_empty() {
            return None;
        }
        let product = |a: usize, b: usize| products[a.min(b) * (k + d) + a.max(b)];
        let mut gram = DMatrix::from_fn(used.len(), used.len(), |a, b| {
            product(used[a], used[b]) / (scale[used[a]] * scale[used[b]])
        });
        let cross = DMatrix::from_fn(used.len(), d, |a, p| product(used[a], k + p) / scale[used[a]]);
        (0..used.len()).for_each(|b| gram[(b, b)] += ridge);
        let coefficients = gram.cholesky()?.solve(&cross);
        if coefficients.iter().any(|b| !b.is_finite()) {
            return None;
        }
        let mut slopes = vec![vec![0.0; k]; d];
        for (p, slopes) in slopes.iter_mut().enumerate() {
            used.iter().enumerate().for_each(|(a, &j)| slopes[j] = coefficients[(a, p)] / scale[j]);
        }
        let (centre, middle) = self.means.split_at(k);
        Some(Linear { centre: centre.to_vec(), middle: middle.to_vec(), scale, slopes })
    }

    /// Writes what a fit leaves open of the targets of a point.
    pub(crate) fn left_open(&self, fit: &Linear, at: usize, into: &mut [f64]) {
        let (x, y) = self.values[at * self.width..(at + 1) * self.width].split_at(self.regressors);
        for ((slot, value), slopes) in into.iter_mut().zip(y).zip(&fit.slopes) {
            *slot = value - x.iter().zip(slopes).map(|(x, slope)| slope * x).sum::<f64>();
        }
    }

    /// Writes the targets that are expected at a point.
    pub(crate) fn expected(&self, fit: &Linear, at: usize, into: &mut [f64]) {
        let x = &self.values[at * self.width..][..self.regressors];
        for ((slot, middle), slopes) in into.iter_mut().zip(&fit.middle).zip(&fit.slopes) {
            *slot = middle + x.iter().zip(slopes).map(|(x, slope)| slope * x).sum::<f64>();
        }
    }

    /// Mean products of each regressor with itself, those after it and the targets, a row each.
    fn products(&self) -> Vec<f64> {
        let mut products = vec![0.0; self.regressors * self.width];
        add_products(&mut products, &self.values, &self.weights, self.width);
        products
    }

    fn spread(&self, products: &[f64]) -> Vec<f64> {
        let square = |j: usize| products[j * self.width + j];
        // Below this a difference from the mean is rounding.
        let noise = |j: usize| 1e-12 * self.largest[j];
        (0..self.regressors)
            .map(|j| if square(j).sqrt() > noise(j) { square(j).sqrt() } else { 0.0 })
            .collect()
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
        let fit = Linear::fit(&sample, None, 0.0).unwrap();
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
        let fit = Linear::fit(&sample, Some(&[1.0]), 0.5).unwrap();
        assert!((fit.standardised(0)[0] - 2.0).abs() < 1e-12);
        assert!(Linear::fit(&sample, Some(&[0.0]), 0.5).is_none());
    }
}
