//! The first line: names of columns, and what separates values.

use crate::MOST_COLUMNS;
use crate::error::Fault;

use super::rows::{Wanted, cells};

/// What may separate values; the first wins where several are as frequent.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// The header of a table.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) names: Vec<String>,
    pub(super) separator: u8,
}

impl Header {
    /// Reads a header.
    pub(super) fn read(line: &[u8]) -> Result<Self, Fault> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let separator = separator(line);
        let count = 1 + outside_quotes(line).filter(|&byte| byte == separator).count();
        if count > MOST_COLUMNS {
            return Err(Fault::TooManyColumns(count));
        }
        let mut names = Vec::with_capacity(count);
        for cell in cells(line, separator) {
            let name = std::str::from_utf8(cell?).map_err(|_| Fault::NotUtf8)?;
            names.push(name.replace("\"\"", "\""));
        }
        Ok(Self { names, separator })
    }

    /// The columns with these numbers, as rows are parsed for them.
    pub(super) fn wanted(&self, columns: &[usize]) -> Wanted {
        let mut slots = vec![None; self.names.len()];
        for (slot, &column) in columns.iter().enumerate() {
            slots[column] = Some(slot);
        }
        Wanted { separator: self.separator, slots, width: columns.len() }
    }
}

fn outside_quotes(line: &[u8]) -> impl Iterator<Item = u8> {
    let mut quoted = false;
    line.iter().copied().filter(move |&byte| {
        quoted ^= byte == b'"';
        !quoted
    })
}

/// What the line has most of.
fn separator(line: &[u8]) -> u8 {
    let count = |separator: u8| outside_quotes(line).filter(|&byte| byte == separator).count();
    // Of equals, `max_by_key` gives the last.
    SEPARATORS.into_iter().rev().max_by_key(|&separator| count(separator)).unwrap_or(b',')
}
