//! What it costs to simulate in a program of its own: microseconds a simulation, end to end through the executor.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use counterpoise_core::problem::Simulator;
use counterpoise_core::simulate::Jobs;
use counterpoise_core::stream::Seed;
use counterpoise_core::table::Table;
use counterpoise_run::command::{Lines, Once, Program};
use counterpoise_run::executor::{Executor, Threads};

#[derive(clap::Args)]
pub struct Options {
    /// Simulations; a hundredth of them where the program is started for each.
    #[arg(long, default_value_t = 100_000)]
    rows: usize,
    /// Repeats; the best counts, and the worst is told.
    #[arg(long, default_value_t = 5)]
    repeats: usize,
}

/// A Python simulator as small as the one in C, by the helper that `counterpoise init` gives.
const PYTHON: &str = "from counterpoise_serve import serve\n\
                      serve(lambda theta, seed: [theta['k'], 2 * theta['k']], ['a', 'b'])\n";

pub fn run(options: &Options) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("counterpoise-bench-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let measured = measure_all(options, &folder);
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure_all(options: &Options, folder: &Path) -> anyhow::Result<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/programs/trivial.c");
    let compiled =
        Command::new("gcc").arg("-O2").arg("-o").arg(folder.join("trivial")).arg(source).status()?;
    ensure!(compiled.success(), "gcc failed");
    let helper =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/cli/templates/helpers/counterpoise_serve.py");
    fs::copy(&helper, folder.join("counterpoise_serve.py")).with_context(|| helper.display().to_string())?;
    fs::write(folder.join("trivial.py"), PYTHON)?;
    for threads in [1, 2] {
        let lines = |words: &[&str]| Lines::new(program(words, folder), None);
        measure("C, lines", &lines(&["./trivial"])?, threads, options.rows, options.repeats)?;
        measure(
            "Python, lines",
            &lines(&["python3", "trivial.py"])?,
            threads,
            options.rows,
            options.repeats,
        )?;
        let names = vec!["a".to_owned(), "b".to_owned()];
        let once = Once::new(program(&["/bin/echo", "{k}", "{seed}"], folder), names)?;
        measure("/bin/echo, once", &once, threads, options.rows.div_ceil(100), options.repeats)?;
    }
    Ok(())
}

fn program(words: &[&str], folder: &Path) -> Program {
    Program {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        directory: PathBuf::from(folder),
        parameters: vec!["k".into()],
        timeout: Duration::from_secs(10),
        start_timeout: Duration::from_secs(10),
    }
}

/// Prints microseconds of wall time a simulation.
fn measure(
    name: &str,
    simulator: &dyn Simulator,
    threads: usize,
    rows: usize,
    repeats: usize,
) -> anyhow::Result<()> {
    let thetas = Table::from_rows(1, (0..rows).map(|row| 1.0 / (row + 3) as f64).collect());
    let jobs = Jobs { thetas: &thetas, seed: Seed(1), generation: 0, first: 0 };
    let all: Vec<usize> = (0..rows).collect();
    let mut times = Vec::new();
    for _ in 0..=repeats {
        let (start, mut good) = (Instant::now(), 0);
        Threads::new(simulator, threads, None).run(jobs, &all, &mut |chunk| {
            good += chunk.outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            ControlFlow::Continue(())
        })?;
        ensure!(good == rows, "{} of {rows} simulations failed", rows - good);
        times.push(start.elapsed().as_secs_f64() / rows as f64 * 1e6);
    }
    // The first starts the programs.
    let times = &times[1..];
    let (best, worst) = times.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &t| (a.min(t), b.max(t)));
    println!("{name}, {threads} thread(s): {best:.1} us a simulation at best, {worst:.1} at worst");
    Ok(())
}
