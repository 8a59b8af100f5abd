//! Writing tables: what is written here, [`TableFile`](crate::TableFile) reads back to the bit.

mod csv;
mod parquet;
mod partial;

pub use csv::{Csv, quoted};
pub use parquet::Parquet;
pub use partial::Partial;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ::parquet::errors::ParquetError;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::kind::Kind;

/// Takes rows, some of them at a time; a missing value is NaN.
pub trait Sink {
    /// Adds rows, each as long as the header, one behind the other.
    ///
    /// # Errors
    /// If they cannot be written.
    fn rows(&mut self, values: &[f64]) -> Result<(), WriteError>;
    /// Writes what is left.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self: Box<Self>) -> Result<(), WriteError>;
}

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The values do not make Parquet.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
}

/// Compressed text that is flushed once, at its end: dropped, the encoder would keep to itself that the disk is full.
struct Gzipped<W: Write>(GzEncoder<W>);

impl<W: Write> Write for Gzipped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.try_finish()?;
        self.0.get_mut().flush()
    }
}

/// A sink for `file` by the kind of table that its final name asks for; CSV where it asks for none.
///
/// # Errors
/// If the header cannot be written.
pub fn sink(path: &Path, file: File, names: &[String]) -> Result<Box<dyn Sink>, WriteError> {
    Ok(match Kind::of(path) {
        Some(Kind::Parquet) => Box::new(Parquet::new(file, names)?),
        Some(Kind::GzippedCsv) => {
            let encoder = GzEncoder::new(BufWriter::new(file), Compression::fast());
            Box::new(Csv::new(Gzipped(encoder), names)?)
        }
        _ => Box::new(Csv::new(BufWriter::new(file), names)?),
    })
}
