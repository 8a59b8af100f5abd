//! A network with what is observed of it, ready to simulate.

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;

use crate::compile::{Compiled, Term};
use crate::exact::{self, Events, Graph, Lanes, Limits, Next, OneByOne, Timed, suits_lanes};
use crate::expression::program::Known;
use crate::leap::Leap;
use crate::observe::Recorder;
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
pub const DEFAULT_EPSILON: f64 = 0.04;

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
    /// A share that is none.
    #[error("the epsilon of tau-leaping must be above 0 and below 1, found {found}")]
    BadEpsilon {
        /// What was given.
        found: f64,
    },
}

/// A network, what is observed of it, and how it is simulated.
#[derive(Debug)]
pub struct Simulation {
    statistics: Vec<String>,
    compiled: Compiled,
    recorder: Recorder,
    limits: Limits,
    engine: Engine,
    /// How to leap where that pays; never, with exact simulation.
    leap: Option<Leap>,
}

/// The simulator that suits the network.
#[derive(Debug)]
enum Engine {
    Lanes,
    Next(Graph),
    Timed(Events),
}

impl Simulation {
    /// Compiles a network. A trajectory of more than `max_events` reactions is a failure; a leap, over however many
    /// reactions, counts as one.
    ///
    /// # Errors
    /// If the method cannot simulate the network.
    pub fn new(
        network: Network,
        observation: Observation,
        method: Method,
        max_events: Option<u64>,
    ) -> Result<Self, NetworkError> {
        let mut compiled = Compiled::new(network);
        let recorder = Recorder::new(&observation, &mut compiled.compiler);
        let events = Events::new(&mut compiled);
        compiled.close();
        let limits = Limits::new(max_events, recorder.end());
        let leap = match method {
            Method::Direct => None,
            Method::TauLeaping { epsilon } => {
                check_leap(&compiled, epsilon)?;
                Some(Leap::new(&compiled, epsilon))
            }
        };
        let engine = if !events.is_empty() || compiled.depends_on_time() {
            Engine::Timed(events)
        } else if suits_lanes(&compiled) {
            Engine::Lanes
        } else {
            Engine::Next(Graph::new(&compiled))
        };
        Ok(Self { statistics: observation.statistics(), compiled, recorder, limits, engine, leap })
    }

    /// Names of the summaries.
    #[must_use]
    pub fn statistics(&self) -> &[String] {
        &self.statistics
    }

    fn lanes(&self) -> Lanes<'_> {
        let Self { compiled, recorder, limits, .. } = self;
        Lanes { compiled, recorder, limits: *limits, leap: self.leap.as_ref() }
    }

    /// The simulator of one trajectory at a time, where that is how it goes.
    fn one_by_one(&self) -> Option<Box<dyn OneByOne + '_>> {
        let Self { compiled, recorder, limits, .. } = self;
        match &self.engine {
            Engine::Lanes => None,
            Engine::Next(graph) => {
                Some(Box::new(Next::new(compiled, graph, recorder, *limits, self.leap.as_ref())))
            }
            Engine::Timed(events) => Some(Box::new(Timed::new(compiled, events, recorder, *limits))),
        }
    }
}

/// # Errors
/// If something in the network must not be leapt over, or epsilon is no share.
fn check_leap(compiled: &Compiled, epsilon: f64) -> Result<(), NetworkError> {
    if !(epsilon > 0.0 && epsilon < 1.0) {
        return Err(NetworkError::BadEpsilon { found: epsilon });
    }
    let Compiled { network, compiler, terms, .. } = compiled;
    let timed = |term: &Term| compiler.known(term.c) == Known::InTime;
    let what = if let Some(event) = network.events.first() {
        format!("a network with events, such as `{}`", event.name)
    } else if let Some(at) = terms.iter().position(timed) {
        format!("rates that depend on time, such as that of `{}`", network.reactions[at].name)
    } else {
        return Ok(());
    };
    Err(NetworkError::CannotLeap { what })
}

impl Simulator for Simulation {
    fn summaries(&self) -> usize {
        self.recorder.columns()
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        match self.one_by_one() {
            None => self.lanes().simulate(theta, rng, summaries),
            Some(mut one) => exact::simulate(&mut *one, theta, rng, summaries),
        }
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        match self.one_by_one() {
            None => self.lanes().simulate_rows(jobs, feed),
            Some(mut one) => exact::simulate_rows(&mut *one, self.recorder.columns(), jobs, feed),
        }
    }
}
