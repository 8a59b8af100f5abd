//! The loop: the only place where the pure stages meet an executor, a store and a clock.

use std::ops::ControlFlow;
use std::time::Instant;

use counterpoise_core::digest::{Analysis, Earlier, Inputs, digest};
use counterpoise_core::propose::propose;
use counterpoise_core::stop::StopReason;
use counterpoise_core::workers::Workers;

use crate::executor::Executor;
use crate::recall::{recall, remember};
use crate::simulate::simulate;
use crate::store::{Header, Loss, Made, Store};

pub use crate::outcome::{Event, Finished, RunError, Seconds};

/// Runs or resumes. A fresh run is a resumed run whose store is empty.
///
/// # Errors
/// If any stage cannot go on; what is committed stays committed.
pub fn run(
    (analysis, header): (&Analysis, &Header),
    executor: &mut dyn Executor,
    store: &mut dyn Store,
    workers: &dyn Workers,
    observe: &mut dyn FnMut(Event<'_>) -> ControlFlow<StopReason>,
) -> Result<Finished, RunError> {
    let start = Instant::now();
    let mut seconds = Seconds::default();
    let mut history = store.open(header)?;
    let mut earlier = recall(analysis, &history, store, workers)?;
    let mut flow = observe(Event::Opened(&history));
    let (mut simulations, mut failed) = (0, 0);
    let reason = loop {
        if let Some(reason) = analysis.method.stop.check(&history) {
            break reason;
        }
        if let ControlFlow::Break(reason) = flow {
            break reason;
        }
        let index = history.len() as u32;
        let mut clock = Instant::now();
        let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64();
        let proposing = |source| RunError::Propose { index, source };
        let Analysis { problem, method, seed } = analysis;
        let kernel = history.last().map(|last| last.kernel(&problem.prior, &*method.proposal)).transpose();
        let kernel = kernel.map_err(proposing)?;
        let address = (*seed, index);
        let proposed = propose(&problem.prior, kernel.as_deref(), method.simulations, address, workers)
            .map_err(proposing)?;
        seconds.propose += lap();
        let (simulated, cut) = simulate(&proposed, analysis, &history, executor, store, observe)?;
        seconds.simulate += lap();
        if let Some(reason) = cut.or_else(|| observe(Event::Weighing { index }).break_value()) {
            store.secure(Loss::Power)?;
            (simulations, failed) = (simulated.done(), simulated.failures().len());
            break reason;
        }
        let simulated = simulated.packed();
        let inputs = Inputs {
            index,
            kernel: kernel.as_deref(),
            previous: history.last(),
            proposed: &proposed,
            simulated: &simulated,
            earlier: &earlier,
        };
        let generation =
            digest(analysis, &inputs, workers).map_err(|source| RunError::Digest { index, source })?;
        seconds.weigh += lap();
        if let ControlFlow::Break(reason) = observe(Event::Weighed { index }) {
            store.secure(Loss::Power)?;
            (simulations, failed) = (simulated.done(), simulated.failures().len());
            break reason;
        }
        let simulations = Some((&proposed.thetas, &simulated));
        store.commit(&Made { generation: &generation, simulations, table: None })?;
        seconds.store += lap();
        seconds.total = start.elapsed().as_secs_f64();
        history.push(generation);
        remember(analysis, &mut earlier, Earlier { kernel, proposed, simulated });
        flow = observe(Event::Committed { history: &history, seconds });
    };
    seconds.total = start.elapsed().as_secs_f64();
    Ok(Finished { history, reason, seconds, simulations, failed })
}
