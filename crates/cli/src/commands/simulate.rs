//! `simulate`: a table of simulations, from the prior or at one point.

use std::io::BufWriter;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anyhow::{Context, anyhow};
use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::propose::propose_rows;
use counterpoise_core::simulate::{Chunk, Jobs, Simulated};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::table::Table;
use counterpoise_run::executor::{Executor, ExecutorError, Threads, Tolerant};
use counterpoise_tables::Kind;
use counterpoise_tables::write::{self, Csv, Partial, Sink, WriteError};

use super::broken::named;
use super::overrides;
use crate::args::SimulateArguments;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::problem_file::{Loaded, Override, Purpose, open, suggestion};
use crate::trouble::{DONE, FAILED, STOPPED, Trouble, no_folder};

/// Values held in memory at a time.
const BLOCK: usize = 4_000_000;

/// Simulates and writes.
pub(crate) fn simulate(
    arguments: &SimulateArguments,
    interrupt: &Interrupt,
    output: Output,
) -> Result<u8, Trouble> {
    let mut given = overrides(&arguments.problem);
    given.extend(arguments.seed.map(Override::seed));
    let loaded = open(&arguments.problem, &given, Purpose::Simulate)?;
    let Some(simulator) = loaded.material.simulator() else {
        let message = anyhow!("a table of simulations cannot make more of them");
        return Err(Trouble::input(message, "counterpoise run works on the table itself".to_owned()));
    };
    if let Some(path) = &arguments.out {
        check_target(path, arguments.force)?;
    }
    let parameters = loaded.parameters();
    let theta = arguments.at.as_deref().map(|at| read_point(at, &parameters)).transpose()?;
    let names = [parameters.clone(), loaded.problem.statistics.clone()].concat();
    let mut failures = Failures::default();
    // A single row is not asked whether to go on.
    if arguments.row.is_none() {
        interrupt.heed();
    }
    let fill = |sink: &mut dyn Sink| match (arguments.row, &theta) {
        (Some(row), Some(theta)) => {
            repeat((&loaded, simulator), theta, (arguments.generation, row), sink, &mut failures)
        }
        _ => table((&loaded, simulator), theta.as_deref(), (arguments, interrupt), sink, &mut failures),
    };
    let filled = match &arguments.out {
        Some(path) => to_file(path, &names, fill),
        None => to_stdout(&names, fill),
    }
    .map_err(|error| {
        Trouble::failed(with_names(error, &loaded), arguments.out.as_deref().and_then(no_folder))
    })?;
    failures.report(&parameters, output);
    if filled.is_break() {
        output.say(&stopped(arguments, failures.rows));
        return Ok(STOPPED);
    }
    if let Some(path) = &arguments.out {
        output.note(&format!("{} rows written to {}", failures.rows, path.display()));
    }
    Ok(if failures.count == failures.rows { FAILED } else { DONE })
}

/// The error, with the names of the parameters where it shows a simulation that failed.
fn with_names(error: anyhow::Error, loaded: &Loaded) -> anyhow::Error {
    match error.downcast_ref() {
        Some(ExecutorError::TooManyFailures { first, .. }) => {
            anyhow!(named(&error.to_string(), first, &loaded.problem))
        }
        _ => error,
    }
}

fn stopped(arguments: &SimulateArguments, rows: usize) -> String {
    match &arguments.out {
        Some(path) => format!("interrupted: {} was not written", path.display()),
        None => format!("interrupted: {rows} rows were written"),
    }
}

fn check_target(path: &Path, force: bool) -> Result<(), Trouble> {
    if Kind::of(path).is_none() {
        let hint = format!("name it {}", Kind::ENDS);
        return Err(Trouble::input(anyhow!("cannot tell what kind of table {} is", path.display()), hint));
    }
    if path.exists() && !force {
        let hint = "use another name, or --force to overwrite it".to_owned();
        return Err(Trouble::input(anyhow!("{} exists already", path.display()), hint));
    }
    Ok(())
}

/// The parameters of `--at name=value,...`, in the problem's order.
fn read_point(text: &str, names: &[String]) -> Result<Vec<f64>, Trouble> {
    let refused =
        |message: String, hint: Option<String>| Trouble::input(anyhow!("--at {text}: {message}"), hint);
    let example = || {
        Some(format!("--at {}", names.iter().map(|name| format!("{name}=...")).collect::<Vec<_>>().join(",")))
    };
    let mut theta = vec![None; names.len()];
    for part in text.split(',') {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| refused(format!("expected name=value, found `{part}`"), example()))?;
        let (name, value) = (name.trim(), value.trim());
        let at = names.iter().position(|known| known == name).ok_or_else(|| {
            let hint = suggestion(name, "parameters", names.iter().map(String::as_str));
            refused(format!("there is no parameter `{name}`"), Some(hint))
        })?;
        let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number
            .ok_or_else(|| refused(format!("{name} must be a finite number, found `{value}`"), None))?;
        if theta[at].replace(number).is_some() {
            return Err(refused(format!("{name} is given twice"), None));
        }
    }
    let missing = |at: usize| refused(format!("the parameter `{}` is missing", names[at]), example());
    theta.into_iter().enumerate().map(|(at, value)| value.ok_or_else(|| missing(at))).collect()
}

/// How many rows were simulated, and what did not work.
#[derive(Default)]
struct Failures {
    rows: usize,
    count: usize,
    first: Option<(Vec<f64>, Failure)>,
}

impl Failures {
    fn see(&mut self, theta: &[f64], failure: Option<&Failure>) {
        self.rows += 1;
        if let Some(failure) = failure {
            self.count += 1;
            self.first.get_or_insert_with(|| (theta.to_vec(), failure.clone()));
        }
    }

    fn report(&self, names: &[String], output: Output) {
        let Some((theta, failure)) = &self.first else { return };
        let at: Vec<String> =
            names.iter().zip(theta).map(|(name, value)| format!("{name} = {value}")).collect();
        let (count, rows) = (self.count, self.rows);
        output.say(&format!(
            "warning: {count} of {rows} simulations failed; for example at {}: {failure}",
            at.join(", ")
        ));
    }
}

/// Fills a file, which is only left there when it is complete.
fn to_file(
    path: &Path,
    names: &[String],
    fill: impl FnOnce(&mut dyn Sink) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<ControlFlow<()>> {
    let context = || format!("cannot write {}", path.display());
    let (partial, file) = Partial::create(path).with_context(context)?;
    let mut sink = write::sink(path, file.try_clone().with_context(context)?, names).with_context(context)?;
    let filled = fill(&mut *sink).map_err(|error| unwritten(error, &context()))?;
    if filled.is_continue() {
        sink.finish().with_context(context)?;
        partial.complete(&file).with_context(context)?;
    }
    Ok(filled)
}

fn to_stdout(
    names: &[String],
    fill: impl FnOnce(&mut dyn Sink) -> anyhow::Result<ControlFlow<()>>,
) -> anyhow::Result<ControlFlow<()>> {
    let written = || -> anyhow::Result<ControlFlow<()>> {
        let mut sink = Box::new(Csv::new(BufWriter::new(std::io::stdout().lock()), names)?);
        let filled = fill(&mut *sink)?;
        sink.finish()?;
        Ok(filled)
    };
    match written() {
        // A reader that has gone away wants no more of it.
        Err(error) if gone(&error) => Ok(ControlFlow::Continue(())),
        other => other.map_err(|error| unwritten(error, "cannot write the result")),
    }
}

/// Why nothing was written, unless it is the simulations that are to blame.
fn unwritten(error: anyhow::Error, context: &str) -> anyhow::Error {
    if error.is::<ExecutorError>() { error } else { error.context(context.to_owned()) }
}

fn gone(error: &anyhow::Error) -> bool {
    let kind = match error.downcast_ref::<WriteError>() {
        Some(WriteError::Io(error)) => Some(error.kind()),
        _ => error.downcast_ref::<std::io::Error>().map(std::io::Error::kind),
    };
    kind == Some(std::io::ErrorKind::BrokenPipe)
}

/// Simulates a table, a block of rows at a time, until it is done or the user asks to stop.
fn table(
    (loaded, simulator): (&Loaded, &dyn Simulator),
    theta: Option<&[f64]>,
    (arguments, interrupt): (&SimulateArguments, &Interrupt),
    sink: &mut dyn Sink,
    failures: &mut Failures,
) -> anyhow::Result<ControlFlow<()>> {
    let (rows, pool) = (arguments.rows.unwrap_or(1) as usize, arguments.schedule.pool());
    let Loaded { problem, method, tolerance, .. } = loaded;
    let columns = problem.prior.dimension() + simulator.summaries();
    let size = (BLOCK / columns).clamp(1, 65_536);
    for first in (0..rows).step_by(size) {
        let block = first..rows.min(first + size);
        let thetas = match theta {
            Some(theta) => Table::from_rows(theta.len(), theta.repeat(block.len())),
            None => propose_rows(&problem.prior, None, block, (Seed(method.seed), 0), &pool)?.thetas,
        };
        let jobs = Jobs { thetas: &thetas, seed: Seed(method.seed), generation: 0, first: first as u64 };
        let threads = Threads::new(simulator, pool.threads(), arguments.schedule.chunk());
        let mut executor = Tolerant::new(threads, *tolerance);
        let mut simulated = Simulated::empty(thetas.rows(), simulator.summaries());
        executor.run(jobs, &simulated.pending(), &mut |chunk: Chunk| {
            simulated.place(&chunk);
            if interrupt.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if interrupt.is_asked() {
            return Ok(ControlFlow::Break(()));
        }
        let summaries = simulated.table();
        let finished = thetas.iter().zip(summaries.iter()).enumerate();
        let mut values = Vec::with_capacity(thetas.rows() * columns);
        for (row, (theta, summaries)) in finished {
            failures.see(theta, simulated.failures().get(&row));
            values.extend(theta.iter().chain(summaries));
        }
        sink.rows(&values)?;
    }
    Ok(ControlFlow::Continue(()))
}

/// Simulates one row of a run once more, with the random numbers it had there.
fn repeat(
    (loaded, simulator): (&Loaded, &dyn Simulator),
    theta: &[f64],
    (generation, row): (u32, u64),
    sink: &mut dyn Sink,
    failures: &mut Failures,
) -> anyhow::Result<ControlFlow<()>> {
    let mut rng = Seed(loaded.method.seed).stream(Stage::Simulate, generation, row);
    let mut summaries = Table::filled(1, simulator.summaries(), f64::NAN);
    let run = || simulator.simulate(theta, &mut rng, summaries.row_mut(0));
    let outcome =
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(Failure::Crashed("panic".into())));
    let mut simulated = Simulated::empty(1, summaries.columns());
    simulated.place(&Chunk::new(vec![0], summaries, vec![outcome]));
    failures.see(theta, simulated.failures().get(&0));
    sink.rows(&[theta, simulated.table().row(0)].concat())?;
    Ok(ControlFlow::Continue(()))
}
