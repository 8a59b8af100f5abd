//! Coverage of 90 % intervals over truths drawn from the prior.

use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::summary::quantile;
use counterpoise_core::workers;
use counterpoise_run::pool::Pool;

use crate::runs::{Size, infer, plans};
use crate::tasks::task;

#[derive(clap::Args)]
pub struct Options {
    /// toy-sorted, death, diffusion, ...
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
    #[command(flatten)]
    size: Size,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    println!(
        "{}: {} truths from the prior, {} x {}, keep {}; coverage of 90 % intervals",
        options.problem,
        options.truths,
        options.size.generations,
        options.size.simulations,
        options.size.keep
    );
    for name in &options.rules {
        let covered =
            workers::map(&Pool::available(), options.truths as usize, |i| one(options, name, i as u64));
        let covered: Vec<Vec<bool>> = covered.into_iter().collect::<anyhow::Result<_>>()?;
        let d = covered[0].len();
        let share = |j: usize| covered.iter().filter(|row| row[j]).count() as f64 / covered.len() as f64;
        let all = (0..d).map(share).sum::<f64>() / d as f64;
        let error = (all * (1.0 - all) / (covered.len() * d) as f64).sqrt();
        let each: Vec<String> = (0..d).map(|j| format!("{:.2}", share(j))).collect();
        println!("{name:<32} {all:.3} +- {error:.3}  by parameter {}", each.join(" "));
    }
    Ok(())
}

fn one(options: &Options, name: &str, index: u64) -> anyhow::Result<Vec<bool>> {
    let model = task(&options.problem)?;
    let prior = &model.prior;
    let mut rng = Seed(index).stream(Stage::Observe, 7, 0);
    let (mut unit, mut theta) = (vec![0.0; prior.dimension()], vec![0.0; prior.dimension()]);
    prior.draw(&mut rng, &mut unit);
    prior.natural(&unit, &mut theta);
    let mut observed = vec![0.0; model.statistics.len()];
    model.simulator.simulate(&theta, &mut rng, &mut observed)?;
    let history = infer(&options.problem, observed, options.size, plans(name, &options.proposal)?, index)?;
    let last = history[history.len() - 1].posterior();
    let inside = |j: usize| {
        let values = last.thetas.column(j);
        let ends = [0.05, 0.95].map(|p| quantile(&values, last.weights.normalised(), p));
        ends[0] <= theta[j] && theta[j] <= ends[1]
    };
    Ok((0..theta.len()).map(inside).collect())
}
