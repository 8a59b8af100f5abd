//! Modes: parts of parameter space that lie apart, each with a regression of its own.

use nalgebra::DMatrix;

use crate::table::Table;

/// Half-spaces that lie apart. Points are told apart by the sides of the planes they are on.
#[derive(Clone, Debug, Default)]
pub(super) struct Modes {
    planes: Vec<Plane>,
}

#[derive(Clone, Debug)]
struct Plane {
    normal: Vec<f64>,
    level: f64,
}

/// The least share of the variance along an axis that two halves explain: 0.64 for a Gaussian, 0.75 where all values
/// are as likely, 0.8 for a semicircle's ends.
const APART: f64 = 0.82;
/// Planes at the most: eight modes.
const MOST: usize = 3;
/// The least share of the points on either side.
const LEAST: f64 = 0.05;

impl Modes {
    /// Looks for planes along each axis and each principal component, the clearest first.
    pub(super) fn find(units: &Table, weights: &[f64]) -> Self {
        let mut found: Vec<(f64, Plane)> = axes(units, weights)
            .into_iter()
            .filter_map(|normal| split(units, weights, normal))
            .filter(|(share, _)| *share > APART)
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut planes: Vec<Plane> = Vec::new();
        for (_, plane) in found {
            // A tilted copy of a plane tells nothing new.
            let is_new = |other: &Plane| cosine(units, weights, other, &plane).abs() < 0.5;
            if planes.len() < MOST && planes.iter().all(is_new) {
                planes.push(plane);
            }
        }
        Self { planes }
    }

    /// Two modes of one parameter, on either side of a value.
    #[cfg(test)]
    pub(super) fn at(level: f64) -> Self {
        Self { planes: vec![Plane { normal: vec![1.0], level }] }
    }

    pub(super) fn is_one(&self) -> bool {
        self.planes.is_empty()
    }

    /// The most modes there may be.
    pub(super) fn count(&self) -> usize {
        1 << self.planes.len()
    }

    /// The mode a point belongs to.
    pub(super) fn of(&self, unit: &[f64]) -> usize {
        self.planes.iter().fold(0, |mode, plane| 2 * mode + usize::from(plane.side(unit)))
    }
}

impl Plane {
    fn side(&self, unit: &[f64]) -> bool {
        self.along(unit) > self.level
    }

    fn along(&self, unit: &[f64]) -> f64 {
        self.normal.iter().zip(unit).map(|(a, x)| a * x).sum()
    }
}

/// How often two planes tell points apart in the same way: a correlation of sides.
fn cosine(units: &Table, weights: &[f64], a: &Plane, b: &Plane) -> f64 {
    let sign = |side: bool| if side { 1.0 } else { -1.0 };
    units.iter().zip(weights).map(|(unit, w)| w * sign(a.side(unit)) * sign(b.side(unit))).sum()
}

/// The axes, and the principal components of the standardised points.
fn axes(units: &Table, weights: &[f64]) -> Vec<Vec<f64>> {
    let d = units.columns();
    let mean: Vec<f64> = (0..d).map(|j| units.iter().zip(weights).map(|(u, w)| w * u[j]).sum()).collect();
    let mut covariance = DMatrix::<f64>::zeros(d, d);
    for (unit, weight) in units.iter().zip(weights) {
        for a in 0..d {
            for b in 0..d {
                covariance[(a, b)] += weight * (unit[a] - mean[a]) * (unit[b] - mean[b]);
            }
        }
    }
    let spread: Vec<f64> = (0..d).map(|j| covariance[(j, j)].max(f64::MIN_POSITIVE).sqrt()).collect();
    let correlation = DMatrix::from_fn(d, d, |a, b| covariance[(a, b)] / spread[a] / spread[b]);
    let own = (0..d).map(|j| (0..d).map(|k| if j == k { 1.0 / spread[j] } else { 0.0 }).collect());
    let eigen = correlation.symmetric_eigen();
    let principal = (0..if d > 1 { d } else { 0 })
        .map(|p| (0..d).map(|j| eigen.eigenvectors[(j, p)] / spread[j]).collect::<Vec<f64>>());
    own.chain(principal).collect()
}

/// The plane across an axis whose two sides explain most of the variance along it, and the share that they do.
fn split(units: &Table, weights: &[f64], normal: Vec<f64>) -> Option<(f64, Plane)> {
    let plane = Plane { normal, level: 0.0 };
    let mut points: Vec<(f64, f64)> =
        units.iter().zip(weights).map(|(unit, &w)| (plane.along(unit), w)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (total, sum) = points.iter().fold((0.0, 0.0), |(t, s), (x, w)| (t + w, s + w * x));
    let mean = sum / total;
    let variance = points.iter().map(|(x, w)| w * (x - mean) * (x - mean)).sum::<f64>() / total;
    let (mut weight, mut below, mut best) = (0.0, 0.0, (0.0, 0.0));
    for pair in points.windows(2) {
        weight += pair[0].1 / total;
        below += pair[0].1 / total * (pair[0].0 - mean);
        if weight > LEAST && weight < 1.0 - LEAST {
            let between = below * below / (weight * (1.0 - weight));
            if between > best.0 {
                best = (between, 0.5 * (pair[0].0 + pair[1].0));
            }
        }
    }
    (variance > 0.0).then(|| (best.0 / variance, Plane { level: best.1, ..plane }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    #[test]
    fn two_clouds_are_told_apart_and_one_is_not() {
        let cloud = gaussian(1_000, 2, 0.0, 1.0, 1);
        let equal = vec![1e-3; 1_000];
        assert!(Modes::find(&cloud, &equal).is_one());
        // Apart along the diagonal.
        let shift = |i: usize| if i.is_multiple_of(2) { 3.0 } else { -3.0 };
        let data = (0..1_000).flat_map(|i| [cloud.at(i, 0) + shift(i), cloud.at(i, 1) + shift(i)]);
        let both = Table::from_rows(2, data.collect());
        let modes = Modes::find(&both, &equal);
        assert_eq!(modes.count(), 2);
        let wrong = (0..1_000).filter(|&i| modes.of(both.row(i)) != modes.of(&[shift(i), shift(i)])).count();
        assert_eq!(wrong, 0);
        assert_ne!(modes.of(&[3.0, 3.0]), modes.of(&[-3.0, -3.0]));
    }

    #[test]
    fn four_clouds_have_two_planes() {
        let cloud = gaussian(1_000, 3, 0.0, 0.3, 1);
        let sign = |bit: usize| if bit == 0 { 1.0 } else { -1.0 };
        let data = (0..1_000)
            .flat_map(|i| [cloud.at(i, 0) + sign(i % 2), cloud.at(i, 1) + sign(i / 2 % 2), cloud.at(i, 2)]);
        assert_eq!(Modes::find(&Table::from_rows(3, data.collect()), &vec![1e-3; 1_000]).count(), 4);
    }
}
