//! The simulations of one generation: those that the store has, and the rest.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use counterpoise_core::digest::{Analysis, Generation};
use counterpoise_core::propose::Proposed;
use counterpoise_core::simulate::{Jobs, Simulated};
use counterpoise_core::stop::StopReason;

use crate::executor::{Executor, ExecutorError};
use crate::outcome::{Event, RunError};
use crate::store::{Loss, Store};

/// How long a finished simulation may be unsafe: from the end of the process where it was cheap, from a loss of power
/// in any case.
const UNSAFE: Duration = Duration::from_secs(1);
/// Flushing to the disk takes no more than one part in so many of the time: fast simulators fill disks.
const SHARE: u32 = 20;

/// Runs the rows that the store does not have yet; the reason for which some of them are missing.
pub(crate) fn simulate(
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
