//! Simulations at draws from the prior that serve twice: one of them as the data, all others to infer from.

use std::ops::ControlFlow;

use counterpoise_core::digest::{Analysis, Generation, Inputs, Method, digest};
use counterpoise_core::problem::{Prior, Problem};
use counterpoise_core::propose::{Proposed, propose};
use counterpoise_core::simulate::{Jobs, Simulated};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::workers::{Serial, Workers};
use rand::RngExt;

use super::Dataset;
use crate::executor::{Executor, ExecutorError};
use crate::given::Given;
use crate::outcome::RunError;

/// The simulations of one generation whose parameters were drawn from the prior.
///
/// A draw from the prior and its simulation are a truth and its data. Inferring from all other simulations is a run of one
/// generation on these data, as good as any. Simulations of later generations cannot serve so: their parameters were drawn
/// from proposals that have seen an observation.
#[derive(Debug)]
pub struct Reused {
    proposed: Proposed,
    simulated: Simulated,
}

impl From<Given> for Reused {
    fn from(given: Given) -> Self {
        Self { proposed: given.proposed, simulated: given.simulated }
    }
}

impl Reused {
    /// Makes the simulations of the first generation of a run. `observe` is told how many are there.
    ///
    /// # Errors
    /// If they cannot be made.
    pub fn simulate(
        prior: &Prior,
        count: usize,
        seed: Seed,
        executor: &mut dyn Executor,
        workers: &dyn Workers,
        observe: &mut dyn FnMut(usize),
    ) -> Result<Self, RunError> {
        let proposed = propose(prior, None, count, (seed, 0), workers)
            .map_err(|source| RunError::Propose { index: 0, source })?;
        let mut simulated = Simulated::empty(count, executor.summaries());
        let jobs = Jobs { thetas: &proposed.thetas, seed, generation: 0, first: 0 };
        let ran = executor.run(jobs, &(0..count).collect::<Vec<_>>(), &mut |chunk| {
            simulated.place(&chunk);
            observe(simulated.done());
            ControlFlow::Continue(())
        });
        ran.map_err(|source| RunError::Execute { index: 0, source })?;
        let missing = count - simulated.done();
        if missing > 0 {
            return Err(RunError::Execute { index: 0, source: ExecutorError::Unanswered { missing } });
        }
        Ok(Self { proposed, simulated })
    }

    /// The parameters, and what was simulated there.
    #[must_use]
    pub fn parts(&self) -> (&Proposed, &Simulated) {
        (&self.proposed, &self.simulated)
    }

    /// Those that can be used.
    #[must_use]
    pub fn usable(&self) -> Vec<u32> {
        self.simulated.usable()
    }

    /// So many different ones of `among`, in random order.
    #[must_use]
    pub fn some(mut among: Vec<u32>, count: usize, seed: Seed) -> Vec<u32> {
        let mut rng = seed.stream(Stage::Observe, 0, 1);
        let count = count.min(among.len());
        for at in 0..count {
            let other = rng.random_range(at..among.len());
            among.swap(at, other);
        }
        among.truncate(count);
        among
    }

    /// A simulation as data.
    #[must_use]
    pub fn dataset(&self, row: u32) -> Dataset {
        Dataset {
            truth: Some(self.proposed.units.row(row as usize).to_vec()),
            observed: self.simulated.table().row(row as usize).to_vec(),
        }
    }

    /// One generation on the data of a row, from all other simulations; or from all, on the problem's own data.
    ///
    /// # Errors
    /// If the simulations do not make a generation.
    pub fn infer(
        &self,
        problem: Problem,
        method: Method,
        seed: Seed,
        row: Option<u32>,
    ) -> Result<Generation, RunError> {
        let problem = match row {
            Some(row) => Problem { observed: self.dataset(row).observed, ..problem },
            None => problem,
        };
        let put_aside = row.map(|row| self.simulated.without(row as usize));
        let simulated = put_aside.as_ref().unwrap_or(&self.simulated);
        let inputs = Inputs {
            index: 0,
            kernel: None,
            previous: None,
            proposed: &self.proposed,
            simulated,
            earlier: &[],
        };
        digest(&Analysis { problem, method, seed }, &inputs, &Serial)
            .map_err(|source| RunError::Digest { index: 0, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_drawn_once_each_and_the_same_for_a_seed() {
        let some = |count, seed| Reused::some((10..30).collect(), count, Seed(seed));
        let mut all = some(50, 1);
        assert_ne!(all, (10..30).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (10..30).collect::<Vec<_>>());
        assert_eq!(some(5, 1), some(20, 1)[..5]);
        assert_ne!(some(5, 1), some(5, 2));
    }
}
