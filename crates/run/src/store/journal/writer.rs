//! Adds records to a journal.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::Chunk;

use super::super::StoreError;
use super::super::error::io;
use super::{FULL, FULL_CELLS, GOOD, LONGEST_TEXT, MARKER, RECORD_HEADER, Shape, checksum, header_checksum};

/// Numbers that wait in memory at the most.
const MOST_WAITING: usize = 16 << 20;
/// Bytes of room that stay when all is written: chunks may be large, and what follows the last needs its memory.
const KEPT: usize = 1 << 16;

/// A journal that grows. Chunks wait in memory until they are written, all with one call, so that a process that is
/// killed leaves whole records and at the end part of one. Those of a generation that is committed before cost nothing.
#[derive(Debug)]
pub(in crate::store) struct Writer {
    path: PathBuf,
    shape: Shape,
    /// Opened with the first bytes that are written.
    file: Option<File>,
    /// Bytes in the file.
    written: u64,
    waiting: Vec<Chunk>,
    waiting_cells: usize,
    /// Records that are to be written.
    bytes: Vec<u8>,
    /// Where in `bytes` the record begins that takes the next entry.
    open: Option<usize>,
    /// Numbers in that record.
    open_cells: usize,
    is_settled: bool,
}

impl Writer {
    /// Goes on in a journal whose first `written` bytes are sound; what follows them is cut off.
    pub(in crate::store) fn new(path: PathBuf, shape: Shape, written: u64) -> Self {
        let bytes = if written == 0 { shape.encode().to_vec() } else { Vec::new() };
        let (file, waiting, open) = (None, Vec::new(), None);
        let (waiting_cells, open_cells) = (0, 0);
        Self { path, shape, file, written, waiting, waiting_cells, bytes, open, open_cells, is_settled: true }
    }

    /// The file.
    pub(in crate::store) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes a chunk.
    pub(in crate::store) fn add(&mut self, chunk: Chunk) -> Result<(), StoreError> {
        assert_eq!(chunk.summaries.columns(), self.shape.columns as usize, "statistics of a chunk");
        self.waiting_cells += chunk.summaries.values().len();
        self.waiting.push(chunk);
        if self.waiting_cells > MOST_WAITING { self.write() } else { Ok(()) }
    }

    /// Turns the chunks that wait into records.
    fn encode(&mut self) {
        // Two numbers beside the statistics of a row, and what stands about a record; failures may need more.
        let cells = self.waiting.iter().map(|chunk| chunk.summaries.values().len() + chunk.rows.len() + 4);
        self.bytes.reserve_exact(8 * cells.sum::<usize>());
        for chunk in std::mem::take(&mut self.waiting) {
            for (slot, (&row, outcome)) in chunk.rows.iter().zip(&chunk.outcomes).enumerate() {
                self.add_row(row, chunk.summaries.row(slot), outcome.as_ref().err());
            }
            self.close_record();
        }
        self.waiting_cells = 0;
    }

    fn add_row(&mut self, row: usize, summaries: &[f64], failure: Option<&Failure>) {
        let open = *self.open.get_or_insert_with(|| {
            self.bytes.extend([0; RECORD_HEADER]);
            self.bytes.len() - RECORD_HEADER
        });
        self.bytes.extend((row as u32).to_le_bytes());
        match failure {
            None => {
                self.bytes.extend(GOOD.to_le_bytes());
                let start = self.bytes.len();
                self.bytes.resize(start + 8 * summaries.len(), 0);
                for (bytes, value) in self.bytes[start..].chunks_exact_mut(8).zip(summaries) {
                    bytes.copy_from_slice(&value.to_le_bytes());
                }
            }
            Some(failure) => {
                let text = failure.to_text();
                let text = &text[..text.floor_char_boundary(LONGEST_TEXT)];
                self.bytes.extend((text.len() as u32).to_le_bytes());
                self.bytes.extend(text.as_bytes());
            }
        }
        self.open_cells += summaries.len();
        if self.bytes.len() - open >= FULL || self.open_cells >= FULL_CELLS {
            self.close_record();
        }
    }

    fn close_record(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.open_cells = 0;
        let payload = open + RECORD_HEADER;
        let length = (self.bytes.len() - payload) as u32;
        let sum = checksum(&self.bytes[payload..]);
        self.bytes.extend(sum.to_le_bytes());
        let check = header_checksum(self.written + open as u64, length);
        let header = &mut self.bytes[open..payload];
        header[..4].copy_from_slice(&MARKER.to_le_bytes());
        header[4..8].copy_from_slice(&length.to_le_bytes());
        header[8..].copy_from_slice(&check.to_le_bytes());
    }

    /// Writes what waits, so that it survives the process.
    pub(in crate::store) fn write(&mut self) -> Result<(), StoreError> {
        self.encode();
        // A header alone is not worth a file.
        if self.bytes.is_empty() || (self.written == 0 && self.bytes.len() == super::HEADER) {
            return Ok(());
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            None => begin(&self.path, self.written)?,
        };
        let result = file.write_all(&self.bytes);
        result.map_err(|source| StoreError::Write {
            path: self.path.clone(),
            written: file.metadata().map_or(self.written, |file| file.len()),
            source,
        })?;
        self.file = Some(file);
        self.written += self.bytes.len() as u64;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.is_settled = false;
        Ok(())
    }

    /// Writes what waits, so that it survives a loss of power.
    pub(in crate::store) fn settle(&mut self) -> Result<(), StoreError> {
        self.write()?;
        if let (Some(file), false) = (&self.file, self.is_settled) {
            let short = |source| StoreError::Write { path: self.path.clone(), written: self.written, source };
            file.sync_data().map_err(short)?;
            self.is_settled = true;
        }
        Ok(())
    }
}

/// Opens the file to write behind its sound bytes.
fn begin(path: &Path, sound: u64) -> Result<File, StoreError> {
    let opened = OpenOptions::new().append(true).create(true).open(path).map_err(io("open", path))?;
    opened.set_len(sound).map_err(io("cut off the end of", path))?;
    if sound == 0 {
        super::super::folder::settle(path.parent().unwrap_or(Path::new(".")))?;
    }
    Ok(opened)
}
