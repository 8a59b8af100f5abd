//! Comma-separated values out.

use std::io::{self, Write};

use super::{Sink, WriteError};

/// Comma-separated values; a missing value is an empty cell.
#[derive(Debug)]
pub struct Csv<W> {
    inner: W,
    columns: usize,
}

impl<W: Write> Csv<W> {
    /// Begins with the header.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut inner: W, names: &[String]) -> io::Result<Self> {
        let header: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        writeln!(inner, "{}", header.join(","))?;
        Ok(Self { inner, columns: names.len() })
    }
}

/// A cell with text, in quotes where it needs them.
#[must_use]
pub fn quoted(name: &str) -> String {
    if name.contains([',', ';', '\t', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.into()
    }
}

/// The shortest text that reads back as the same number.
fn shortest(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl<W: Write> Sink for Csv<W> {
    fn rows(&mut self, values: &[f64]) -> Result<(), WriteError> {
        for row in values.chunks(self.columns.max(1)) {
            for (at, value) in row.iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let number = if value.is_nan() { String::new() } else { shortest(*value) };
                write!(self.inner, "{comma}{number}")?;
            }
            writeln!(self.inner)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        Ok(self.inner.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_reads_back_as_the_same_numbers() {
        let mut bytes = Vec::new();
        let names = ["a".to_owned(), "b,c".to_owned()];
        let mut csv = Box::new(Csv::new(&mut bytes, &names).unwrap());
        csv.rows(&[0.1 + 0.2, f64::NAN, 1e-300, -7.0]).unwrap();
        csv.finish().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, "a,\"b,c\"\n0.30000000000000004,\n1e-300,-7\n");
    }
}
