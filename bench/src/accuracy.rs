//! Distance to exact posteriors on the reference datasets.

use counterpoise_core::judge::wasserstein;
use counterpoise_core::trials::Verdict;
use counterpoise_core::workers;
use counterpoise_run::pool::Pool;

use crate::reference::{Dataset, load, moments};
use crate::runs::{Size, infer, plans};

#[derive(clap::Args)]
pub struct Options {
    /// toy-sorted, death or diffusion.
    #[arg(long)]
    problem: String,
    /// Rules to compare; the first is compared with the others.
    #[arg(long, value_delimiter = ',', default_value = "hellinger,uniform,sd,mad,informed,paper")]
    rules: Vec<String>,
    /// Kernel.
    #[arg(long, default_value = "covariance")]
    proposal: String,
    /// Seeds a dataset.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Datasets, the first ones.
    #[arg(long)]
    datasets: Option<usize>,
    /// Print what `auto` chose in each generation, and its evidence.
    #[arg(long)]
    evidence: bool,
    #[command(flatten)]
    size: Size,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let mut datasets = load(if options.problem == "toy" { "toy-sorted" } else { &options.problem })?;
    datasets.truncate(options.datasets.unwrap_or(usize::MAX));
    println!(
        "{}: {} datasets, {} x {}, keep {}; W1 to the exact posterior in exact sd, mean over parameters",
        options.problem,
        datasets.len(),
        options.size.generations,
        options.size.simulations,
        options.size.keep
    );
    let mut table = Vec::new();
    for name in &options.rules {
        let started = std::time::Instant::now();
        let results = all(options, name, &datasets)?;
        report(name, &results, datasets.len(), started.elapsed().as_secs_f64());
        table.push(results.iter().map(|outcome| mean(&outcome.distances)).collect::<Vec<f64>>());
    }
    for (name, other) in options.rules.iter().zip(&table).skip(1) {
        let wins = table[0].iter().zip(other).filter(|(ours, theirs)| ours < theirs).count();
        println!("{} is closer than {name} on {wins} of {}", options.rules[0], other.len());
    }
    Ok(())
}

/// The rule `name` on every dataset and seed.
fn all(options: &Options, name: &str, datasets: &[Dataset]) -> anyhow::Result<Vec<Outcome>> {
    let cells = datasets.len() * options.seeds as usize;
    let results = workers::map(&Pool::available(), cells, |cell| {
        let (dataset, repeat) = (cell % datasets.len(), (cell / datasets.len()) as u64);
        one(options, name, &datasets[dataset], 1 + repeat + 1000 * dataset as u64)
    });
    results.into_iter().collect()
}

struct Outcome {
    distances: Vec<f64>,
    sd_ratio: f64,
    held_out: f64,
    ess: f64,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn one(options: &Options, name: &str, dataset: &Dataset, seed: u64) -> anyhow::Result<Outcome> {
    let plans = plans(name, &options.proposal)?;
    let history = infer(&options.problem, dataset.observed.clone(), options.size, plans, seed)?;
    if options.evidence {
        for generation in &history {
            let verdict = |v: &Verdict| {
                format!("{}{} {:.4} ({:.4})", if v.chosen { "*" } else { "" }, v.name, v.score, v.error)
            };
            let all: Vec<String> = generation.evidence.iter().map(verdict).collect();
            let ess = generation.posterior().effective_sample_size();
            println!("  {} ess {ess:.0}: {}", generation.index, all.join("; "));
        }
    }
    let last = &history[history.len() - 1];
    let weights = last.posterior().weights.normalised();
    let (mut distances, mut ratios) = (Vec::new(), Vec::new());
    for (j, exact) in dataset.exact.iter().enumerate() {
        let natural = options.problem == "nuisance";
        let scaled = |v: &f64| if natural { *v } else { v.log10() };
        let values: Vec<f64> = last.posterior().thetas.column(j).iter().map(scaled).collect();
        let (_, sd) = moments(exact);
        let equal = vec![1.0 / exact.len() as f64; exact.len()];
        distances.push(wasserstein((&values, weights), (exact, &equal)) / sd);
        ratios.push(counterpoise_core::summary::moments(&values, weights).1 / sd);
    }
    let ess = last.posterior().effective_sample_size();
    Ok(Outcome { distances, sd_ratio: mean(&ratios), held_out: last.information.held_out, ess })
}

/// The standard deviation of one parameter's W1 between the seeds of a dataset, mean over datasets.
fn between_seeds(results: &[Outcome], datasets: usize, parameter: usize) -> f64 {
    let each = (0..datasets).map(|dataset| {
        let seeds =
            results.iter().skip(dataset).step_by(datasets).map(|outcome| outcome.distances[parameter]);
        moments(&seeds.collect::<Vec<f64>>()).1
    });
    mean(&each.collect::<Vec<f64>>())
}

fn report(name: &str, results: &[Outcome], datasets: usize, seconds: f64) {
    let w1: Vec<f64> = results.iter().map(|outcome| mean(&outcome.distances)).collect();
    let (centre, spread) = moments(&w1);
    let parameters: Vec<String> = (0..results[0].distances.len())
        .map(|j| format!("{:.3}", mean(&results.iter().map(|r| r.distances[j]).collect::<Vec<_>>())))
        .collect();
    let average = |value: &dyn Fn(&Outcome) -> f64| mean(&results.iter().map(value).collect::<Vec<_>>());
    println!(
        "{name:<32} W1 {centre:.3} +- {:.3}  by parameter {}  sd/exact {:.2}  held-out {:.3}  ess {:.0}  {seconds:.1} s",
        spread / (w1.len() as f64).sqrt(),
        parameters.join(" "),
        average(&|r| r.sd_ratio),
        average(&|r| r.held_out),
        average(&|r| r.ess),
    );
    if results.len() > datasets {
        let spreads = (0..results[0].distances.len()).map(|j| between_seeds(results, datasets, j));
        let spreads: Vec<String> = spreads.map(|spread| format!("{spread:.3}")).collect();
        println!("{:<32} between seeds {}", "", spreads.join(" "));
    }
    println!("{:<32} {}", "", w1.iter().map(|v| format!("{v:.2}")).collect::<Vec<_>>().join(" "));
}

/// The figures that the default rule must reach on the reference datasets. Seeds are fixed.
#[cfg(test)]
mod tests {
    use super::*;

    /// W1 of each dataset for `hellinger` and for `uniform`.
    fn figures(problem: &str, size: Size) -> (Vec<f64>, Vec<f64>) {
        let (rules, proposal) = (Vec::new(), "covariance".to_owned());
        let options = Options {
            problem: problem.to_owned(),
            rules,
            proposal,
            seeds: 1,
            datasets: None,
            evidence: false,
            size,
        };
        let datasets = load(problem).unwrap();
        let w1 = |rule| all(&options, rule, &datasets).unwrap().iter().map(|r| mean(&r.distances)).collect();
        (w1("hellinger"), w1("uniform"))
    }

    fn wins(ours: &[f64], theirs: &[f64]) -> usize {
        ours.iter().zip(theirs).filter(|(a, b)| a < b).count()
    }

    #[test]
    fn sorted_toy_in_one_generation() {
        let size = Size { simulations: 50_000, keep: 250, generations: 1 };
        let (ours, uniform) = figures("toy-sorted", size);
        assert!(mean(&ours) < 0.2, "{ours:?}");
        assert!(mean(&uniform) > 0.4, "{uniform:?}");
    }

    #[test]
    fn death_process_in_five_generations() {
        let size = Size { simulations: 5_000, keep: 250, generations: 5 };
        let (ours, uniform) = figures("death", size);
        assert!(wins(&ours, &uniform) >= 8, "{ours:?} {uniform:?}");
    }

    #[test]
    fn diffusion_in_five_generations() {
        let size = Size { simulations: 5_000, keep: 250, generations: 5 };
        let (ours, uniform) = figures("diffusion", size);
        assert!(wins(&ours, &uniform) >= 8, "{ours:?} {uniform:?}");
        assert!(mean(&ours) < 0.5 * mean(&uniform), "{ours:?} {uniform:?}");
    }
}
