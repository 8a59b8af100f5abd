//! The loop: break an input, try it, keep it if it showed something new.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use counterpoise_core::stream::{Seed, Stage};

use crate::mutate::mutate;
use crate::supervise::BROKEN;
use crate::targets::Target;
use crate::{Arguments, MEMORY};

/// Seeds of others that are kept at the most.
const MOST_KEPT: usize = 20_000;

/// What one input did.
enum Outcome {
    /// It was read or refused; what was seen in it.
    Seen(String),
    /// It broke something.
    Broken(String),
}

fn attempt(target: &Target, input: &[u8], largest: f64) -> Outcome {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage_as_mb();
    let seen = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let used = f64::from(MEMORY.peak_usage_as_mb() - before);
    match seen {
        Err(_) => Outcome::Broken("it panicked".into()),
        Ok(_) if used > largest => Outcome::Broken(format!("it allocated {used:.0} MB")),
        Ok(seen) => Outcome::Seen(seen),
    }
}

/// Tries one file.
pub fn repeat(target: &Target, file: &Path, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let input = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let start = Instant::now();
    let outcome = attempt(target, &input, arguments.largest);
    let seconds = start.elapsed().as_secs_f64();
    let outcome = match outcome {
        Outcome::Seen(_) if seconds > arguments.slowest => Outcome::Broken(format!("it took {seconds:.1} s")),
        other => other,
    };
    Ok(match outcome {
        Outcome::Seen(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Outcome::Broken(how) => {
            println!("{how}");
            ExitCode::from(BROKEN)
        }
    })
}

/// Tries inputs until the time is up or one breaks something. The one that is tried lies in `current`: whatever
/// becomes of this process, it can be looked at.
pub fn work(target: &Target, current: &Path, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    watch(arguments.slowest);
    // A panic is data here: its message would drown the rest.
    std::panic::set_hook(Box::new(|_| ()));
    let mut file = File::create(current)?;
    let mut inputs = (target.seeds)();
    anyhow::ensure!(!inputs.is_empty(), "the target {} has no seeds", target.name);
    let (begun, mut count, mut known) = (Instant::now(), 0usize, BTreeSet::new());
    let first = inputs.clone();
    let mut fresh = first.into_iter();
    while begun.elapsed().as_secs_f64() < arguments.seconds {
        let mut rng = Seed(arguments.seed).stream(Stage::Reference, 0, count as u64);
        let seed = fresh.next();
        let is_seed = seed.is_some();
        let input = seed.unwrap_or_else(|| mutate(&inputs, target.words, &mut rng));
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(&input)?;
        STARTED.store(now(), Ordering::Relaxed);
        let outcome = attempt(target, &input, arguments.largest);
        STARTED.store(IDLE, Ordering::Relaxed);
        count += 1;
        match outcome {
            Outcome::Seen(seen) => {
                if known.insert(seen) && !is_seed && inputs.len() < MOST_KEPT {
                    inputs.push(input);
                }
            }
            Outcome::Broken(how) => {
                println!("{how}");
                return Ok(ExitCode::from(BROKEN));
            }
        }
    }
    println!("{count} inputs, {} of them showed something new", inputs.len());
    Ok(ExitCode::SUCCESS)
}

/// When the present input was begun, in milliseconds; `IDLE` between two.
static STARTED: AtomicU64 = AtomicU64::new(IDLE);
const IDLE: u64 = u64::MAX;

fn now() -> u64 {
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_millis() as u64
}

/// Ends the process where an input takes too long.
fn watch(slowest: f64) {
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_millis(50));
            let started = STARTED.load(Ordering::Relaxed);
            if started != IDLE && (now().saturating_sub(started)) as f64 > slowest * 1000.0 {
                println!("it takes more than {slowest} s");
                std::process::exit(BROKEN.into());
            }
        }
    });
}
