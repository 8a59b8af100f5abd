//! Each target in a process of its own, so that an input that ends the process is caught as well.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};

use anyhow::Context;

use crate::Arguments;
use crate::targets::Target;

/// Exit code of a process in which an input broke something.
pub const BROKEN: u8 = 4;

/// Fuzzes the targets one after another.
pub fn all(targets: &[&Target], arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut broken = 0;
    for target in targets {
        println!("{}: {}", target.name, target.about);
        broken += usize::from(!one(target, arguments)?);
    }
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Fuzzes a target; `false` where something broke.
fn one(target: &Target, arguments: &Arguments) -> anyhow::Result<bool> {
    let folder = tempfile::tempdir()?;
    let current = folder.path().join("current");
    let seconds = arguments.seconds.to_string();
    let seed = arguments.seed.to_string();
    let current_word = current.display().to_string();
    let done =
        start(target, arguments, &["--seconds", &seconds, "--seed", &seed, "--current", &current_word])?;
    if done.status.success() {
        print!("  {}", String::from_utf8_lossy(&done.stdout));
        return Ok(true);
    }
    // A busy machine makes a quick input slow: it counts if it breaks something twice.
    let again = start(target, arguments, &["--repeat", &current_word])?;
    if again.status.success() {
        println!("  {} once and not again, which is no finding", said(&done));
        return Ok(true);
    }
    let kept = keep(target, &current, &arguments.found)?;
    println!(
        "  BROKEN: {}\n  repeat it: cargo run --release -p counterpoise-fuzz -- {} --repeat {kept}",
        said(&again),
        target.name
    );
    Ok(false)
}

fn start(target: &Target, arguments: &Arguments, words: &[&str]) -> anyhow::Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(target.name).args(words);
    command.args(["--slowest", &arguments.slowest.to_string(), "--largest", &arguments.largest.to_string()]);
    command.stdin(Stdio::null()).output().context("cannot start a process")
}

/// What a process said last, or how it ended.
fn said(done: &Output) -> String {
    let text = String::from_utf8_lossy(&done.stdout);
    text.lines().last().map_or_else(|| format!("it ended the process ({})", done.status), str::to_owned)
}

/// Copies an input to where findings are kept.
fn keep(target: &Target, current: &Path, found: &Path) -> anyhow::Result<String> {
    fs::create_dir_all(found)?;
    let bytes = fs::read(current)?;
    let number = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    let path = found.join(format!("{}-{number:016x}", target.name));
    fs::write(&path, bytes)?;
    Ok(path.display().to_string())
}
