//! A run in numbers: what `--json` prints, `run.json` keeps and `show` reads back.

use std::path::Path;

use counterpoise_core::diagnose::diagnose;
use counterpoise_core::digest::{self, Generation};
use counterpoise_core::problem::Problem;
use counterpoise_core::problem::law::Scale;
use counterpoise_core::stop::StopReason;
use counterpoise_core::summary::{ParameterSummary, summarise};
use counterpoise_core::trials::Verdict;
use counterpoise_run::drive;
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};

use crate::problem_file::Method;

/// A number that JSON writes as null where it is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct Real(pub(crate) f64);

impl Real {
    /// What a run that did not tell spent.
    fn zero() -> Self {
        Self(0.0)
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN)))
    }
}

/// All that is told of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) problem: String,
    /// What the model is, in one line, unless its name says all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    pub(crate) directory: String,
    pub(crate) finished: bool,
    pub(crate) stopped_by: Option<String>,
    pub(crate) seed: u64,
    pub(crate) version: String,
    pub(crate) simulations: usize,
    pub(crate) failed: usize,
    pub(crate) generations: usize,
    pub(crate) generations_planned: usize,
    pub(crate) kept: usize,
    pub(crate) ess: Real,
    pub(crate) parameters: IndexMap<String, Parameter>,
    pub(crate) distance_weights: IndexMap<String, Real>,
    /// Standard deviation of each statistic over the last simulations: the unit in which weights compare.
    pub(crate) statistic_sd: IndexMap<String, Real>,
    /// Whether a regression moved what was accepted.
    #[serde(default)]
    pub(crate) adjusted: bool,
    /// How much each statistic counts for the posterior, be it compared as it is or within features, as a share.
    #[serde(default)]
    pub(crate) influence: IndexMap<String, Real>,
    pub(crate) information: Option<Information>,
    /// What `auto` chose in the last generation, and from what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) seconds: Seconds,
    pub(crate) history: Vec<Step>,
    pub(crate) warnings: Vec<String>,
    /// The parameters that the observations were made with, where the problem file says so.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) truth: IndexMap<String, Real>,
    /// How the run was begun or last gone on with, where its problem is in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<Origin>,
}

/// Where a run comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// As it was given.
    pub(crate) problem_file: String,
    /// What makes the run again.
    pub(crate) command: String,
}

/// The marginal posterior of a parameter, on its natural scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameter {
    pub(crate) mean: Real,
    pub(crate) sd: Real,
    pub(crate) median: Real,
    pub(crate) mode: Real,
    pub(crate) q05: Real,
    pub(crate) q25: Real,
    pub(crate) q75: Real,
    pub(crate) q95: Real,
    pub(crate) log10_mean: Real,
    pub(crate) log10_sd: Real,
    /// Whether equal steps of the histogram are equal steps of the value, of its logarithm, or whole numbers.
    pub(crate) scale: String,
    /// Values at the ends of the histogram.
    pub(crate) range: [Real; 2],
    pub(crate) histogram: Vec<Real>,
}

/// How informative the distance weights are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Information {
    pub(crate) in_sample: Real,
    pub(crate) held_out: Real,
    pub(crate) baselines: IndexMap<String, Real>,
}

/// One of several ways, tried on pseudo-observations near the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    /// What was chosen: the rule or the adjustment.
    pub(crate) subject: String,
    pub(crate) name: String,
    /// Mean energy score: less is better.
    pub(crate) score: Real,
    /// Standard error of the difference from the best.
    pub(crate) error: Real,
    pub(crate) chosen: bool,
}

/// Where the time went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seconds {
    pub(crate) total: Real,
    pub(crate) propose: Real,
    pub(crate) simulate: Real,
    pub(crate) weigh: Real,
    #[serde(default = "Real::zero")]
    pub(crate) store: Real,
}

/// One generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) generation: u32,
    pub(crate) simulations: usize,
    pub(crate) failed: usize,
    pub(crate) kept: usize,
    pub(crate) ess: Real,
    /// Largest distance that was accepted.
    pub(crate) threshold: Real,
    pub(crate) information: Information,
    /// Evaluations of the weighting rule's objective.
    pub(crate) evaluations: usize,
}

/// What a run was about.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) name: &'a str,
    pub(crate) model: Option<&'a str>,
    pub(crate) problem: &'a Problem,
    pub(crate) method: &'a Method,
    /// Where the run is kept.
    pub(crate) directory: &'a Path,
    pub(crate) truth: Option<&'a [f64]>,
    pub(crate) origin: Option<&'a Origin>,
}

/// How a run ended; no reason where it broke off.
pub(crate) struct Ended<'a> {
    pub(crate) history: &'a [Generation],
    pub(crate) reason: Option<StopReason>,
    pub(crate) seconds: drive::Seconds,
    /// Simulations of a generation that is not finished, and how many of them failed.
    pub(crate) simulations: usize,
    pub(crate) failed: usize,
}

impl Summary {
    /// Reads a summary back.
    pub(crate) fn deserialize_from(value: &serde_json::Value) -> serde_json::Result<Self> {
        Self::deserialize(value)
    }

    /// Distance weights, each for a step of one standard deviation: those of statistics in different units cannot be compared.
    pub(crate) fn sized_weights(&self) -> impl Iterator<Item = (&String, f64)> {
        let sd = |name: &String| self.statistic_sd.get(name).map_or(1.0, |sd| sd.0);
        self.distance_weights.iter().map(move |(name, weight)| (name, weight.0 * sd(name)))
    }

    /// Whether distance weights do not tell how much statistics count: features made of them are compared, or a regression moves
    /// what is accepted.
    pub(crate) fn counts_by_influence(&self) -> bool {
        let is_made = |name: &String| !self.influence.is_empty() && !self.influence.contains_key(name);
        let is_moved = self.adjusted && !self.influence.is_empty();
        is_moved || self.sized_weights().any(|(name, weight)| weight > 0.0 && is_made(name))
    }

    /// How much each statistic counts, in the order of the problem, and what that is called: its weight, or its influence where that
    /// does not tell.
    pub(crate) fn counts(&self) -> (Vec<(&String, f64)>, &'static str) {
        if self.counts_by_influence() {
            return (self.influence.iter().map(|(name, share)| (name, share.0)).collect(), "influence");
        }
        let is_one = |name: &String| self.influence.is_empty() || self.influence.contains_key(name);
        (self.sized_weights().filter(|(name, _)| is_one(name)).collect(), "weight x sd")
    }

    /// The summary of a run.
    pub(crate) fn new(subject: Subject<'_>, ended: &Ended<'_>) -> Self {
        let (history, last) = (ended.history, ended.history.last());
        let seconds = ended.seconds;
        let limits = [StopReason::Seconds, StopReason::Simulations, StopReason::Interrupt];
        Self {
            problem: subject.name.to_owned(),
            model: subject.model.map(str::to_owned),
            directory: subject.directory.display().to_string(),
            finished: ended.reason.is_some_and(|reason| !limits.contains(&reason)),
            stopped_by: ended.reason.map(|reason| reason.to_string()),
            seed: subject.method.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            simulations: ended.simulations
                + history.iter().map(|generation| generation.simulations).sum::<usize>(),
            failed: ended.failed + history.iter().map(|generation| generation.failed).sum::<usize>(),
            generations: history.len(),
            generations_planned: subject.method.generations,
            kept: last.map_or(0, |last| last.posterior().len()),
            ess: Real(last.map_or(f64::NAN, |last| last.posterior().effective_sample_size())),
            parameters: last.map(|last| parameters(subject.problem, last)).unwrap_or_default(),
            distance_weights: last.map(|last| by_name(last, last.mean_weights())).unwrap_or_default(),
            statistic_sd: last.map(|last| by_name(last, last.spread.clone())).unwrap_or_default(),
            adjusted: last.is_some_and(Generation::is_moved),
            influence: last.map(|last| influence(subject.problem, last)).unwrap_or_default(),
            information: last.map(|last| (&last.information).into()),
            evidence: last.map(evidence).unwrap_or_default(),
            seconds: Seconds {
                total: Real(seconds.total),
                propose: Real(seconds.propose),
                simulate: Real(seconds.simulate),
                weigh: Real(seconds.weigh),
                store: Real(seconds.store),
            },
            history: history.iter().map(Step::from).collect(),
            warnings: diagnose(subject.problem, history).iter().map(ToString::to_string).collect(),
            truth: subject.truth.map_or_else(IndexMap::new, |truth| {
                subject.problem.prior.names().into_iter().zip(truth.iter().copied().map(Real)).collect()
            }),
            origin: subject.origin.cloned(),
        }
    }
}

fn parameters(problem: &Problem, last: &Generation) -> IndexMap<String, Parameter> {
    let prior = &problem.prior;
    let scales = prior.marginals().iter().map(|marginal| match marginal.scale() {
        Scale::Linear => "linear",
        Scale::Log => "log",
        Scale::Whole => "whole",
    });
    let summaries = summarise(prior, last.posterior());
    summaries
        .into_iter()
        .zip(scales)
        .map(|(summary, scale)| (summary.name.clone(), parameter(&summary, scale)))
        .collect()
}

fn parameter(summary: &ParameterSummary, scale: &str) -> Parameter {
    let [q05, q25, median, q75, q95] = summary.quantiles.map(Real);
    let (log10_mean, log10_sd) = summary.log10.unwrap_or((f64::NAN, f64::NAN));
    Parameter {
        mean: Real(summary.mean),
        sd: Real(summary.sd),
        median,
        mode: Real(summary.mode),
        q05,
        q25,
        q75,
        q95,
        log10_mean: Real(log10_mean),
        log10_sd: Real(log10_sd),
        scale: scale.into(),
        range: [Real(summary.range.0), Real(summary.range.1)],
        histogram: summary.histogram.iter().map(|&share| Real(share)).collect(),
    }
}

fn evidence(last: &Generation) -> Vec<Evidence> {
    let told = |verdict: &Verdict| Evidence {
        subject: verdict.subject.clone(),
        name: verdict.name.clone(),
        score: Real(verdict.score),
        error: Real(verdict.error),
        chosen: verdict.chosen,
    };
    last.evidence.iter().map(told).collect()
}

fn influence(problem: &Problem, last: &Generation) -> IndexMap<String, Real> {
    problem.statistics.iter().cloned().zip(last.influence.iter().copied().map(Real)).collect()
}

fn by_name(last: &Generation, values: Vec<f64>) -> IndexMap<String, Real> {
    last.features.iter().cloned().zip(values.into_iter().map(Real)).collect()
}

impl From<&digest::Information> for Information {
    fn from(information: &digest::Information) -> Self {
        let baselines = information.baselines.iter();
        Self {
            in_sample: Real(information.in_sample),
            held_out: Real(information.held_out),
            baselines: baselines.map(|(rule, value)| (rule.clone(), Real(*value))).collect(),
        }
    }
}

impl From<&Generation> for Step {
    fn from(generation: &Generation) -> Self {
        let population = &generation.population;
        Self {
            generation: generation.index,
            simulations: generation.simulations,
            failed: generation.failed,
            kept: population.len(),
            ess: Real(population.effective_sample_size()),
            threshold: Real(population.distances.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            information: (&generation.information).into(),
            evaluations: generation.evaluations,
        }
    }
}
