//! From lines to rows of numbers.

use memchr::{memchr, memchr_iter};

use super::records::{line_ends, records};
use crate::error::Fault;

/// Letters of a wrong value that a message shows.
const SHOWN: usize = 40;

/// Which columns are wanted.
pub(super) struct Wanted {
    pub(super) separator: u8,
    /// For each column of the file, its place in a row of those wanted.
    pub(super) slots: Vec<Option<usize>>,
    /// Columns wanted.
    pub(super) width: usize,
}

/// The rows of a block.
pub(super) struct Parsed {
    /// Row by row, up to what is wrong.
    pub(super) values: Vec<f64>,
    /// Line ends of the block.
    pub(super) lines: u64,
    pub(super) wrong: Option<Wrong>,
}

/// What is wrong in a block, and where.
pub(super) struct Wrong {
    /// Line, from one at the start of the block.
    pub(super) line: u64,
    /// Column, from zero.
    pub(super) column: Option<usize>,
    pub(super) fault: Fault,
}

/// Parses a block.
pub(super) fn parse(block: &[u8], wanted: &Wanted) -> Parsed {
    let mut values = Vec::new();
    let mut row = vec![f64::NAN; wanted.width];
    let mut wrong = None;
    for (start, record) in records(block) {
        if let Err((column, fault)) = parse_record(record, wanted, &mut row) {
            wrong = Some(Wrong { line: line_ends(&block[..start]) + 1, column, fault });
            break;
        }
        if values.is_empty() {
            values.reserve(block.len() / (record.len() + 1) * wanted.width);
        }
        values.extend_from_slice(&row);
    }
    Parsed { values, lines: line_ends(block), wrong }
}

fn parse_record(record: &[u8], wanted: &Wanted, row: &mut [f64]) -> Result<(), (Option<usize>, Fault)> {
    let Wanted { separator, slots, .. } = wanted;
    let mut count = 0;
    let mut put = |cell: &[u8]| {
        if let Some(&Some(slot)) = slots.get(count) {
            row[slot] = number(cell).ok_or_else(|| (Some(count), not_number(cell)))?;
        }
        count += 1;
        Ok(())
    };
    if memchr(b'"', record).is_none() {
        let mut from = 0;
        for end in memchr_iter(*separator, record) {
            put(&record[from..end])?;
            from = end + 1;
        }
        put(&record[from..])?;
    } else {
        for cell in cells(record, *separator) {
            put(cell.map_err(|fault| (None, fault))?)?;
        }
    }
    match count == slots.len() {
        true => Ok(()),
        false => Err((None, Fault::Ragged { columns: slots.len(), values: count })),
    }
}

/// The values of a record as they are written, without blanks around them and without their quotes.
pub(super) fn cells(record: &[u8], separator: u8) -> impl Iterator<Item = Result<&[u8], Fault>> {
    let mut rest = Some(record);
    std::iter::from_fn(move || {
        let text = rest?;
        let begin = text.iter().position(|byte| !matches!(byte, b' ' | b'\t') || *byte == separator);
        let begin = begin.filter(|&at| text[at] == b'"');
        let Some(begin) = begin else {
            let end = memchr(separator, text).unwrap_or(text.len());
            rest = text.get(end + 1..);
            return Some(Ok(text[..end].trim_ascii()));
        };
        let Some(close) = closing(text, begin + 1) else {
            rest = None;
            return Some(Err(Fault::Quote));
        };
        let end = memchr(separator, &text[close..]).map_or(text.len(), |at| close + at);
        rest = text.get(end + 1..);
        let alone = text[close + 1..end].trim_ascii().is_empty();
        Some(if alone { Ok(&text[begin + 1..close]) } else { Err(Fault::Quote) })
    })
}

/// The quote that closes what begins at `from`; two quotes stand for one.
fn closing(text: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr(b'"', text.get(from..)?)?;
        if text.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        from = at + 2;
    }
}

/// The number of a cell: NaN where it is missing, `None` where it is none.
fn number(cell: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?;
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let text = text.trim();
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) if MISSING.iter().any(|missing| text.eq_ignore_ascii_case(missing)) => Some(f64::NAN),
        Err(_) if text.eq_ignore_ascii_case("true") => Some(1.0),
        Err(_) if text.eq_ignore_ascii_case("false") => Some(0.0),
        Err(_) => None,
    }
}

/// How a value is written that is not there, beside NaN; in small letters or capitals.
const MISSING: [&str; 6] = ["", "na", "n/a", "null", "none", "missing"];

fn not_number(cell: &[u8]) -> Fault {
    let text = String::from_utf8_lossy(cell);
    let mut shown: String = text.trim().chars().take(SHOWN).collect();
    if text.trim().chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    Fault::NotNumber(shown)
}
