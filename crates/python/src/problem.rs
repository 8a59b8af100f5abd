//! A problem that Python states or names, and all that can be done with it.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use counterpoise_cli::host::{self, Means, Model, Ready, Refused, Source, Stated, Stop, Written};
use counterpoise_core::problem::Failure;
use counterpoise_core::propose::propose_rows;
use counterpoise_core::simulate::{Chunk, Jobs, Simulated};
use counterpoise_core::stop::StopReason;
use counterpoise_core::stream::Seed;
use counterpoise_core::table::Table;
use counterpoise_run::drive::Event;
use counterpoise_run::executor::{Executor, Threads};
use counterpoise_run::pool::Pool;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::{bad, calm, failed, refused, refused_as_stated};
use crate::executor::Spread;
use crate::kept::Kept;
use crate::outcome::Outcome;
use crate::trouble::Trouble;
use crate::{joint, simulator};

/// How often Python is told how far a run is, and asked whether the user wants to stop.
const FRAME: Duration = Duration::from_millis(100);

/// A problem.
#[pyclass(frozen, module = "counterpoise._native")]
pub(crate) struct Problem {
    source: Source,
    trouble: Trouble,
    stop: Stop,
    ready: std::sync::OnceLock<Ready>,
}

impl Problem {
    /// The problem, read once: simulating needs no observations.
    fn ready(&self) -> PyResult<&Ready> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let ready = Ready::load(&self.source, true).map_err(self.refused())?;
        Ok(self.ready.get_or_init(|| ready))
    }

    /// How to say that something about it was refused.
    fn refused(&self) -> fn(Refused) -> PyErr {
        if matches!(self.source.problem, Written::Here(_)) { refused_as_stated } else { refused }
    }

    /// Raises what Python code raised meanwhile.
    fn checked<T>(&self, result: Result<T, PyErr>) -> PyResult<T> {
        match self.trouble.take() {
            Some(error) => Err(error),
            None => result,
        }
    }
}

/// A simulator of Python's own: names of statistics, the callable, rows that belong together, description as JSON, headline,
/// and the share of failures that is borne.
type Given = (Vec<String>, Py<PyAny>, usize, String, String, f64);

/// Summaries, and which rows failed, why.
type Made<'py> = (Bound<'py, PyArray2<f64>>, Vec<(usize, String)>);

#[pymethods]
impl Problem {
    /// A problem in the text of a problem file, with a simulator and a joint law of Python's own, if any.
    #[new]
    #[pyo3(signature = (text, directory, model=None, joint=None))]
    fn new(
        text: String,
        directory: PathBuf,
        model: Option<Given>,
        joint: Option<(Py<PyAny>, String)>,
    ) -> PyResult<Self> {
        let trouble = Trouble::default();
        let model = model.map(|(statistics, simulate, batch, description, headline, max_failures)| {
            let called = simulator::Called {
                simulate,
                columns: statistics.len(),
                batch: batch.max(1),
                calling: Mutex::new(()),
                trouble: trouble.clone(),
            };
            let description = serde_json::from_str(&description).map_err(failed)?;
            Ok::<_, PyErr>(Model {
                statistics,
                simulator: Arc::new(called),
                description,
                headline,
                max_failures,
            })
        });
        let joint = joint.map(|(law, identity)| {
            let called = joint::Called { law, trouble: trouble.clone() };
            let identity = serde_json::from_str(&identity).map_err(failed)?;
            Ok::<_, PyErr>((Arc::new(called) as Arc<dyn counterpoise_core::problem::Joint>, identity))
        });
        let stated = Stated { text, directory, model: model.transpose()?, joint: joint.transpose()? };
        let source = Source { problem: Written::Here(Arc::new(stated)), set: Vec::new() };
        Ok(Self { source, trouble, stop: Stop::default(), ready: std::sync::OnceLock::new() })
    }

    /// A problem in a file, with some keys given another value.
    #[staticmethod]
    fn file(path: PathBuf, set: Vec<String>) -> Self {
        let source = Source { problem: Written::File(path), set };
        Self { source, trouble: Trouble::default(), stop: Stop::default(), ready: std::sync::OnceLock::new() }
    }

    /// Names of the parameters.
    #[getter]
    fn parameters(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| calm(|| Ok(self.ready()?.parameters())))
    }

    /// Names of the statistics.
    #[getter]
    fn statistics(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| calm(|| Ok(self.ready()?.statistics().to_vec())))
    }

    /// What the problem is, as JSON, without its observations.
    #[getter]
    fn description(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| calm(|| Ok(self.ready()?.description().to_string())))
    }

    /// Draws from the prior, those of the first generation with this seed.
    fn draw<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let drawn = py.detach(|| {
            let pool = Pool::available();
            calm(|| {
                propose_rows(self.ready()?.prior(), None, 0..count, (Seed(seed), 0), &pool).map_err(failed)
            })
        });
        let thetas = self.checked(drawn)?.thetas;
        thetas.values().to_vec().into_pyarray(py).reshape([thetas.rows(), thetas.columns()])
    }

    /// Summaries at some parameters, and which rows failed. `rows` says which rows of the generation they are.
    #[pyo3(signature = (thetas, rows, generation, seed=None, threads=None))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        thetas: Bound<'py, PyAny>,
        rows: Bound<'py, PyAny>,
        generation: u32,
        seed: Option<u64>,
        threads: Option<usize>,
    ) -> PyResult<Made<'py>> {
        let (thetas, rows) = (simulator::matrix(&thetas)?, simulator::whole(&rows)?.as_slice()?.to_vec());
        if thetas.shape()[0] != rows.len() {
            return Err(bad(format!("{} parameters for {} rows", thetas.shape()[0], rows.len())));
        }
        let (width, values) = (thetas.shape()[1], thetas.as_slice()?.to_vec());
        let made = py.detach(|| {
            let ready = self.ready()?;
            let expected = ready.parameters().len();
            if width != expected {
                return Err(bad(format!("expected {expected} parameters, found {width}")));
            }
            calm(|| simulate(ready, Table::from_rows(width, values), &rows, (generation, seed), threads))
        });
        let simulated = self.checked(made)?;
        let summaries = simulated.table();
        let failures = simulated.failures().iter().map(|(&row, failure)| (row, failure.to_text())).collect();
        let array =
            summaries.values().to_vec().into_pyarray(py).reshape([summaries.rows(), summaries.columns()])?;
        Ok((array, failures))
    }

    /// Runs it. `pool` simulates in place of threads; `see(kind, generation, done, failed)` is told how far it is.
    #[pyo3(signature = (into=None, threads=None, pool=None, see=None))]
    fn run(
        &self,
        py: Python<'_>,
        into: Option<PathBuf>,
        threads: Option<usize>,
        pool: Option<Py<PyAny>>,
        see: Option<Py<PyAny>>,
    ) -> PyResult<Outcome> {
        let columns = if pool.is_some() { self.statistics(py)?.len() } else { 0 };
        let trouble = self.trouble.clone();
        let mut watch = Watch { see, trouble: trouble.clone(), last: None };
        let batch = pool.as_ref().map_or(Ok(1), |pool| pool.bind(py).getattr("unit")?.extract())?;
        let mut executor = pool.map(|pool| Spread { pool, columns, batch, trouble });
        let mut kept = Kept::default();
        let ended = py.detach(|| {
            let mut tell = |event: &Event<'_>| watch.tell(event);
            let means = Means {
                executor: executor.as_mut().map(|executor| executor as &mut dyn Executor),
                store: into.is_none().then_some(&mut kept as &mut dyn counterpoise_run::store::Store),
                see: Some(&mut tell),
                threads,
            };
            calm(|| host::run(&self.source, into.as_deref(), means).map_err(self.refused()))
        });
        let ended = self.checked(ended)?;
        match into {
            Some(directory) => Outcome::in_directory(&directory, ended.stopped),
            None => Ok(Outcome::in_memory(kept, ended.summary, ended.stopped)),
        }
    }

    /// Ends a command that another thread has called, as soon as the call of Python code that it is in has come back: nothing more is
    /// called. The problem is of no use afterwards.
    fn stop(&self) {
        self.trouble.keep(PyKeyboardInterrupt::new_err(()));
        self.stop.ask();
    }

    /// What a command of the program prints about this problem.
    fn command(&self, py: Python<'_>, words: Vec<OsString>) -> PyResult<String> {
        let printed = py.detach(|| {
            calm(|| host::command(&words, Some(&self.source), &self.stop).map_err(self.refused()))
        });
        self.checked(printed).map(|(_, text)| text)
    }
}

fn simulate(
    ready: &Ready,
    thetas: Table,
    rows: &[i64],
    (generation, seed): (u32, Option<u64>),
    threads: Option<usize>,
) -> PyResult<Simulated> {
    let simulator =
        ready.simulator().ok_or_else(|| bad("a table of simulations cannot make more of them"))?;
    let seed = Seed(seed.unwrap_or(ready.seed()));
    let pool = threads.map_or_else(Pool::available, Pool::new);
    let mut simulated = Simulated::empty(thetas.rows(), simulator.summaries());
    let mut executor = Threads::new(simulator, pool.threads(), None);
    let mut last = Instant::now();
    let mut interrupted = None;
    // Rows that follow one another are simulated together: their streams follow from the first.
    let mut from = 0;
    while from < rows.len() && interrupted.is_none() {
        let to = (from + 1..rows.len()).find(|&at| rows[at] != rows[at - 1] + 1).unwrap_or(rows.len());
        let first = u64::try_from(rows[from]).map_err(|_| bad(format!("a row below 0: {}", rows[from])))?;
        let width = thetas.columns();
        let some = Table::from_rows(width, thetas.values()[from * width..to * width].to_vec());
        let jobs = Jobs { thetas: &some, seed, generation, first };
        let run = executor.run(jobs, &(0..to - from).collect::<Vec<_>>(), &mut |chunk: Chunk| {
            let Chunk { rows, summaries, outcomes } = chunk;
            simulated.place(&Chunk {
                rows: rows.iter().map(|row| row + from).collect(),
                summaries,
                outcomes,
            });
            if last.elapsed() > FRAME {
                last = Instant::now();
                interrupted = Python::attach(|py| py.check_signals()).err();
            }
            if interrupted.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        run.map_err(failed)?;
        from = to;
    }
    if let Some(error) = interrupted {
        return Err(error);
    }
    let missing: Vec<usize> = simulated.pending();
    for row in missing {
        let nothing = Table::filled(1, simulated.summaries().columns(), f64::NAN);
        let outcome = Err(Failure::Crashed("it was not simulated".into()));
        simulated.place(&Chunk::new(vec![row], nothing, vec![outcome]));
    }
    Ok(simulated)
}

/// Tells Python how far a run is, and finds out whether to stop.
struct Watch {
    see: Option<Py<PyAny>>,
    trouble: Trouble,
    last: Option<Instant>,
}

impl Watch {
    fn tell(&mut self, event: &Event<'_>) -> ControlFlow<StopReason> {
        let told = match event {
            Event::Opened(history) => ("opened", history.len() as u32, 0, 0),
            Event::Simulating { index, stored } => ("simulating", *index, *stored, 0),
            Event::Simulated { index, done, failed } => ("simulated", *index, *done, *failed),
            Event::Weighing { index } => ("weighing", *index, 0, 0),
            Event::Weighed { .. } => {
                let is_false = self.trouble.is_unanswered();
                return if is_false {
                    ControlFlow::Break(StopReason::Interrupt)
                } else {
                    ControlFlow::Continue(())
                };
            }
            Event::Committed { history, .. } => ("committed", history.len() as u32, 0, 0),
            _ => return ControlFlow::Continue(()),
        };
        let is_due = told.0 != "simulated" || self.last.is_none_or(|last| last.elapsed() > FRAME);
        if is_due && !self.trouble.is_there() {
            self.last = Some(Instant::now());
            let heard = Python::attach(|py| {
                py.check_signals()?;
                self.see.as_ref().map_or(Ok(()), |see| see.bind(py).call1(told).map(|_| ()))
            });
            if let Err(error) = heard {
                self.trouble.keep(error);
            }
        }
        // The simulations of a generation that is being weighed are paid for.
        if self.trouble.is_there() && told.0 != "weighing" {
            return ControlFlow::Break(StopReason::Interrupt);
        }
        ControlFlow::Continue(())
    }
}
