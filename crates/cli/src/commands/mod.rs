//! One file a command.

mod beyond;
mod broken;
mod calibrate;
mod check;
mod check_table;
mod compare;
mod export;
pub(crate) mod init;
mod observe;
mod plot;
mod report;
mod reproduce;
pub(crate) mod run;
mod sbml;
mod shell;
mod show;
mod simulate;
mod stored;
mod verify;
mod watch;

use std::ops::ControlFlow;

use counterpoise_core::problem::Simulator;
use counterpoise_core::stop::StopReason;
use counterpoise_run::drive::Event;
use counterpoise_run::pool::Pool;

use crate::args::{Command, ProblemArguments, Schedule};
use crate::host::Host;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::print::progress::Progress;
use crate::problem_file::{Material, Override};
use crate::trouble::Trouble;

/// Does what was asked and gives the exit code.
pub(crate) fn perform(
    command: &Command,
    interrupt: &Interrupt,
    host: Option<&dyn Host>,
    output: Output,
) -> Result<u8, Trouble> {
    match command {
        Command::Init(arguments) => init::init(arguments, output),
        Command::Run(arguments) => run::run(arguments, interrupt, host, output),
        Command::Check(arguments) => check::check(arguments, output),
        Command::Simulate(arguments) => simulate::simulate(arguments, interrupt, output),
        Command::Show(arguments) => show::show(arguments, output),
        Command::Compare(arguments) => compare::compare(arguments, interrupt, output),
        Command::Calibrate(arguments) => calibrate::calibrate(arguments, interrupt, output),
        Command::Reproduce(arguments) => reproduce::reproduce(arguments, output),
        Command::Verify(arguments) => verify::verify(arguments, output),
        Command::Report(arguments) => report::report(arguments, output),
        Command::Watch(arguments) => watch::watch(arguments, output),
        Command::Plot(arguments) => plot::plot(arguments, output),
        Command::Export(arguments) => export::export(arguments, host, output),
        Command::Sbml(arguments) => sbml::sbml(arguments, output),
        Command::Completions(arguments) => shell::completions(arguments, output),
        Command::Man(arguments) => shell::man(arguments, output),
    }
}

/// The simulator of a problem, which a command that makes data of its own needs.
fn simulator<'a>(material: &'a Material, command: &str, hint: &str) -> Result<&'a dyn Simulator, Trouble> {
    material.simulator().ok_or_else(|| {
        let message = anyhow::anyhow!("{command} makes data of its own: a table of simulations cannot");
        Trouble::input(message, hint.to_owned())
    })
}

/// Tells how far a run in memory is.
fn watched(
    output: Output,
    generations: usize,
    simulations: usize,
) -> impl FnMut(Event<'_>) -> ControlFlow<StopReason> {
    let mut progress = Progress::new(output, generations, simulations);
    move |event| {
        match event {
            Event::Simulated { index, done, failed } => progress.simulated(index, done, failed),
            Event::Weighing { index } => progress.weighing(index),
            Event::Committed { history, .. } => {
                if let Some(last) = history.last() {
                    progress.committed(last);
                }
                if history.len() == generations {
                    progress.finish();
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Values of the problem file that were given on the command line.
fn overrides(arguments: &ProblemArguments) -> Vec<Override> {
    arguments.set.iter().map(|text| Override::set(text)).collect()
}

impl Schedule {
    fn pool(&self) -> Pool {
        self.threads.map_or_else(Pool::available, |threads| Pool::new(threads as usize))
    }

    fn chunk(&self) -> Option<usize> {
        self.chunk.map(|chunk| chunk as usize)
    }
}

/// Words as a shell reads them back.
fn shell_words(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it back.
fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(shell_word("a/b.toml"), "a/b.toml");
        assert_eq!(shell_word("k=1e-3,s=0.5"), "k=1e-3,s=0.5");
        assert_eq!(shell_word("my problem's"), r"'my problem'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
