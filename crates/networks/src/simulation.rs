//! A network with what is observed of it, ready to simulate.

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::stream::Stream;

use crate::{Network, Observation};

/// How trajectories are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Exactly, reaction by reaction.
    Direct,
    /// In leaps over many reactions, approximately.
    TauLeaping {
        /// The relative change of a propensity that a leap may cause.
        epsilon: f64,
    },
}

/// The relative change of a propensity that a leap may cause unless another is given.
pub const DEFAULT_EPSILON: f64 = 0.01;

/// Why a network cannot be simulated as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// Leaping over something that must not be leapt over.
    #[error("tau-leaping cannot simulate {what}; use simulator = \"direct\"")]
    CannotLeap {
        /// What stands in the way.
        what: String,
    },
}

/// A network, what is observed of it, and how it is simulated.
#[derive(Debug)]
pub struct Simulation {
    observation: Observation,
}

impl Simulation {
    /// Compiles a network. A trajectory of more than `max_events` reactions is a failure.
    ///
    /// # Errors
    /// If the method cannot simulate the network.
    pub fn new(
        _network: Network,
        observation: Observation,
        _method: Method,
        _max_events: Option<u64>,
    ) -> Result<Self, NetworkError> {
        Ok(Self { observation })
    }

    /// Names of the summaries.
    #[must_use]
    pub fn statistics(&self) -> Vec<String> {
        self.observation.statistics()
    }
}

impl Simulator for Simulation {
    fn summaries(&self) -> usize {
        self.statistics().len()
    }

    fn simulate(&self, _theta: &[f64], _rng: &mut Stream, _summaries: &mut [f64]) -> Result<(), Failure> {
        Err(Failure::Declined(String::new()))
    }
}
