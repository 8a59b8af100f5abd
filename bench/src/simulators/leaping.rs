//! Tau-leaping at the truth of the dimerization: what it gains in time and loses in truth.

use anyhow::ensure;
use counterpoise_core::stream::Seed;
use counterpoise_networks::Method;

use super::model::Model;
use super::ours::Ours;
use super::turn::Turn;

#[derive(clap::Args)]
pub struct Options {
    /// Exact simulations.
    #[arg(long, default_value_t = 2_000)]
    exact: usize,
    /// Simulations at each epsilon.
    #[arg(long, default_value_t = 2_000)]
    leaping: usize,
    #[arg(long, value_delimiter = ',', default_values_t = [0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001])]
    epsilons: Vec<f64>,
}

const TIMES: [f64; 7] = [0.15, 1.2, 3.0, 6.0, 12.0, 25.0, 50.0];

pub fn run(options: &Options) -> anyhow::Result<()> {
    ensure!(options.exact > 1 && options.leaping > 1, "moments need at least two simulations");
    let model = Model::named("dimerization")?;
    let Some(mut direct) = Ours::new(&model, &TIMES, Method::Direct, Seed(1))? else {
        println!("ours: not available");
        return Ok(());
    };
    let exact = direct.moments(options.exact)?;
    let mut leapt: Vec<(f64, Turn)> = Vec::new();
    for (&epsilon, seed) in options.epsilons.iter().zip(2..) {
        match Ours::new(&model, &TIMES, Method::TauLeaping { epsilon }, Seed(seed))? {
            Some(mut ours) => leapt.push((epsilon, ours.moments(options.leaping)?)),
            None => println!("epsilon {epsilon}: not available"),
        }
    }

    let error = (1.0 / options.exact as f64 + 1.0 / options.leaping as f64).sqrt();
    println!(
        "{} exact simulations, {:.0} us each; {} at each epsilon",
        options.exact,
        exact.each() * 1e6,
        options.leaping
    );
    println!(
        "bias of the mean in exact sd (standard error {error:.3}), then sd over exact sd (+- {:.3})",
        error / 2f64.sqrt()
    );
    print!("{:<10} {:>10} {:>8}", "epsilon", "mean", "sd");
    leapt.iter().for_each(|(epsilon, _)| print!(" {epsilon:>13}"));
    println!();
    for (summary, name) in direct.statistics().iter().enumerate() {
        let (mean, sd) = (exact.mean(summary), exact.sd(summary));
        print!("{name:<10} {mean:>10.2} {sd:>8.2}");
        for (_, turn) in &leapt {
            print!(" {:>+7.2} {:>5.2}", (turn.mean(summary) - mean) / sd, turn.sd(summary) / sd);
        }
        println!();
    }
    print!("{:<30}", "largest bias");
    for (_, turn) in &leapt {
        let bias = |summary| ((turn.mean(summary) - exact.mean(summary)) / exact.sd(summary)).abs();
        print!(" {:>7.2}      ", (0..exact.sums.len()).map(bias).fold(0.0, f64::max));
    }
    print!("\n{:<30}", "time over exact");
    leapt.iter().for_each(|(_, turn)| print!(" {:>13.4}", turn.each() / exact.each()));
    println!();
    Ok(())
}
