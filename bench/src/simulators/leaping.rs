//! Tau-leaping at the truth of the dimerization: what it gains in time and loses in truth. Then its time elsewhere.

use anyhow::ensure;
use counterpoise_core::propose::propose;
use counterpoise_core::stream::Seed;
use counterpoise_core::workers::Serial;
use counterpoise_models::{Preset, setting};
use counterpoise_networks::{DEFAULT_EPSILON, Method};

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
    /// Parameters from the paper's prior at which the time is compared too.
    #[arg(long, default_value_t = 20)]
    draws: usize,
    /// Simulations by each method there and with smaller populations.
    #[arg(long, default_value_t = 32)]
    each: usize,
}

const TIMES: [f64; 7] = [0.15, 1.2, 3.0, 6.0, 12.0, 25.0, 50.0];

pub fn run(options: &Options) -> anyhow::Result<()> {
    truth(options)?;
    println!(
        "\nat epsilon {DEFAULT_EPSILON}, dimerizations to time 100: S1 at time 0, constants, exact ms, leaping ms, ratio"
    );
    let (mut exact, mut leapt) = (0.0, 0.0);
    for initial in [100_000, 10_000, 1_000, 100] {
        let mut model = Model::named("dimerization")?;
        model.initial[0] = initial;
        compare(&model, options.each * (100_000 / initial as usize).min(100))?;
    }
    let prior = setting("dimerization", Preset::Text)?.prior()?;
    let proposed = propose(&prior, None, options.draws, (Seed(1), 0), &Serial)?;
    for theta in proposed.thetas.iter() {
        let mut model = Model::named("dimerization")?;
        model.constants.copy_from_slice(theta);
        let (direct, leaping) = compare(&model, options.each)?;
        (exact, leapt) = (exact + direct, leapt + leaping);
    }
    println!(
        "all draws: {:.1} ms exact, {:.1} leaping, ratio {:.4}",
        exact * 1e3,
        leapt * 1e3,
        leapt / exact
    );
    Ok(())
}

/// Seconds a simulation, exact and leaping: the better of two turns of each.
fn compare(model: &Model, count: usize) -> anyhow::Result<(f64, f64)> {
    let methods = [Method::Direct, Method::TauLeaping { epsilon: DEFAULT_EPSILON }];
    let mut best = [f64::INFINITY; 2];
    for turn in 0..2 {
        for (method, best) in methods.into_iter().zip(&mut best) {
            let ours = Ours::new(model, &model.times, method, Seed(turn))?;
            let ours = ours.map(|mut ours| ours.moments(count)).transpose()?;
            *best = best.min(ours.map_or(f64::NAN, |turn| turn.each()));
        }
    }
    let [exact, leapt] = best;
    let constants: Vec<String> = model.constants.iter().map(|constant| format!("{constant:.2e}")).collect();
    println!(
        "{:>7} {:>40} {:>10.4} {:>10.4} {:>8.4}",
        model.initial[0],
        constants.join(" "),
        exact * 1e3,
        leapt * 1e3,
        leapt / exact
    );
    Ok((exact, leapt))
}

fn truth(options: &Options) -> anyhow::Result<()> {
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
    print!("\n{:<30}", "ratios of sd");
    for (_, turn) in &leapt {
        let ratios = (0..exact.sums.len()).map(|summary| turn.sd(summary) / exact.sd(summary));
        let (low, high) =
            ratios.fold((f64::INFINITY, 0.0), |(l, h), ratio| (f64::min(l, ratio), f64::max(h, ratio)));
        print!(" {:>13}", format!("{low:.3}-{high:.3}"));
    }
    print!("\n{:<30}", "time over exact");
    leapt.iter().for_each(|(_, turn)| print!(" {:>13.4}", turn.each() / exact.each()));
    println!();
    Ok(())
}
