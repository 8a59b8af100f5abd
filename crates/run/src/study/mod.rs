//! Many runs of one problem on data whose truth is known: what a comparison or a calibration is made of.

mod datasets;
mod first;

pub use datasets::{Dataset, DatasetError, Truths, datasets};
pub use first::FirstShared;

use std::ops::ControlFlow;

use counterpoise_core::digest::{Analysis, Generation, Method};
use counterpoise_core::problem::Problem;
use counterpoise_core::stream::Seed;
use counterpoise_core::workers::Serial;

use crate::drive;
use crate::executor::Executor;
use crate::outcome::{Event, RunError};
use crate::store::{Header, Memory};

/// The generations of a run in memory, on one thread: many such runs go side by side.
///
/// # Errors
/// If the run cannot go on.
pub fn infer(
    problem: Problem,
    method: Method,
    seed: Seed,
    executor: &mut dyn Executor,
) -> Result<Vec<Generation>, RunError> {
    let parameters = problem.prior.names();
    let analysis = Analysis { problem, method, seed };
    let header = Header { description: serde_json::Value::Null, parameters, statistics: Vec::new() };
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    let run = drive::run((&analysis, &header), executor, &mut Memory::forgetful(), &Serial, &mut go_on)?;
    Ok(run.history)
}
