//! A Python object with `draw` and `ln_density` as a joint law of the parameters.

use std::fmt::{Debug, Formatter};

use counterpoise_core::problem::Joint;
use counterpoise_core::stream::Stream;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::trouble::Trouble;

/// Calls `draw(seed)`, which gives a list of numbers, and `ln_density(list)`.
pub(crate) struct Called {
    pub(crate) law: Py<PyAny>,
    pub(crate) trouble: Trouble,
}

impl Debug for Called {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a joint law in Python")
    }
}

impl Called {
    /// What Python answers; nothing after an exception of the law, which ends the run. An interrupt that somebody else has heard
    /// does not silence it: a generation that is being weighed is finished.
    fn ask<T>(&self, ask: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.trouble.is_unanswered() {
            return None;
        }
        Python::attach(ask).map_err(|error| self.trouble.keep_unanswered(error)).ok()
    }
}

impl Joint for Called {
    fn draw(&self, rng: &mut Stream, theta: &mut [f64]) {
        let seed = rng.external_seed();
        let drawn = self.ask(|py| {
            let drawn: Vec<f64> = self.law.bind(py).call_method1("draw", (seed,))?.extract()?;
            if drawn.len() == theta.len() && drawn.iter().all(|value| value.is_finite()) {
                return Ok(drawn);
            }
            let message = format!("draw must give {} finite numbers, found {drawn:?}", theta.len());
            Err(PyValueError::new_err(message))
        });
        match drawn {
            Some(drawn) => theta.copy_from_slice(&drawn),
            None => theta.fill(1.0),
        }
    }

    fn ln_density(&self, theta: &[f64]) -> f64 {
        let density =
            self.ask(|py| self.law.bind(py).call_method1("ln_density", (theta.to_vec(),))?.extract());
        // After an exception every point will do: nothing of it is kept (`Event::Weighed`).
        density.unwrap_or(0.0)
    }
}
