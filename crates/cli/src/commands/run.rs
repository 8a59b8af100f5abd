//! `run`: infer, keep, print.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use counterpoise_core::digest::{Analysis, DigestError, FailureExample, Generation};
use counterpoise_core::problem::Problem;
use counterpoise_core::stop::StopReason;
use counterpoise_core::stream::Seed;
use counterpoise_run::drive::{self, Event, RunError, Seconds};
use counterpoise_run::executor::{ExecutorError, Threads, Tolerant};
use counterpoise_run::given;
use counterpoise_run::store::{Directory, Header, Store};

use super::stored::{self, Stored};
use super::{overrides, shell_word};
use crate::args::RunArguments;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::print::progress::Progress;
use crate::print::{json, posterior};
use crate::problem_file::{Loaded, Material, Method, Purpose, load};
use crate::summary::{Ended, Subject, Summary};
use crate::trouble::{DONE, STOPPED, Trouble};

/// Runs a problem, or prints again what its directory holds.
pub(crate) fn run(arguments: &RunArguments, output: Output) -> Result<u8, Trouble> {
    let loaded = load(&arguments.problem.problem, &overrides(&arguments.problem), Purpose::Infer)?;
    let path = arguments.into.clone().unwrap_or_else(|| Path::new("runs").join(slug(&loaded.name)));
    let header = Header { description: loaded.description.clone(), parameters: loaded.parameters() };
    match stored::look(&path, &header)? {
        Stored::Finished(summary) => {
            output.note(&format!("already finished: this run is in {}", path.display()));
            print(&summary, arguments.json, output)?;
            Ok(DONE)
        }
        Stored::Unfinished(generations) => {
            output.note(&format!("{} holds this run unfinished: starting over", path.display()));
            infer(arguments, output, loaded, (&path, &header, generations))
        }
        Stored::Nothing => infer(arguments, output, loaded, (&path, &header, 0)),
    }
}

/// Runs a problem into a directory, where an attempt `before` finished so many generations.
fn infer(
    arguments: &RunArguments,
    output: Output,
    loaded: Loaded,
    (path, header, before): (&Path, &Header, usize),
) -> Result<u8, Trouble> {
    let Loaded { name, problem, material, method, headline, tolerance, .. } = loaded;
    let mut directory = Directory::new(path);
    let analysis = Analysis { problem, method: method.build(), seed: Seed(method.seed) };
    let model = headline.as_deref();
    let subject =
        Subject { name: &name, model, problem: &analysis.problem, method: &method, directory: path };
    check_memory(&method, &analysis.problem)?;
    let mut watch = Watch::new(&method, output);
    prepare(&mut directory, header, subject)?;
    let pool = arguments.schedule.pool();
    let mut see = |event: Event<'_>| watch.see(&event);
    let task = (&analysis, header);
    let simulated = material.simulator().is_some();
    let run = match material {
        Material::Simulator(simulator) => {
            let threads = Threads::new(simulator, pool.threads(), arguments.schedule.chunk());
            let mut executor = Tolerant::new(threads, tolerance);
            drive::run(task, &mut executor, &mut directory, &pool, &mut see)
        }
        Material::Table(table) => {
            given::run(task, &table.source(method.simulations), &mut directory, &pool, &mut see)
        }
    };
    watch.progress.finish();
    let finished = match run {
        Ok(finished) => finished,
        Err(RunError::Table(error)) => {
            let hint = error.fault.hint();
            return Err(Trouble::input(error, hint));
        }
        Err(error) => {
            let repeated = simulated.then_some(arguments);
            return Err(broken(&error, (repeated, subject), &directory, &watch, before));
        }
    };
    let ended =
        Ended { history: &finished.history, reason: Some(finished.reason), seconds: finished.seconds };
    let summary = Summary::new(subject, &ended);
    keep(&directory, &summary, before)?;
    print(&summary, arguments.json, output)?;
    if summary.finished {
        return Ok(DONE);
    }
    output.say(&stopped(&summary, &finished.reason.to_string(), before));
    Ok(STOPPED)
}

/// Makes the directory and marks it as ours before any work is done, so that a directory that cannot be written
/// shows now and not at the end.
fn prepare(directory: &mut Directory, header: &Header, subject: Subject<'_>) -> Result<(), Trouble> {
    let refused = |error| Trouble::input(error, "use --into with another directory".to_owned());
    directory.open(header).map_err(refused)?;
    if stored::read(directory.path())?.is_none() {
        let ended = Ended { history: &[], reason: None, seconds: Seconds::default() };
        directory.write(&serde_json::to_value(Summary::new(subject, &ended))?).map_err(refused)?;
    }
    Ok(())
}

/// Asks for the memory of one generation, so that a refusal is an error and not the end of the program.
fn check_memory(method: &Method, problem: &Problem) -> Result<(), Trouble> {
    let columns = problem.statistics.len() + 2 * problem.prior.dimension();
    let values = method.simulations.saturating_mul(columns);
    Vec::<f64>::new().try_reserve_exact(values).map_err(|_| {
        let gibibytes = method.simulations as f64 * columns as f64 * 8.0 / f64::from(1 << 30);
        let message = anyhow::anyhow!("a generation needs {gibibytes:.0} GiB of memory, more than there is");
        Trouble::input(message, "lower method.simulations and raise method.generations".to_owned())
    })
}

/// Writes the summary and the posterior, unless an earlier attempt got further.
fn keep(directory: &Directory, summary: &Summary, before: usize) -> Result<(), Trouble> {
    if !summary.finished && summary.generations < before {
        return Ok(());
    }
    directory.write(&serde_json::to_value(summary)?).map_err(|error| Trouble::failed(error, None))
}

fn print(summary: &Summary, as_json: bool, output: Output) -> Result<(), Trouble> {
    let text = if as_json { json::object(summary)? } else { posterior::page(summary) };
    Ok(output.result(&text)?)
}

fn stopped(summary: &Summary, reason: &str, before: usize) -> String {
    let Summary { generations, generations_planned, directory, .. } = summary;
    let why = if reason == "interrupt" {
        "interrupted".to_owned()
    } else {
        format!("stopped at the limit of {reason}")
    };
    let kept = match *generations {
        done if done < before => {
            format!("{done} generations are done; {directory} keeps the {before} of an earlier attempt")
        }
        0 => "no generation was finished".to_owned(),
        _ => format!("{generations} of {generations_planned} generations are kept in {directory}"),
    };
    format!("{why}: {kept}; the same command starts over")
}

/// Follows a run: tells how far it is, and stops it when the user asks or the time is up.
struct Watch {
    interrupt: Interrupt,
    progress: Progress,
    seconds: f64,
    generations: usize,
    committed: Vec<Generation>,
}

impl Watch {
    fn new(method: &Method, output: Output) -> Self {
        Self {
            interrupt: Interrupt::listen(output),
            progress: Progress::new(output, method.generations, method.simulations),
            seconds: method.seconds.unwrap_or(f64::INFINITY),
            generations: method.generations,
            committed: Vec::new(),
        }
    }

    fn see(&mut self, event: &Event<'_>) -> ControlFlow<StopReason> {
        match event {
            Event::Simulated { index, done, failed } => self.progress.simulated(*index, *done, *failed),
            // The simulations are there: what is dear is paid for, so the generation is finished.
            Event::Weighing { index } => {
                self.progress.weighing(*index);
                return ControlFlow::Continue(());
            }
            Event::Committed(generation) => {
                self.progress.committed(generation);
                self.committed.push((*generation).clone());
                if self.committed.len() == self.generations {
                    return ControlFlow::Continue(());
                }
            }
            _ => {}
        }
        if self.interrupt.is_asked() {
            return ControlFlow::Break(StopReason::Interrupt);
        }
        if self.progress.elapsed() > self.seconds {
            return ControlFlow::Break(StopReason::Seconds);
        }
        ControlFlow::Continue(())
    }
}

/// A run that cannot go on: what is committed is kept, and the failure of a simulator can be repeated.
fn broken(
    error: &RunError,
    (arguments, subject): (Option<&RunArguments>, Subject<'_>),
    directory: &Directory,
    watch: &Watch,
    before: usize,
) -> Trouble {
    let mut hints = Vec::new();
    let example = match error {
        RunError::Digest { index, source: DigestError::TooFewUsable { first: Some(example), .. } } => {
            Some((*index, example))
        }
        RunError::Execute { index, source: ExecutorError::TooManyFailures { first, .. } } => {
            Some((*index, &**first))
        }
        _ => None,
    };
    if let (Some((index, example)), Some(arguments)) = (example, arguments) {
        hints.push(format!("this repeats the example: {}", repeat(arguments, subject, index, example)));
    }
    if !watch.committed.is_empty() {
        let seconds = Seconds { total: watch.progress.elapsed(), ..Seconds::default() };
        let ended = Ended { history: &watch.committed, reason: None, seconds };
        if keep(directory, &Summary::new(subject, &ended), before).is_ok() {
            let path = subject.directory.display();
            hints.push(format!(
                "counterpoise show {path} prints the {} finished generations",
                watch.committed.len()
            ));
        }
    }
    let hint = (!hints.is_empty()).then(|| hints.join("\nhint: "));
    Trouble::failed(chain(error).context("the run cannot go on"), hint)
}

/// An error and its causes, as messages.
fn chain(error: &(dyn std::error::Error + 'static)) -> anyhow::Error {
    match error.source() {
        Some(source) => chain(source).context(error.to_string()),
        None => anyhow::anyhow!("{error}"),
    }
}

/// The command that repeats one simulation.
fn repeat(arguments: &RunArguments, subject: Subject<'_>, index: u32, example: &FailureExample) -> String {
    let marginals = subject.problem.prior.marginals();
    let at: Vec<String> = marginals
        .iter()
        .zip(&example.theta)
        .map(|(marginal, value)| format!("{}={value}", marginal.name()))
        .collect();
    let mut words = vec!["counterpoise".into(), "simulate".into()];
    words.push(arguments.problem.problem.display().to_string());
    words.extend(arguments.problem.set.iter().flat_map(|set| ["--set".into(), set.clone()]));
    words.extend(["--at".into(), at.join(","), "--seed".into(), subject.method.seed.to_string()]);
    words.extend(["--generation".into(), index.to_string(), "--row".into(), example.row.to_string()]);
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// A name as a directory: lower case, with hyphens for everything else.
fn slug(name: &str) -> PathBuf {
    const LONGEST: usize = 80;
    let letter = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
    let hyphened: String = name.to_lowercase().chars().map(letter).collect();
    let words: Vec<&str> = hyphened.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(LONGEST).collect();
    PathBuf::from(if slug.is_empty() { "run" } else { &slug })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_directories() {
        assert_eq!(slug("death process"), Path::new("death-process"));
        assert_eq!(slug("../../etc/Passwd"), Path::new("etc-passwd"));
        assert_eq!(slug("?!"), Path::new("run"));
        assert_eq!(slug(&"x".repeat(500)).as_os_str().len(), 80);
    }
}
