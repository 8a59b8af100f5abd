//! An executor whose work is spread by Python: over processes, over a cluster, or not at all.

use std::ops::ControlFlow;

use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::{Chunk, Jobs};
use counterpoise_core::table::Table;
use counterpoise_run::executor::{Executor, ExecutorError};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::simulator::{Answer, Rows, whole};
use crate::trouble::Trouble;

/// A Python object with `begin(thetas, seeds, rows, generation)`; `next()`, which gives places, summaries and failures
/// of some rows, perhaps of none, and `None` at the end; and `stop()`.
pub(crate) struct Spread {
    pub(crate) pool: Py<PyAny>,
    pub(crate) columns: usize,
    /// Rows that belong together.
    pub(crate) batch: usize,
    pub(crate) trouble: Trouble,
}

impl Spread {
    /// The next finished rows.
    fn next(&self, rows: &[usize]) -> PyResult<Option<Finished>> {
        Python::attach(|py| {
            let answer = self.pool.bind(py).call_method0("next")?;
            if answer.is_none() {
                return Ok(None);
            }
            let (places, summaries, failures): (Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>) =
                answer.extract()?;
            let places = whole(&places)?;
            let count = places.len();
            let mut answer = Answer::read(&summaries, &failures, (count, self.columns))?;
            let outcomes = answer.outcomes(count);
            let place = |&place: &i64| usize::try_from(place).ok().and_then(|place| rows.get(place).copied());
            let rows: Option<Vec<usize>> = places.as_slice()?.iter().map(place).collect();
            let rows = rows.ok_or_else(|| PyValueError::new_err("a row that was not asked for"))?;
            Ok(Some(Finished { rows, answer, outcomes }))
        })
    }

    fn call(&self, name: &str) -> PyResult<()> {
        Python::attach(|py| self.pool.bind(py).call_method0(name).map(|_| ()))
    }

    fn broken(&self, error: PyErr) -> ExecutorError {
        let message = error.to_string();
        self.trouble.keep(error);
        ExecutorError::Outside(message)
    }
}

/// Rows of one answer.
struct Finished {
    rows: Vec<usize>,
    answer: Answer,
    outcomes: Vec<Result<(), Failure>>,
}

/// Rows that are handed on together: of a large answer there is never a second copy.
const TOGETHER: usize = 2_048;

impl Finished {
    /// Hands those on that were asked for, and whether more are wanted. A chunk without rows is one, too.
    fn hand_on(
        self,
        columns: usize,
        asked: &[usize],
        sink: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
    ) -> PyResult<ControlFlow<()>> {
        let (mut flow, mut first) = (ControlFlow::Continue(()), 0);
        loop {
            let part = first..self.rows.len().min(first + TOGETHER);
            let summaries = Table::from_rows(columns, self.answer.values(part.clone())?);
            first = part.end;
            let (rows, outcomes) = (self.rows[part.clone()].to_vec(), self.outcomes[part].to_vec());
            let made = Chunk::new(rows, summaries, outcomes);
            if sink(made.only(|row, _| asked.binary_search(&row).is_ok())).is_break() {
                flow = ControlFlow::Break(());
            }
            if first == self.rows.len() {
                // At once: without Python at hand it would stay until somebody calls Python again.
                Python::attach(|_| drop(self));
                return Ok(flow);
            }
        }
    }
}

impl Executor for Spread {
    fn summaries(&self) -> usize {
        self.columns
    }

    /// Chunks are as large as it is wise to lose.
    fn is_dear(&self) -> bool {
        true
    }

    fn run(
        &mut self,
        jobs: Jobs<'_>,
        rows: &[usize],
        sink: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
    ) -> Result<(), ExecutorError> {
        // Some rows of a batch may be known already, or beyond a limit: those beside them would be others without them.
        let whole = jobs.whole_batches(rows, self.batch);
        let all = Rows::of(&jobs, &whole);
        let begun =
            Python::attach(|py| self.pool.bind(py).call_method1("begin", all.into_arrays(py)?).map(|_| ()));
        begun.map_err(|error| self.broken(error))?;
        let mut stopped = false;
        loop {
            let next = self.next(&whole);
            let next =
                next.and_then(|next| next.map(|next| next.hand_on(self.columns, rows, sink)).transpose());
            let flow = match next {
                Ok(Some(flow)) => flow,
                Ok(None) => return Ok(()),
                Err(error) => {
                    let interrupted = Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py));
                    if !interrupted || stopped {
                        let _ = self.call("stop");
                        return Err(self.broken(error));
                    }
                    self.trouble.keep(error);
                    // Whoever watches the run finds the interrupt and breaks it off.
                    sink(Chunk::new(Vec::new(), Table::from_rows(self.columns, Vec::new()), Vec::new()))
                }
            };
            if flow.is_break() && !stopped {
                stopped = true;
                self.call("stop").map_err(|error| self.broken(error))?;
            }
        }
    }
}
