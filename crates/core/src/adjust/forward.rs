//! Regression the other way round: what the features are, given the parameters.

use nalgebra::{DMatrix, DVector};

use super::Accepted;
use crate::linear::{Linear, Sample};
use crate::population::{LogWeights, Population};
use crate::problem::Prior;
use crate::products::add_products;
use crate::propose::{add_step, factor, weighted_covariance, whiten};
use crate::stream::{Seed, Stage, Stream};
use crate::table::Table;
use crate::trials::{LOOKED_AMONG, systematic};
use crate::view::View;

/// The features as a linear function of the parameters and a noise that does not depend on them.
///
/// Under such a law a simulation whose noise is `e` would have given the observed features at one place, and the places
/// of all simulations, each counting as the prior says there, are the posterior. It does not matter where simulations
/// were proposed, so none is heavy; and a posterior that ends at a bound of the prior does so sharply, where parameters
/// as a function of the features bend. Simulations are chosen by their parameters: chosen by their features, their noise
/// would depend on the parameters.
pub(super) struct Forward {
    /// What is looked at, in words, and which features those are.
    pub(super) name: &'static str,
    columns: Vec<usize>,
    /// Simulations, ascending.
    rows: Vec<u32>,
    /// Parameters less what the features move them by, so that with those of an observation they are where the
    /// simulation would have given it.
    residues: Table,
    gain: DMatrix<f64>,
    /// Where too few of these lie within the prior, they are drawn together and moved by random steps of as much.
    steps: Option<Steps>,
}

struct Steps {
    middle: Vec<f64>,
    root: DMatrix<f64>,
}

/// Points that count as the prior says.
pub(super) struct Placed {
    units: Table,
    ln_weights: Vec<f64>,
    /// Which of the simulations each was made of.
    from: Vec<usize>,
    /// How many were placed, within the prior or not.
    tried: usize,
}

/// A share of the standard deviation of the steps, where there are some.
const STEP: f64 = 0.5;
/// Rounds over all simulations at the most, where there are steps, and particles that are made then.
const ROUNDS: usize = 20;
const PARTICLES: usize = 10_000;
/// So many within the prior need no steps.
const MANY: usize = 1_000;
/// Simulations for each coefficient.
const SIMULATIONS_A_COEFFICIENT: usize = 10;
/// Against collinear features; too small to show.
const LEAST_RIDGE: f64 = 1e-9;

impl Forward {
    /// Some features, fitted to a share of the simulations, those whose parameters lie nearest to the accepted ones.
    /// `None` where they do not tell all parameters, or leave fewer than are kept within the prior.
    pub(super) fn fit(
        view: &View<'_>,
        accepted: &Accepted<'_>,
        (name, columns): (&'static str, Vec<usize>),
        share: f64,
    ) -> Option<Self> {
        let (d, k) = (view.units.columns(), columns.len());
        let rows = near(view, accepted.population, share)?;
        let n = rows.len();
        if k < d || n < SIMULATIONS_A_COEFFICIENT * (k + d) {
            return None;
        }
        let unit = |i: usize| view.units.row(rows[i] as usize);
        let features = |i: usize, into: &mut [f64]| {
            let row = view.features.row(rows[i] as usize);
            into.iter_mut().zip(&columns).for_each(|(value, &j)| *value = row.at(j));
        };
        let sample = Sample {
            count: n,
            regressors: d,
            targets: k,
            regress: &|i, into| into.copy_from_slice(unit(i)),
            target: &features,
            weight: &|_| 1.0,
        };
        let fit = Linear::fit(&sample, None, LEAST_RIDGE)?;
        let (mut noise, mut expected) = (vec![0.0; n * k], vec![0.0; k]);
        for (i, noise) in noise.chunks_exact_mut(k).enumerate() {
            fit.predict(unit(i), &mut expected);
            features(i, noise);
            noise.iter_mut().zip(&expected).for_each(|(noise, expected)| *noise -= expected);
        }
        let mut products = vec![0.0; k * k];
        add_products(&mut products, &noise, &vec![1.0 / n as f64; n], k);
        let mut covariance = DMatrix::from_fn(k, k, |a, b| products[a.min(b) * k + a.max(b)]);
        for (j, &column) in columns.iter().enumerate() {
            covariance[(j, j)] += LEAST_RIDGE * (covariance[(j, j)] + view.spread[column].powi(2));
        }
        let slopes = DMatrix::from_fn(k, d, |feature, parameter| fit.slopes(feature)[parameter]);
        let weighed = covariance.cholesky()?.solve(&slopes);
        let gain = (slopes.transpose() * &weighed).cholesky()?.solve(&weighed.transpose());
        let mut residues = Table::filled(n, d, 0.0);
        for i in 0..n {
            features(i, &mut expected);
            let moved = &gain * DVector::from_row_slice(&expected);
            let residue = residues.row_mut(i).iter_mut().zip(unit(i).iter().zip(moved.iter()));
            residue.for_each(|(residue, (unit, moved))| *residue = unit - moved);
        }
        if residues.values().iter().any(|value| !value.is_finite()) {
            return None;
        }
        let plain = Self { name, columns, rows, residues, gain, steps: None };
        let leaves_enough = |forward: &Self, wanted: usize| {
            let placed = forward.placed(accepted.prior, view.observed, forward.most(), 2 * wanted);
            placed.effective(placed.tried) >= wanted as f64
        };
        if leaves_enough(&plain, view.keep.max(MANY)) {
            return Some(plain);
        }
        let equal = vec![1.0 / n as f64; n];
        let root = factor(weighted_covariance(&plain.residues, &equal, None), accepted.population).ok()?;
        let middle = (0..d).map(|j| plain.residues.column(j).iter().sum::<f64>() / n as f64).collect();
        let moved = Self { steps: Some(Steps { middle, root: root * STEP }), ..plain };
        leaves_enough(&moved, view.keep).then_some(moved)
    }

    /// Points for an observation: simulations are placed, and over and over where there are steps, until so many were tried
    /// or lie within the prior. Few tries are spread over all simulations.
    fn placed(&self, prior: &Prior, observed: &[f64], tries: usize, wanted: usize) -> Placed {
        let (n, d) = (self.residues.rows(), self.residues.columns());
        let shift = &self.gain * DVector::from_fn(self.columns.len(), |j, _| observed[self.columns[j]]);
        let mut placed = Placed {
            units: Table::from_rows(d, Vec::new()),
            ln_weights: Vec::new(),
            from: Vec::new(),
            tried: 0,
        };
        // The same steps for every observation: what they add to the noise of simulations is none of a comparison.
        let mut rng = Seed(0).stream(Stage::Adjust, 0, 0);
        let (mut unit, mut values) = (vec![0.0; d], Vec::new());
        let each = tries.min(n);
        while placed.tried < tries && placed.from.len() < wanted {
            let at = (placed.tried % each) * n / each;
            placed.tried += 1;
            let residue = self.residues.row(at);
            match &self.steps {
                None => unit.copy_from_slice(residue),
                Some(steps) => steps.take(residue, &mut rng, &mut unit),
            }
            unit.iter_mut().zip(shift.iter()).for_each(|(x, shift)| *x += shift);
            let ln = prior.ln_density(&unit);
            if ln > f64::NEG_INFINITY {
                values.extend_from_slice(&unit);
                placed.ln_weights.push(ln);
                placed.from.push(at);
            }
        }
        placed.units = Table::from_rows(d, values);
        placed
    }

    /// So many equally weighted points for an observation, and the effective size of all they stand for.
    pub(super) fn stand_ins(&self, prior: &Prior, observed: &[f64], count: usize) -> Option<(Table, f64)> {
        let tries = if self.steps.is_some() { 16 * count } else { 4 * count };
        let placed = self.placed(prior, observed, tries, 2 * count);
        let weights = LogWeights::new(placed.ln_weights.clone())?;
        let picked = systematic(weights.normalised(), count).into_iter().map(|at| at as u32);
        Some((placed.units.select(&picked.collect::<Vec<u32>>()), placed.effective(self.most())))
    }

    /// How many simulations it was fitted to.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// How many may be placed.
    fn most(&self) -> usize {
        if self.steps.is_some() { ROUNDS * self.rows.len() } else { self.rows.len() }
    }

    /// All that lie within the prior, with their natural values.
    pub(super) fn population(&self, view: &View<'_>, accepted: &Accepted<'_>) -> Option<Population> {
        let Accepted { prior, observed, distance_weights, .. } = *accepted;
        let wanted = if self.steps.is_some() { PARTICLES } else { usize::MAX };
        let placed = self.placed(prior, observed, self.most(), wanted);
        let mut order: Vec<u32> = (0..placed.from.len() as u32).collect();
        order.sort_by_key(|&at| placed.from[at as usize]);
        let units = placed.units.select(&order);
        let mut thetas = units.clone();
        units.iter().enumerate().for_each(|(row, unit)| prior.natural(unit, thetas.row_mut(row)));
        let rows: Vec<u32> = order.iter().map(|&at| self.rows[placed.from[at as usize]]).collect();
        let distance = |&row: &u32| {
            let row = view.features.row(row as usize);
            let used = (0..observed.len()).filter(|&j| distance_weights[j] > 0.0);
            used.map(|j| (distance_weights[j] * (row.at(j) - observed[j])).powi(2)).sum()
        };
        Some(Population {
            units,
            thetas,
            weights: LogWeights::new(order.iter().map(|&at| placed.ln_weights[at as usize]).collect())?,
            distances: rows.iter().map(distance).collect(),
            rows,
        })
    }
}

impl Placed {
    /// The effective size, had so many been placed.
    fn effective(&self, tried: usize) -> f64 {
        let own = LogWeights::new(self.ln_weights.clone());
        own.map_or(0.0, |own| own.effective_sample_size() / self.tried as f64 * tried as f64)
    }
}

impl Steps {
    /// Writes where a point is moved to.
    fn take(&self, from: &[f64], rng: &mut Stream, into: &mut [f64]) {
        let together = (1.0 - STEP * STEP).sqrt();
        for (x, (from, middle)) in into.iter_mut().zip(from.iter().zip(&self.middle)) {
            *x = middle + together * (from - middle);
        }
        add_step(&self.root, rng, into);
    }
}

/// A share of the simulations, those nearest to a population by its own covariance; of many, some.
fn near(view: &View<'_>, population: &Population, share: f64) -> Option<Vec<u32>> {
    let weights = population.weights.normalised();
    let root = factor(weighted_covariance(&population.units, weights, None), population).ok()?;
    let middle: Vec<f64> = (0..population.units.columns())
        .map(|j| population.units.iter().zip(weights).map(|(unit, weight)| weight * unit[j]).sum())
        .collect();
    let middle = whiten(&root, &middle);
    let square = |row: u32| -> f64 {
        let white = whiten(&root, view.units.row(row as usize));
        white.iter().zip(&middle).map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let step = view.rows.len().div_ceil(LOOKED_AMONG);
    let mut order: Vec<(f64, u32)> = view.rows.iter().step_by(step).map(|&row| (square(row), row)).collect();
    let count = ((order.len() as f64 * share) as usize).clamp(1, order.len());
    if count < order.len() {
        order.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.truncate(count);
    }
    let mut rows: Vec<u32> = order.into_iter().map(|(_, row)| row).collect();
    rows.sort_unstable();
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::Space;
    use crate::divergence::testing::gaussian;
    use crate::problem::Marginal;
    use crate::problem::law;
    use crate::propose::Importance;
    use crate::reduce::Estimates;
    use crate::view::standard_deviations;
    use crate::workers::Serial;

    /// Parameters that may lie anywhere between -1 and 1, each seen with a normal noise of 0.3, at 0.9: the posterior is a
    /// normal that ends at 1.
    fn found(d: usize, keep: usize) -> Population {
        let laws = (0..d).map(|j| {
            Marginal::new(
                format!("t{j}"),
                Box::new(law::Uniform::new(-1.0, 1.0).unwrap()) as Box<dyn law::Law>,
            )
        });
        let prior = Prior::new(laws.collect());
        let scale = prior.marginals()[0].unit_support().1;
        let count = 6_000;
        let uniform =
            gaussian(count, d, 0.0, 1.0, 1).values().iter().map(|z| libm::erf(z / 2f64.sqrt())).collect();
        let thetas = Table::from_rows(d, uniform);
        let units = Table::from_rows(d, thetas.values().iter().map(|theta| theta * scale).collect());
        let mut features = gaussian(count, d, 0.0, 0.3, 2);
        for row in 0..count {
            features.row_mut(row).iter_mut().zip(thetas.row(row)).for_each(|(s, theta)| *s += theta);
        }
        let rows: Vec<u32> = (0..count as u32).collect();
        let (observed, ln) = (vec![0.9; d], vec![0.0; count]);
        let view = View {
            units: &units,
            features: (&features).into(),
            observed: &observed,
            rows: &rows,
            spread: &standard_deviations(&features, &rows),
            importance: &Importance::known(&ln),
            space: &Space::new(&prior, &units, Seed(1), 100),
            learned: Estimates::default(),
            adjusts: true,
            keep,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        // Those that lie nearest, as they would be accepted.
        let square = |row: u32| features.row(row as usize).iter().map(|s| (s - 0.9).powi(2)).sum::<f64>();
        let mut near = rows.clone();
        near.sort_by(|&a, &b| square(a).total_cmp(&square(b)));
        near.truncate(200);
        near.sort_unstable();
        let population = Population {
            units: units.select(&near),
            thetas: thetas.select(&near),
            weights: LogWeights::new(vec![0.0; 200]).unwrap(),
            distances: near.iter().map(|&row| square(row)).collect(),
            rows: near,
        };
        let accepted = Accepted {
            prior: &prior,
            features: &features.select(&population.rows),
            population: &population,
            observed: &observed,
            distance_weights: &vec![1.0; d],
        };
        let forward = Forward::fit(&view, &accepted, ("", (0..d).collect()), 0.5).unwrap();
        assert_eq!(forward.count(), 3_000);
        let (points, _) = forward.stand_ins(&prior, &observed, 96).unwrap();
        assert_eq!(points.rows(), 96);
        assert!(points.iter().all(|unit| prior.ln_density(unit) > f64::NEG_INFINITY));
        forward.population(&view, &accepted).unwrap()
    }

    /// Mean and standard deviation of the normal about 0.9 that ends at 1.
    const EXACT: (f64, f64) = (0.7205, 0.1995);

    fn moments(population: &Population, j: usize) -> (f64, f64) {
        let (weights, column) = (population.weights.normalised(), population.thetas.column(j));
        let mean: f64 = weights.iter().zip(&column).map(|(w, x)| w * x).sum();
        let square: f64 = weights.iter().zip(&column).map(|(w, x)| w * (x - mean).powi(2)).sum();
        (mean, square.sqrt())
    }

    #[test]
    fn a_posterior_ends_where_the_prior_does() {
        let population = found(2, 200);
        assert!(population.rows.windows(2).all(|pair| pair[0] < pair[1]), "each simulation is placed once");
        for j in 0..2 {
            let (mean, sd) = moments(&population, j);
            // Of some 1,200 particles: standard errors of 0.006 and 0.004.
            assert!((mean - EXACT.0).abs() < 0.02 && (sd - EXACT.1).abs() < 0.015, "{mean} {sd}");
        }
    }

    #[test]
    fn steps_make_more_where_few_are_left() {
        // Six of a hundred lie within the prior in all six: fewer than are to be kept.
        let population = found(6, 200);
        assert!(population.len() > 500, "{}", population.len());
        assert!(population.rows.windows(2).any(|pair| pair[0] == pair[1]));
        for j in 0..6 {
            let (mean, sd) = moments(&population, j);
            assert!((mean - EXACT.0).abs() < 0.03 && (sd - EXACT.1).abs() < 0.025, "{mean} {sd}");
        }
    }
}
