//! Many runs of one problem on data whose truth is known: what a comparison or a calibration is made of.

mod datasets;
mod first;
mod reuse;

pub use datasets::{Dataset, DatasetError, Truths, datasets};
pub use first::FirstShared;
pub use reuse::Reused;

use std::ops::ControlFlow;

use counterpoise_core::digest::{Analysis, Generation, Method};
use counterpoise_core::problem::Problem;
use counterpoise_core::stop::StopReason;
use counterpoise_core::stream::Seed;
use counterpoise_core::workers::{Serial, Workers};

use crate::drive;
use crate::executor::Executor;
use crate::outcome::{Event, Finished, RunError};
use crate::store::{Header, Memory};

/// The generations of a run in memory, on one thread: many such runs go side by side. A break of `observe` leaves it with those that
/// are done.
///
/// # Errors
/// If the run cannot go on.
pub fn infer(
    problem: Problem,
    method: Method,
    seed: Seed,
    executor: &mut dyn Executor,
    observe: &mut dyn FnMut(Event<'_>) -> ControlFlow<StopReason>,
) -> Result<Vec<Generation>, RunError> {
    Ok(infer_watched(problem, method, seed, executor, &Serial, observe)?.history)
}

/// The same on all threads of `workers`, telling how far it is and where the time went.
///
/// # Errors
/// If the run cannot go on.
pub fn infer_watched(
    problem: Problem,
    method: Method,
    seed: Seed,
    executor: &mut dyn Executor,
    workers: &dyn Workers,
    observe: &mut dyn FnMut(Event<'_>) -> ControlFlow<StopReason>,
) -> Result<Finished, RunError> {
    let parameters = problem.prior.names();
    let analysis = Analysis { problem, method, seed };
    let header = Header {
        description: serde_json::Value::Null,
        parameters,
        statistics: Vec::new(),
        units: Vec::new(),
    };
    drive::run((&analysis, &header), executor, &mut Memory::forgetful(), workers, observe)
}
