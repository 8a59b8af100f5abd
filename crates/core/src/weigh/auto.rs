//! The rule that users get when they do not choose.

use rand::Rng;

use super::formula::normalised;
use super::{Choice, Fold, Hellinger, WeighError, Weighting, baselines};
use crate::adjust::{Points, Regression, kernel};
use crate::near::{Extent, Field, Near};
use crate::reduce::Estimates;
use crate::stream::{Seed, Stage, Stream};
use crate::table::Table;
use crate::trials::{FITTED, LOOKED_AMONG, MARGIN, REGION, STAND_INS, Scores, Trials};
use crate::view::{View, standard_deviations};

/// Tries the simple rules and searches on the statistics, and learned features where a reduction makes some, and
/// takes what tells the parameters of pseudo-observations near the data best.
///
/// A divergence from the prior, even one that is held out, asks how far the one observation carries the accepted. It
/// rewards weights under which that observation looks extreme. Pseudo-observations have a truth: weights that
/// mislead lose there.
#[derive(Debug, Default)]
pub struct Auto {
    /// The search over the statistics.
    pub search: Hellinger,
}

/// Values of features that rules are tried on at the most: of many features fewer simulations, but no fewer than these.
const VALUES: usize = 1_000_000;
const FEWEST: usize = 4_000;
/// A sample that is adjusted has so many times the effective size.
const ADJUSTED: f64 = 2.5;

impl Weighting for Auto {
    fn choose(&self, view: &View<'_>, rng: &mut Stream) -> Result<Choice, WeighError> {
        let seed = Seed(rng.next_u64());
        let raw = view.features.columns() - view.learned.count();
        let mut rules = learned_rules(view, raw);
        let simple = rules.len();
        let statistics = (raw > 0 && view.varying().iter().any(|&j| j < raw)).then(|| Part::of(view, 0, raw));
        rules.extend(statistics.iter().flat_map(|part| simple_rules(view, part)));
        if rules.is_empty() {
            return Err(WeighError::NoVariation(view.spread.len()));
        }
        let bench = Bench::new(view, &mean(&rules[0].1));
        let searched = rules.len();
        let mut readings: Vec<Reading> = rules.iter().map(|(_, choice)| Reading::of(mean(choice))).collect();
        let mut tried = bench.ways(&readings, 0);
        let mut scores = Scores::race(view.workers, &bench.trials, tried.len(), |at, left| {
            bench.scores(at, &readings, &left.iter().map(|&way| tried[way]).collect::<Vec<_>>())
        });
        // A search over the statistics begins with the simple rules: where all of these are clearly behind learned
        // features, it is spared.
        let is_open = (0..tried.len()).any(|way| tried[way].rule >= simple && scores.stayed(way));
        if let Some(part) = statistics.filter(|_| is_open) {
            let search = |view: &View<'_>| self.search.choose(view, &mut seed.stream(Stage::Weigh, 0, 0));
            let found = part.spread_out(part.with(view, search)?);
            readings.push(Reading::of(mean(&found)));
            rules.push(("hellinger".into(), found));
            let more = bench.ways(&readings, readings.len() - 1);
            scores.extend(view.workers, more.len(), |at, left| {
                bench.scores(at, &readings, &left.iter().map(|&way| more[way]).collect::<Vec<_>>())
            });
            tried.extend(more);
        }
        // The first is preferred: learned features, the search, the simple rules, each as it is and then adjusted.
        let rank = |rule: usize| match rule {
            rule if rule < simple => rule,
            rule if rule == searched => simple,
            rule => rule + 1,
        };
        let mut order: Vec<usize> = (0..tried.len()).collect();
        order.sort_by_key(|&way| (tried[way].is_adjusted, rank(tried[way].rule)));
        let name = |way: usize| {
            let adjusted = if tried[way].is_adjusted { ", adjusted" } else { "" };
            format!("{}{adjusted}", rules[tried[way].rule].0)
        };
        let (taken, evidence) = scores.verdicts("rule", &order, |_| MARGIN, name);
        let evaluations = rules.iter().map(|(_, choice)| choice.evaluations).sum();
        Ok(Choice { evaluations, evidence, ..rules.swap_remove(tried[order[taken]].rule).1 })
    }
}

/// Learned features as they are, and estimates of parameters alone. They are few and in units of their errors: a search for
/// weights among them gains nothing (docs/method.md).
fn learned_rules(view: &View<'_>, raw: usize) -> Vec<(String, Choice)> {
    let Estimates { means, products } = view.learned;
    let mut rules = Vec::new();
    if view.learned.count() == 0 {
        return rules;
    }
    let part = Part::of(view, raw, view.features.columns());
    part.with(view, |view| {
        let of_all = |weight: f64| [vec![1.0; means], vec![weight; products]].concat();
        rules.push(("learned".into(), part.spread_out(fixed(view, of_all(1.0)))));
        if means > 0 && products > 0 {
            // Squares and products tell what means cannot, and are in the way where they tell nothing.
            rules.push(("learned means".into(), part.spread_out(fixed(view, of_all(0.0)))));
        }
    });
    rules
}

/// The simple rules on the statistics, the best first as a rule.
fn simple_rules(view: &View<'_>, part: &Part) -> Vec<(String, Choice)> {
    part.with(view, |view| {
        let rules = baselines().into_iter().rev().map(|formula| {
            let choice = fixed(view, formula.weights(view, view.rows));
            (formula.name().to_owned(), part.spread_out(choice))
        });
        rules.collect()
    })
}

/// A rule as trials see it.
struct Reading {
    weights: Vec<f64>,
    /// Features that it gives weight to.
    used: Vec<usize>,
}

impl Reading {
    fn of(weights: Vec<f64>) -> Self {
        Self { used: (0..weights.len()).filter(|&j| weights[j] > 0.0).collect(), weights }
    }
}

/// A rule, with its nearest simulations as they are or adjusted.
#[derive(Clone, Copy)]
struct Way {
    rule: usize,
    is_adjusted: bool,
}

/// Where rules are tried.
struct Bench<'a> {
    view: &'a View<'a>,
    field: Field<'a>,
    trials: Trials,
    /// Of so many simulations one is looked at, and so many are kept of these.
    step: usize,
    keep: f64,
}

impl<'a> Bench<'a> {
    fn new(view: &'a View<'a>, weights: &[f64]) -> Self {
        let most = LOOKED_AMONG.min(VALUES / view.features.columns()).max(FEWEST);
        let step = view.rows.len().div_ceil(most);
        let (field, keep) = (Field::of(view, step), view.keep as f64 / step as f64);
        let all = Field::compared(view, 1, weights);
        let trials = Trials::new(view, &all, weights, view.keep as f64 / REGION);
        Self { view, field, trials, step, keep }
    }

    /// The rules from one on: as they are, and, where an adjustment follows and there are enough for one, adjusted.
    fn ways(&self, rules: &[Reading], from: usize) -> Vec<Way> {
        let enough = (self.view.keep as f64).min(self.keep * ADJUSTED);
        let fits = |rule: &usize| {
            let needed = Regression::default().particles_for(rules[*rule].used.len());
            self.view.adjusts && needed as f64 <= enough
        };
        let plain = (from..rules.len()).map(|rule| Way { rule, is_adjusted: false });
        let adjusted = (from..rules.len()).filter(fits).map(|rule| Way { rule, is_adjusted: true });
        plain.chain(adjusted).collect()
    }

    /// How well ways tell the parameters of one pseudo-observation.
    fn scores(&self, trial: usize, rules: &[Reading], ways: &[Way]) -> Vec<f64> {
        let row = self.trials.rows[trial];
        let observed = self.view.features.row(row as usize);
        let most = (self.keep * 2.0).max((self.view.rows.len() / self.step / 4) as f64) as usize;
        let mut used: Vec<usize> = ways.iter().map(|way| way.rule).collect();
        used.sort_unstable();
        used.dedup();
        let weights: Vec<&[f64]> = used.iter().map(|&rule| &rules[rule].weights[..]).collect();
        let near: Vec<Near<'_>> = used
            .iter()
            .zip(self.field.distances(observed, &weights))
            .map(|(&rule, distances)| {
                let is_adjusted = ways.iter().any(|way| way.rule == rule && way.is_adjusted);
                let effective = if is_adjusted { self.keep * ADJUSTED } else { self.keep };
                self.field.nearest(distances, Some(row), Extent { effective, least: 0, most })
            })
            .collect();
        let score = |way: &Way| {
            let near = &near[used.partition_point(|&rule| rule < way.rule)];
            self.score(near, row, &rules[way.rule], way.is_adjusted)
        };
        ways.iter().map(score).collect()
    }

    /// How well what lies nearest to a pseudo-observation tells its parameters.
    fn score(&self, near: &Near<'_>, row: u32, rule: &Reading, is_adjusted: bool) -> f64 {
        let (view, step) = (self.view, self.step as f64);
        let truth = view.units.row(row as usize);
        if !is_adjusted {
            let some = near.thinned(near.reaching(self.keep), usize::MAX);
            return self.trials.score(&some.stand_ins(view.units), truth, some.effective * step);
        }
        let some = near.thinned(near.reaching(self.keep * ADJUSTED), FITTED);
        let points = Points {
            rows: &some.rows,
            units: view.units,
            features: view.features,
            targets: view.units,
            used: &rule.used,
            observed: view.features.row(row as usize),
            kernel: &kernel(&some.distances, &some.weights),
        };
        match Regression::default().towards(&points, STAND_INS) {
            Ok(units) => self.trials.score(&units, truth, some.effective * step),
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
        let mut data = Vec::with_capacity(view.features.rows() * (to - from));
        view.features.iter().for_each(|row| data.extend_from_slice(&row[from..to]));
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
            learned: Estimates::default(),
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
