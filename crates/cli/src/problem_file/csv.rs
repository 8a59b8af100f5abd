//! Comma-separated values whose every cell remembers its place.

use std::borrow::Cow;
use std::ops::Range;

/// More cells than any table of observations has.
const MOST_CELLS: usize = 4_000_000;

/// One value of a table.
#[derive(Debug, PartialEq)]
pub(crate) struct Cell<'a> {
    /// Its text without quotes and surrounding blanks.
    pub(crate) text: Cow<'a, str>,
    /// Its bytes in the file.
    pub(crate) span: Range<usize>,
}

/// Why a text is no table, and where.
#[derive(Debug, PartialEq)]
pub(crate) struct Broken {
    pub(crate) message: &'static str,
    pub(crate) span: Range<usize>,
}

/// The records of a text, blank lines left out.
pub(crate) fn records(text: &str) -> Result<Vec<Vec<Cell<'_>>>, Broken> {
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (mut records, mut record, mut cells) = (Vec::new(), Vec::new(), 0);
    while at < text.len() {
        let (cell, end) = cell(text, at)?;
        cells += 1;
        if cells > MOST_CELLS {
            return Err(Broken { message: "the file has more than 4 million cells", span: at..at });
        }
        record.push(cell);
        let more = text[end..].starts_with(',');
        at = end + usize::from(end < text.len());
        if more && at == text.len() {
            record.push(Cell { text: "".into(), span: at..at });
        }
        if !more || at == text.len() {
            let blank = record.len() == 1 && record.iter().all(|cell: &Cell<'_>| cell.text.is_empty());
            let finished = std::mem::take(&mut record);
            if !blank {
                records.push(finished);
            }
        }
    }
    Ok(records)
}

/// The cell that begins at `start`, and where the comma, line break or end behind it is.
fn cell(text: &str, start: usize) -> Result<(Cell<'_>, usize), Broken> {
    let rest = &text[start..];
    let open = start + rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if !text[open..].starts_with('"') {
        let end = start + rest.find([',', '\n']).unwrap_or(rest.len());
        let value = text[start..end].trim();
        let begin = start + text[start..end].len() - text[start..end].trim_start().len();
        return Ok((Cell { text: value.into(), span: begin..begin + value.len() }, end));
    }
    let mut close = open + 1;
    loop {
        close += text[close..]
            .find('"')
            .ok_or(Broken { message: "this quote is never closed", span: open..open + 1 })?;
        if !text[close + 1..].starts_with('"') {
            break;
        }
        close += 2;
    }
    let inner = &text[open + 1..close];
    let value =
        if inner.contains('"') { Cow::Owned(inner.replace("\"\"", "\"")) } else { Cow::Borrowed(inner) };
    let end = close + 1 + text[close + 1..].find([',', '\n']).unwrap_or(text.len() - close - 1);
    if !text[close + 1..end].trim().is_empty() {
        return Err(Broken { message: "expected a comma behind this quote", span: close..close + 1 });
    }
    Ok((Cell { text: value, span: open..close + 1 }, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<Vec<String>> {
        let cells = |record: Vec<Cell<'_>>| record.into_iter().map(|cell| cell.text.into_owned()).collect();
        records(text).unwrap().into_iter().map(cells).collect()
    }

    #[test]
    fn quotes_blanks_and_line_ends() {
        assert_eq!(texts("a,b\n1,2\n"), [["a", "b"], ["1", "2"]]);
        assert_eq!(texts("\u{feff}a , \"b,\"\"c\"\r\n\r\n 1,\t2"), [["a", "b,\"c"], ["1", "2"]]);
        assert_eq!(texts("a,\n,"), [["a", ""], ["", ""]]);
        assert!(texts("").is_empty() && texts("\n \n").is_empty());
        let records = records("x, y\n1, 2.5\n").unwrap();
        assert_eq!(records[1][1].span, 8..11);
    }

    #[test]
    fn broken_quotes_are_located() {
        assert_eq!(records("a,\"b\n").unwrap_err().span, 2..3);
        assert_eq!(records("\"a\"x,b").unwrap_err().span, 2..3);
        assert!(records("\"").is_err() && records("\"\"\"").is_err());
    }
}
