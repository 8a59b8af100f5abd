//! Stochastic reaction networks: written in a few lines, read from SBML, and simulated.

// What is not at most a limit may be NaN, and lanes are indexed in several arrays at once.
#![allow(clippy::neg_cmp_op_on_partial_ord, clippy::needless_range_loop)]

mod compile;
mod exact;
mod expression;
pub mod language;
mod leap;
mod network;
mod observe;
pub mod sbml;
mod simulation;

pub use expression::{Expression, Function, Symbol};
pub use network::{Counting, Event, Network, Rate, Reaction, Rule, Species};
pub use observe::{Noise, NoiseLaw, Observable, Observation, Times, TimesError};
pub use simulation::{DEFAULT_EPSILON, Method, NetworkError, Simulation};
