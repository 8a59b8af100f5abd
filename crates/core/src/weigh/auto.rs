//! The rule that users get when they do not choose.

use rand::Rng;

use super::formula::normalised;
use super::{Choice, Fold, Hellinger, WeighError, Weighting, baselines};
use crate::adjust::Regression;
use crate::near::Near;
use crate::stream::{Seed, Stage, Stream};
use crate::table::Table;
use crate::trials::{STAND_INS, Trials, race, verdicts};
use crate::view::{View, standard_deviations};

/// Tries the simple rules and searches on the statistics, and learned features where a reduction makes some, and
/// takes what tells the parameters of pseudo-observations near the data best.
///
/// A divergence from the prior, even one that is held out, asks how far the one observation carries the accepted. It
/// rewards weights under which that observation looks extreme. Pseudo-observations have a truth: weights that
/// mislead lose there.
#[derive(Debug)]
pub struct Auto {
    /// The search.
    pub search: Hellinger,
    /// Pseudo-observations.
    pub trials: usize,
}

impl Default for Auto {
    fn default() -> Self {
        Self { search: Hellinger::default(), trials: 96 }
    }
}

/// Pseudo-observations are chosen among as many as are kept over this: near the data, or they tell of other places.
const REGION: usize = 2;
/// A sample that is adjusted has so many times the effective size, and no more particles than this.
const ADJUSTED: f64 = 2.5;
const FITTED: usize = 2_000;

impl Weighting for Auto {
    fn choose(&self, view: &View<'_>, rng: &mut Stream) -> Result<Choice, WeighError> {
        let seed = Seed(rng.next_u64());
        let raw = view.features.columns() - view.learned;
        let mut ways: Vec<(String, Choice)> = Vec::new();
        if view.learned > 0 {
            let part = Part::of(view, raw, view.features.columns());
            part.with(view, |view| {
                ways.push(("learned".into(), part.spread_out(fixed(view, vec![1.0; view.observed.len()]))));
                if view.observed.len() > 1 && !view.varying().is_empty() {
                    let found = self.search.choose(view, &mut seed.stream(Stage::Weigh, 0, 1))?;
                    ways.push(("learned, hellinger".into(), part.spread_out(found)));
                }
                Ok::<(), WeighError>(())
            })?;
        }
        if raw > 0 && view.varying().iter().any(|&j| j < raw) {
            let part = Part::of(view, 0, raw);
            part.with(view, |view| {
                let found = self.search.choose(view, &mut seed.stream(Stage::Weigh, 0, 0))?;
                ways.push(("hellinger".into(), part.spread_out(found)));
                for formula in baselines().iter().rev() {
                    let weights = formula.weights(view, view.rows);
                    ways.push((formula.name().to_owned(), part.spread_out(fixed(view, weights))));
                }
                Ok::<(), WeighError>(())
            })?;
        }
        if ways.is_empty() {
            return Err(WeighError::NoVariation(view.spread.len()));
        }
        let evaluations = ways.iter().map(|(_, choice)| choice.evaluations).sum();
        let weights: Vec<Vec<f64>> = ways.iter().map(|(_, choice)| mean(choice)).collect();
        let trials = Trials::new(view, &weights[0], view.keep.div_ceil(REGION), self.trials);
        // Each rule with its sample as it is, and with a regression where there are enough for one.
        let readings: Vec<Reading> = weights.iter().map(|weights| Reading::of(view, weights)).collect();
        let fits =
            |&rule: &usize| Regression::default().particles_for(readings[rule].weights.len()) <= view.keep;
        let adjusted = (0..weights.len()).filter(fits).map(|rule| (rule, true));
        let tried: Vec<(usize, bool)> =
            (0..weights.len()).map(|rule| (rule, false)).chain(adjusted).collect();
        let scores = race(view.workers, trials.rows.len(), tried.len(), |at, left| {
            let score =
                |&way: &usize| readings[tried[way].0].score(view, &trials, trials.rows[at], tried[way].1);
            left.iter().map(score).collect()
        });
        let name = |&(rule, is_adjusted): &(usize, bool)| {
            format!("{}{}", ways[rule].0, if is_adjusted { ", adjusted" } else { "" })
        };
        let (taken, evidence) = verdicts("rule", tried.iter().map(name).collect(), &scores);
        Ok(Choice { evaluations, evidence, ..ways.swap_remove(tried[taken].0).1 })
    }
}

/// The features that a rule gives weight to, by themselves.
struct Reading {
    features: Table,
    weights: Vec<f64>,
}

impl Reading {
    fn of(view: &View<'_>, weights: &[f64]) -> Self {
        let used: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] > 0.0).collect();
        let rows = view.features.iter().flat_map(|row| used.iter().map(|&j| row[j]));
        Self {
            features: Table::from_rows(used.len().max(1), rows.collect()),
            weights: used.iter().map(|&j| weights[j]).collect(),
        }
    }

    /// How well what lies nearest to a pseudo-observation tells its parameters.
    fn score(&self, view: &View<'_>, trials: &Trials, row: u32, is_adjusted: bool) -> f64 {
        let view = View { features: &self.features, ..*view };
        let observed = self.features.row(row as usize);
        let most = (view.keep * 2).max(view.rows.len() / 4);
        let near = Near::to(&view, (observed, &self.weights), (view.rows, Some(row)), most);
        let wanted = view.keep as f64 * if is_adjusted { ADJUSTED } else { 1.0 };
        let size = near.reaching(wanted);
        let step = if is_adjusted { size.div_ceil(FITTED).max(1) } else { 1 };
        let Some(population) = near.every(step, size, view.units) else { return f64::INFINITY };
        let (truth, effective) =
            (view.units.row(row as usize), population.weights.effective_sample_size() * step as f64);
        if !is_adjusted {
            return trials.score(&population.units, population.weights.normalised(), truth, effective);
        }
        let features = self.features.select(&population.rows);
        match Regression::default().towards(&population, &features, observed, STAND_INS) {
            Ok(units) => trials.score(&units, &[1.0; STAND_INS], truth, effective),
            Err(_) => f64::INFINITY,
        }
    }
}

fn fixed(view: &View<'_>, weights: Vec<f64>) -> Choice {
    let weights = normalised(weights, view.spread);
    let fold = Fold { weights, learned: view.rows.to_vec(), accepts: view.rows.to_vec(), keep: view.keep };
    Choice { folds: vec![fold], audit: Vec::new(), evaluations: 0, evidence: Vec::new() }
}

fn mean(choice: &Choice) -> Vec<f64> {
    crate::digest::mean_weights(choice.folds.iter().map(|fold| &fold.weights[..]))
}

/// Some neighbouring features by themselves.
struct Part {
    range: std::ops::Range<usize>,
    columns: usize,
    features: Table,
    spread: Vec<f64>,
}

impl Part {
    fn of(view: &View<'_>, from: usize, to: usize) -> Self {
        let columns = view.features.columns();
        let data = view.features.iter().flat_map(|row| row[from..to].iter().copied()).collect();
        let features = Table::from_rows(to - from, data);
        let spread = standard_deviations(&features, view.rows);
        Self { range: from..to, columns, features, spread }
    }

    fn with<T>(&self, view: &View<'_>, see: impl FnOnce(&View<'_>) -> T) -> T {
        see(&View {
            features: &self.features,
            observed: &view.observed[self.range.clone()],
            spread: &self.spread,
            previous: view.previous.map(|weights| &weights[self.range.clone()]),
            learned: 0,
            ..*view
        })
    }

    /// The same choice for all features: those of other parts weigh nothing.
    fn spread_out(&self, mut choice: Choice) -> Choice {
        for fold in choice.folds.iter_mut().chain(&mut choice.audit) {
            let mut all = vec![0.0; self.columns];
            all[self.range.clone()].copy_from_slice(&fold.weights);
            fold.weights = all;
        }
        choice
    }
}
