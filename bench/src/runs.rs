//! One run of a builtin problem in memory, and the weighting rules by name.

use std::ops::ControlFlow;

use anyhow::{Context, bail};
use counterpoise_core::adjust::{Adjustment, Judged, Regression};
use counterpoise_core::digest::{Analysis, Generation, Method};
use counterpoise_core::divergence::Entropy;
use counterpoise_core::problem::Problem;
use counterpoise_core::propose::{Adaptive, Covariance, Gaussian, Local, Proposal};
use counterpoise_core::reduce::{
    ApproximateSufficiency, Bandit, Beside, Identity, Learned, LeastEntropy, LikelihoodRatio, Reduction,
    SemiAutomatic, TwoStage,
};
use counterpoise_core::search::{CmaEs, Coordinate, NelderMead, Random, SparseMutation, Zeros};
use counterpoise_core::stop::AfterGenerations;
use counterpoise_core::stream::Seed;
use counterpoise_core::weigh::{
    Auto, ByFormula, Deviation, Genetic, Hellinger, Informed, Median, Paper, Uniform, Weighting,
};
use counterpoise_core::workers::Serial;
use counterpoise_run::drive;
use counterpoise_run::executor::Threads;
use counterpoise_run::store::{Header, Memory};

use crate::tasks::{Task, task};

/// Size of a run.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Size {
    /// Simulations a generation.
    #[arg(long, default_value_t = 5000)]
    pub simulations: usize,
    /// Particles kept.
    #[arg(long, default_value_t = 250)]
    pub keep: usize,
    /// Generations.
    #[arg(long, default_value_t = 5)]
    pub generations: usize,
}

/// What a run is made with.
pub struct Plans {
    pub weighting: Box<dyn Weighting>,
    pub reduction: Box<dyn Reduction>,
    pub adjustment: Option<Box<dyn Adjustment>>,
    pub proposal: Box<dyn Proposal>,
}

/// Plans by name: a weighting rule, and after `+` reductions and adjustments, as in `uniform+semi-automatic+linear`.
pub fn plans(text: &str, kernel: &str) -> anyhow::Result<Plans> {
    if text == "auto" {
        return plans("auto+learned+raw+judged", "adaptive");
    }
    let mut parts = text.split('+');
    let mut plans = Plans {
        weighting: rule(parts.next().unwrap_or(text))?,
        reduction: Box::new(Identity),
        adjustment: None,
        proposal: proposal(kernel)?,
    };
    for part in parts {
        let regression = |ridge, heteroscedastic| -> Option<Box<dyn Adjustment>> {
            Some(Box::new(Regression { ridge, heteroscedastic, ..Regression::default() }))
        };
        match part {
            "semi-automatic" => plans.reduction = Box::new(SemiAutomatic::default()),
            "raw" => plans.reduction = Box::new(Beside(plans.reduction)),
            "sufficiency" => plans.reduction = Box::new(ApproximateSufficiency::default()),
            "likelihood-ratio" => plans.reduction = Box::new(LikelihoodRatio::default()),
            "entropy" => plans.reduction = Box::new(LeastEntropy::default()),
            "two-stage" => plans.reduction = Box::new(TwoStage::default()),
            "bandit" => plans.reduction = Box::new(Bandit::default()),
            "learned" => plans.reduction = Box::new(Learned::default()),
            "judged" => plans.adjustment = Some(Box::new(Judged)),
            "linear" => plans.adjustment = regression(false, false),
            "ridge" => plans.adjustment = regression(true, false),
            "heteroscedastic" => plans.adjustment = regression(true, true),
            other => bail!("unknown reduction or adjustment `{other}`"),
        }
    }
    Ok(plans)
}

/// A weighting rule by its name in problem files; `hellinger:key=value:...` changes an option.
pub fn rule(text: &str) -> anyhow::Result<Box<dyn Weighting>> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    Ok(match name {
        "uniform" => Box::new(ByFormula(Box::new(Uniform))),
        "sd" => Box::new(ByFormula(Box::new(Deviation))),
        "mad" => Box::new(ByFormula(Box::new(Median::default()))),
        "informed" => Box::new(ByFormula(Box::new(Informed::default()))),
        "hellinger" => Box::new(hellinger(options)?),
        "auto" => Box::new(Auto::default()),
        "genetic" => Box::new(Genetic::default()),
        "paper" => Box::new(Paper::default()),
        other => bail!("unknown rule `{other}`"),
    })
}

fn hellinger(options: &str) -> anyhow::Result<Hellinger> {
    let mut rule = Hellinger::default();
    for option in options.split(':').filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once('=').context("an option is key=value")?;
        match key {
            "cross_fit" => rule.cross_fit = value.parse()?,
            "warm" => rule.warm = value.parse()?,
            "penalty" => rule.penalty = value.parse()?,
            "evaluations" => rule.evaluations = value.parse()?,
            "neighbours" => {
                rule.divergence = Box::new(Entropy { neighbours: value.parse()?, ..Entropy::default() });
            }
            "search" => {
                rule.search = match value {
                    "sparse" => Box::new(SparseMutation::default()),
                    "zeros" => Box::new(Zeros::default()),
                    "cma-es" => Box::new(CmaEs::default()),
                    "random" => Box::new(Random),
                    "nelder-mead" => Box::new(NelderMead::default()),
                    "coordinate" => Box::new(Coordinate::default()),
                    other => bail!("unknown search `{other}`"),
                }
            }
            other => bail!("unknown option `{other}`"),
        }
    }
    Ok(rule)
}

/// A kernel by its name in problem files.
pub fn proposal(name: &str) -> anyhow::Result<Box<dyn Proposal>> {
    Ok(match name {
        "covariance" => Box::new(Covariance),
        "gaussian" => Box::new(Gaussian { sd: 0.25 }),
        "adaptive" => Box::new(Adaptive),
        "local" => Box::new(Local::default()),
        other => bail!("unknown proposal `{other}`"),
    })
}

/// The analysis of `observed` under a builtin model.
pub fn analysis(
    model: &str,
    observed: Vec<f64>,
    size: Size,
    plans: Plans,
    seed: u64,
) -> anyhow::Result<Analysis> {
    let Task { prior, statistics, .. } = task(model)?;
    Ok(analysis_of(Problem { prior: prior.into(), statistics, observed }, size, plans, seed))
}

fn analysis_of(problem: Problem, size: Size, plans: Plans, seed: u64) -> Analysis {
    Analysis {
        problem,
        method: Method {
            simulations: size.simulations,
            keep: size.keep,
            proposal: plans.proposal,
            reduction: plans.reduction,
            weighting: plans.weighting,
            adjustment: plans.adjustment,
            stop: Box::new(AfterGenerations(size.generations)),
        },
        seed: Seed(seed),
    }
}

/// Runs a builtin model on `observed` and gives the generations.
pub fn infer(
    model: &str,
    observed: Vec<f64>,
    size: Size,
    plans: Plans,
    seed: u64,
) -> anyhow::Result<Vec<Generation>> {
    infer_task(task(model)?, observed, size, plans, seed).with_context(|| format!("running {model}"))
}

/// Runs any task on `observed` and gives the generations.
pub fn infer_task(
    task: Task,
    observed: Vec<f64>,
    size: Size,
    plans: Plans,
    seed: u64,
) -> anyhow::Result<Vec<Generation>> {
    let Task { prior, parameters, statistics, simulator } = task;
    let analysis = analysis_of(Problem { prior: prior.into(), statistics, observed }, size, plans, seed);
    let mut executor = Threads::new(simulator, 1, None);
    let header = Header {
        description: serde_json::Value::Null,
        parameters,
        statistics: Vec::new(),
        units: Vec::new(),
    };
    let mut store = Memory::forgetful();
    let mut quiet = |_: drive::Event<'_>| ControlFlow::Continue(());
    let finished = drive::run((&analysis, &header), &mut executor, &mut store, &Serial, &mut quiet)?;
    Ok(finished.history)
}
