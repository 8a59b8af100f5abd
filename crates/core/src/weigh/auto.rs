//! The rule that users get when they do not choose.

use rand::Rng;

use super::formula::normalised;
use super::{Choice, Fold, Hellinger, WeighError, Weighting, baselines};
use crate::adjust::{Points, Regression, kernel};
use crate::near::{Field, Near};
use crate::stream::{Seed, Stage, Stream};
use crate::table::Table;
use crate::trials::{FITTED, LOOKED_AMONG, REGION, STAND_INS, Trials, race, verdicts};
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

/// A sample that is adjusted has so many times the effective size.
const ADJUSTED: f64 = 2.5;

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
        let step = view.rows.len().div_ceil(LOOKED_AMONG);
        let field = Field::of(view, step);
        let keep = view.keep as f64 / step as f64;
        let trials = Trials::new(view, &field, &weights[0], keep / REGION, self.trials);
        // Each rule with its sample as it is, and with a regression where there are enough for one.
        let readings: Vec<Reading<'_>> = weights.iter().map(|weights| Reading::of(view, weights)).collect();
        let enough = (view.keep as f64).min(keep * ADJUSTED);
        let fits =
            |&rule: &usize| Regression::default().particles_for(readings[rule].used.len()) as f64 <= enough;
        let adjusted = (0..weights.len()).filter(fits).map(|rule| (rule, true));
        let tried: Vec<(usize, bool)> =
            (0..weights.len()).map(|rule| (rule, false)).chain(adjusted).collect();
        let scores = race(view.workers, trials.rows.len(), tried.len(), |at, left| {
            let row = trials.rows[at];
            let observed = view.features.row(row as usize);
            let most = (keep * 2.0).max((view.rows.len() / step / 4) as f64) as usize;
            let mut near: Vec<Option<Near<'_>>> = weights.iter().map(|_| None).collect();
            let score = |&way: &usize| {
                let (rule, is_adjusted) = tried[way];
                let look = || field.near((observed, &weights[rule]), Some(row), most);
                readings[rule].score(near[rule].get_or_insert_with(look), (&trials, row), is_adjusted, keep)
            };
            left.iter().map(score).collect()
        });
        let name = |&(rule, is_adjusted): &(usize, bool)| {
            format!("{}{}", ways[rule].0, if is_adjusted { ", adjusted" } else { "" })
        };
        let (taken, evidence) = verdicts("rule", tried.iter().map(name).collect(), &scores);
        Ok(Choice { evaluations, evidence, ..ways.swap_remove(tried[taken].0).1 })
    }
}

/// A rule, as trials see it.
struct Reading<'a> {
    view: &'a View<'a>,
    /// Features that it gives weight to.
    used: Vec<usize>,
}

impl<'a> Reading<'a> {
    fn of(view: &'a View<'a>, weights: &[f64]) -> Self {
        Self { view, used: (0..weights.len()).filter(|&j| weights[j] > 0.0).collect() }
    }

    /// How well what lies nearest to a pseudo-observation tells its parameters.
    fn score(&self, near: &Near<'_>, (trials, row): (&Trials, u32), is_adjusted: bool, keep: f64) -> f64 {
        let view = self.view;
        let step = view.keep as f64 / keep;
        let truth = view.units.row(row as usize);
        if !is_adjusted {
            let some = near.thinned(near.reaching(keep), usize::MAX);
            return trials.score(&some.stand_ins(view.units), truth, some.effective * step);
        }
        let some = near.thinned(near.reaching(keep * ADJUSTED), FITTED);
        let points = Points {
            rows: &some.rows,
            units: view.units,
            features: view.features,
            targets: view.units,
            used: &self.used,
            observed: view.features.row(row as usize),
            kernel: &kernel(&some.distances, &some.weights),
        };
        match Regression::default().towards(&points, STAND_INS) {
            Ok(units) => trials.score(&units, truth, some.effective * step),
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
