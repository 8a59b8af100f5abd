//! The command line inside Python, with what Python can do and it cannot.

use std::ffi::OsString;
use std::path::Path;

use counterpoise_cli::host::{self, Elsewhere, Host, Refused, Task};
use counterpoise_run::executor::Executor;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

use crate::errors::{calm, refused};
use crate::executor::Spread;
use crate::trouble::Trouble;

/// A Python object with `pool(address, problem, set, description)`, where no address stands for the ranks of an MPI job, and
/// `write_arviz(directory, draws, to)`.
struct Around {
    host: Py<PyAny>,
    trouble: Trouble,
}

impl Host for Around {
    fn executor(&self, place: &Elsewhere, task: &Task) -> Result<Box<dyn Executor>, String> {
        let address = match place {
            Elsewhere::Dask(address) => Some(address.as_str()),
            Elsewhere::Mpi => None,
        };
        let Task { problem, set, summaries, description } = task;
        let pool = Python::attach(|py| {
            let asked = (address, problem, set, description.to_string());
            Ok::<_, PyErr>(self.host.bind(py).call_method1("pool", asked)?.unbind())
        });
        let pool = pool.map_err(|error| error.to_string())?;
        let trouble = self.trouble.clone();
        // The engine's own simulators simulate every row by itself.
        Ok(Box::new(Spread { pool, columns: *summaries, batch: 1, trouble }))
    }

    fn write_arviz(&self, directory: &Path, draws: Option<u32>, to: &Path) -> Result<(), Refused> {
        Python::attach(|py| {
            let written = self.host.bind(py).call_method1("write_arviz", (directory, draws, to));
            written.map(|_| ()).map_err(|error| Refused {
                is_input: error.is_instance_of::<PyImportError>(py),
                message: error.value(py).to_string(),
            })
        })
    }
}

/// What a command prints.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) -> PyResult<String> {
    py.detach(|| calm(|| host::command(&words, None, &host::Stop::default()).map_err(refused)))
        .map(|(_, text)| text)
}

/// The whole program with these arguments, the first of them its name; its exit code.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, words: Vec<OsString>, host: Py<PyAny>) -> u8 {
    let around = Around { host, trouble: Trouble::default() };
    py.detach(|| host::main(&words, Some(&around)))
}
