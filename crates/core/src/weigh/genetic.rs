//! Weights bred for good estimates on simulated data like the observation (Jung & Marjoram 2011).

use rand::distr::Distribution;
use rand::{Rng, RngExt};

use super::formula::normalised;
use super::{Choice, Fold, WeighError, Weighting, baselines};
use crate::select;
use crate::stream::{Seed, Stage, Stream};
use crate::variates::StandardNormal;
use crate::view::View;
use crate::workers;

/// A genetic algorithm over weight vectors. Its datasets are the simulations nearest to the observation; the fitter of two
/// vectors is the one whose accepted parameters are nearer to the true parameters of these datasets, by the mean
/// squared error in unit space. Parents are chosen by tournament, mixed weight by weight, and mutated; the best
/// vector always survives.
///
/// That weights are bred, and that the squared error of what they accept about known parameters is their fitness, is the paper's, as Harrison &
/// Baker tell it; we had no program of its authors to compare with. Ours are the operators and their sizes, logarithms of weights as
/// genes, the simple rules among the first vectors, simulations of the generation itself as datasets with known parameters, and a part of
/// them as what is accepted from.
#[derive(Clone, Debug)]
pub struct Genetic {
    /// Weight vectors in a generation of the algorithm.
    pub vectors: usize,
    /// Its generations.
    pub generations: usize,
    /// Simulated datasets that fitness is judged on.
    pub datasets: usize,
}

impl Default for Genetic {
    fn default() -> Self {
        Self { vectors: 30, generations: 15, datasets: 30 }
    }
}

/// Rows that fitness is judged among: more would make it slow and hardly better.
const MOST_ROWS: usize = 3_000;
/// Chance that a weight mutates, and the size of a mutation in natural logarithms.
const MUTATION: (f64, f64) = (0.1, 1.5);

impl Weighting for Genetic {
    fn choose(&self, view: &View<'_>, rng: &mut Stream) -> Result<Choice, WeighError> {
        if view.varying().is_empty() {
            return Err(WeighError::NoVariation(view.spread.len()));
        }
        let judge = Judge::new(view, self.datasets);
        let seed = Seed(rng.next_u64());
        let mut vectors = self.first(view, &mut seed.stream(Stage::Weigh, 0, 0));
        let mut fitness = judge.all(view, &vectors);
        for round in 1..self.generations {
            let rng = &mut seed.stream(Stage::Weigh, round as u32, 0);
            let elite = best(&fitness);
            let mut next = vec![vectors[elite].clone()];
            while next.len() < self.vectors {
                next.push(child(&vectors, &fitness, rng));
            }
            vectors = next;
            fitness = judge.all(view, &vectors);
        }
        let weights: Vec<f64> = vectors[best(&fitness)]
            .iter()
            .zip(view.spread)
            .map(|(x, s)| if *s > 0.0 { libm::exp(*x) / s } else { 0.0 })
            .collect();
        let rows = view.rows.to_vec();
        let fold = Fold {
            weights: normalised(weights, view.spread),
            learned: rows.clone(),
            accepts: rows,
            keep: view.keep,
        };
        Ok(Choice {
            folds: vec![fold],
            audit: Vec::new(),
            evaluations: self.vectors * self.generations,
            evidence: Vec::new(),
            compared: Vec::new(),
        })
    }
}

impl Genetic {
    /// The simple rules, and random vectors, as log weights in units of one over the spread.
    fn first(&self, view: &View<'_>, rng: &mut Stream) -> Vec<Vec<f64>> {
        let log = |weights: Vec<f64>| -> Vec<f64> {
            let weights = normalised(weights, view.spread);
            weights.iter().zip(view.spread).map(|(w, s)| libm::log((w * s).max(1e-3))).collect()
        };
        let mut vectors: Vec<Vec<f64>> =
            baselines().iter().map(|rule| log(rule.weights(view, view.rows))).collect();
        vectors.truncate(self.vectors.max(1));
        while vectors.len() < self.vectors {
            let random = (0..view.spread.len()).map(|_| MUTATION.1 * normal(rng)).collect();
            vectors.push(random);
        }
        vectors
    }
}

fn normal(rng: &mut Stream) -> f64 {
    StandardNormal.sample(rng)
}

fn best(fitness: &[f64]) -> usize {
    (0..fitness.len()).reduce(|a, b| if fitness[b] > fitness[a] { b } else { a }).unwrap_or(0)
}

fn child(vectors: &[Vec<f64>], fitness: &[f64], rng: &mut Stream) -> Vec<f64> {
    let mut parent = || {
        let (a, b) = (rng.random_range(0..vectors.len()), rng.random_range(0..vectors.len()));
        if fitness[b] > fitness[a] { b } else { a }
    };
    let (mother, father) = (parent(), parent());
    let mix = vectors[mother].iter().zip(&vectors[father]);
    let mixed: Vec<f64> = mix.map(|(a, b)| if rng.random::<bool>() { *a } else { *b }).collect();
    let mutate = |x: f64| if rng.random::<f64>() < MUTATION.0 { x + MUTATION.1 * normal(rng) } else { x };
    mixed.into_iter().map(mutate).collect()
}

/// Says how well weights estimate.
struct Judge {
    rows: Vec<u32>,
    datasets: Vec<u32>,
    /// Importance weights of the rows.
    masses: Vec<f64>,
    keep: usize,
}

impl Judge {
    fn new(view: &View<'_>, datasets: usize) -> Self {
        let scaled: Vec<f64> = view.spread.iter().map(|&s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect();
        let distances = select::distances(view.features, view.observed, &scaled, view.rows);
        let near = select::nearest(&distances, datasets.clamp(1, view.rows.len()));
        let step = view.rows.len().div_ceil(MOST_ROWS).max(1);
        let rows: Vec<u32> = view.rows.iter().copied().step_by(step).collect();
        let logs = workers::map_slice(view.workers, &rows, |&row| view.importance.ln(row));
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let masses = logs.iter().map(|ln| libm::exp(ln - top)).collect();
        let datasets = near.into_iter().map(|at| view.rows[at]).collect();
        Self { keep: (view.keep / step).max(5).min(rows.len()), datasets, masses, rows }
    }

    fn all(&self, view: &View<'_>, vectors: &[Vec<f64>]) -> Vec<f64> {
        workers::map(view.workers, vectors.len(), |at| self.fitness(view, &vectors[at]))
    }

    fn fitness(&self, view: &View<'_>, logs: &[f64]) -> f64 {
        let weights: Vec<f64> = logs
            .iter()
            .zip(view.spread)
            .map(|(x, s)| if *s > 0.0 { libm::exp(*x) / s } else { 0.0 })
            .collect();
        let error = |&truth: &u32| {
            let observed = view.features.row(truth as usize).to_vec();
            let distances = select::distances(view.features, &observed, &weights, &self.rows);
            let truth_row = view.units.row(truth as usize);
            let (mut sum, mut mass) = (0.0, 0.0);
            // A dataset is no evidence about itself.
            for at in select::nearest(&distances, self.keep).into_iter().filter(|&at| self.rows[at] != truth)
            {
                let squares = view.units.row(self.rows[at] as usize).iter().zip(truth_row);
                sum += self.masses[at] * squares.map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                mass += self.masses[at];
            }
            sum / mass
        };
        -self.datasets.iter().map(error).sum::<f64>() / self.datasets.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::Space;
    use crate::divergence::testing::{gaussian, normal_prior};
    use crate::propose::Importance;
    use crate::reduce::Estimates;
    use crate::table::Table;
    use crate::view::standard_deviations;
    use crate::workers::Serial;

    /// Parameters 0, 1, 2 and 10, the statistic the same; the datasets are the first two, and three are accepted for each, itself among them.
    #[test]
    fn fitness_is_the_squared_error_of_what_is_accepted_and_not_of_its_mean() {
        let units = Table::from_rows(1, vec![0.0, 1.0, 2.0, 10.0]);
        let rows: Vec<u32> = (0..4).collect();
        let view = View {
            units: &units,
            features: (&units).into(),
            observed: &[0.4],
            rows: &rows,
            spread: &[1.0],
            importance: &Importance::equal(),
            space: &Space::new(&normal_prior(1), &units, Seed(1), 3),
            learned: Estimates::default(),
            adjusts: false,
            keep: 3,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        let judge = Judge { keep: 3, ..Judge::new(&view, 2) };
        // (1 + 4) / 2 of the first, (1 + 1) / 2 of the second; the means would have 2.25 and 0.
        assert_eq!(judge.fitness(&view, &[0.0]), -1.75);
    }

    #[test]
    fn weights_of_statistics_that_tell_nothing_die_out() {
        let count = 3_000;
        let (units, mut features) = (gaussian(count, 1, 0.0, 1.0, 3), gaussian(count, 8, 0.0, 1.0, 4));
        for row in 0..count {
            features.row_mut(row)[2] = units.at(row, 0) + 0.1 * features.at(row, 2);
        }
        let rows: Vec<u32> = (0..count as u32).collect();
        let spread = standard_deviations(&features, &rows);
        let view = View {
            units: &units,
            features: (&features).into(),
            observed: &[0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
            rows: &rows,
            spread: &spread,
            importance: &Importance::equal(),
            space: &Space::new(&normal_prior(1), &units, Seed(1), 100),
            learned: Estimates::default(),
            adjusts: false,
            keep: 100,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        let choice = Genetic::default().choose(&view, &mut Seed(2).stream(Stage::Weigh, 0, 0)).unwrap();
        let weights = &choice.folds[0].weights;
        // Weights are scaled so that their squares, in units of the spread, sum to one.
        assert!(weights[2] * spread[2] > 0.9, "{weights:?}");
    }
}
