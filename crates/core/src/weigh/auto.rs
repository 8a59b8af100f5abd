//! The rule that users get when they do not choose.

use rand::Rng;

use super::formula::normalised;
use super::{Choice, Fold, Hellinger, WeighError, Weighting, baselines};
use crate::stream::{Seed, Stage, Stream};
use crate::table::Table;
use crate::trials::{Trials, race, shares, verdicts};
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

/// Pseudo-observations are chosen among so many times as many rows as are kept.
const REGION: usize = 2;

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
        let trials = Trials::new(view, &weights[0], REGION * view.keep, self.trials);
        let scores = race(view.workers, trials.rows.len(), weights.len(), |at, ways| {
            ways.iter().map(|&way| score(view, &trials, trials.rows[at], &weights[way])).collect()
        });
        let (names, mut choices): (Vec<String>, Vec<Choice>) = ways.into_iter().unzip();
        let (taken, evidence) = verdicts("rule", names, &scores);
        Ok(Choice { evaluations, evidence, ..choices.swap_remove(taken) })
    }
}

/// How well the rows nearest to a pseudo-observation tell its parameters.
fn score(view: &View<'_>, trials: &Trials, row: u32, weights: &[f64]) -> f64 {
    let observed = view.features.row(row as usize);
    let mut distances = crate::select::distances(view.features, observed, weights, view.rows);
    if let Ok(own) = view.rows.binary_search(&row) {
        distances[own] = f64::INFINITY;
    }
    let kept = crate::select::nearest(&distances, view.keep.min(view.rows.len() - 1));
    let rows: Vec<u32> = kept.into_iter().map(|at| view.rows[at]).collect();
    let shares = shares(view, &rows);
    let effective = 1.0 / shares.iter().map(|share| share * share).sum::<f64>();
    trials.score(&view.units.select(&rows), &shares, view.units.row(row as usize), effective)
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
