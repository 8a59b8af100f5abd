//! Engine time a simulation beyond simulator and search, and the peak memory of a large run.

use std::ops::ControlFlow;

use counterpoise_core::problem::Simulator;
use counterpoise_core::propose::propose;
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::workers::Serial;
use counterpoise_models::{Preset, builtin, setting};
use counterpoise_run::drive::{self, Finished};
use counterpoise_run::executor::Threads;
use counterpoise_run::store::{Header, Memory};
use cpu_time::{ProcessTime, ThreadTime};

use crate::runs::{Plans, Size, analysis, plans};

#[derive(clap::Args)]
pub struct Options {
    /// Model.
    #[arg(long, default_value = "toy")]
    problem: String,
    /// Weighting rule; `uniform` does not search.
    #[arg(long, default_value = "uniform")]
    rule: String,
    /// Repeats; the best counts.
    #[arg(long, default_value_t = 5)]
    repeats: usize,
    #[arg(long, default_value_t = 50_000)]
    simulations: usize,
    #[arg(long, default_value_t = 2_500)]
    keep: usize,
    #[arg(long, default_value_t = 5)]
    generations: usize,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let size =
        Size { simulations: options.simulations, keep: options.keep, generations: options.generations };
    let mut best = f64::INFINITY;
    for _ in 0..options.repeats {
        let simulator = simulator_seconds(&options.problem, options.simulations)?;
        let clock = ProcessTime::now();
        let finished = whole(&options.problem, size, plans(&options.rule, "covariance")?)?;
        let total = clock.elapsed().as_secs_f64();
        let rows = (options.simulations * options.generations) as f64;
        let engine = total / rows - simulator;
        best = best.min(engine);
        println!(
            "{}: {:.3} us of processor time a simulation in all (wall: propose {:.3}, simulate {:.3}, weigh {:.3}); simulator alone {:.3}; engine {:.3}",
            options.problem,
            total / rows * 1e6,
            finished.seconds.propose / rows * 1e6,
            finished.seconds.simulate / rows * 1e6,
            finished.seconds.weigh / rows * 1e6,
            simulator * 1e6,
            engine * 1e6
        );
    }
    println!(
        "engine time a simulation beyond the simulator, best of {}: {:.3} us, one thread",
        options.repeats,
        best * 1e6
    );
    if let Some(peak) = peak_memory() {
        println!("peak memory of this process: {peak:.0} MB");
    }
    Ok(())
}

/// Seconds a simulation of the simulator alone, at the prior, with streams made beforehand.
fn simulator_seconds(model: &str, rows: usize) -> anyhow::Result<f64> {
    let built = builtin(model, Preset::Text, &[])?;
    let prior = setting(model, Preset::Text)?.prior()?;
    let proposed = propose(&prior, None, rows, (Seed(1), 0), &Serial)?;
    let mut streams: Vec<_> = (0..rows as u64).map(|row| Seed(1).stream(Stage::Simulate, 0, row)).collect();
    let mut summaries = vec![0.0; built.statistics.len()];
    let clock = ThreadTime::now();
    for (theta, stream) in proposed.thetas.iter().zip(&mut streams) {
        built.simulator.simulate(theta, stream, &mut summaries)?;
        std::hint::black_box(&summaries);
    }
    Ok(clock.elapsed().as_secs_f64() / rows as f64)
}

fn whole(model: &str, size: Size, plans: Plans) -> anyhow::Result<Finished> {
    let built = builtin(model, Preset::Text, &[])?;
    let mut observed = vec![0.0; built.statistics.len()];
    let truth = setting(model, Preset::Text)?.truth();
    built.simulator.simulate(&truth, &mut Seed(1).stream(Stage::Observe, 0, 0), &mut observed)?;
    let analysis = analysis(model, observed, size, plans, 1)?;
    let header = Header {
        description: serde_json::Value::Null,
        parameters: built.parameters,
        statistics: Vec::new(),
        units: Vec::new(),
    };
    let mut quiet = |_: drive::Event<'_>| ControlFlow::Continue(());
    let mut executor = Threads::new(built.simulator, 1, None);
    Ok(drive::run((&analysis, &header), &mut executor, &mut Memory::forgetful(), &Serial, &mut quiet)?)
}

/// The high-water mark of resident memory in megabytes, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}
