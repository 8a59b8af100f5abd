//! `compare`: several methods on the same data, whose truth is known.

mod given;
mod page;
mod plot;

use std::time::Instant;

use anyhow::anyhow;
use counterpoise_core::divergence::weighted_information;
use counterpoise_core::judge::{Exact, covered, mean_and_error, rank};
use counterpoise_core::population::Population;
use counterpoise_core::problem::law::Scale;
use counterpoise_core::problem::{Marginal, Prior, Problem, Simulator};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::summary::{moments, summarise};
use counterpoise_core::workers;
use counterpoise_run::pool::Pool;
use counterpoise_run::study::{Dataset, FirstShared, Truths, datasets, infer};
use serde::Serialize;

use self::given::{Judge, Posteriors};
use super::{overrides, simulator};
use crate::args::CompareArguments;
use crate::output::Output;
use crate::picture_file::PictureFile;
use crate::print::json;
use crate::print::tally::Tally;
use crate::problem_file::{Loaded, Method, Purpose, load, rule_names, rule_overrides, suggestion};
use crate::trouble::{DONE, Trouble};

/// Draws of an exact posterior from which its information is estimated, at the most.
const MOST_DRAWS: usize = 4_000;

/// What one method made of one dataset; not a number where nothing is known to judge it by.
struct Figures {
    /// Difference of the posterior mean, and of the mode, from the truth, mean over parameters, in prior standard deviations.
    mean_bias: f64,
    mode_bias: f64,
    /// Share of the parameters whose central 90 % interval has the truth.
    covered: f64,
    information: f64,
    ess: f64,
    seconds: f64,
    distances: Option<Distances>,
}

/// How far the posterior of a method is from the exact one.
struct Distances {
    /// First Wasserstein distance of each parameter, and in units of the exact standard deviation.
    raw: Vec<f64>,
    scaled: Vec<f64>,
    /// Standard deviation over that of the exact posterior, mean over parameters.
    sd: f64,
    /// Energy distance in unit space.
    energy: f64,
}

/// A figure over all datasets.
#[derive(Clone, Copy, Debug, Serialize)]
struct Figure {
    mean: f64,
    error: f64,
}

impl Figure {
    fn of(values: &[f64]) -> Self {
        let (mean, error) = mean_and_error(values);
        Self { mean, error }
    }
}

/// What one method made of all datasets.
#[derive(Debug, Serialize)]
struct Judged {
    rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_bias: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode_bias: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage_90: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<Near>,
    held_out: Figure,
    ess: Figure,
    seconds: Figure,
}

/// How near one method comes to the exact posteriors.
#[derive(Debug, Serialize)]
struct Near {
    /// W1 in units of the exact standard deviation, mean over parameters; and of each dataset.
    w1_in_sd: Figure,
    w1_of_datasets: Vec<f64>,
    /// W1 of each parameter, on the scale given, and in units of the exact standard deviation.
    parameters: Vec<NearParameter>,
    sd_ratio: Figure,
    energy: Figure,
    /// Datasets on which no other rule has a smaller W1.
    nearest_on: usize,
}

#[derive(Debug, Serialize)]
struct NearParameter {
    name: String,
    scale: &'static str,
    w1: Figure,
    w1_in_sd: Figure,
}

/// Where the data come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum From {
    /// Made at draws from the prior.
    Prior,
    /// Made at the truth of the problem file.
    Given,
    /// The problem's own, again and again.
    Own,
    /// Of a file.
    File,
}

/// The whole comparison.
#[derive(Debug, Serialize)]
struct Comparison {
    problem: String,
    datasets: usize,
    truth: From,
    simulations: usize,
    keep: usize,
    generations: usize,
    seed: u64,
    /// Information in the exact posteriors, the ceiling of what a right posterior has.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact_information: Option<Figure>,
    rules: Vec<Judged>,
}

/// Compares methods on a problem.
pub(crate) fn compare(arguments: &CompareArguments, output: Output) -> Result<u8, Trouble> {
    let picture = PictureFile::of(arguments.plot.as_deref())?;
    let methods = methods(arguments)?;
    let loaded = load(&arguments.problem.problem, &overrides(&arguments.problem), Purpose::Infer)?;
    let simulator = simulator(&loaded.material, "compare", "use a problem whose model can be simulated")?;
    let pool = arguments.schedule.pool();
    let (from, judge) = judge(arguments, &loaded, simulator, &pool)?;
    let (problem, method, seed) = (&loaded.problem, &loaded.method, loaded.method.seed);
    let count = judge.data.len();
    let tally = Tally::new(output, "runs", count * methods.len());
    let judged = workers::map(&pool, count, |index| {
        // The same simulations for every method, and others for every dataset.
        let mut executor = FirstShared::new(simulator);
        let one = |(rule, method): &(String, Method)| {
            let problem = Problem { observed: judge.data[index].observed.clone(), ..problem.clone() };
            let seed = Seed(seed.wrapping_add(1 + index as u64));
            let figures = one(problem, method, seed, (&judge, index), &mut executor);
            tally.done();
            figures.map_err(|error| anyhow!("dataset {}, rule {rule}: {error:#}", index + 1))
        };
        methods.iter().map(one).collect::<anyhow::Result<Vec<Figures>>>()
    });
    let judged = judged.into_iter().collect::<anyhow::Result<Vec<_>>>();
    let judged = judged.map_err(|error| Trouble::failed(error, None))?;
    let known: Vec<f64> = judge.posteriors().iter().map(|exact| information(&problem.prior, exact)).collect();
    let comparison = Comparison {
        problem: loaded.name.clone(),
        datasets: count,
        truth: from,
        simulations: method.simulations,
        keep: method.keep,
        generations: method.generations,
        seed,
        exact_information: (!known.is_empty()).then(|| Figure::of(&known)),
        rules: summed(&methods, &judged, &problem.prior),
    };
    if let Some(file) = &picture {
        file.write(&plot::figure(&comparison))?;
    }
    output.result(&if arguments.json { json::object(&comparison)? } else { page::page(&comparison) })?;
    Ok(DONE)
}

/// The data, and what they are judged by.
fn judge(
    arguments: &CompareArguments,
    loaded: &Loaded,
    simulator: &dyn Simulator,
    pool: &Pool,
) -> Result<(From, Judge), Trouble> {
    let (problem, prior) = (&loaded.problem, &loaded.problem.prior);
    let exact = arguments.exact.as_deref().map(|path| Ok::<_, Trouble>((path, given::exact(path, prior)?)));
    let exact = exact.transpose()?;
    if let Some(path) = &arguments.observed {
        let observed = given::observed(path, problem)?;
        let truths = arguments.truths.as_deref().map(|path| given::truths(path, prior)).transpose()?;
        return Ok((From::File, Judge::of_given(observed, truths, exact)?));
    }
    let (truth, count) = (loaded.truth.as_ref().filter(|_| !arguments.prior), arguments.datasets as usize);
    if let Some(outside) = truth.and_then(|truth| outside(problem, truth)) {
        return Err(Trouble::input(outside, "give a truth within it, or use --prior".to_owned()));
    }
    if let Some((path, exact)) = exact {
        let exact = match exact {
            Posteriors::One(exact) => exact,
            Posteriors::Many(mut many) if many.len() == 1 => many
                .pop_first()
                .map(|(_, exact)| exact)
                .ok_or_else(|| Trouble::failed(anyhow!("none"), None))?,
            Posteriors::Many(many) => {
                let message = anyhow!("{} has posteriors of {} datasets", path.display(), many.len());
                return Err(Trouble::input(message, "give the data with --observed".to_owned()));
            }
        };
        let unit = |truth: &Vec<f64>| -> Vec<f64> {
            prior.marginals().iter().zip(truth).map(|(marginal, &value)| marginal.unit(value)).collect()
        };
        let own = Dataset { truth: truth.map(unit), observed: problem.observed.clone() };
        return Ok((From::Own, Judge::of_one(vec![own; count], exact)));
    }
    let from = if truth.is_some() { From::Given } else { From::Prior };
    let truths = truth.map_or(Truths::Prior, |truth| Truths::At(truth));
    let data = datasets(prior, simulator, (&truths, count), Seed(loaded.method.seed), pool);
    Ok((from, Judge::by_truth(data.map_err(|error| Trouble::failed(error, None))?)))
}

/// The information in an exact posterior, by the estimator of the reports, draws with weights counted as they are.
fn information(prior: &Prior, exact: &Exact) -> f64 {
    let step = exact.units().rows().div_ceil(MOST_DRAWS).max(1);
    let rows: Vec<u32> = (0..exact.units().rows() as u32).step_by(step).collect();
    let units = exact.units().select(&rows);
    let weights: Vec<f64> = rows.iter().map(|&row| exact.weights()[row as usize]).collect();
    weighted_information(prior, &units, &weights)
}

/// The method of each rule, with the rule as it was written.
fn methods(arguments: &CompareArguments) -> Result<Vec<(String, Method)>, Trouble> {
    let method = |rule: &String| {
        let given = rule_overrides(rule).map_err(|part| {
            let hint = suggestion(&part, "names", rule_names());
            Trouble::input(anyhow!("--rules {rule}: `{part}` is no part of a rule"), hint)
        })?;
        let all = [overrides(&arguments.problem), given].concat();
        Ok((rule.clone(), load(&arguments.problem.problem, &all, Purpose::Infer)?.method))
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
    (judge, index): (&Judge, usize),
    executor: &mut FirstShared<&dyn Simulator>,
) -> anyhow::Result<Figures> {
    let (prior, start) = (problem.prior.clone(), Instant::now());
    let history = infer(problem, method.build(), seed, executor)?;
    let seconds = start.elapsed().as_secs_f64();
    let last = history.last().ok_or_else(|| anyhow!("no generation was made"))?;
    let (population, d) = (last.posterior(), prior.dimension());
    let (mut mean_bias, mut mode_bias, mut inside) = (f64::NAN, f64::NAN, f64::NAN);
    if let Some(truth) = &judge.data[index].truth {
        (mean_bias, mode_bias, inside) = (0.0, 0.0, 0.0);
        let summaries = summarise(&prior, population);
        let mut rng = seed.stream(Stage::Reference, 0, 0);
        for (j, (marginal, summary)) in prior.marginals().iter().zip(&summaries).enumerate() {
            let (mean, _) = moments(&population.units.column(j), population.weights.normalised());
            mean_bias += (mean - truth[j]).abs() / d as f64;
            mode_bias += (marginal.unit(summary.mode) - truth[j]).abs() / d as f64;
            let rank = rank(population, j, truth[j], &mut rng);
            inside += f64::from(u8::from(covered(rank, 0.9))) / d as f64;
        }
    }
    let distances = judge.exact(index).map(|exact| distances(&prior, population, exact));
    let ess = population.weights.effective_sample_size();
    let information = last.information.held_out;
    Ok(Figures { mean_bias, mode_bias, covered: inside, information, ess, seconds, distances })
}

fn distances(prior: &Prior, population: &Population, exact: &Exact) -> Distances {
    let d = prior.dimension();
    let units: Vec<f64> = (0..d).map(|j| exact.wasserstein(population, j)).collect();
    let sd = |j: usize| moments(&population.units.column(j), population.weights.normalised()).1 / exact.sd(j);
    Distances {
        raw: prior.marginals().iter().zip(&units).map(|(marginal, unit)| unit * scale(marginal).1).collect(),
        scaled: units.iter().enumerate().map(|(j, unit)| unit / exact.sd(j)).collect(),
        sd: (0..d).map(sd).sum::<f64>() / d as f64,
        energy: exact.energy(population),
    }
}

/// The scale on which distances of a parameter are given, and the length of one of unit space on it.
fn scale(marginal: &Marginal) -> (&'static str, f64) {
    let latent = 1.0 / marginal.unit_of_latent();
    match marginal.scale() {
        Scale::Log => ("log10", latent / std::f64::consts::LN_10),
        Scale::Linear | Scale::Whole => ("natural", latent),
    }
}

fn summed(methods: &[(String, Method)], judged: &[Vec<Figures>], prior: &Prior) -> Vec<Judged> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let w1 = |figures: &Figures| figures.distances.as_ref().map_or(f64::NAN, |known| mean(&known.scaled));
    let least: Vec<f64> = judged.iter().map(|row| row.iter().map(w1).fold(f64::INFINITY, f64::min)).collect();
    let rule = |at: usize| {
        let figures = || judged.iter().map(move |row| &row[at]);
        let figure =
            |value: &dyn Fn(&Figures) -> f64| Figure::of(&figures().map(value).collect::<Vec<f64>>());
        let known = |value: fn(&Figures) -> f64| Some(figure(&value)).filter(|figure| !figure.mean.is_nan());
        let known_distances: Option<Vec<&Distances>> =
            figures().map(|figures| figures.distances.as_ref()).collect();
        let near = known_distances.map(|distances| {
            let over = |value: &dyn Fn(&Distances) -> f64| {
                Figure::of(&distances.iter().map(|one| value(one)).collect::<Vec<f64>>())
            };
            let parameter = |(j, marginal): (usize, &Marginal)| NearParameter {
                name: marginal.name().to_owned(),
                scale: scale(marginal).0,
                w1: over(&|one| one.raw[j]),
                w1_in_sd: over(&|one| one.scaled[j]),
            };
            Near {
                w1_in_sd: figure(&w1),
                w1_of_datasets: figures().map(w1).collect(),
                parameters: prior.marginals().iter().enumerate().map(parameter).collect(),
                sd_ratio: over(&|one| one.sd),
                energy: over(&|one| one.energy),
                nearest_on: figures().zip(&least).filter(|(figures, least)| w1(figures) <= **least).count(),
            }
        });
        Judged {
            rule: methods[at].0.clone(),
            mean_bias: known(|f| f.mean_bias),
            mode_bias: known(|f| f.mode_bias),
            coverage_90: known(|f| f.covered),
            exact: near,
            held_out: figure(&|f| f.information),
            ess: figure(&|f| f.ess),
            seconds: figure(&|f| f.seconds),
        }
    };
    (0..methods.len()).map(rule).collect()
}
