//! `compare`: several methods on the same data, whose truth is known.

mod given;
mod judged;
mod page;
mod plot;

use anyhow::anyhow;
use counterpoise_core::divergence::weighted_information;
use counterpoise_core::judge::Exact;
use counterpoise_core::problem::{Prior, Problem, Simulator};
use counterpoise_core::stream::Seed;
use counterpoise_core::workers;
use counterpoise_run::pool::Pool;
use counterpoise_run::study::{Dataset, FirstShared, Truths, datasets};
use serde::Serialize;

use self::given::{Judge, Posteriors};
use self::judged::{Figure, Figures, Judged, Near, one, summed};
use super::{overrides, simulator};
use crate::args::CompareArguments;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::picture_file::PictureFile;
use crate::print::json;
use crate::print::number::significant;
use crate::print::tally::Tally;
use crate::problem_file::{Loaded, Method, Purpose, open, rule_names, rule_overrides, suggestion};
use crate::trouble::{DONE, Trouble};

/// Draws of an exact posterior from which its information is estimated, at the most.
const MOST_DRAWS: usize = 4_000;

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
pub(crate) fn compare(
    arguments: &CompareArguments,
    interrupt: &Interrupt,
    output: Output,
) -> Result<u8, Trouble> {
    let picture = PictureFile::of(arguments.plot.as_deref())?;
    let methods = methods(arguments)?;
    let loaded = open(&arguments.problem, &overrides(&arguments.problem), Purpose::Infer)?;
    let simulator = simulator(&loaded.material, "compare", "use a problem whose model can be simulated")?;
    let pool = arguments.schedule.pool();
    let (from, judge) = judge(arguments, &loaded, simulator, &pool)?;
    let (problem, method, seed) = (&loaded.problem, &loaded.method, loaded.method.seed);
    let count = judge.data.len();
    let tally = Tally::new(output, "runs", count * methods.len());
    let judged = workers::map(&pool, count, |index| {
        // The same simulations for every method, and others for every dataset.
        let mut executor = FirstShared::new(simulator, 1);
        let run = |(rule, method): &(String, Method)| {
            let problem = Problem { observed: judge.data[index].observed.clone(), ..problem.clone() };
            let seed = Seed(seed.wrapping_add(1 + index as u64));
            let figures = one(problem, method, seed, (&judge, index), &mut executor, interrupt);
            tally.done();
            figures.map_err(|error| Trouble::of_run(&error, &format!("dataset {}, rule {rule}", index + 1)))
        };
        methods.iter().map(run).collect::<Result<Vec<Figures>, Trouble>>()
    });
    let judged = judged.into_iter().collect::<Result<Vec<_>, Trouble>>()?;
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
    let (low, high) = (significant(low, 9), significant(high, 9));
    Some(anyhow!("the truth {} = {value} lies outside the prior, [{low}, {high}]", marginal.name()))
}
