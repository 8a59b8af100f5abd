//! What simulating a whole prior costs: a few parameters take nearly all of the time.

use std::ops::ControlFlow;
use std::time::Instant;

use counterpoise_core::propose::propose;
use counterpoise_core::simulate::Jobs;
use counterpoise_core::stream::Seed;
use counterpoise_core::workers::Serial;
use counterpoise_models::{Preset, builtin, setting};
use counterpoise_run::executor::{Executor, Threads};
use cpu_time::ProcessTime;

#[derive(clap::Args)]
pub struct Options {
    /// Dimerizations at parameters drawn from the paper's prior.
    #[arg(long, default_value_t = 2_000)]
    rows: usize,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The paper's budget, and the minutes it may take on two cores.
const BUDGET: f64 = 250_000.0;
const MINUTES: f64 = 12.0;

pub fn run(options: &Options) -> anyhow::Result<()> {
    let model = builtin("dimerization", Preset::Text, &[])?;
    let prior = setting("dimerization", Preset::Text)?.prior()?;
    let proposed = propose(&prior, None, options.rows, (Seed(options.seed), 0), &Serial)?;
    let jobs = Jobs { thetas: &proposed.thetas, seed: Seed(options.seed), generation: 0, first: 0 };
    let rows: Vec<usize> = (0..options.rows).collect();
    let mut executor = Threads::new(model.simulator, options.threads, None);
    let (mut done, mut failed) = (0, 0);
    let (wall, processor) = (Instant::now(), ProcessTime::now());
    executor.run(jobs, &rows, &mut |chunk| {
        done += chunk.rows.len();
        failed += chunk.outcomes.iter().filter(|outcome| outcome.is_err()).count();
        ControlFlow::Continue(())
    })?;
    let (wall, processor) = (wall.elapsed().as_secs_f64(), processor.elapsed().as_secs_f64());
    println!(
        "{done} dimerizations from the prior, {failed} failed, {} threads: {wall:.2} s, {processor:.2} s of processor time ({:.3} ms each)",
        options.threads,
        processor * 1e3 / done as f64
    );
    let minutes = |seconds: f64| seconds / done as f64 * BUDGET / 60.0;
    println!(
        "{BUDGET} on two cores: {:.1} minutes by processor time, {:.1} by wall; at most {MINUTES}",
        minutes(processor) / 2.0,
        minutes(wall) * options.threads as f64 / 2.0,
    );
    Ok(())
}
