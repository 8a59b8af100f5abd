//! What the loop tells while it runs, and how it ends.

use counterpoise_core::digest::{DigestError, Generation};
use counterpoise_core::propose::ProposeError;
use counterpoise_core::stop::StopReason;

use crate::executor::ExecutorError;
use crate::store::StoreError;
use counterpoise_tables::TableError;

/// Something worth telling the user; the observer may break the run off.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The store was opened and had these generations.
    Opened(&'a [Generation]),
    /// The simulations of a generation begin.
    Simulating {
        /// Generation.
        index: u32,
        /// Simulations that the store had already.
        stored: usize,
    },
    /// Some simulations finished.
    Simulated {
        /// Generation.
        index: u32,
        /// Finished so far in this generation.
        done: usize,
        /// Failed so far in this generation.
        failed: usize,
    },
    /// All simulations are there; weights are being chosen.
    Weighing {
        /// Generation.
        index: u32,
    },
    /// Weights are chosen, and the generation is about to be committed: a break leaves it to be weighed again. For an observer that
    /// knows of an answer that was asked for meanwhile, and not given.
    Weighed {
        /// Generation.
        index: u32,
    },
    /// A generation was committed.
    Committed {
        /// All generations so far, of which it is the last.
        history: &'a [Generation],
        /// Where the time of this process went.
        seconds: Seconds,
    },
}

/// Wall-clock seconds by stage, over all generations of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Drawing parameters and fitting kernels.
    pub propose: f64,
    /// Running simulations and keeping them.
    pub simulate: f64,
    /// Committing generations.
    pub store: f64,
    /// Reducing, weighing, selecting.
    pub weigh: f64,
    /// All of it.
    pub total: f64,
}

/// How a run ended.
#[derive(Debug)]
pub struct Finished {
    /// The committed generations.
    pub history: Vec<Generation>,
    /// Why it ended.
    pub reason: StopReason,
    /// Where the time went.
    pub seconds: Seconds,
    /// Simulations of the generation that was not finished.
    pub simulations: usize,
    /// How many of them failed.
    pub failed: usize,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// No parameters could be drawn.
    #[error("generation {index}: proposing parameters")]
    Propose {
        /// Generation.
        index: u32,
        /// Why.
        source: ProposeError,
    },
    /// The executor broke.
    #[error("generation {index}: simulating")]
    Execute {
        /// Generation.
        index: u32,
        /// Why.
        source: ExecutorError,
    },
    /// The simulations do not make a generation.
    #[error("generation {index}")]
    Digest {
        /// Generation.
        index: u32,
        /// Why.
        source: DigestError,
    },
    /// A table of simulations could not be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The store broke.
    #[error(transparent)]
    Store(#[from] StoreError),
}
