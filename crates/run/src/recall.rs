//! What a run that goes on needs of its finished generations.

use counterpoise_core::digest::{Analysis, Earlier, Generation};
use counterpoise_core::propose::propose;
use counterpoise_core::workers::Workers;

use crate::outcome::RunError;
use crate::store::Store;

/// The simulations of the finished generations, where the method uses them again: parameters are proposed anew, which
/// costs little and gives the same, and what was simulated is read.
///
/// # Errors
/// If the simulations of a finished generation cannot be read.
pub(crate) fn recall(
    analysis: &Analysis,
    history: &[Generation],
    store: &mut dyn Store,
    workers: &dyn Workers,
) -> Result<Vec<Earlier>, RunError> {
    let Analysis { problem, method, seed } = analysis;
    if method.stop.check(history).is_some() {
        return Ok(Vec::new());
    }
    let forgotten = history.len().saturating_sub(analysis.remembers());
    let mut earlier = Vec::with_capacity(history.len() - forgotten);
    for generation in &history[forgotten..] {
        let index = generation.index;
        let before = index.checked_sub(1).and_then(|before| history.get(before as usize));
        let proposing = |source| RunError::Propose { index, source };
        let kernel = before.map(|before| before.kernel(&problem.prior, &*method.proposal)).transpose();
        let kernel = kernel.map_err(proposing)?;
        let rows = generation.simulations;
        let proposed = propose(&problem.prior, kernel.as_deref(), rows, (*seed, index), workers);
        let simulated = store.simulations(index, rows)?.packed();
        earlier.push(Earlier { kernel, proposed: proposed.map_err(proposing)?, simulated });
    }
    Ok(earlier)
}

/// Keeps a finished generation for those that follow, and no more of those before than they look at.
pub(crate) fn remember(analysis: &Analysis, earlier: &mut Vec<Earlier>, finished: Earlier) {
    earlier.push(finished);
    earlier.drain(..earlier.len().saturating_sub(analysis.remembers()));
}
