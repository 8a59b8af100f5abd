//! How good a posterior is, where the truth or the exact posterior is known.

use rand::RngExt;

use crate::population::Population;
use crate::stream::Stream;
use crate::summary::moments;
use crate::table::Table;

/// Draws of an exact posterior that energy distances look at, at the most: their number enters squared.
const MOST_DRAWS: usize = 4_000;

/// An exact posterior: weighted draws in unit space.
#[derive(Clone, Debug)]
pub struct Exact {
    units: Table,
    weights: Vec<f64>,
    sds: Vec<f64>,
    /// An even part of the draws, their weights, and how far they are from each other on average.
    thinned: (Table, Vec<f64>, f64),
}

impl Exact {
    /// Draws with weights that sum to one.
    #[must_use]
    pub fn new(units: Table, weights: Vec<f64>) -> Self {
        let sds = (0..units.columns()).map(|j| moments(&units.column(j), &weights).1).collect();
        let step = units.rows().div_ceil(MOST_DRAWS).max(1);
        let rows: Vec<u32> = (0..units.rows() as u32).step_by(step).collect();
        let part: Vec<f64> = rows.iter().map(|&row| weights[row as usize]).collect();
        let total: f64 = part.iter().sum();
        let part: Vec<f64> = part.iter().map(|weight| weight / total).collect();
        let some = units.select(&rows);
        let own = mean_distance((&some, &part), (&some, &part));
        Self { units, weights, sds, thinned: (some, part, own) }
    }

    /// The draws.
    #[must_use]
    pub fn units(&self) -> &Table {
        &self.units
    }

    /// Their weights.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Standard deviation of a parameter.
    #[must_use]
    pub fn sd(&self, parameter: usize) -> f64 {
        self.sds[parameter]
    }

    /// First Wasserstein distance between the marginals of a parameter, in unit space.
    #[must_use]
    pub fn wasserstein(&self, population: &Population, parameter: usize) -> f64 {
        let ours = (&population.units.column(parameter)[..], population.weights.normalised());
        wasserstein(ours, (&self.units.column(parameter), &self.weights))
    }

    /// Energy distance in unit space, all parameters together: `2 E|X - Y| - E|X - X'| - E|Y - Y'|`, at least 0, and 0 for
    /// equal samples only. Of 4,000 draws at the most.
    #[must_use]
    pub fn energy(&self, population: &Population) -> f64 {
        let (units, weights, own) = &self.thinned;
        let ours = (&population.units, population.weights.normalised());
        (2.0 * mean_distance(ours, (units, weights)) - mean_distance(ours, ours) - own).max(0.0)
    }
}

/// The mean distance between a point of one weighted sample and a point of another.
fn mean_distance((a, weights): (&Table, &[f64]), (b, their): (&Table, &[f64])) -> f64 {
    let mut sum = 0.0;
    for (here, weight) in a.iter().zip(weights) {
        let inner: f64 = b.iter().zip(their).map(|(there, weight)| weight * apart(here, there)).sum();
        sum += weight * inner;
    }
    sum
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

/// First Wasserstein distance between two weighted samples of one quantity; weights sum to one.
#[must_use]
pub fn wasserstein((values, weights): (&[f64], &[f64]), (others, their): (&[f64], &[f64])) -> f64 {
    let mut steps: Vec<(f64, f64)> = values.iter().zip(weights).map(|(v, w)| (*v, *w)).collect();
    steps.extend(others.iter().zip(their).map(|(v, w)| (*v, -w)));
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut gap, mut area) = (0.0_f64, 0.0);
    for pair in steps.windows(2) {
        gap += pair[0].1;
        area += gap.abs() * (pair[1].0 - pair[0].0);
    }
    area
}

/// The share of the posterior mass of a parameter below the truth, ties shared out at random: uniform between 0 and 1
/// if truths come from the prior and the posterior is right.
#[must_use]
pub fn rank(population: &Population, parameter: usize, truth: f64, rng: &mut Stream) -> f64 {
    let (mut below, mut tied) = (0.0, 0.0);
    for (unit, weight) in population.units.iter().zip(population.weights.normalised()) {
        if unit[parameter] < truth {
            below += weight;
        } else if unit[parameter] == truth {
            tied += weight;
        }
    }
    (below + tied * rng.random::<f64>()).clamp(0.0, 1.0)
}

/// Whether a rank lies within the central interval of so much probability.
#[must_use]
pub fn covered(rank: f64, probability: f64) -> bool {
    let tail = 0.5 * (1.0 - probability);
    (tail..=1.0 - tail).contains(&rank)
}

/// Mean and standard error of independent figures; the error of one alone is not a number.
#[must_use]
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, (square / (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;
    use crate::population::LogWeights;
    use crate::stream::{Seed, Stage};

    fn population(units: Table) -> Population {
        Population {
            rows: (0..units.rows() as u32).collect(),
            thetas: units.clone(),
            weights: LogWeights::new(vec![0.0; units.rows()]).unwrap(),
            distances: vec![0.0; units.rows()],
            units,
        }
    }

    fn equal(rows: usize) -> Vec<f64> {
        vec![1.0 / rows as f64; rows]
    }

    #[test]
    fn energy_distance_of_two_points_is_twice_their_distance() {
        let point = |x: f64, y: f64| Table::from_rows(2, vec![x, y]);
        let exact = Exact::new(point(0.0, 0.0), equal(1));
        assert!((exact.energy(&population(point(3.0, 4.0))) - 10.0).abs() < 1e-12);
        let sample = gaussian(50, 2, 0.0, 1.0, 1);
        let exact = Exact::new(sample.clone(), equal(50));
        assert!(exact.energy(&population(sample.clone())) < 1e-12);
        assert!(exact.wasserstein(&population(sample), 1) < 1e-12);
    }

    /// For N(0, 1) and N(s, 1) it is `2 E|N(s, 2)| - 4 / sqrt(pi)`; with s = 1, `E|N(1, 2)| = 1.399282`.
    #[test]
    fn distances_of_normal_laws_are_the_known_ones() {
        let exact = Exact::new(gaussian(9_000, 1, 0.0, 1.0, 1), equal(9_000));
        let shifted = population(gaussian(4_000, 1, 1.0, 1.0, 2));
        let known = 2.0 * 1.399_282 - 4.0 / std::f64::consts::PI.sqrt();
        assert!((exact.energy(&shifted) - known).abs() < 0.06, "{} is not {known}", exact.energy(&shifted));
        assert!((exact.wasserstein(&shifted, 0) - 1.0).abs() < 0.07);
        assert!((exact.sd(0) - 1.0).abs() < 0.03);
    }

    #[test]
    fn wasserstein_of_shifted_points_is_the_shift() {
        let halves = [0.5, 0.5];
        assert!((wasserstein((&[1.0, 2.0], &halves), (&[1.5, 2.5], &halves)) - 0.5).abs() < 1e-12);
        assert!((wasserstein((&[0.0, 10.0], &[0.9, 0.1]), (&[0.0], &[1.0])) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ranks_count_mass_and_share_out_ties() {
        let population = population(Table::from_rows(1, vec![0.0, 1.0, 1.0, 2.0]));
        let mut rng = Seed(1).stream(Stage::Observe, 0, 0);
        assert_eq!(rank(&population, 0, 0.5, &mut rng), 0.25);
        let tied: Vec<f64> = (0..400).map(|_| rank(&population, 0, 1.0, &mut rng)).collect();
        assert!(tied.iter().all(|rank| (0.25..=0.75).contains(rank)));
        let (mean, error) = mean_and_error(&tied);
        assert!((mean - 0.5).abs() < 4.0 * error && error < 0.01);
        assert!(covered(0.05, 0.9) && covered(0.95, 0.9) && !covered(0.049, 0.9));
    }
}
