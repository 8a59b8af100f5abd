//! Adds records to a journal.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::Chunk;

use super::super::StoreError;
use super::super::error::io;
use super::{FULL, GOOD, LONGEST_TEXT, MARKER, RECORD_HEADER, Shape, checksum, header_checksum};

/// Bytes that wait in memory at the most.
const MOST_WAITING: usize = 32 << 20;

/// A journal that grows. Records wait in memory until they are written, all with one call, so that a process that is
/// killed leaves whole records and at the end part of one.
#[derive(Debug)]
pub(in crate::store) struct Writer {
    path: PathBuf,
    shape: Shape,
    /// Opened with the first bytes that are written.
    file: Option<File>,
    /// Bytes in the file.
    written: u64,
    waiting: Vec<u8>,
    /// Where in `waiting` the record begins that takes the next entry.
    open: Option<usize>,
    is_settled: bool,
}

impl Writer {
    /// Goes on in a journal whose first `written` bytes are sound; what follows them is cut off.
    pub(in crate::store) fn new(path: PathBuf, shape: Shape, written: u64) -> Self {
        let waiting = if written == 0 { shape.encode().to_vec() } else { Vec::new() };
        Self { path, shape, file: None, written, waiting, open: None, is_settled: true }
    }

    /// Takes a chunk.
    pub(in crate::store) fn add(&mut self, chunk: &Chunk) -> Result<(), StoreError> {
        assert_eq!(chunk.summaries.columns(), self.shape.columns as usize, "statistics of a chunk");
        for (slot, (&row, outcome)) in chunk.rows.iter().zip(&chunk.outcomes).enumerate() {
            self.add_row(row, chunk.summaries.row(slot), outcome.as_ref().err());
            if self.waiting.len() > MOST_WAITING {
                self.write()?;
            }
        }
        self.close_record();
        Ok(())
    }

    fn add_row(&mut self, row: usize, summaries: &[f64], failure: Option<&Failure>) {
        let open = *self.open.get_or_insert_with(|| {
            self.waiting.extend([0; RECORD_HEADER]);
            self.waiting.len() - RECORD_HEADER
        });
        self.waiting.extend((row as u32).to_le_bytes());
        match failure {
            None => {
                self.waiting.extend(GOOD.to_le_bytes());
                let start = self.waiting.len();
                self.waiting.resize(start + 8 * summaries.len(), 0);
                for (bytes, value) in self.waiting[start..].chunks_exact_mut(8).zip(summaries) {
                    bytes.copy_from_slice(&value.to_le_bytes());
                }
            }
            Some(failure) => {
                let text = failure.to_text();
                let text = &text[..text.floor_char_boundary(LONGEST_TEXT)];
                self.waiting.extend((text.len() as u32).to_le_bytes());
                self.waiting.extend(text.as_bytes());
            }
        }
        if self.waiting.len() - open >= FULL {
            self.close_record();
        }
    }

    fn close_record(&mut self) {
        let Some(open) = self.open.take() else { return };
        let payload = open + RECORD_HEADER;
        let length = (self.waiting.len() - payload) as u32;
        let sum = checksum(&self.waiting[payload..]);
        self.waiting.extend(sum.to_le_bytes());
        let check = header_checksum(self.written + open as u64, length);
        let header = &mut self.waiting[open..payload];
        header[..4].copy_from_slice(&MARKER.to_le_bytes());
        header[4..8].copy_from_slice(&length.to_le_bytes());
        header[8..].copy_from_slice(&check.to_le_bytes());
    }

    /// Writes what waits, so that it survives the process.
    pub(in crate::store) fn write(&mut self) -> Result<(), StoreError> {
        self.close_record();
        // A header alone is not worth a file.
        if self.waiting.is_empty() || (self.written == 0 && self.waiting.len() == super::HEADER) {
            return Ok(());
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            None => begin(&self.path, self.written)?,
        };
        let result = file.write_all(&self.waiting);
        result.map_err(|source| StoreError::Write {
            path: self.path.clone(),
            written: file.metadata().map_or(self.written, |file| file.len()),
            source,
        })?;
        self.file = Some(file);
        self.written += self.waiting.len() as u64;
        self.waiting.clear();
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
