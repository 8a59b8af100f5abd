//! Tables of numbers in files: CSV, gzipped CSV and Parquet, read and written.
//!
//! A [`TableFile`] is opened for its column names alone, surveyed in one pass for its rows and its identity, and read
//! a block at a time for the columns that somebody wants. A missing value is NaN. Whatever is in the file, the memory
//! used is bounded by the limits below and by the blocks.

mod csv;
mod error;
mod file;
pub mod guard;
mod hashing;
mod kind;
mod parquet;
pub mod write;

pub use error::{At, Fault, TableError};
pub use file::{Block, Survey, TableFile};
pub use kind::Kind;

/// More columns than any table of simulations has.
pub const MOST_COLUMNS: usize = 1 << 16;
/// The longest line of a CSV file, in bytes.
pub const LONGEST_LINE: usize = 16 << 20;
