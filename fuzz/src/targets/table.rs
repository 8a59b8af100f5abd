//! Reads a table of any kind, as a run would.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use counterpoise_core::workers::Serial;
use counterpoise_tables::{Block, TableError, TableFile};
use tempfile::TempDir;

use super::shape;

/// Rows that are read at the most.
const MOST_ROWS: u64 = 10_000;

thread_local! {
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// Writes `input` to a file of this name and reads it.
pub fn read(name: &str, input: &[u8]) -> String {
    let path = FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| tempfile::tempdir().expect("a temporary folder"));
        folder.path().join(name)
    });
    fs::write(&path, input).expect("a temporary file");
    let mut seen = Vec::new();
    if let Err(error) = read_all(&path, &mut seen) {
        let hint = error.fault.hint().unwrap_or_default();
        seen.push(format!("{} {}", shape(&error.fault.to_string()), shape(&hint)));
    }
    seen.join("\n")
}

fn read_all(path: &Path, seen: &mut Vec<String>) -> Result<(), TableError> {
    let table = TableFile::open(path)?;
    let survey = table.survey(&mut |_| true)?;
    seen.push(format!("{} columns, {} rows", table.names().len().min(9), survey.rows.min(9)));
    let rows = survey.rows.min(MOST_ROWS);
    let columns: Vec<usize> = (0..table.names().len()).collect();
    let mut values = 0;
    let read = table.read(&columns, rows, &Serial, &mut |block: Block<'_>| {
        values += block.values.len() as u64;
        true
    });
    if read.is_ok() {
        assert_eq!(values, rows * columns.len() as u64, "every value comes once");
    }
    read
}
