//! The first exception of Python code that the engine called, kept until the engine has come to an end in order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::PyErr;

/// Holds an exception.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    error: Option<PyErr>,
    /// Whether the engine was left without an answer, and has gone on with a false one.
    unanswered: bool,
}

impl Trouble {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an exception, unless there is one.
    pub(crate) fn keep(&self, error: PyErr) {
        self.kept().error.get_or_insert(error);
    }

    /// Keeps an exception that came in place of an answer.
    pub(crate) fn keep_unanswered(&self, error: PyErr) {
        self.kept().unanswered = true;
        self.keep(error);
    }

    /// Whether there is one.
    pub(crate) fn is_there(&self) -> bool {
        self.kept().error.is_some()
    }

    /// Whether one came in place of an answer: what the engine makes of it must not be kept.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.kept().unanswered
    }

    /// The exception.
    pub(crate) fn take(&self) -> Option<PyErr> {
        std::mem::take(&mut *self.kept()).error
    }
}
