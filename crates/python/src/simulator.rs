//! A Python callable as a simulator of many rows at once.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::trouble::Trouble;

/// Rows with all that is needed to simulate them.
pub(crate) struct Rows {
    /// Parameters, one row behind the other.
    pub(crate) thetas: Vec<f64>,
    /// A seed for each.
    pub(crate) seeds: Vec<i64>,
    /// Which rows of the generation they are.
    pub(crate) rows: Vec<i64>,
    /// Generation.
    pub(crate) generation: u32,
}

impl Rows {
    /// Some rows of a generation.
    pub(crate) fn of(jobs: &Jobs<'_>, rows: &[usize]) -> Self {
        let mut streams = jobs.streams();
        Self {
            thetas: rows.iter().flat_map(|&row| jobs.theta(row).iter().copied()).collect(),
            seeds: rows.iter().map(|&row| i64::from(streams.at(row).external_seed())).collect(),
            rows: rows.iter().map(|&row| row as i64 + jobs.first as i64).collect(),
            generation: jobs.generation,
        }
    }

    /// As arrays, whose memory this was.
    pub(crate) fn into_arrays<'py>(self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        let count = self.seeds.len();
        let width = self.thetas.len() / count.max(1);
        let thetas = self.thetas.into_pyarray(py).reshape([count, width])?;
        Ok((thetas, self.seeds.into_pyarray(py), self.rows.into_pyarray(py), self.generation))
    }
}

/// Parameters, seeds, rows and the generation.
pub(crate) type Arrays<'py> =
    (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, u32);

/// An array of numbers as the engine can read it: what came over a network may lie at odd addresses.
pub(crate) fn matrix<'py>(array: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, f64>> {
    required(array, "float64")?.extract()
}

/// The same for whole numbers in a row.
pub(crate) fn whole<'py>(array: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, i64>> {
    required(array, "int64")?.extract()
}

fn required<'py>(array: &Bound<'py, PyAny>, kind: &str) -> PyResult<Bound<'py, PyAny>> {
    array.py().import("numpy")?.call_method1("require", (array, kind, "CA"))
}

/// Summaries of some rows, where Python has them, and which of them failed, why.
pub(crate) struct Answer {
    summaries: Py<PyArray2<f64>>,
    failures: Vec<(usize, String)>,
}

impl Answer {
    /// What Python answered for `count` rows of so many summaries.
    pub(crate) fn read(
        summaries: &Bound<'_, PyAny>,
        failures: &Bound<'_, PyAny>,
        (count, columns): (usize, usize),
    ) -> PyResult<Self> {
        let summaries = matrix(summaries)?;
        let shape = summaries.shape();
        if shape != [count, columns] {
            let message =
                format!("expected {count} x {columns} summaries, found {} x {}", shape[0], shape[1]);
            return Err(PyValueError::new_err(message));
        }
        Ok(Self { summaries: (*summaries).clone().unbind(), failures: failures.extract()? })
    }

    /// The summaries of some of the rows, one behind the other.
    pub(crate) fn values(&self, rows: Range<usize>) -> PyResult<Vec<f64>> {
        Python::attach(|py| {
            let summaries = self.summaries.bind(py).try_readonly()?;
            let columns = summaries.shape()[1];
            Ok(summaries.as_slice()?[rows.start * columns..rows.end * columns].to_vec())
        })
    }

    /// What became of each row.
    pub(crate) fn outcomes(&mut self, count: usize) -> Vec<Result<(), Failure>> {
        let mut outcomes = vec![Ok(()); count];
        for (at, why) in self.failures.drain(..) {
            if let Some(outcome) = outcomes.get_mut(at) {
                *outcome = Err(Failure::from_text(&why).unwrap_or(Failure::Crashed(why)));
            }
        }
        outcomes
    }
}

/// Calls `simulate(thetas, seeds, rows, generation)`, which gives summaries and failures.
pub(crate) struct Called {
    pub(crate) simulate: Py<PyAny>,
    pub(crate) columns: usize,
    /// Rows that belong together, and are simulated in one call.
    pub(crate) batch: usize,
    /// Who calls: a function may have a memory of its own, which two threads would share. Taken without Python at hand.
    pub(crate) calling: Mutex<()>,
    pub(crate) trouble: Trouble,
}

/// Rows of a call where they do not belong together.
const TOGETHER: usize = 64;

/// Summaries of some rows, one behind the other, and what became of each.
type Made = (Vec<f64>, Vec<Result<(), Failure>>);

impl Called {
    /// The summaries and outcomes of some rows.
    fn call(&self, rows: Rows) -> PyResult<Made> {
        let count = rows.seeds.len();
        let mut answer = Python::attach(|py| {
            let answer = self.simulate.bind(py).call1(rows.into_arrays(py)?)?;
            let (summaries, failures): (Bound<'_, PyAny>, Bound<'_, PyAny>) = answer.extract()?;
            Answer::read(&summaries, &failures, (count, self.columns))
        })?;
        Ok((answer.values(0..count)?, answer.outcomes(count)))
    }

    /// What became of some rows; after an exception that is not the simulation's own, nothing more is called.
    fn attempt(&self, rows: Rows) -> Result<Made, Failure> {
        let broken = || Failure::Crashed("the simulator cannot be called".into());
        let _alone = self.calling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.trouble.is_there() {
            return Err(broken());
        }
        self.call(rows).map_err(|error| {
            self.trouble.keep(error);
            broken()
        })
    }
}

impl Simulator for Called {
    fn summaries(&self) -> usize {
        self.columns
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        let seeds = vec![i64::from(rng.external_seed())];
        let rows = Rows { thetas: theta.to_vec(), seeds, rows: vec![0], generation: 0 };
        let (values, mut outcomes) = self.attempt(rows)?;
        outcomes.swap_remove(0)?;
        summaries.copy_from_slice(&values);
        Ok(())
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let size = if self.batch > 1 { self.batch } else { TOGETHER };
        let number = |row: usize| (row as u64 + jobs.first) / size as u64;
        let mut ahead = feed.next();
        while let Some(first) = ahead {
            let mut rows = vec![first];
            ahead = loop {
                match feed.next() {
                    Some(row) if number(row) == number(first) => rows.push(row),
                    other => break other,
                }
            };
            // Some may be known already: those beside them would be others without them.
            let whole = jobs.whole_batches(&rows, self.batch);
            match self.attempt(Rows::of(jobs, &whole)) {
                Ok((values, outcomes)) => {
                    let made = whole.iter().copied().zip(outcomes).zip(values.chunks_exact(self.columns));
                    for ((row, outcome), summaries) in made {
                        if rows.binary_search(&row).is_ok() {
                            feed.finish(row, summaries, outcome);
                        }
                    }
                }
                Err(failure) => {
                    let nothing = vec![f64::NAN; self.columns];
                    rows.into_iter().for_each(|row| feed.finish(row, &nothing, Err(failure.clone())));
                }
            }
        }
    }
}
