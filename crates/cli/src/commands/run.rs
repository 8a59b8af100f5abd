//! `run`: infer, keep, print.

use std::path::{Path, PathBuf};

use counterpoise_core::digest::Analysis;
use counterpoise_core::problem::Problem;
use counterpoise_core::stop::StopReason;
use counterpoise_core::stream::Seed;
use counterpoise_run::drive::{self, Event, Finished, RunError, Seconds};
use counterpoise_run::executor::{Executor, Threads, Tolerant};
use counterpoise_run::given;
use counterpoise_run::store::{Directory, Header, RunRecord, Store, StoreError};

use super::broken::broken;
use super::observe::Observer;
use super::stored::{self, Stored};
use super::{overrides, shell_words};
use crate::args::RunArguments;
use crate::host::{Elsewhere, Host, Means, Task};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::print::{json, posterior};
use crate::problem_file::{Loaded, Material, Method, Purpose, open};
use crate::summary::{Ended, Origin, Subject, Summary};
use crate::trouble::{DONE, STOPPED, Trouble};

/// How a run ended.
pub(crate) struct Ran {
    pub(crate) summary: Summary,
    /// Where it stopped before its end, why, and how to go on.
    pub(crate) stopped: Option<String>,
}

/// Runs a problem, goes on with it where its directory holds a part of it, or prints again what it holds.
pub(crate) fn run(
    arguments: &RunArguments,
    interrupt: &Interrupt,
    host: Option<&dyn Host>,
    output: Output,
) -> Result<u8, Trouble> {
    let mut executor = elsewhere(arguments, host)?;
    let executor = executor.as_deref_mut().map(|executor| executor as &mut dyn Executor);
    let ran = run_by(arguments, Means { executor, ..Means::default() }, interrupt, output)?;
    print(&ran.summary, arguments, output)?;
    if ran.summary.generations > 0 {
        output.note(&report(Path::new(&ran.summary.directory)));
    }
    let Some(stopped) = ran.stopped else { return Ok(DONE) };
    output.say(&stopped);
    Ok(STOPPED)
}

/// What simulates where the user does not want it done here.
fn elsewhere(
    arguments: &RunArguments,
    host: Option<&dyn Host>,
) -> Result<Option<Box<dyn Executor>>, Trouble> {
    let place = match &arguments.dask {
        Some(address) => Elsewhere::Dask(address.clone()),
        None if arguments.mpi => Elsewhere::Mpi,
        None => return Ok(None),
    };
    let Some(host) = host else {
        let message = anyhow::anyhow!("--dask and --mpi need the command of the Python package");
        return Err(Trouble::input(message, "pip install counterpoise".to_owned()));
    };
    let loaded = open(&arguments.problem, &overrides(&arguments.problem), Purpose::Infer)?;
    let Some(simulator) = loaded.material.simulator() else {
        let message = anyhow::anyhow!("a table is read here: there is nothing to simulate elsewhere");
        return Err(Trouble::input(message, "leave --dask or --mpi out".to_owned()));
    };
    let task = Task {
        problem: arguments.problem.problem.clone(),
        set: arguments.problem.set.clone(),
        summaries: simulator.summaries(),
        description: loaded.description,
    };
    let executor = host.executor(&place, &task);
    executor.map(Some).map_err(|reason| Trouble::input(anyhow::anyhow!("{reason}"), None))
}

/// Runs a problem by the means that a program brings along.
pub(crate) fn run_by(
    arguments: &RunArguments,
    means: Means<'_>,
    interrupt: &Interrupt,
    output: Output,
) -> Result<Ran, Trouble> {
    let loaded = open(&arguments.problem, &overrides(&arguments.problem), Purpose::Infer)?;
    let path = arguments.into.clone().unwrap_or_else(|| default_directory(&loaded.name));
    let header = Header {
        description: loaded.description.clone(),
        parameters: loaded.parameters(),
        statistics: loaded.problem.statistics.clone(),
        units: loaded.problem.prior.unit_scales(),
    };
    if means.store.is_some() {
        return infer((arguments, means, interrupt), output, loaded, (&path, header, Seconds::default()));
    }
    match stored::look(&path, &header, output)? {
        Stored::Finished(summary) => {
            output.note(&format!("already finished: this run is in {}", path.display()));
            Ok(Ran { summary: *summary, stopped: None })
        }
        Stored::Begun(before) => {
            infer((arguments, means, interrupt), output, loaded, (&path, header, before))
        }
    }
}

/// Runs a problem into a directory, where earlier processes have spent some time, or into another store.
fn infer(
    (arguments, means, interrupt): (&RunArguments, Means<'_>, &Interrupt),
    output: Output,
    loaded: Loaded,
    (path, mut header, before): (&Path, Header, Seconds),
) -> Result<Ran, Trouble> {
    let Loaded { name, problem, material, mut method, headline, tolerance, truth, .. } = loaded;
    let origin = Origin {
        problem_file: arguments.problem.problem.display().to_string(),
        command: again(arguments, path),
    };
    check_memory(&method, &problem)?;
    // From the moment at which there is something in the directory, an interrupt ends it in order.
    interrupt.heed();
    let mut place =
        means.store.map_or_else(|| Place::Directory(Box::new(Directory::new(path))), Place::Elsewhere);
    let history = place.store().open(&header).map_err(|error| refused(error, path))?;
    if history.len() > method.generations {
        let (done, asked) = (history.len(), method.generations);
        output
            .note(&format!("{done} generations are done already: more than the {asked} asked for are kept"));
        method.generations = done;
        header.description["method"] = method.describe();
        place.store().open(&header).map_err(|error| refused(error, path))?;
    }
    let analysis = Analysis { problem, method: method.build(), seed: Seed(method.seed) };
    let model = headline.as_deref();
    let subject = Subject {
        name: &name,
        model,
        problem: &analysis.problem,
        method: &method,
        directory: path,
        truth: truth.as_deref(),
        // A problem that a program states has no file, and no command makes its run again.
        origin: arguments.problem.stated.is_none().then_some(&origin),
    };
    let mut observer = Observer::new((subject, place.record(), before), interrupt.clone(), output);
    // The directory is marked as ours before any work is done: one that cannot be written shows now, not at the end.
    let nothing =
        Ended { history: &history, reason: None, seconds: Seconds::default(), simulations: 0, failed: 0 };
    observer.keep(&observer.summary(nothing)).map_err(|error| refused(error, path))?;
    let pool = arguments.schedule.pool();
    let mut also = means.see;
    let mut see = |event: Event<'_>| {
        let flow = observer.see(&event);
        match &mut also {
            Some(also) if flow.is_continue() => also(&event),
            _ => flow,
        }
    };
    let task = (&analysis, &header);
    let simulated = material.simulator().is_some();
    let run = match (material, means.executor) {
        (Material::Simulator(_), Some(executor)) => {
            let mut executor = Tolerant::new(executor, tolerance);
            drive::run(task, &mut executor, place.store(), &pool, &mut see)
        }
        (Material::Simulator(simulator), None) => {
            let threads = Threads::new(simulator, pool.threads(), arguments.schedule.chunk());
            let mut executor = Tolerant::new(threads, tolerance);
            drive::run(task, &mut executor, place.store(), &pool, &mut see)
        }
        (Material::Table(table), _) => {
            given::run(task, &table.source(method.simulations), place.store(), &pool, &mut see)
        }
    };
    observer.progress.finish();
    for note in place.notes() {
        output.note(&note);
    }
    let trouble = observer.trouble.take().map(RunError::Store);
    match trouble.map_or(run, Err) {
        Ok(finished) => end((arguments, subject), &observer, &finished),
        Err(RunError::Table(error)) => {
            let hint = error.fault.hint();
            Err(Trouble::input(error, hint))
        }
        Err(error) => Err(broken(&error, arguments, subject, simulated)),
    }
}

/// Where a run is kept.
enum Place<'a> {
    Directory(Box<Directory>),
    Elsewhere(&'a mut dyn Store),
}

impl Place<'_> {
    fn store(&mut self) -> &mut dyn Store {
        match self {
            Self::Directory(directory) => &mut **directory,
            Self::Elsewhere(store) => &mut **store,
        }
    }

    /// Where the summary is kept, if it is.
    fn record(&self) -> Option<RunRecord> {
        match self {
            Self::Directory(directory) => directory.record(),
            Self::Elsewhere(_) => None,
        }
    }

    fn notes(&mut self) -> Vec<String> {
        match self {
            Self::Directory(directory) => directory.notes(),
            Self::Elsewhere(_) => Vec::new(),
        }
    }
}

/// Keeps the summary, and says how to go on with a run that was stopped.
fn end(
    (arguments, subject): (&RunArguments, Subject<'_>),
    observer: &Observer<'_>,
    finished: &Finished,
) -> Result<Ran, Trouble> {
    let Finished { history, reason, seconds, simulations, failed, .. } = finished;
    let ended = Ended {
        history,
        reason: Some(*reason),
        seconds: *seconds,
        simulations: *simulations,
        failed: *failed,
    };
    let summary = observer.summary(ended);
    observer.keep(&summary).map_err(|error| broken(&RunError::Store(error), arguments, subject, true))?;
    let stopped = (!summary.finished).then(|| {
        let stopped = stopped(&summary, *reason, *simulations);
        if !observer.keeps() {
            return format!(
                "{stopped} are done, in memory: with a directory a run goes on where it was stopped"
            );
        }
        let go_on = match &arguments.problem.stated {
            Some(_) => "the same call goes on".to_owned(),
            None => format!("this goes on: {}", go_on(arguments, subject, *reason)),
        };
        format!("{stopped} are kept in {}\n{go_on}", summary.directory)
    });
    Ok(Ran { summary, stopped })
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

fn print(summary: &Summary, arguments: &RunArguments, output: Output) -> Result<(), Trouble> {
    let text = if arguments.json { json::object(summary)? } else { posterior::page(summary, arguments.plot) };
    Ok(output.result(&text)?)
}

/// Names the command that makes a page of a run.
fn report(directory: &Path) -> String {
    let words = ["counterpoise", "report", &directory.display().to_string()].map(str::to_owned);
    format!("a page with pictures: {}", shell_words(&words))
}

/// The command that makes a run again.
fn again(arguments: &RunArguments, directory: &Path) -> String {
    let mut words =
        vec!["counterpoise".into(), "run".into(), arguments.problem.problem.display().to_string()];
    words.extend(["--into".into(), directory.display().to_string()]);
    words.extend(arguments.problem.set.iter().flat_map(|set| ["--set".into(), set.clone()]));
    shell_words(&words)
}

fn stopped(summary: &Summary, reason: StopReason, simulations: usize) -> String {
    let Summary { generations, generations_planned, .. } = summary;
    let why = match reason {
        StopReason::Interrupt => "interrupted".to_owned(),
        other => format!("stopped at the limit of {other}"),
    };
    let next = match simulations {
        0 => String::new(),
        some => format!(" and {some} simulations of the next"),
    };
    format!("{why}: {generations} of {generations_planned} generations{next}")
}

/// The command that goes on with a run, with a limit raised that would stop it again at once.
fn go_on(arguments: &RunArguments, subject: Subject<'_>, reason: StopReason) -> String {
    let mut words = vec!["counterpoise".into(), "run".into()];
    words.push(arguments.problem.problem.display().to_string());
    words.extend(["--into".into(), subject.directory.display().to_string()]);
    let budget = "stop.simulations=";
    let limited = reason == StopReason::Simulations;
    let kept = arguments.problem.set.iter().filter(|set| !(limited && set.starts_with(budget)));
    words.extend(kept.flat_map(|set| ["--set".into(), set.clone()]));
    if limited {
        let all = subject.method.simulations * subject.method.generations;
        words.extend(["--set".into(), format!("{budget}{all}")]);
    }
    let schedule = [("--threads", arguments.schedule.threads), ("--chunk", arguments.schedule.chunk)];
    words.extend(
        schedule.iter().filter_map(|(flag, number)| Some([(*flag).into(), (*number)?.to_string()])).flatten(),
    );
    words.extend(arguments.dask.iter().flat_map(|address| ["--dask".into(), address.clone()]));
    words.extend(arguments.mpi.then(|| "--mpi".into()));
    words.extend(arguments.json.then(|| "--json".into()));
    shell_words(&words)
}

/// A directory that a run cannot begin or go on in.
fn refused(error: StoreError, path: &Path) -> Trouble {
    match stored::trouble(error, path) {
        Trouble::Input { error, hint: None } => {
            Trouble::Input { error, hint: Some("use --into with another directory".to_owned()) }
        }
        other => other,
    }
}

/// Where a run goes that was not told where.
pub(crate) fn default_directory(name: &str) -> PathBuf {
    Path::new("runs").join(slug(name))
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
