//! The simulations of a generation that is not finished: a file that only grows, with a checksum a record.
//!
//! ```text
//! file    header record*
//! header  magic "cpjournl"  version u32  generation u32  run u64  rows u64  columns u32  0 u32  checksum u64
//! record  marker u32  length u32  checksum u64 of (offset u64, marker, length)  payload  checksum u64 of the payload
//! payload entry*
//! entry   row u32  size u32  then text of `size` bytes that says why it failed; or, where size is 2^32 - 1, columns x f64
//! ```
//!
//! All numbers are little-endian. A process that is killed while it writes leaves the first part of a record at the end,
//! which the next one cuts off. Anything else that does not fit its checksums is damage.

mod reader;
mod reseal;
mod rewrite;
mod writer;

pub(super) use reader::{Beginning, Piece, Reader};
pub use reseal::reseal;
pub(super) use rewrite::{Rewritten, rewrite};
pub(super) use writer::Writer;

use super::tally::checksum;

/// Name of the file, in the folder of its generation.
pub(super) const JOURNAL: &str = "journal";

const MAGIC: [u8; 8] = *b"cpjournl";
const VERSION: u32 = 1;
const HEADER: usize = 48;
const MARKER: u32 = 0x4a50_43c5;
const RECORD_HEADER: usize = 16;
/// Marks an entry with summaries.
const GOOD: u32 = u32::MAX;
/// A record is closed once it is so long.
const FULL: usize = 1 << 20;
/// Or holds so many numbers, those of failures included: they have none in the file, but do in memory.
const FULL_CELLS: usize = 1 << 22;
/// No record that anybody wrote holds more numbers.
const MOST_CELLS: usize = 1 << 24;
/// No problem has more statistics.
const MOST_COLUMNS: u32 = 1 << 22;
/// The longest text of a failure that is kept.
const LONGEST_TEXT: usize = 1 << 16;

/// What a journal is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Generation.
    pub(super) generation: u32,
    /// Identity of the run.
    pub(super) run: u64,
    /// Simulations of the generation.
    pub(super) rows: u64,
    /// Statistics of each.
    pub(super) columns: u32,
}

impl Shape {
    fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let parts: [&[u8]; 6] = [
            &MAGIC,
            &VERSION.to_le_bytes(),
            &self.generation.to_le_bytes(),
            &self.run.to_le_bytes(),
            &self.rows.to_le_bytes(),
            &self.columns.to_le_bytes(),
        ];
        let mut at = 0;
        for part in parts {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        let sum = checksum(&bytes[..HEADER - 8]);
        bytes[HEADER - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a header, or says what is wrong with it.
    fn decode(bytes: &[u8; HEADER]) -> Result<Self, String> {
        if bytes[..8] != MAGIC {
            return Err("it does not begin like a journal".into());
        }
        if u64_at(bytes, HEADER - 8) != checksum(&bytes[..HEADER - 8]) {
            return Err("the checksum of its header does not fit".into());
        }
        match u32_at(bytes, 8) {
            VERSION => {}
            other => return Err(format!("it has version {other}; this version reads version {VERSION}")),
        }
        if !(1..=MOST_COLUMNS).contains(&u32_at(bytes, 32)) {
            return Err(format!("it has {} statistics", u32_at(bytes, 32)));
        }
        Ok(Self {
            generation: u32_at(bytes, 12),
            run: u64_at(bytes, 16),
            rows: u64_at(bytes, 24),
            columns: u32_at(bytes, 32),
        })
    }

    /// No record is longer, in bytes: it is closed once it is full, and the last entry may exceed that.
    fn longest_record(&self) -> u64 {
        FULL as u64 + 8 + (8 * u64::from(self.columns)).max(LONGEST_TEXT as u64)
    }
}

/// The checksum of a record's header, which holds only where the record stands.
fn header_checksum(offset: u64, length: u32) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&offset.to_le_bytes());
    bytes[8..12].copy_from_slice(&MARKER.to_le_bytes());
    bytes[12..].copy_from_slice(&length.to_le_bytes());
    checksum(&bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}

#[cfg(test)]
mod tests;
