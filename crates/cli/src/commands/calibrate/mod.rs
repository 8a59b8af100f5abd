//! `calibrate`: whether intervals cover the truth as often as they say.

mod page;
mod plot;
mod reuse;
mod verdict;

use anyhow::anyhow;
use counterpoise_core::digest::Generation;
use counterpoise_core::judge::{covered, mean_and_error, rank};
use counterpoise_core::problem::{Problem, Simulator};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::workers;
use counterpoise_run::executor::Threads;
use counterpoise_run::pool::Pool;
use counterpoise_run::study::{Dataset, Truths, datasets, infer, infer_watched};
use serde::Serialize;

use self::verdict::{Calibrated, verdict};
use super::{overrides, simulator, watched};
use crate::args::CalibrateArguments;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::picture_file::PictureFile;
use crate::print::json;
use crate::print::tally::Tally;
use crate::problem_file::{Loaded, Method, Purpose, open};
use crate::trouble::{DONE, Trouble};

/// Probabilities of the intervals that are looked at.
const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];
/// The one that the verdict is about.
const JUDGED: usize = 2;
/// Bins of the ranks, and those of the curve of expected coverage.
const BINS: usize = 10;
const CURVE: usize = 20;

#[derive(Debug, Serialize)]
struct Calibration {
    problem: String,
    datasets: usize,
    truths: From,
    simulations: usize,
    keep: usize,
    generations: usize,
    seed: u64,
    coverage: Vec<Coverage>,
    parameters: Vec<Parameter>,
    /// How often intervals of 5, 10, ... 100 % have the truth.
    curve: Vec<f64>,
    verdict: String,
    /// What the figures do not say, where truths come from elsewhere than the prior or data from elsewhere than new simulations.
    caveat: Option<&'static str>,
}

/// Where truths and data come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum From {
    /// Truths from the prior, data simulated.
    Prior,
    /// Truths from the posterior of the observation, data simulated.
    Posterior,
    /// Both are simulations that the method infers from, each left out in turn.
    Reused,
    /// The same, of those simulations that were accepted for the observation.
    Accepted,
}

impl From {
    fn caveat(self) -> Option<&'static str> {
        match self {
            Self::Prior => None,
            Self::Posterior => Some(
                "Truths come from the posterior of the observation: this is coverage near the observation. It is 90 % for a right \
                 method on average over the prior, and may be somewhat more or less in any one place, so that ranks need not be \
                 even here although all is well.",
            ),
            Self::Reused => Some(
                "Data are simulations of the first generation, whose truths are draws from the prior; each is left out when it is \
                 the data. One generation is judged.",
            ),
            Self::Accepted => Some(
                "Data are the simulations that were accepted for the observation, each left out when it is the data: this is \
                 coverage near the observation, of one generation, and ranks are even if all is well there.",
            ),
        }
    }
}

/// How often the intervals of a probability have the truth, mean over parameters.
#[derive(Debug, Serialize)]
struct Coverage {
    level: f64,
    covered: f64,
    error: f64,
}

#[derive(Debug, Serialize)]
struct Parameter {
    name: String,
    /// At each level.
    covered: Vec<f64>,
    /// How often intervals of 5, 10, ... 100 % have the truth.
    curve: Vec<f64>,
    /// Datasets in each tenth of the ranks of the truth, and the least and most that chance would put into one of them in 95 of 100
    /// calibrations.
    ranks: Vec<usize>,
    band: (usize, usize),
}

/// Calibrates the whole method of a problem, weight search included.
pub(crate) fn calibrate(
    arguments: &CalibrateArguments,
    interrupt: &Interrupt,
    output: Output,
) -> Result<u8, Trouble> {
    let picture = PictureFile::of(arguments.plot.as_deref())?;
    let loaded = open(&arguments.problem, &overrides(&arguments.problem), Purpose::Infer)?;
    let pool = arguments.schedule.pool();
    let (name, names) = (loaded.name.clone(), loaded.problem.prior.names());
    let (from, method, ranks) = match &arguments.reuse {
        Some(directory) => reuse::ranks(arguments, directory.as_deref(), loaded, &pool, (interrupt, output))?,
        None => {
            let simulator = simulator(&loaded.material, "calibrate", "--reuse takes its rows as data")?;
            let (from, ranks) = simulated(arguments, &loaded, simulator, &pool, (interrupt, output))?;
            (from, loaded.method, ranks)
        }
    };
    let coverage: Vec<Coverage> = LEVELS.iter().map(|&level| cover(&ranks, level)).collect();
    let calibrated = Calibrated {
        from,
        method: &method.describe(),
        keep: method.keep,
        datasets: ranks.len(),
        parameters: names.len(),
    };
    let calibration = Calibration {
        problem: name,
        datasets: ranks.len(),
        truths: from,
        simulations: method.simulations,
        keep: method.keep,
        generations: method.generations,
        seed: method.seed,
        parameters: names.into_iter().enumerate().map(|(j, name)| parameter(name, &ranks, j)).collect(),
        curve: probabilities().map(|level| cover(&ranks, level).covered).collect(),
        verdict: verdict(&coverage, &calibrated),
        caveat: from.caveat(),
        coverage,
    };
    if let Some(file) = &picture {
        file.write(&plot::figure(&calibration))?;
    }
    output.result(&if arguments.json { json::object(&calibration)? } else { page::page(&calibration) })?;
    Ok(DONE)
}

/// Ranks of truths whose data are simulated, each in a run of its own.
fn simulated(
    arguments: &CalibrateArguments,
    loaded: &Loaded,
    simulator: &dyn Simulator,
    pool: &Pool,
    (interrupt, output): (&Interrupt, Output),
) -> Result<(From, Vec<Vec<f64>>), Trouble> {
    let Loaded { problem, method, .. } = loaded;
    let (count, seed) = (arguments.datasets as usize, Seed(method.seed));
    let posterior = arguments.around.then(|| first(loaded, simulator, pool, output)).transpose()?;
    let truths = posterior.as_ref().map_or(Truths::Prior, |last| Truths::Among(last.posterior()));
    let data = datasets(&problem.prior, simulator, (&truths, count), seed, pool)
        .map_err(|error| Trouble::failed(error, None))?;
    let ranks = each(count, pool, (interrupt, output), |index| {
        let seed = Seed(method.seed.wrapping_add(1 + index as u64));
        let problem = Problem { observed: data[index].observed.clone(), ..problem.clone() };
        let mut executor = Threads::new(simulator, 1, None);
        let mut history = infer(problem, method.build(), seed, &mut executor, &mut interrupt.watch())?;
        let last = history.pop().ok_or_else(|| anyhow!("no generation was made"))?;
        Ok(ranks(&last, &data[index], seed))
    })?;
    Ok((if arguments.around { From::Posterior } else { From::Prior }, ranks))
}

/// The last generation of a run on the observation itself.
fn first(
    loaded: &Loaded,
    simulator: &dyn Simulator,
    pool: &Pool,
    output: Output,
) -> Result<Generation, Trouble> {
    output.note("a first run, on the observation");
    let mut executor = Threads::new(simulator, pool.threads(), None);
    let Method { generations, simulations, seed, .. } = loaded.method;
    let mut watch = watched(output, generations, simulations);
    let (problem, method) = (loaded.problem.clone(), loaded.method.build());
    let run = infer_watched(problem, method, Seed(seed), &mut executor, pool, &mut watch);
    let run = run.map_err(|error| Trouble::failed(error, None))?;
    run.history.into_iter().last().ok_or_else(|| Trouble::failed(anyhow!("no generation was made"), None))
}

/// The ranks of every dataset, with progress.
fn each(
    count: usize,
    pool: &Pool,
    (interrupt, output): (&Interrupt, Output),
    one: impl Fn(usize) -> anyhow::Result<Vec<f64>> + Sync,
) -> Result<Vec<Vec<f64>>, Trouble> {
    let tally = Tally::new(output, "runs", count);
    let ranks = workers::map(pool, count, |index| {
        let ranks = interrupt.or_go_on().and_then(|()| one(index));
        let ranks = ranks.and_then(|ranks| interrupt.or_go_on().map(|()| ranks));
        tally.done();
        ranks.map_err(|error| Trouble::of_run(&error, &format!("dataset {}", index + 1)))
    });
    ranks.into_iter().collect()
}

/// The rank of each parameter's truth.
fn ranks(generation: &Generation, dataset: &Dataset, seed: Seed) -> Vec<f64> {
    let mut rng = seed.stream(Stage::Reference, 0, 0);
    let truth = dataset.truth.as_deref().unwrap_or_default();
    truth.iter().enumerate().map(|(j, &truth)| rank(generation.posterior(), j, truth, &mut rng)).collect()
}

/// The probabilities of the curve.
fn probabilities() -> impl Iterator<Item = f64> {
    (1..=CURVE).map(|at| at as f64 / CURVE as f64)
}

fn cover(ranks: &[Vec<f64>], level: f64) -> Coverage {
    // Parameters of one dataset are not independent: the error is that of the mean over datasets.
    let shares: Vec<f64> = ranks
        .iter()
        .map(|row| row.iter().filter(|&&rank| covered(rank, level)).count() as f64 / row.len() as f64)
        .collect();
    let (covered, error) = mean_and_error(&shares);
    // Where all or none cover, the spread says nothing: one more dataset might.
    let least = (level * (1.0 - level) / ranks.len() as f64).sqrt() * if error == 0.0 { 1.0 } else { 0.0 };
    Coverage { level, covered, error: error.max(least) }
}

fn parameter(name: String, ranks: &[Vec<f64>], j: usize) -> Parameter {
    let mut counts = vec![0; BINS];
    ranks.iter().for_each(|row| counts[((row[j] * BINS as f64) as usize).min(BINS - 1)] += 1);
    let share =
        |level: f64| ranks.iter().filter(|row| covered(row[j], level)).count() as f64 / ranks.len() as f64;
    Parameter {
        name,
        covered: LEVELS.into_iter().map(share).collect(),
        curve: probabilities().map(share).collect(),
        ranks: counts,
        band: band(ranks.len()),
    }
}

/// The counts between which all bins lie with a probability of about 95 %, by the normal law and Bonferroni's bound.
fn band(count: usize) -> (usize, usize) {
    const DEVIATIONS: f64 = 2.81;
    let (n, p) = (count as f64, 1.0 / BINS as f64);
    let (mean, sd) = (n * p, (n * p * (1.0 - p)).sqrt());
    ((mean - DEVIATIONS * sd).max(0.0).ceil() as usize, (mean + DEVIATIONS * sd).floor() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_are_even_are_covered_as_often_as_they_should_be() {
        let ranks: Vec<Vec<f64>> = (0..1000).map(|i| vec![(f64::from(i) + 0.5) / 1000.0]).collect();
        for level in LEVELS {
            assert!((cover(&ranks, level).covered - level).abs() < 1e-9);
        }
        let of_one = parameter("k".into(), &ranks, 0);
        assert_eq!(of_one.ranks, vec![100; 10]);
        for (found, level) in of_one.curve.iter().zip(probabilities()) {
            assert!((found - level).abs() < 1e-9);
        }
        assert_eq!(band(100), (2, 18));
    }
}
