//! The rule that users get when they do not choose.

use std::ops::Range;

use rand::Rng;

use super::formula::normalised;
use super::{Choice, Fold, Formula, Hellinger, WeighError, Weighting, baselines};
use crate::adjust::{Points, Regression, kernel};
use crate::near::{Extent, Field, Near};
use crate::reduce::Estimates;
use crate::stream::{Seed, Stage, Stream};
use crate::trials::{Before, FITTED, LOOKED_AMONG, MARGIN, REGION, STAND_INS, Scores, Trials, contenders};
use crate::view::View;

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
/// Simulations that simple rules learn from at the most.
const WEIGHED: usize = 2_500;
/// Learned features that are no more standard errors behind need no search over the statistics.
const BEHIND: f64 = 1.0;
/// A sample that is adjusted has so many times the effective size.
const ADJUSTED: f64 = 2.5;

impl Weighting for Auto {
    fn choose(&self, view: &View<'_>, rng: &mut Stream) -> Result<Choice, WeighError> {
        let seed = Seed(rng.next_u64());
        let raw = view.features.columns() - view.learned.count();
        let mut rules = learned_rules(view, raw);
        let simple = rules.len();
        let part = Part { range: 0..raw, columns: view.features.columns() };
        let statistics = view.varying().iter().any(|&j| j < raw).then_some(part);
        rules.extend(statistics.iter().flat_map(|part| simple_rules(view, part)));
        if rules.is_empty() {
            return Err(WeighError::NoVariation(view.spread.len()));
        }
        let all = Field::for_one_look(view, 1);
        let trials = Trials::new(view, &all, &rules[0].weights, view.keep as f64 / REGION);
        drop(all);
        let searched = rules.len();
        let bench = Bench::new(view, &trials);
        let mut tried = bench.ways(&rules, 0);
        let known = before(view, &tried, &rules);
        let raced = contenders(&known);
        let bench = bench.laid_out(raced.iter().map(|&way| &rules[tried[way].rule].weights[..]));
        let mut scores = Scores::race(
            view.workers,
            &trials,
            known,
            |_| false,
            |at, left| bench.scores(at, &rules, &left.iter().map(|&way| tried[way]).collect::<Vec<_>>()),
        );
        // A search over the statistics begins with the simple rules: it is spared unless these are better than learned features.
        let is_learned = |way: &usize| tried[*way].rule < simple;
        let is_open = !(0..tried.len()).filter(is_learned).any(|way| scores.is_within(way, BEHIND));
        if let Some(part) = statistics.filter(|_| is_open) {
            // It lays out simulations in its own way: one at a time.
            drop(bench);
            let search = |view: &View<'_>| self.search.choose(view, &mut seed.stream(Stage::Weigh, 0, 0));
            let mut found = part.with(view, search)?;
            for fold in found.folds.iter_mut().chain(&mut found.audit) {
                fold.weights = part.spread_out(&fold.weights);
            }
            let weights = crate::digest::mean_weights(found.folds.iter().map(|fold| &fold.weights[..]));
            rules.push(Rule { found: Some(found), ..Rule::new("hellinger", weights) });
            let bench = Bench::new(view, &trials).laid_out(std::iter::once(&rules[searched].weights[..]));
            let more = bench.ways(&rules, searched);
            scores.extend(view.workers, before(view, &more, &rules), |at, left| {
                bench.scores(at, &rules, &left.iter().map(|&way| more[way]).collect::<Vec<_>>())
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
        let name = |way: usize| (tried[way].name(&rules), tried[way].name(&rules));
        let (taken, evidence) = scores.verdicts(SUBJECT, &order, |_| MARGIN, name);
        let evaluations =
            rules.iter().filter_map(|rule| rule.found.as_ref()).map(|found| found.evaluations).sum();
        let compared =
            rules[simple..searched].iter().rev().map(|rule| (rule.name, rule.weights.clone())).collect();
        let Rule { weights, found, .. } = rules.swap_remove(tried[order[taken]].rule);
        Ok(Choice { evaluations, evidence, compared, ..found.unwrap_or_else(|| everywhere(view, weights)) })
    }
}

/// Learned features as they are, and estimates of parameters alone. They are few and in units of their errors: a search for
/// weights among them gains nothing (docs/method.md).
fn learned_rules(view: &View<'_>, raw: usize) -> Vec<Rule> {
    let Estimates { means, products } = view.learned;
    let mut rules = Vec::new();
    if view.learned.count() == 0 {
        return rules;
    }
    let part = Part { range: raw..view.features.columns(), columns: view.features.columns() };
    let rule = |name: &'static str, weight: f64| {
        part.rule(name, view, [vec![1.0; means], vec![weight; products]].concat())
    };
    rules.push(rule("learned", 1.0));
    if means > 0 && products > 0 {
        // Squares and products tell what means cannot, and are in the way where they tell nothing.
        rules.push(rule("learned means", 0.0));
    }
    rules
}

/// The simple rules on the statistics, the best first as a rule.
fn simple_rules(view: &View<'_>, part: &Part) -> Vec<Rule> {
    let some: Vec<u32> = view.rows.iter().copied().step_by(view.rows.len().div_ceil(WEIGHED)).collect();
    let weights = |formula: &dyn Formula| part.with(view, |view| formula.weights(view, &some));
    let rules = baselines().into_iter().rev();
    rules.map(|formula| part.rule(formula.name(), view, weights(&*formula))).collect()
}

/// A rule that is tried.
struct Rule {
    name: &'static str,
    weights: Vec<f64>,
    /// Features that it gives weight to.
    used: Vec<usize>,
    /// What a search found: its folds have weights of their own, of which these are the mean.
    found: Option<Choice>,
}

impl Rule {
    fn new(name: &'static str, weights: Vec<f64>) -> Self {
        Self { name, used: (0..weights.len()).filter(|&j| weights[j] > 0.0).collect(), weights, found: None }
    }
}

/// A rule, with its nearest simulations as they are or adjusted.
#[derive(Clone, Copy)]
struct Way {
    rule: usize,
    is_adjusted: bool,
}

impl Way {
    fn name(&self, rules: &[Rule]) -> String {
        format!("{}{}", rules[self.rule].name, if self.is_adjusted { ", adjusted" } else { "" })
    }
}

/// What the generation before says of some ways.
fn before(view: &View<'_>, ways: &[Way], rules: &[Rule]) -> Vec<Option<Before>> {
    Before::of(view.tried, SUBJECT, ways.iter().map(|way| way.name(rules)))
}

/// What is chosen among.
const SUBJECT: &str = "rule";

/// Where rules are tried.
struct Bench<'a> {
    view: &'a View<'a>,
    field: Field<'a>,
    trials: &'a Trials,
    /// Of so many simulations one is looked at, and so many are kept of these.
    step: usize,
    keep: f64,
}

impl<'a> Bench<'a> {
    fn new(view: &'a View<'a>, trials: &'a Trials) -> Self {
        let most = LOOKED_AMONG.min(VALUES / view.features.columns()).max(FEWEST);
        let step = view.rows.len().div_ceil(most);
        let (field, keep) = (Field::for_one_look(view, step), view.keep as f64 / step as f64);
        Self { view, field, trials, step, keep }
    }

    /// The same for distances under some weights.
    fn laid_out<'b>(self, weights: impl Iterator<Item = &'b [f64]>) -> Self {
        let mut all = vec![0.0; self.view.features.columns()];
        for weights in weights {
            all.iter_mut().zip(weights).for_each(|(all, weight): (&mut f64, _)| *all = all.max(*weight));
        }
        Self { field: Field::compared(self.view, self.step, &all), ..self }
    }

    /// The rules from one on: as they are, and, where an adjustment follows and there are enough for one, adjusted.
    fn ways(&self, rules: &[Rule], from: usize) -> Vec<Way> {
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
    fn scores(&self, trial: usize, rules: &[Rule], ways: &[Way]) -> Vec<f64> {
        let row = self.trials.rows[trial];
        let observed = self.view.features.row(row as usize).to_vec();
        let most = (self.keep * 2.0).max((self.view.rows.len() / self.step / 4) as f64) as usize;
        let mut used: Vec<usize> = ways.iter().map(|way| way.rule).collect();
        used.sort_unstable();
        used.dedup();
        let look = |&rule: &usize| {
            let is_adjusted = ways.iter().any(|way| way.rule == rule && way.is_adjusted);
            let effective = if is_adjusted { self.keep * ADJUSTED } else { self.keep };
            (&rules[rule].weights[..], Extent { effective, least: 0, most })
        };
        let near = self.field.near_each(&observed, &used.iter().map(look).collect::<Vec<_>>(), Some(row));
        let score = |way: &Way| {
            let near = &near[used.partition_point(|&rule| rule < way.rule)];
            self.score(near, row, &rules[way.rule], way.is_adjusted)
        };
        ways.iter().map(score).collect()
    }

    /// How well what lies nearest to a pseudo-observation tells its parameters.
    fn score(&self, near: &Near<'_>, row: u32, rule: &Rule, is_adjusted: bool) -> f64 {
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
            observed: &view.features.row(row as usize).to_vec(),
            kernel: &kernel(&some.distances, &some.weights),
        };
        match Regression::default().towards(&points, STAND_INS) {
            Ok(units) => self.trials.score(&units, truth, some.effective * step),
            Err(_) => f64::INFINITY,
        }
    }
}

/// A choice that learned from all rows and accepts among all.
fn everywhere(view: &View<'_>, weights: Vec<f64>) -> Choice {
    let fold = Fold { weights, learned: view.rows.to_vec(), accepts: view.rows.to_vec(), keep: view.keep };
    Choice {
        folds: vec![fold],
        audit: Vec::new(),
        evaluations: 0,
        evidence: Vec::new(),
        compared: Vec::new(),
    }
}

/// Some neighbouring features by themselves, of so many.
struct Part {
    range: Range<usize>,
    columns: usize,
}

impl Part {
    fn with<T>(&self, view: &View<'_>, see: impl FnOnce(&View<'_>) -> T) -> T {
        see(&View {
            features: view.features.around(&Vec::from_iter(self.range.clone())).1,
            observed: &view.observed[self.range.clone()],
            spread: &view.spread[self.range.clone()],
            previous: view.previous.map(|weights| &weights[self.range.clone()]),
            learned: Estimates::default(),
            ..*view
        })
    }

    /// A rule by weights for these features.
    fn rule(&self, name: &'static str, view: &View<'_>, weights: Vec<f64>) -> Rule {
        Rule::new(name, self.spread_out(&normalised(weights, &view.spread[self.range.clone()])))
    }

    /// The same weights for all features: those of other parts weigh nothing.
    fn spread_out(&self, weights: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.columns];
        all[self.range.clone()].copy_from_slice(weights);
        all
    }
}
