//! How good a posterior is, where the truth or the exact posterior is known.

use rand::RngExt;

use crate::population::Population;
use crate::stream::Stream;

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
    use crate::population::LogWeights;
    use crate::stream::{Seed, Stage};
    use crate::table::Table;

    #[test]
    fn wasserstein_of_shifted_points_is_the_shift() {
        let halves = [0.5, 0.5];
        assert!((wasserstein((&[1.0, 2.0], &halves), (&[1.5, 2.5], &halves)) - 0.5).abs() < 1e-12);
        assert!((wasserstein((&[0.0, 10.0], &[0.9, 0.1]), (&[0.0], &[1.0])) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ranks_count_mass_and_share_out_ties() {
        let units = Table::from_rows(1, vec![0.0, 1.0, 1.0, 2.0]);
        let population = Population {
            rows: vec![0, 1, 2, 3],
            thetas: units.clone(),
            units,
            weights: LogWeights::new(vec![0.0; 4]).unwrap(),
            distances: vec![0.0; 4],
        };
        let mut rng = Seed(1).stream(Stage::Observe, 0, 0);
        assert_eq!(rank(&population, 0, 0.5, &mut rng), 0.25);
        let tied: Vec<f64> = (0..400).map(|_| rank(&population, 0, 1.0, &mut rng)).collect();
        assert!(tied.iter().all(|rank| (0.25..=0.75).contains(rank)));
        let (mean, error) = mean_and_error(&tied);
        assert!((mean - 0.5).abs() < 4.0 * error && error < 0.01);
        assert!(covered(0.05, 0.9) && covered(0.95, 0.9) && !covered(0.049, 0.9));
    }
}
