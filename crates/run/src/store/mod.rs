//! Where finished work is kept. A run is resumed by opening its store.

mod difference;
mod directory;
mod error;
mod folder;
mod generation;
mod journal;
mod lock;
mod look;
mod memory;
mod particles;
mod record;
mod salvage;
mod sealed;
mod sheet;
mod tally;
mod verify;
mod whole;

pub use difference::{Differences, differences};
pub use directory::Directory;
pub use error::StoreError;
pub use generation::{GENERATION_FILE, POPULATION_FILE, SIMULATIONS_FILE};
pub use lock::LOCK_FILE;
pub use look::{Follower, accepted, committed, holder, simulated};
pub use memory::Memory;
pub use particles::without_units;
pub use record::{FORMAT, POSTERIOR_FILE, RUN_FILE, RunRecord};
pub use salvage::salvage;
pub use sheet::{Names, Sheet, SheetWriter, Values};
pub use verify::{Problem, Report, verify};
pub use whole::{check_posterior, check_simulations};

#[doc(hidden)]
pub use journal::reseal as reseal_journal;

use counterpoise_core::digest::Generation;
use counterpoise_core::problem::UnitScale;
use counterpoise_core::simulate::{Chunk, Simulated};
use counterpoise_core::table::Table;

/// What identifies a run: equal headers give equal results.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Problem, method, seed and simulator, as JSON. [`differences`] says which parts may change.
    pub description: serde_json::Value,
    /// Names of the parameters, in order.
    pub parameters: Vec<String>,
    /// Names of the statistics, in order.
    pub statistics: Vec<String>,
    /// How each parameter becomes a unit-space coordinate, in order; none where that is not known, and coordinates are written in any case.
    pub units: Vec<UnitScale>,
}

/// A generation and what it was made from.
#[derive(Clone, Copy, Debug)]
pub struct Made<'a> {
    /// What came out.
    pub generation: &'a Generation,
    /// The parameters of each simulation, and the simulations; nothing where these exist elsewhere, in a table.
    pub simulations: Option<(&'a Table, &'a Simulated)>,
    /// The same of a table, which has them already: they are to be looked at, not kept.
    pub table: Option<(&'a Table, &'a Simulated)>,
}

/// What may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The process ends at this moment.
    Process,
    /// The machine does.
    Power,
}

/// Memory of a run. Whether it outlives the process is the store's affair.
pub trait Store {
    /// Binds the store to the run that `header` describes and returns its committed generations.
    ///
    /// # Errors
    /// [`StoreError::Mismatch`] when the store holds another run.
    fn open(&mut self, header: &Header) -> Result<Vec<Generation>, StoreError>;
    /// Hands over what is there of the unfinished generation `index`, which has so many simulations.
    ///
    /// # Errors
    /// When it cannot be read.
    fn chunks(
        &mut self,
        index: u32,
        simulations: usize,
        take: &mut dyn FnMut(&Chunk),
    ) -> Result<(), StoreError>;
    /// Takes a finished chunk of the generation whose chunks were last handed over.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn append(&mut self, chunk: Chunk) -> Result<(), StoreError>;
    /// Makes sure that the chunks taken so far survive.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn secure(&mut self, _against: Loss) -> Result<(), StoreError> {
        Ok(())
    }
    /// Forgets the simulations of the unfinished generation that failed: they are tried again when the run goes on.
    ///
    /// # Errors
    /// When the others cannot be kept.
    fn forget_failures(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
    /// The simulations of a committed generation, which has so many.
    ///
    /// # Errors
    /// When they cannot be read.
    fn simulations(&mut self, index: u32, simulations: usize) -> Result<Simulated, StoreError>;
    /// Commits a generation, all or nothing.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn commit(&mut self, made: &Made<'_>) -> Result<(), StoreError>;
}
