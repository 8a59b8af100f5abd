//! What is to be inferred: a prior over parameters and the summaries that were observed.

mod failure_text;
mod joint;
pub mod law;
mod prior;
mod simulator;
mod unit_scale;

pub use joint::Joint;
pub use law::{Law, LawError};
pub use prior::{Marginal, Prior, PriorError};
pub use simulator::{Failure, Simulator};
pub use unit_scale::UnitScale;

use std::sync::Arc;

/// The statistical question, without any choice of method.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Belief before the data.
    pub prior: Arc<Prior>,
    /// Names of the summaries, in the simulator's column order.
    pub statistics: Vec<String>,
    /// Observed summaries, in the same order.
    pub observed: Vec<f64>,
}
