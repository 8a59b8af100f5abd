//! Throws broken input at everything that reads what others wrote, and keeps what made it panic, hang or swallow memory.
//!
//! ```text
//! cargo run --release -p counterpoise-fuzz -- [TARGET] --seconds 15 [--seed N]
//! cargo run --release -p counterpoise-fuzz -- TARGET --repeat FILE
//! ```
//!
//! Needs nothing but cargo. There is no instrumentation: an input is kept as the seed of others when a target sees
//! something in it that it has not seen before, a message or a shape (`Target::run` says what). Equal seeds make equal
//! inputs. To add a target: a file in `targets/`, and a line in `TARGETS`.

mod corpus;
mod engine;
mod mutate;
mod supervise;
mod targets;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What is thrown at whom, and for how long.
#[derive(Clone, Debug, Parser)]
#[command(about = "Throws broken input at everything that reads; exit code 1 if something breaks")]
struct Arguments {
    /// One of the targets [default: all, one after another].
    target: Option<String>,
    /// Seconds for each target.
    #[arg(long, default_value_t = 15.0)]
    seconds: f64,
    /// Where the random choices begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Try this one file.
    #[arg(long, value_name = "FILE", requires = "target")]
    repeat: Option<PathBuf>,
    /// Seconds that one input may take.
    #[arg(long, default_value_t = 2.0)]
    slowest: f64,
    /// Megabytes that one input may have allocated at a time.
    #[arg(long, default_value_t = 512.0)]
    largest: f64,
    /// Where inputs that break something are kept.
    #[arg(long, value_name = "DIR", default_value = "fuzz/found")]
    found: PathBuf,
    /// Where the process that does the work leaves the input it is at.
    #[arg(long, hide = true)]
    current: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let chosen = targets::chosen(arguments.target.as_deref())?;
    match (&arguments.repeat, &arguments.current, chosen.first()) {
        (Some(file), _, Some(target)) => engine::repeat(target, file, &arguments),
        (_, Some(current), Some(target)) => engine::work(target, current, &arguments),
        _ => supervise::all(&chosen, &arguments),
    }
}
