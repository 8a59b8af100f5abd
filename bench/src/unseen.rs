//! Rules on made-up problems: truths from the prior, data simulated there, exact posteriors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::ensure;
use counterpoise_core::digest::Generation;
use counterpoise_core::judge::wasserstein;
use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::{Seed, Stage, Stream};
use counterpoise_core::summary::{moments, quantile};
use counterpoise_core::workers;
use counterpoise_run::pool::Pool;
use cpu_time::ThreadTime;

use crate::problems::{known, names, task};
use crate::runs::{Size, infer_task, plans};

/// Draws of each exact posterior.
const DRAWS: usize = 8_000;

#[derive(clap::Args)]
pub struct Options {
    /// Problems; all unless told.
    #[arg(long, value_delimiter = ',')]
    problems: Vec<String>,
    /// Rules to compare.
    #[arg(long, value_delimiter = ',', default_value = "auto,hellinger,mad,sd,uniform")]
    rules: Vec<String>,
    /// Kernel of the rules other than `auto`.
    #[arg(long, default_value = "covariance")]
    proposal: String,
    /// Datasets a problem, each at a truth of its own.
    #[arg(long, default_value_t = 5)]
    datasets: usize,
    /// The first dataset.
    #[arg(long, default_value_t = 1)]
    first: usize,
    /// Runs a dataset.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Simulations a generation.
    #[arg(long, default_value_t = 2000)]
    simulations: usize,
    /// Particles kept.
    #[arg(long, default_value_t = 200)]
    keep: usize,
    /// Generations.
    #[arg(long, default_value_t = 5)]
    generations: usize,
    /// Print every dataset.
    #[arg(long)]
    each: bool,
}

/// Data at a truth, and the exact posterior in unit space, a parameter each.
struct Dataset {
    truth: Vec<f64>,
    observed: Vec<f64>,
    exact: Vec<Vec<f64>>,
}

/// What a sample of the posterior is worth, means over parameters.
#[derive(Clone, Copy, Default)]
struct Outcome {
    w1: f64,
    sd_ratio: f64,
    covered: f64,
    ess: f64,
    seconds: f64,
}

/// What a rule that chooses took in its last generation.
fn taken(generation: &Generation) -> String {
    let chosen = generation.evidence.iter().filter(|verdict| verdict.chosen);
    chosen.map(|verdict| format!("{} ({:.3})", verdict.name, verdict.score)).collect::<Vec<_>>().join("; ")
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    ensure!(options.datasets > 0 && options.seeds > 0, "at least one dataset and one seed");
    let problems = if options.problems.is_empty() { names() } else { options.problems.clone() };
    // A name that is wrong should not be found out after an hour.
    problems.iter().try_for_each(|name| known(name).map(drop))?;
    options.rules.iter().try_for_each(|name| plans(name, &options.proposal).map(drop))?;
    println!(
        "{} datasets, {} runs each, {} x {}, keep {}; W1 to the exact posterior in exact sd, mean over parameters,\n\
         +- its standard error over datasets; sd beside the exact one; share of 90 % intervals that hold the truth;\n\
         effective sample; processor seconds a run. `exact` is what {} exact draws would reach.",
        options.datasets, options.seeds, options.generations, options.simulations, options.keep, options.keep
    );
    let mut table = Vec::new();
    for name in &problems {
        table.push(problem(options, name)?);
    }
    compare(&options.rules, &problems, &table);
    Ok(())
}

/// Prints the rules on one problem and gives the mean W1 of each, infinite where a run failed.
fn problem(options: &Options, name: &str) -> anyhow::Result<Vec<f64>> {
    let datasets = workers::map(&Pool::available(), options.datasets, |i| dataset(name, options.first + i));
    let datasets: Vec<Dataset> = datasets.into_iter().collect::<anyhow::Result<_>>()?;
    println!("\n{name}");
    let prior = known(name)?.prior();
    let floor: Vec<Outcome> = datasets
        .iter()
        .map(|dataset| {
            let step = DRAWS / options.keep.clamp(1, DRAWS);
            // Draws are independent, so any will do.
            let few: Vec<Vec<f64>> =
                dataset.exact.iter().map(|column| column.iter().step_by(step).copied().collect()).collect();
            let weights = vec![1.0 / few[0].len() as f64; few[0].len()];
            Outcome { ess: few[0].len() as f64, ..judge(&prior, dataset, &few, &weights) }
        })
        .collect();
    report(options, "exact", &floor);
    let mut means = Vec::new();
    for rule in &options.rules {
        let cells = datasets.len() * options.seeds as usize;
        let outcomes = workers::map(&Pool::available(), cells, |cell| {
            let (i, repeat) = (cell % datasets.len(), (cell / datasets.len()) as u64);
            one(options, name, rule, &datasets[i], 1 + repeat + 1000 * (options.first + i) as u64)
        });
        means.push(match outcomes.into_iter().collect::<anyhow::Result<Vec<Outcome>>>() {
            Ok(outcomes) => report(options, rule, &by_dataset(&outcomes, datasets.len())),
            Err(error) => {
                println!("  {rule:<32} failed: {error:#}");
                f64::INFINITY
            }
        });
    }
    Ok(means)
}

/// The dataset of a number: always the same, whatever else is asked for.
fn dataset(name: &str, number: usize) -> anyhow::Result<Dataset> {
    let known = known(name)?;
    let prior = known.prior();
    let mut rng = Seed(number as u64).stream(Stage::Observe, 9, 0);
    let (mut unit, mut truth) = (vec![0.0; prior.dimension()], vec![0.0; prior.dimension()]);
    prior.draw(&mut rng, &mut unit);
    prior.natural(&unit, &mut truth);
    let mut observed = vec![f64::NAN; known.summaries()];
    known.simulate(&truth, &mut rng, &mut observed)?;
    let draws = known.exact(&observed, DRAWS, &mut rng);
    let column = |j: usize| draws.iter().map(|row| prior.marginals()[j].unit(row[j])).collect();
    let exact = (0..truth.len()).map(column).collect();
    Ok(Dataset { truth, observed, exact })
}

fn one(options: &Options, name: &str, rule: &str, dataset: &Dataset, seed: u64) -> anyhow::Result<Outcome> {
    let (simulating, clock) = (Arc::new(AtomicU64::new(0)), ThreadTime::now());
    let mut task = task(known(name)?);
    task.simulator = Box::new(Timed { inner: task.simulator, nanoseconds: simulating.clone() });
    let size =
        Size { simulations: options.simulations, keep: options.keep, generations: options.generations };
    let history = infer_task(task, dataset.observed.clone(), size, plans(rule, &options.proposal)?, seed)?;
    let seconds = clock.elapsed().as_secs_f64() + simulating.load(Ordering::Relaxed) as f64 * 1e-9;
    let last = &history[history.len() - 1];
    if options.each {
        println!("    {}", taken(last));
    }
    let last = last.posterior();
    let units: Vec<Vec<f64>> = (0..dataset.truth.len()).map(|j| last.units.column(j)).collect();
    let ess = last.effective_sample_size();
    Ok(Outcome { ess, seconds, ..judge(&known(name)?.prior(), dataset, &units, last.weights.normalised()) })
}

/// A weighted sample in unit space, a parameter each, beside the exact posterior and the truth.
fn judge(prior: &Prior, dataset: &Dataset, units: &[Vec<f64>], weights: &[f64]) -> Outcome {
    let mut outcome = Outcome::default();
    let share = 1.0 / units.len() as f64;
    for (j, (values, exact)) in units.iter().zip(&dataset.exact).enumerate() {
        let equal = vec![1.0 / exact.len() as f64; exact.len()];
        let (_, sd) = moments(exact, &equal);
        outcome.w1 += share * wasserstein((values, weights), (exact, &equal)) / sd;
        outcome.sd_ratio += share * moments(values, weights).1 / sd;
        let truth = prior.marginals()[j].unit(dataset.truth[j]);
        let ends = [0.05, 0.95].map(|p| quantile(values, weights, p));
        outcome.covered += share * f64::from(ends[0] <= truth && truth <= ends[1]);
    }
    outcome
}

/// Means over the seeds of each dataset; outcomes of a seed stand together.
fn by_dataset(outcomes: &[Outcome], datasets: usize) -> Vec<Outcome> {
    let seeds = (outcomes.len() / datasets) as f64;
    let mean = |i: usize, value: &dyn Fn(&Outcome) -> f64| {
        outcomes.iter().skip(i).step_by(datasets).map(value).sum::<f64>() / seeds
    };
    let all = |i: usize| Outcome {
        w1: mean(i, &|o| o.w1),
        sd_ratio: mean(i, &|o| o.sd_ratio),
        covered: mean(i, &|o| o.covered),
        ess: mean(i, &|o| o.ess),
        seconds: mean(i, &|o| o.seconds),
    };
    (0..datasets).map(all).collect()
}

/// Prints the means over datasets, and gives that of W1.
fn report(options: &Options, rule: &str, outcomes: &[Outcome]) -> f64 {
    let n = outcomes.len() as f64;
    let mean = |value: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(value).sum::<f64>() / n;
    let w1 = mean(&|o| o.w1);
    // Of one dataset there is no standard error: NaN.
    let error = (mean(&|o| (o.w1 - w1).powi(2)) / (n - 1.0)).sqrt();
    println!(
        "  {rule:<32} W1 {w1:.3} +- {error:.3}  sd/exact {:.2}  holds {:.2}  ess {:.0}  {:.2} s",
        mean(&|o| o.sd_ratio),
        mean(&|o| o.covered),
        mean(&|o| o.ess),
        mean(&|o| o.seconds),
    );
    if options.each {
        let each: Vec<String> = outcomes.iter().map(|o| format!("{:.3}", o.w1)).collect();
        println!("  {:<32} {}", "", each.join(" "));
    }
    w1
}

/// Each rule beside the best of each problem.
fn compare(rules: &[String], problems: &[String], table: &[Vec<f64>]) {
    println!("\nW1 beside the best rule of each problem, and the worst of these ratios");
    let best: Vec<f64> = table.iter().map(|row| row.iter().copied().fold(f64::INFINITY, f64::min)).collect();
    let heads: String = problems.iter().map(|name| format!(" {name:>10}")).collect();
    println!("  {:<32}{heads} {:>10}", "", "worst");
    for (r, rule) in rules.iter().enumerate() {
        let ratios: Vec<f64> = table.iter().zip(&best).map(|(row, best)| row[r] / best).collect();
        let cells: String = ratios.iter().map(|ratio| format!(" {ratio:>10.2}")).collect();
        println!("  {rule:<32}{cells} {:>10.2}", ratios.iter().copied().fold(0.0, f64::max));
    }
}

/// A simulator that adds up the processor time it takes, on a thread that is not the run's.
struct Timed {
    inner: Box<dyn Simulator>,
    nanoseconds: Arc<AtomicU64>,
}

impl Simulator for Timed {
    fn summaries(&self) -> usize {
        self.inner.summaries()
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        self.inner.simulate(theta, rng, summaries)
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let clock = ThreadTime::now();
        self.inner.simulate_rows(jobs, feed);
        self.nanoseconds.fetch_add(clock.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}
