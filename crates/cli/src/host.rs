//! Counterpoise inside another program, which states problems, brings simulators and executors, and wants answers as
//! values: what the Python package is made of.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fmt::{Debug, Formatter};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use counterpoise_core::problem::{Joint, Simulator};
use counterpoise_core::stop::StopReason;
use counterpoise_run::drive::Event;
use counterpoise_run::executor::Executor;
use counterpoise_run::store::Store;
use serde_json::Value;

use crate::args::{Arguments, ProblemArguments, RunArguments, Schedule};
use crate::commands;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::problem_file::{self, Loaded, Override, Purpose};
use crate::trouble::Trouble;

/// A problem that another program states: the text of a problem file, and what no text can say.
#[derive(Clone)]
pub struct Stated {
    /// As in a problem file, without `[model]` where the model is given here.
    pub text: String,
    /// What paths in the text are relative to.
    pub directory: PathBuf,
    /// A simulator of the program's own.
    pub model: Option<Model>,
    /// A joint law of the parameters, whose `[parameters]` then only span unit space, and what identifies it.
    pub joint: Option<(Arc<dyn Joint>, Value)>,
}

/// A simulator of the program's own.
#[derive(Clone)]
pub struct Model {
    /// Names of its statistics.
    pub statistics: Vec<String>,
    /// It takes parameters in the order of the problem.
    pub simulator: Arc<dyn Simulator>,
    /// All that determines what it simulates.
    pub description: Value,
    /// What it is, in one line.
    pub headline: String,
    /// The share of failed simulations that is borne.
    pub max_failures: f64,
}

impl Debug for Stated {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Stated").field("text", &self.text).finish_non_exhaustive()
    }
}

/// Where a problem stands, with keys that are given another value, each as `key=value`.
#[derive(Clone, Debug)]
pub struct Source {
    /// In a file or in the program.
    pub problem: Written,
    /// Keys with values.
    pub set: Vec<String>,
}

/// Where a problem is written.
#[derive(Clone, Debug)]
pub enum Written {
    /// In a problem file.
    File(PathBuf),
    /// In the program.
    Here(Arc<Stated>),
}

impl Source {
    fn arguments(&self) -> ProblemArguments {
        let (problem, stated) = match &self.problem {
            Written::File(path) => (path.clone(), None),
            Written::Here(stated) => (stated.directory.join("problem"), Some(stated.clone())),
        };
        ProblemArguments { problem, set: self.set.clone(), stated }
    }
}

/// Why something could not be done.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Whether it is for the user to change what was asked.
    pub is_input: bool,
    /// Why, and what to do.
    pub message: String,
}

impl From<Trouble> for Refused {
    fn from(trouble: Trouble) -> Self {
        let (error, hint, is_input) = match trouble {
            Trouble::Mistakes(mistakes) => return Self { is_input: true, message: mistakes.plain() },
            Trouble::Input { error, hint } => (error, hint, true),
            Trouble::Failed { error, hint } => (error, hint, false),
        };
        let mut message = format!("{error:#}");
        if let Some(hint) = hint {
            message.push_str(&format!(" ({hint})"));
        }
        Self { is_input, message }
    }
}

/// A problem without mistakes, to be simulated.
pub struct Ready(Loaded);

impl Ready {
    /// Reads a problem. For simulating alone it needs no observations.
    ///
    /// # Errors
    /// With every mistake.
    pub fn load(source: &Source, for_simulating: bool) -> Result<Self, Refused> {
        let purpose = if for_simulating { Purpose::Simulate } else { Purpose::Infer };
        let overrides: Vec<Override> = source.set.iter().map(|text| Override::set(text)).collect();
        let loaded = problem_file::open(&source.arguments(), &overrides, purpose).map_err(Trouble::from)?;
        Ok(Self(loaded))
    }

    /// All that determines the result, in canonical form.
    #[must_use]
    pub fn description(&self) -> &Value {
        &self.0.description
    }

    /// Names of the parameters.
    #[must_use]
    pub fn parameters(&self) -> Vec<String> {
        self.0.parameters()
    }

    /// Names of the statistics.
    #[must_use]
    pub fn statistics(&self) -> &[String] {
        &self.0.problem.statistics
    }

    /// Seed of the method.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.0.method.seed
    }

    /// The prior.
    #[must_use]
    pub fn prior(&self) -> &counterpoise_core::problem::Prior {
        &self.0.problem.prior
    }

    /// The simulator; none where simulations exist already.
    #[must_use]
    pub fn simulator(&self) -> Option<&dyn Simulator> {
        self.0.material.simulator()
    }
}

/// Is told what happens in a run, and may break it off.
pub type See<'a> = dyn FnMut(&Event<'_>) -> ControlFlow<StopReason> + 'a;

/// What a program brings along for a run; all of it may be missing.
#[derive(Default)]
pub struct Means<'a> {
    /// Simulates, in place of threads.
    pub executor: Option<&'a mut dyn Executor>,
    /// Keeps the run, in place of a directory.
    pub store: Option<&'a mut dyn Store>,
    /// Is told what happens, and may break the run off.
    pub see: Option<&'a mut See<'a>>,
    /// Threads for everything that is done here; all where it does not say.
    pub threads: Option<usize>,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What `--json` prints.
    pub summary: Value,
    /// Why it stopped before its end, if it did, and how to go on.
    pub stopped: Option<String>,
}

/// Runs a problem, or goes on with it where the directory holds a part of it.
///
/// # Errors
/// If the problem has mistakes, the directory holds another run, or the run cannot go on.
pub fn run(source: &Source, into: Option<&Path>, means: Means<'_>) -> Result<Ended, Refused> {
    let threads = means.threads.map(|threads| threads as u64);
    let arguments = RunArguments {
        problem: source.arguments(),
        into: into.map(Path::to_path_buf),
        schedule: Schedule { threads, chunk: None },
        plot: false,
        json: true,
        dask: None,
        mpi: false,
    };
    let output = Output::new(true);
    let ran = commands::run::run_by(&arguments, means, &Interrupt::unheard(), output)?;
    let summary = serde_json::to_value(&ran.summary).map_err(Trouble::from)?;
    Ok(Ended { summary, stopped: ran.stopped })
}

thread_local! {
    /// What a command of this thread has printed, while somebody wants to have it.
    static PRINTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps a result for whoever wants it; whether somebody does.
pub(crate) fn keep(text: &str) -> bool {
    PRINTED.with_borrow_mut(|printed| match printed {
        Some(printed) => {
            printed.push_str(text);
            true
        }
        None => false,
    })
}

/// Asks a command to stop, from another thread.
#[derive(Clone, Debug)]
pub struct Stop(Interrupt);

impl Default for Stop {
    fn default() -> Self {
        Self(Interrupt::unheard())
    }
}

impl Stop {
    /// The command ends with an error as soon as it can.
    pub fn ask(&self) {
        self.0.ask();
    }
}

/// Runs a command and gives its exit code and what it would print on the standard output. Where a problem is given, it is taken in place of
/// the file that the arguments name. Interrupts are left to the program, which may ask comparisons and calibrations to stop.
///
/// # Errors
/// If the command could not do its work.
pub fn command(
    arguments: &[OsString],
    problem: Option<&Source>,
    stop: &Stop,
) -> Result<(u8, String), Refused> {
    let name = std::iter::once(OsString::from("counterpoise"));
    let mut parsed = Arguments::try_parse_from(name.chain(arguments.iter().cloned()))
        .map_err(|error| Refused { is_input: true, message: error.to_string().trim_end().to_owned() })?;
    if let (Some(problem), Some(place)) = (problem, parsed.command.problem()) {
        let set = std::mem::take(&mut place.set);
        *place = problem.arguments();
        place.set.extend(set);
    }
    PRINTED.set(Some(String::new()));
    let performed = commands::perform(&parsed.command, &stop.0, None, Output::new(parsed.quiet));
    let printed = PRINTED.take().unwrap_or_default();
    Ok((performed?, printed))
}

/// Where a run's simulations are made, if not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// On the workers of a Dask scheduler at this address.
    Dask(String),
    /// On the other ranks of an MPI job.
    Mpi,
}

/// What workers elsewhere have to know.
#[derive(Clone, Debug)]
pub struct Task {
    /// The problem file.
    pub problem: PathBuf,
    /// Keys with values, each as `key=value`.
    pub set: Vec<String>,
    /// Summaries of a simulation.
    pub summaries: usize,
    /// All that determines the result: workers that read another problem must not be believed.
    pub description: Value,
}

/// What the program around this one can do, and this one cannot by itself.
pub trait Host {
    /// An executor that brings the simulations of a task to where they are made.
    ///
    /// # Errors
    /// In words, if there is none.
    fn executor(&self, place: &Elsewhere, task: &Task) -> Result<Box<dyn Executor>, String>;

    /// Writes a run into an empty file as ArviZ reads it, in NetCDF: so many draws of equal weight, or as many as there are particles.
    ///
    /// # Errors
    /// If it cannot.
    fn write_arviz(&self, directory: &Path, draws: Option<u32>, to: &Path) -> Result<(), Refused>;
}

/// The whole program with these arguments, the first of them its name: prints, and gives the exit code.
pub fn main(arguments: &[OsString], host: Option<&dyn Host>) -> u8 {
    crate::main_with(arguments, host)
}
