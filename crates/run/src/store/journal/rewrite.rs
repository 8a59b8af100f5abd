//! Writes a journal anew with a part of what is in it.

use std::path::{Path, PathBuf};

use counterpoise_core::simulate::Chunk;

use super::super::StoreError;
use super::super::error::io;
use super::{Piece, Reader, Writer};

/// What went into the new journal, and what did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct Rewritten {
    /// Simulations that were kept.
    pub(in crate::store) kept: usize,
    /// Bytes that were damaged.
    pub(in crate::store) damaged: u64,
}

/// Writes what `filter` leaves of the sound records into another file, and flushes it to the disk.
pub(in crate::store) fn rewrite(
    (path, mut reader): (&Path, Reader),
    to: PathBuf,
    filter: &dyn Fn(Chunk) -> Chunk,
) -> Result<Rewritten, StoreError> {
    let mut writer = Writer::new(to, reader.shape(), 0);
    let mut done = Rewritten::default();
    while let Some(piece) = reader.next().map_err(io("read", path))? {
        match piece {
            Piece::Rows(chunk) => {
                let chunk = filter(chunk);
                done.kept += chunk.rows.len();
                writer.add(chunk)?;
            }
            Piece::Damaged { bytes, .. } => done.damaged += bytes,
            Piece::Torn { .. } => {}
        }
    }
    writer.settle()?;
    Ok(done)
}
