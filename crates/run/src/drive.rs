//! The loop: the only place where the pure stages meet an executor, a store and a clock.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use counterpoise_core::digest::{Analysis, Earlier, Generation, Inputs, digest};
use counterpoise_core::propose::{Proposed, propose};
use counterpoise_core::simulate::{Jobs, Simulated};
use counterpoise_core::stop::StopReason;
use counterpoise_core::workers::Workers;

use crate::executor::{Executor, ExecutorError};
use crate::recall::recall;
use crate::store::{Header, Loss, Made, Store};

pub use crate::outcome::{Event, Finished, RunError, Seconds};

/// How long a finished simulation may be unsafe: from the end of the process where it was cheap, from a loss of power
/// in any case.
const UNSAFE: Duration = Duration::from_secs(1);
/// Flushing to the disk takes no more than one part in so many of the time: fast simulators fill disks.
const SHARE: u32 = 20;

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
        store.commit(&Made { generation: &generation, simulations: Some((&proposed.thetas, &simulated)) })?;
        seconds.store += lap();
        seconds.total = start.elapsed().as_secs_f64();
        history.push(generation);
        if analysis.pools() {
            earlier.push(Earlier { kernel, proposed, simulated });
        }
        flow = observe(Event::Committed { history: &history, seconds });
    };
    seconds.total = start.elapsed().as_secs_f64();
    Ok(Finished { history, reason, seconds, simulations, failed })
}

/// Runs the rows that the store does not have yet; the reason for which some of them are missing.
fn simulate(
    proposed: &Proposed,
    analysis: &Analysis,
    history: &[Generation],
    executor: &mut dyn Executor,
    store: &mut dyn Store,
    observe: &mut dyn FnMut(Event<'_>) -> ControlFlow<StopReason>,
) -> Result<(Simulated, Option<StopReason>), RunError> {
    let (total, index) = (proposed.thetas.rows(), history.len() as u32);
    let mut simulated = Simulated::empty(total, executor.summaries());
    store.chunks(index, total, &mut |chunk| simulated.place(chunk))?;
    let mut flow = observe(Event::Simulating { index, stored: simulated.done() });
    let mut rows = simulated.pending();
    let made = simulated.done() + history.iter().map(|generation| generation.simulations).sum::<usize>();
    let budget = analysis.method.stop.simulations().map_or(usize::MAX, |most| most.saturating_sub(made));
    let beyond = rows.len() > budget;
    rows.truncate(budget);
    let (mut kept, mut settled, mut pause) = (Ok(()), Instant::now(), UNSAFE);
    let is_dear = executor.is_dear();
    let mut left = rows.len();
    let jobs = Jobs { thetas: &proposed.thetas, seed: analysis.seed, generation: index, first: 0 };
    let executed = if flow.is_break() || rows.is_empty() {
        Ok(())
    } else {
        executor.run(jobs, &rows, &mut |chunk| {
            // What cannot be kept is not wanted; what was finished before a stop is.
            if kept.is_err() {
                return ControlFlow::Break(());
            }
            simulated.place(&chunk);
            left -= chunk.rows.len();
            kept = store.append(chunk);
            // The last rows are about to be committed; until then they are in memory.
            if kept.is_ok() && settled.elapsed() > pause {
                let begun = Instant::now();
                kept = store.secure(Loss::Power);
                (pause, settled) = (UNSAFE.max(SHARE * begun.elapsed()), Instant::now());
            } else if kept.is_ok() && is_dear {
                kept = store.secure(Loss::Process);
            }
            if flow.is_continue() {
                flow = observe(Event::Simulated {
                    index,
                    done: simulated.done(),
                    failed: simulated.failures().len(),
                });
            }
            if kept.is_err() || flow.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    kept?;
    if let Err(source) = executed {
        store.secure(Loss::Power)?;
        if let ExecutorError::TooManyFailures { .. } = &source {
            store.forget_failures()?;
        }
        return Err(RunError::Execute { index, source });
    }
    match flow {
        // Where every row is there, the break can wait for the commit.
        ControlFlow::Break(reason) if left > 0 => Ok((simulated, Some(reason))),
        _ if left > 0 => {
            Err(RunError::Execute { index, source: ExecutorError::Unanswered { missing: left } })
        }
        _ => Ok((simulated, beyond.then_some(StopReason::Simulations))),
    }
}
