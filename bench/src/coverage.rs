//! Coverage of 90 % intervals over truths drawn from the prior.

use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::summary::quantile;
use counterpoise_core::workers;
use counterpoise_run::pool::Pool;

use crate::runs::{Size, infer_task, plans};
use crate::tasks::{exact_draws, task};

/// Where a 90 % interval ends, and the values that stand for an exact posterior.
const ENDS: [f64; 2] = [0.05, 0.95];
const DRAWS: usize = 4_000;

#[derive(clap::Args)]
pub struct Options {
    /// toy-sorted, death, diffusion, nuisance, or one of the made-up problems of `unseen`.
    #[arg(long)]
    problem: String,
    /// Rules to compare.
    #[arg(long, value_delimiter = ',', default_value = "hellinger,paper,uniform")]
    rules: Vec<String>,
    /// Kernel.
    #[arg(long, default_value = "covariance")]
    proposal: String,
    /// Random truths.
    #[arg(long, default_value_t = 100)]
    truths: u64,
    /// Print the interval of every truth beside the exact one: its middle, in exact widths, and its width.
    #[arg(long)]
    each: bool,
    #[command(flatten)]
    size: Size,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    println!(
        "{}: {} truths from the prior, {} x {}, keep {}; coverage of 90 % intervals; `exact` is what the exact ones hold of the\n\
         same truths; width beside the exact one, in the mean of the logarithm",
        options.problem,
        options.truths,
        options.size.generations,
        options.size.simulations,
        options.size.keep
    );
    let datasets = workers::map(&Pool::available(), options.truths as usize, |i| dataset(options, i as u64));
    let datasets: Vec<Dataset> = datasets.into_iter().collect::<anyhow::Result<_>>()?;
    let exact: Option<Vec<Intervals>> = datasets.iter().map(|dataset| dataset.exact.clone()).collect();
    if let Some(exact) = &exact {
        report("exact", &datasets, exact, None);
    }
    for name in &options.rules {
        let found = workers::map(&Pool::available(), datasets.len(), |i| one(options, name, &datasets[i], i));
        let found: Vec<Intervals> = found.into_iter().collect::<anyhow::Result<_>>()?;
        report(name, &datasets, &found, exact.as_deref());
        if let Some(exact) = exact.as_deref().filter(|_| options.each) {
            found.iter().zip(exact).enumerate().for_each(|(i, (own, exact))| beside(i, own, exact));
        }
    }
    Ok(())
}

/// The ends of an interval for each parameter, in unit space.
type Intervals = Vec<[f64; 2]>;

/// Data at a truth, given in unit space.
struct Dataset {
    truth: Vec<f64>,
    observed: Vec<f64>,
    exact: Option<Intervals>,
}

fn report(name: &str, datasets: &[Dataset], found: &[Intervals], exact: Option<&[Intervals]>) {
    let (n, d) = (datasets.len() as f64, datasets[0].truth.len());
    let holds = |[low, high]: [f64; 2], truth: f64| low <= truth && truth <= high;
    let share = |j: usize| {
        datasets.iter().zip(found).filter(|(data, found)| holds(found[j], data.truth[j])).count() as f64 / n
    };
    let all = (0..d).map(share).sum::<f64>() / d as f64;
    let error = (all * (1.0 - all) / (n * d as f64)).sqrt();
    let each: Vec<String> = (0..d).map(|j| format!("{:.2}", share(j))).collect();
    let width = exact.map_or_else(String::new, |exact| {
        let ratio = |(own, exact): (&[f64; 2], &[f64; 2])| ((own[1] - own[0]) / (exact[1] - exact[0])).ln();
        let sum: f64 = found.iter().zip(exact).flat_map(|(a, b)| a.iter().zip(b).map(ratio)).sum();
        format!("  width {:.3}", (sum / (n * d as f64)).exp())
    });
    println!("{name:<32} {all:.3} +- {error:.3}  by parameter {}{width}", each.join(" "));
}

fn beside(index: usize, own: &[[f64; 2]], exact: &[[f64; 2]]) {
    let one = |(own, exact): (&[f64; 2], &[f64; 2])| {
        let width = exact[1] - exact[0];
        let shift = 0.5 * (own[0] + own[1] - exact[0] - exact[1]) / width;
        format!("{shift:+.3} {:.3}", (own[1] - own[0]) / width)
    };
    println!("  {index}: {}", own.iter().zip(exact).map(one).collect::<Vec<_>>().join("  "));
}

fn dataset(options: &Options, index: u64) -> anyhow::Result<Dataset> {
    let model = task(&options.problem)?;
    let prior = &model.prior;
    let mut rng = Seed(index).stream(Stage::Observe, 7, 0);
    let (mut truth, mut theta) = (vec![0.0; prior.dimension()], vec![0.0; prior.dimension()]);
    prior.draw(&mut rng, &mut truth);
    prior.natural(&truth, &mut theta);
    let mut observed = vec![0.0; model.statistics.len()];
    model.simulator.simulate(&theta, &mut rng, &mut observed)?;
    let exact = exact_draws(&options.problem, &observed, (DRAWS, &mut rng))?.map(|columns| {
        let equal = vec![1.0 / DRAWS as f64; DRAWS];
        let intervals = columns.into_iter().enumerate().map(|(j, column)| {
            let unit: Vec<f64> = column.into_iter().map(|theta| prior.marginals()[j].unit(theta)).collect();
            ENDS.map(|p| quantile(&unit, &equal, p))
        });
        intervals.collect()
    });
    Ok(Dataset { truth, observed, exact })
}

fn one(options: &Options, name: &str, dataset: &Dataset, index: usize) -> anyhow::Result<Intervals> {
    let (task, plans) = (task(&options.problem)?, plans(name, &options.proposal)?);
    let history = infer_task(task, dataset.observed.clone(), options.size, plans, index as u64)?;
    let last = history[history.len() - 1].posterior();
    let interval = |j: usize| ENDS.map(|p| quantile(&last.units.column(j), last.weights.normalised(), p));
    Ok((0..dataset.truth.len()).map(interval).collect())
}
