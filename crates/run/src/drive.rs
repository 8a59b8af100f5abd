//! The loop: the only place where the pure stages meet an executor, a store and a clock.

use std::ops::ControlFlow;
use std::time::Instant;

use counterpoise_core::digest::{Analysis, Inputs, digest};
use counterpoise_core::propose::{Proposed, propose};
use counterpoise_core::simulate::{Jobs, Simulated};
use counterpoise_core::stop::StopReason;
use counterpoise_core::workers::Workers;

use crate::executor::{Executor, ExecutorError};
use crate::store::{Header, Store};

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
    let reason = loop {
        if let Some(reason) = analysis.method.stop.check(&history, analysis.method.simulations) {
            break reason;
        }
        let index = history.len() as u32;
        let mut clock = Instant::now();
        let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64();
        let proposing = |source| RunError::Propose { index, source };
        let Analysis { problem, method, seed } = analysis;
        let kernel =
            history.last().map(|last| method.proposal.fit(&problem.prior, &last.population)).transpose();
        let kernel = kernel.map_err(proposing)?;
        let address = (*seed, index);
        let proposed = propose(&problem.prior, kernel.as_deref(), method.simulations, address, workers)
            .map_err(proposing)?;
        seconds.propose += lap();
        let simulated = simulate(&proposed, analysis, index, executor, store, observe)?;
        seconds.simulate += lap();
        let simulated = match simulated {
            ControlFlow::Continue(simulated) => simulated,
            ControlFlow::Break(reason) => break reason,
        };
        if let ControlFlow::Break(reason) = observe(Event::Weighing { index }) {
            break reason;
        }
        let inputs = Inputs {
            index,
            kernel: kernel.as_deref(),
            previous: history.last(),
            proposed: &proposed,
            simulated: &simulated,
        };
        let generation =
            digest(analysis, &inputs, workers).map_err(|source| RunError::Digest { index, source })?;
        seconds.weigh += lap();
        store.commit(&generation)?;
        let flow = observe(Event::Committed(&generation));
        history.push(generation);
        if let ControlFlow::Break(reason) = flow {
            break reason;
        }
    };
    seconds.total = start.elapsed().as_secs_f64();
    Ok(Finished { history, reason, seconds })
}

/// Runs the rows that the store does not have yet.
fn simulate(
    proposed: &Proposed,
    analysis: &Analysis,
    index: u32,
    executor: &mut dyn Executor,
    store: &mut dyn Store,
    observe: &mut dyn FnMut(Event<'_>) -> ControlFlow<StopReason>,
) -> Result<ControlFlow<StopReason, Simulated>, RunError> {
    let total = proposed.thetas.rows();
    let mut simulated = Simulated::empty(total, executor.summaries());
    for chunk in store.chunks(index)? {
        simulated.place(&chunk);
    }
    let rows = simulated.pending();
    let mut left = rows.len();
    let (mut kept, mut broken) = (Ok(()), None);
    let jobs = Jobs { thetas: &proposed.thetas, seed: analysis.seed, generation: index, first: 0 };
    let executed = executor.run(jobs, &rows, &mut |chunk| {
        kept = store.append(index, &chunk);
        left -= chunk.rows.len();
        simulated.place(&chunk);
        let done = total - left;
        let flow = observe(Event::Simulated { index, done, failed: simulated.failures().len() });
        broken = flow.break_value();
        if kept.is_err() || broken.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    kept?;
    executed.map_err(|source| RunError::Execute { index, source })?;
    match broken {
        // Every row is there: the break can wait for the commit.
        Some(reason) if left > 0 => Ok(ControlFlow::Break(reason)),
        _ if left > 0 => {
            Err(RunError::Execute { index, source: ExecutorError::Unanswered { missing: left } })
        }
        _ => Ok(ControlFlow::Continue(simulated)),
    }
}
