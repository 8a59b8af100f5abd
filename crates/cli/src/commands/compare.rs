//! `compare`: several methods on the same data, whose truth is known.

use std::time::Instant;

use anyhow::anyhow;
use counterpoise_core::judge::{covered, mean_and_error, rank};
use counterpoise_core::problem::Problem;
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::summary::{moments, summarise};
use counterpoise_core::workers;
use counterpoise_run::study::{Dataset, FirstShared, Truths, datasets, infer};
use serde::Serialize;

use super::{overrides, simulator};
use crate::args::CompareArguments;
use crate::output::Output;
use crate::print::json;
use crate::print::number::significant;
use crate::print::table::{Align, lines};
use crate::print::tally::Tally;
use crate::problem_file::{Loaded, Method, Purpose, open, rule_names, rule_overrides, suggestion};
use crate::trouble::{DONE, Trouble};

/// What one method made of one dataset.
struct Figures {
    /// Difference of the posterior mean, and of the mode, from the truth, mean over parameters, in prior standard deviations.
    mean_bias: f64,
    mode_bias: f64,
    /// Share of the parameters whose central 90 % interval has the truth.
    covered: f64,
    information: f64,
    ess: f64,
    seconds: f64,
}

/// A figure over all datasets.
#[derive(Clone, Copy, Debug, Serialize)]
struct Figure {
    mean: f64,
    error: f64,
}

/// What one method made of all datasets.
#[derive(Debug, Serialize)]
struct Judged {
    rule: String,
    mean_bias: Figure,
    mode_bias: Figure,
    coverage_90: Figure,
    held_out: Figure,
    ess: Figure,
    seconds: Figure,
}

/// The whole comparison.
#[derive(Debug, Serialize)]
struct Comparison {
    problem: String,
    datasets: usize,
    truth: &'static str,
    simulations: usize,
    keep: usize,
    generations: usize,
    seed: u64,
    rules: Vec<Judged>,
}

/// Compares methods on a problem.
pub(crate) fn compare(arguments: &CompareArguments, output: Output) -> Result<u8, Trouble> {
    let methods = methods(arguments)?;
    let loaded = open(&arguments.problem, &overrides(&arguments.problem), Purpose::Infer)?;
    let Loaded { name, problem, material, method, truth, .. } = loaded;
    let simulator = simulator(&material, "compare")?;
    let pool = arguments.schedule.pool();
    let truth = truth.filter(|_| !arguments.prior);
    if let Some(outside) = truth.as_ref().and_then(|truth| outside(&problem, truth)) {
        return Err(Trouble::input(outside, "give a truth within it, or use --prior".to_owned()));
    }
    let truths = truth.as_ref().map_or(Truths::Prior, |truth| Truths::At(truth));
    let (count, seed) = (arguments.datasets as usize, method.seed);
    let data = datasets(&problem.prior, simulator, (&truths, count), Seed(seed), &pool)
        .map_err(|error| Trouble::failed(error, None))?;
    let tally = Tally::new(output, "runs", count * methods.len());
    let judged = workers::map(&pool, count, |index| {
        // The same simulations for every method, and others for every dataset.
        let mut executor = FirstShared::new(simulator);
        let judge = |(rule, method): &(String, Method)| {
            let problem = Problem { observed: data[index].observed.clone(), ..problem.clone() };
            let seed = Seed(seed.wrapping_add(1 + index as u64));
            let figures = one(problem, method, seed, &data[index], &mut executor);
            tally.done();
            figures.map_err(|error| anyhow!("dataset {}, rule {rule}: {error:#}", index + 1))
        };
        methods.iter().map(judge).collect::<anyhow::Result<Vec<Figures>>>()
    });
    let judged = judged.into_iter().collect::<anyhow::Result<Vec<_>>>();
    let judged = judged.map_err(|error| Trouble::failed(error, None))?;
    let comparison = Comparison {
        problem: name,
        datasets: count,
        truth: if truth.is_some() { "given" } else { "prior" },
        simulations: method.simulations,
        keep: method.keep,
        generations: method.generations,
        seed,
        rules: (0..methods.len())
            .map(|at| summed(&methods[at].0, judged.iter().map(|row| &row[at])))
            .collect(),
    };
    output.result(&if arguments.json { json::object(&comparison)? } else { page(&comparison) })?;
    Ok(DONE)
}

/// The method of each rule, with the rule as it was written.
fn methods(arguments: &CompareArguments) -> Result<Vec<(String, Method)>, Trouble> {
    let method = |rule: &String| {
        let given = rule_overrides(rule).map_err(|part| {
            let hint = suggestion(&part, "names", rule_names());
            Trouble::input(anyhow!("--rules {rule}: `{part}` is no part of a rule"), hint)
        })?;
        let all = [overrides(&arguments.problem), given].concat();
        Ok((rule.clone(), open(&arguments.problem, &all, Purpose::Infer)?.method))
    };
    arguments.rules.iter().map(method).collect()
}

/// Why a truth cannot be found by any posterior, if it cannot.
fn outside(problem: &Problem, truth: &[f64]) -> Option<anyhow::Error> {
    let (marginal, value) = problem.prior.marginals().iter().zip(truth).find(|(marginal, value)| {
        let (low, high) = marginal.support();
        !(low..=high).contains(value)
    })?;
    let (low, high) = marginal.support();
    Some(anyhow!("the truth {} = {value} lies outside the prior, [{low}, {high}]", marginal.name()))
}

fn one(
    problem: Problem,
    method: &Method,
    seed: Seed,
    dataset: &Dataset,
    executor: &mut FirstShared<&dyn counterpoise_core::problem::Simulator>,
) -> anyhow::Result<Figures> {
    let (prior, start) = (problem.prior.clone(), Instant::now());
    let history = infer(problem, method.build(), seed, executor)?;
    let seconds = start.elapsed().as_secs_f64();
    let last = history.last().ok_or_else(|| anyhow!("no generation was made"))?;
    let (population, d) = (last.posterior(), prior.dimension());
    let truth = dataset.truth.as_ref().ok_or_else(|| anyhow!("the truth is not known"))?;
    let (mut mean_bias, mut mode_bias, mut inside) = (0.0, 0.0, 0.0);
    let summaries = summarise(&prior, population);
    let mut rng = seed.stream(Stage::Reference, 0, 0);
    for (j, (marginal, summary)) in prior.marginals().iter().zip(&summaries).enumerate() {
        let (mean, _) = moments(&population.units.column(j), population.weights.normalised());
        mean_bias += (mean - truth[j]).abs() / d as f64;
        mode_bias += (marginal.unit(summary.mode) - truth[j]).abs() / d as f64;
        let rank = rank(population, j, truth[j], &mut rng);
        inside += f64::from(u8::from(covered(rank, 0.9))) / d as f64;
    }
    let ess = population.weights.effective_sample_size();
    let information = last.information.held_out;
    Ok(Figures { mean_bias, mode_bias, covered: inside, information, ess, seconds })
}

fn summed<'a>(rule: &str, figures: impl Iterator<Item = &'a Figures> + Clone) -> Judged {
    let figure = |value: fn(&Figures) -> f64| {
        let (mean, error) = mean_and_error(&figures.clone().map(value).collect::<Vec<f64>>());
        Figure { mean, error }
    };
    Judged {
        rule: rule.to_owned(),
        mean_bias: figure(|f| f.mean_bias),
        mode_bias: figure(|f| f.mode_bias),
        coverage_90: figure(|f| f.covered),
        held_out: figure(|f| f.information),
        ess: figure(|f| f.ess),
        seconds: figure(|f| f.seconds),
    }
}

fn page(comparison: &Comparison) -> String {
    let Comparison { problem, datasets, truth, simulations, keep, generations, .. } = comparison;
    let from = if *truth == "given" { "made at the given truth" } else { "with truths from the prior" };
    let mut text = format!(
        "{problem}: {datasets} datasets {from}, {generations} x {simulations} simulations, {keep} kept\n\n"
    );
    let header = ["rule", "bias of mean", "bias of mode", "90 % covers", "held-out", "ess", "seconds"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for judged in &comparison.rules {
        let cell =
            |figure: Figure| format!("{} ± {}", significant(figure.mean, 3), significant(figure.error, 1));
        let Judged { mean_bias, mode_bias, coverage_90, held_out, ess, seconds, .. } = judged;
        let figures = [mean_bias, mode_bias, coverage_90, held_out, ess, seconds];
        rows.push(
            [vec![judged.rule.clone()], figures.into_iter().map(|figure| cell(*figure)).collect()].concat(),
        );
    }
    let mut align = vec![Align::Right; header.len()];
    align[0] = Align::Left;
    text.push_str(&lines(&rows, &align));
    text.push_str("\nEach figure with its standard error over the datasets. Bias: distance from the truth in prior standard deviations,\nmean over parameters. Held-out: information about the parameters on simulations that the weights have not seen (features of a reduction have).\n");
    text
}
