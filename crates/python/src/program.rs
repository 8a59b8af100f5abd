//! The command line inside Python, with clusters that Python knows how to reach.

use std::ffi::OsString;

use counterpoise_cli::host::{self, Cluster, Elsewhere, Task};
use counterpoise_run::executor::Executor;
use pyo3::prelude::*;

use crate::errors::{calm, refused};
use crate::executor::Spread;
use crate::trouble::Trouble;

/// Makes pools by calling `make(kind, address, problem, set, description)`.
struct Reached<'a> {
    make: &'a Py<PyAny>,
    trouble: Trouble,
}

impl Cluster for Reached<'_> {
    fn executor(&self, place: &Elsewhere, task: &Task) -> Result<Box<dyn Executor>, String> {
        let (kind, address) = match place {
            Elsewhere::Dask(address) => ("dask", Some(address.as_str())),
            Elsewhere::Mpi => ("mpi", None),
        };
        let Task { problem, set, summaries, description } = task;
        let pool = Python::attach(|py| {
            let pool = self.make.bind(py).call1((kind, address, problem, set, description.to_string()))?;
            Ok::<_, PyErr>(pool.unbind())
        });
        let pool = pool.map_err(|error| error.to_string())?;
        Ok(Box::new(Spread { pool, columns: *summaries, trouble: self.trouble.clone() }))
    }
}

/// What a command prints.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) -> PyResult<String> {
    py.detach(|| calm(|| host::command(&words, None).map_err(refused))).map(|(_, text)| text)
}

/// The whole program with these arguments, the first of them its name; its exit code.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, words: Vec<OsString>, make: Option<Py<PyAny>>) -> u8 {
    py.detach(|| {
        let trouble = Trouble::default();
        let reached = make.as_ref().map(|make| Reached { make, trouble });
        host::main(&words, reached.as_ref().map(|reached| reached as &dyn Cluster))
    })
}
