//! Where finished work is kept. A run is resumed by opening its store.

mod directory;
mod memory;

pub use directory::{Directory, FORMAT, POSTERIOR_FILE, RUN_FILE};
pub use memory::Memory;

use std::path::PathBuf;

use counterpoise_core::digest::Generation;
use counterpoise_core::simulate::Chunk;

/// What identifies a run: equal headers give equal results.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Problem, method and seed, as JSON.
    pub description: serde_json::Value,
    /// Names of the parameters, in order.
    pub parameters: Vec<String>,
}

/// Memory of a run. Whether it outlives the process is the store's affair.
pub trait Store {
    /// Binds the store to the run that `header` describes and returns its committed generations.
    ///
    /// # Errors
    /// [`StoreError::Mismatch`] when the store holds another run.
    fn open(&mut self, header: &Header) -> Result<Vec<Generation>, StoreError>;
    /// Chunks of the unfinished generation `index`.
    ///
    /// # Errors
    /// When they cannot be read.
    fn chunks(&mut self, index: u32) -> Result<Vec<Chunk>, StoreError>;
    /// Keeps a finished chunk.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn append(&mut self, index: u32, chunk: &Chunk) -> Result<(), StoreError>;
    /// Commits a generation, all or nothing.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn commit(&mut self, generation: &Generation) -> Result<(), StoreError>;
}

/// The store cannot keep its promise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Input or output failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A Parquet file could not be written.
    #[error("cannot write {}", path.display())]
    Parquet {
        /// Which file.
        path: PathBuf,
        /// Why it failed.
        source: parquet::errors::ParquetError,
    },
    /// The file is not what it should be.
    #[error("{} does not describe a run", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: serde_json::Error,
    },
    /// The file is larger than any run's.
    #[error("{} is larger than {} MiB", path.display(), directory::LARGEST_RUN_FILE >> 20)]
    TooLarge {
        /// Which file.
        path: PathBuf,
    },
    /// The file was written in a format this version does not know.
    #[error("{} has format {found}; this version reads format {}", path.display(), FORMAT)]
    Format {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: String,
    },
    /// The store belongs to a different problem, method or seed.
    #[error("{} holds another run: {}", path.display(), differences.join("; "))]
    Mismatch {
        /// Where.
        path: PathBuf,
        /// What differs.
        differences: Vec<String>,
    },
}
