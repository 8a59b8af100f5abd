//! The records of a text: its lines, but for line ends in quotes.

use memchr::memchr_iter;

use super::blocks::record_end;

/// The records of a block, blank ones left out, without their line ends; each with its place in the block.
pub(super) fn records(block: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while from < block.len() {
            let start = from;
            let end = record_end(&block[from..]).map_or(block.len(), |end| from + end);
            from = end + 1;
            let record = &block[start..end];
            let record = record.strip_suffix(b"\r").unwrap_or(record);
            let blank = record.first().is_none_or(u8::is_ascii_whitespace) && record.trim_ascii().is_empty();
            // A line of tabs is a row of missing values, if tabs separate values.
            if !blank || record.contains(&b'\t') {
                return Some((start, record));
            }
        }
        None
    })
}

/// How many records a block has.
pub(super) fn count(block: &[u8]) -> u64 {
    records(block).count() as u64
}

/// Line ends of a block, in quotes or not.
pub(super) fn line_ends(block: &[u8]) -> u64 {
    memchr_iter(b'\n', block).count() as u64
}
