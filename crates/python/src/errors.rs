//! From errors of the engine to exceptions: what the user can change is a `ValueError`, the rest a `RuntimeError`.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use counterpoise_cli::host::Refused;
use counterpoise_report::ReportError;
use counterpoise_run::store::StoreError;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, PyResult};

/// Words of messages about any problem, as the names of arguments.
const ANY: [(&str, &str); 3] = [("`method.", "`"), ("--into", "into="), ("--rules ", "`rules` ")];

/// Words of messages about a problem that Python states: nobody has a problem file in view.
const STATED: [(&str, &str); 6] = [
    ("model.network.", ""),
    ("model.sbml.", ""),
    ("model.table.", ""),
    ("[parameters]", "`parameters`"),
    ("counterpoise check lists statistics that never vary: ", ""),
    (" (the path is relative to the problem file)", ""),
];

/// The exception for something that was refused.
pub(crate) fn refused(refused: Refused) -> PyErr {
    exception(refused.is_input, in_python(refused.message, &ANY))
}

/// The exception for something that was refused about a problem that Python states.
pub(crate) fn refused_as_stated(refused: Refused) -> PyErr {
    exception(refused.is_input, in_python(in_python(refused.message, &ANY), &STATED))
}

fn in_python(message: String, words: &[(&str, &str)]) -> String {
    words.iter().fold(message, |message, (theirs, ours)| message.replace(theirs, ours))
}

fn exception(is_input: bool, message: String) -> PyErr {
    if is_input { PyValueError::new_err(message) } else { PyRuntimeError::new_err(message) }
}

/// Does some work; a panic, which has been described on the standard error, is an exception like others.
pub(crate) fn calm<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let message = "an invariant of the engine is broken; please report the lines on the standard error";
        Err(PyRuntimeError::new_err(message))
    })
}

/// The exception for a bad argument.
pub(crate) fn bad(message: impl Display) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// The exception for a directory that cannot be read.
pub(crate) fn unreadable(error: &StoreError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// The exception for a run that cannot be reported on.
pub(crate) fn unreported(error: ReportError) -> PyErr {
    match error {
        ReportError::Store(error) => unreadable(&error),
        other => bad(other),
    }
}

/// The exception for a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &std::io::Error) -> PyErr {
    PyOSError::new_err(format!("cannot write {}: {error}", path.display()))
}

/// The exception for everything else.
pub(crate) fn failed(error: impl Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
