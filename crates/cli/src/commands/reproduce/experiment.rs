//! One of the paper's problems, and runs of it on many datasets with several rules.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::anyhow;
use counterpoise_core::digest::{Generation, Method};
use counterpoise_core::divergence::{self, Divergence, Exponent, Space, weighted_information};
use counterpoise_core::judge::{covered, rank, wasserstein};
use counterpoise_core::population::Population;
use counterpoise_core::problem::{Prior, Problem, Simulator};
use counterpoise_core::propose::{Gaussian, Importance};
use counterpoise_core::reduce::{ApproximateSufficiency, Identity, Reduction, SemiAutomatic};
use counterpoise_core::stop::AfterGenerations;
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::summary::{moments, summarise};
use counterpoise_core::weigh::{ByFormula, Deviation, Hellinger, Paper, Uniform, Weighting};
use counterpoise_core::workers::{self, Serial, Workers};
use counterpoise_models::exact::{self, Density};
use counterpoise_models::{Model, Setting, builtin, setting};
use counterpoise_run::drive::Event;
use counterpoise_run::study::{Dataset, FirstShared, Truths, datasets, infer_watched};

use super::Context;
use crate::print::tally::Tally;
use crate::trouble::Trouble;

/// Values that stand for the draws of an exact posterior.
const DRAWS: usize = 2_000;
/// Molecules of the dimerization system in a quick run; the paper has a hundred thousand.
const QUICK_MOLECULES: f64 = 1_000.0;

/// A way to combine statistics.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    weighting: fn() -> Box<dyn Weighting>,
    reduction: fn() -> Box<dyn Reduction>,
}

const fn by_weights(name: &'static str, weighting: fn() -> Box<dyn Weighting>) -> Rule {
    Rule { name, weighting, reduction: || Box::new(Identity) }
}

pub(super) const UNIFORM: Rule = by_weights("uniform", || Box::new(ByFormula(Box::new(Uniform))));
pub(super) const SCALED: Rule = by_weights("scaled", || Box::new(ByFormula(Box::new(Deviation))));
/// Algorithm 2 to the letter.
pub(super) const ADAPTIVE: Rule = by_weights("adaptive", || Box::new(Paper::default()));
/// The same, corrected and cross-fitted.
pub(super) const OURS: Rule = by_weights("hellinger", || Box::new(Hellinger::default()));
pub(super) const BARNES: Rule = Rule {
    name: "Barnes et al.",
    weighting: || Box::new(ByFormula(Box::new(Deviation))),
    reduction: || Box::new(ApproximateSufficiency::default()),
};
pub(super) const FEARNHEAD_PRANGLE: Rule = Rule {
    name: "Fearnhead & Prangle",
    weighting: || Box::new(ByFormula(Box::new(Uniform))),
    reduction: || Box::new(SemiAutomatic::default()),
};

/// How much is simulated and kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) simulations: usize,
    pub(super) keep: usize,
    pub(super) generations: usize,
}

/// A rule with its size.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) rule: Rule,
    pub(super) size: Size,
}

/// One of the paper's problems.
pub(super) struct Experiment {
    pub(super) name: &'static str,
    pub(super) model: Model,
    pub(super) setting: Setting,
    pub(super) prior: Arc<Prior>,
    /// Differs from the paper in this, if in anything.
    pub(super) departure: Option<String>,
}

/// A dataset and its exact posterior, where there is one.
pub(super) struct Case {
    pub(super) data: Dataset,
    pub(super) exact: Option<Vec<Density>>,
}

/// What a run made of a dataset, on the scale of decimal logarithms.
pub(super) struct Outcome {
    pub(super) population: Population,
    /// Distance weights of the last generation and what they belong to.
    pub(super) weights: Vec<f64>,
    /// Squared Hellinger distance of the posterior from the prior.
    pub(super) information: f64,
    /// The same by the paper's estimator as it is printed, importance weights ignored.
    pub(super) printed: f64,
    /// Distance of the mode, and of the mean, from the truth.
    pub(super) mode_bias: f64,
    pub(super) mean_bias: f64,
    /// W1 to the exact posterior of each parameter in its standard deviations, and the ratio of standard deviations.
    pub(super) w1: Vec<f64>,
    pub(super) sd_ratio: Vec<f64>,
    /// Standard deviation of each parameter.
    pub(super) sds: Vec<f64>,
    /// Distance of the mean from the truth, parameter by parameter.
    pub(super) biases: Vec<f64>,
    /// Share of the parameters whose 90 % interval has the truth.
    pub(super) covered: f64,
    pub(super) ess: f64,
    /// Seconds spent simulating, and on everything else.
    pub(super) simulating: f64,
    pub(super) weighing: f64,
}

impl Experiment {
    pub(super) fn new(name: &'static str, context: &Context<'_>) -> Result<Self, Trouble> {
        let failed = |error: anyhow::Error| Trouble::failed(error, None);
        let (options, departure) = match name {
            "dimerization" if context.arguments.quick => {
                let departure = format!("{QUICK_MOLECULES} molecules at the start, and not 100,000");
                (vec![("initial".to_owned(), QUICK_MOLECULES)], Some(departure))
            }
            _ => (Vec::new(), None),
        };
        let model = builtin(name, context.preset(), &options).map_err(|error| failed(error.into()))?;
        let setting = setting(name, context.preset()).map_err(|error| failed(error.into()))?;
        let prior = Arc::new(setting.prior().map_err(|error| failed(error.into()))?);
        Ok(Self { name, model, setting, prior, departure })
    }

    /// The size of the paper's own runs.
    pub(super) fn size(&self, context: &Context<'_>) -> Size {
        let simulations = context.simulations(self.setting.simulations);
        Size {
            simulations,
            keep: kept(self.setting.keep, simulations),
            generations: self.setting.generations,
        }
    }

    pub(super) fn problem(&self, observed: Vec<f64>) -> Problem {
        Problem { prior: self.prior.clone(), statistics: self.model.statistics.clone(), observed }
    }

    /// Datasets at the paper's parameters, with their exact posteriors.
    pub(super) fn cases(&self, count: usize, context: &Context<'_>) -> Result<Vec<Case>, Trouble> {
        let truth = self.setting.truth();
        let truths = (&Truths::At(&truth), count);
        let data = datasets(&self.prior, &*self.model.simulator, truths, context.seed, &context.pool);
        let data = data.map_err(|error| Trouble::failed(error, None))?;
        let tally = Tally::new(context.output, "exact posteriors", count);
        let exact = workers::map(&context.pool, count, |index| {
            let exact = exact::posterior(&self.model, &self.setting, &data[index].observed);
            tally.done();
            exact
        });
        Ok(data.into_iter().zip(exact).map(|(data, exact)| Case { data, exact }).collect())
    }

    /// Every plan on every dataset, a row a dataset; dataset `i` has the seed `seed + 1 + i`, for every plan.
    pub(super) fn study(
        &self,
        plans: &[Plan],
        cases: &[Case],
        context: &Context<'_>,
    ) -> Result<Vec<Vec<Outcome>>, Trouble> {
        let simulations: usize = plans.iter().map(|plan| plan.size.simulations * plan.size.generations).sum();
        // A generation is simulated, and then weighed: each counts as much.
        let tally = Tally::new(context.output, "rows simulated and weighed", 2 * simulations * cases.len());
        let all = |index: usize, inner: (usize, &dyn Workers)| -> anyhow::Result<Vec<Outcome>> {
            let seed = Seed(context.seed.0.wrapping_add(1 + index as u64));
            // Plans of one size see the same first generation, which is made once.
            let mut executor = FirstShared::new(&*self.model.simulator, inner.0);
            let one = |plan: &Plan| {
                let outcome = self.run(*plan, &cases[index], seed, (&mut executor, inner.1), &tally);
                outcome.map_err(|error| {
                    anyhow!("{}, {}, dataset {}: {error:#}", self.name, plan.rule.name, index + 1)
                })
            };
            plans.iter().map(one).collect()
        };
        // Many datasets go side by side; few are made one after another, each on all threads.
        let outcomes: anyhow::Result<Vec<_>> = if cases.len() >= context.pool.threads() {
            workers::map(&context.pool, cases.len(), |index| all(index, (1, &Serial))).into_iter().collect()
        } else {
            (0..cases.len()).map(|index| all(index, (context.pool.threads(), &context.pool))).collect()
        };
        outcomes.map_err(|error| Trouble::failed(error, None))
    }

    /// The method of a plan.
    pub(super) fn method(&self, Plan { rule, size }: Plan) -> Method {
        Method {
            simulations: size.simulations,
            keep: size.keep,
            proposal: Box::new(Gaussian { sd: self.setting.proposal_sd }),
            reduction: (rule.reduction)(),
            weighting: (rule.weighting)(),
            adjustment: None,
            stop: Box::new(AfterGenerations(size.generations)),
        }
    }

    fn run(
        &self,
        plan: Plan,
        case: &Case,
        seed: Seed,
        (executor, workers): (&mut FirstShared<&dyn Simulator>, &dyn Workers),
        tally: &Tally,
    ) -> anyhow::Result<Outcome> {
        let mut told = 0;
        let mut observe = |event: Event<'_>| {
            if let Event::Simulated { done, .. } = event {
                tally.more(done.saturating_sub(told));
                told = done;
            } else if let Event::Committed { .. } = event {
                tally.more(plan.size.simulations);
                told = 0;
            }
            ControlFlow::Continue(())
        };
        let problem = self.problem(case.data.observed.clone());
        let finished = infer_watched(problem, self.method(plan), seed, executor, workers, &mut observe)?;
        let last = finished.history.last().ok_or_else(|| anyhow!("no generation was made"))?;
        let mut outcome = self.judge(last, case, seed);
        outcome.simulating = finished.seconds.simulate + executor.spared();
        outcome.weighing = finished.seconds.total - finished.seconds.simulate;
        Ok(outcome)
    }

    fn judge(&self, last: &Generation, case: &Case, seed: Seed) -> Outcome {
        let (population, d) = (last.posterior(), self.prior.dimension());
        let weights = population.weights.normalised();
        let truth: Vec<f64> = self.setting.truth().into_iter().map(libm::log10).collect();
        let columns: Vec<Vec<f64>> =
            (0..d).map(|j| population.thetas.column(j).into_iter().map(libm::log10).collect()).collect();
        let found: Vec<(f64, f64)> = columns.iter().map(|column| moments(column, weights)).collect();
        let summaries = summarise(&self.prior, population);
        let apart = |values: &mut dyn Iterator<Item = f64>| {
            values.zip(&truth).map(|(value, truth)| (value - truth) * (value - truth)).sum::<f64>().sqrt()
        };
        let (mut w1, mut sd_ratio) = (vec![f64::NAN; d], vec![f64::NAN; d]);
        for (j, density) in case.exact.iter().flatten().enumerate() {
            let (draws, (_, sd)) = (density.quantiles(DRAWS), density.moments());
            let equal = vec![1.0 / DRAWS as f64; DRAWS];
            w1[j] = wasserstein((&columns[j], weights), (&draws, &equal)) / sd;
            sd_ratio[j] = found[j].1 / sd;
        }
        let mut rng = seed.stream(Stage::Reference, 0, 0);
        let units = case.data.truth.as_deref().unwrap_or_default();
        let inside = units
            .iter()
            .enumerate()
            .filter(|(j, truth)| covered(rank(population, *j, **truth, &mut rng), 0.9));
        Outcome {
            weights: last.mean_weights(),
            information: weighted_information(&self.prior, &population.units, weights),
            printed: self.printed(population, seed),
            mode_bias: apart(&mut summaries.iter().map(|summary| libm::log10(summary.mode))),
            mean_bias: apart(&mut found.iter().map(|(mean, _)| *mean)),
            biases: found.iter().zip(&truth).map(|((mean, _), truth)| (mean - truth).abs()).collect(),
            sds: found.iter().map(|(_, sd)| *sd).collect(),
            w1,
            sd_ratio,
            covered: inside.count() as f64 / d as f64,
            ess: population.effective_sample_size(),
            simulating: 0.0,
            weighing: 0.0,
            population: population.clone(),
        }
    }
}

impl Experiment {
    /// The paper's estimate of the squared Hellinger distance of a posterior from the prior.
    fn printed(&self, population: &Population, seed: Seed) -> f64 {
        let plan = divergence::Paper { neighbours: 5, order: 0.5, exponent: Exponent::Printed };
        let space = Space::new(&self.prior, &population.units, seed, population.len());
        let rows: Vec<u32> = (0..population.len() as u32).collect();
        plan.gauge(&space, &Importance::equal()).measure(&rows)
    }
}

/// How many a share keeps of so many.
pub(super) fn kept(share: f64, simulations: usize) -> usize {
    ((share * simulations as f64 + 1e-9).floor() as usize).max(20)
}
