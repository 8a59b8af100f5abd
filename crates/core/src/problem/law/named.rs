//! Laws by name, as a problem file and a run's description give them.

use super::{Beta, Exponential, Gamma, Integer, Law, LawError, LogNormal, LogUniform, Normal, Uniform};

/// A law's name, the numbers it needs, and how it is made of them.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// As it is written.
    pub name: &'static str,
    /// The one or two numbers it takes, in order.
    pub keys: &'static [&'static str],
    /// Makes it; a second number that it does not take is ignored.
    pub build: fn(f64, f64) -> Result<Box<dyn Law>, LawError>,
}

fn boxed<L: Law + 'static>(law: Result<L, LawError>) -> Result<Box<dyn Law>, LawError> {
    law.map(|law| Box::new(law) as Box<dyn Law>)
}

/// Every law.
pub const KINDS: [Kind; 8] = [
    Kind { name: "uniform", keys: &["low", "high"], build: |a, b| boxed(Uniform::new(a, b)) },
    Kind { name: "log-uniform", keys: &["low", "high"], build: |a, b| boxed(LogUniform::new(a, b)) },
    Kind { name: "normal", keys: &["mean", "sd"], build: |a, b| boxed(Normal::new(a, b)) },
    Kind { name: "log-normal", keys: &["mean", "sd"], build: |a, b| boxed(LogNormal::new(a, b)) },
    Kind { name: "gamma", keys: &["shape", "scale"], build: |a, b| boxed(Gamma::new(a, b)) },
    Kind { name: "beta", keys: &["alpha", "beta"], build: |a, b| boxed(Beta::new(a, b)) },
    Kind { name: "exponential", keys: &["rate"], build: |a, _| boxed(Exponential::new(a)) },
    Kind { name: "integer", keys: &["low", "high"], build: |a, b| boxed(Integer::new(a, b)) },
];
