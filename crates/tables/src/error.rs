//! What can be wrong with a table, where, and what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use ::parquet::errors::ParquetError;

use crate::{LONGEST_LINE, MOST_COLUMNS};

/// A table that cannot be read or written, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {fault}", path.display(), place(at.as_ref()))]
pub struct TableError {
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    pub at: Option<At>,
    /// What is wrong.
    pub fault: Fault,
}

/// A place in a table of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// Line, from one.
    pub line: u64,
    /// Column, from one, and its name; `None` where the whole line is meant.
    pub column: Option<(usize, String)>,
}

fn place(at: Option<&At>) -> String {
    match at {
        None => String::new(),
        Some(At { line, column: None }) => format!(", line {line}"),
        Some(At { line, column: Some((number, name)) }) => {
            format!(", line {line}, column {number} (`{name}`)")
        }
    }
}

/// What is wrong with a table.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// The name does not tell what kind of table it is.
    UnknownKind,
    /// A directory, a pipe or a device.
    NotRegular,
    /// Reading or writing failed.
    Io(io::Error),
    /// Nothing in it.
    Empty,
    /// The line is too long.
    LongLine,
    /// More columns than are read.
    TooManyColumns(usize),
    /// A column's name is not UTF-8.
    NotUtf8,
    /// Two columns of one name.
    Duplicate {
        /// The name.
        name: String,
        /// Both columns, from one.
        columns: (usize, usize),
    },
    /// More or fewer values than columns.
    Ragged {
        /// Columns of the header.
        columns: usize,
        /// Values in the line.
        values: usize,
    },
    /// A quote that is never closed, or is followed by something else than the next value.
    Quote,
    /// Not a number.
    NotNumber(String),
    /// The column is of a type that is no number.
    NotNumeric {
        /// Its name.
        name: String,
        /// Its type.
        kind: String,
    },
    /// Parquet that cannot be read.
    Parquet(ParquetError),
    /// Parquet compressed in a way that this program is not built for.
    Compression(String),
    /// Parquet whose parts contradict each other.
    Inconsistent(&'static str),
    /// The file changed while it was read.
    Changed,
}

impl Fault {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotRegular => "give the name of a file",
            Self::NotUtf8 => "save it as UTF-8",
            Self::Quote => {
                "a quote inside of a value is written twice, and a value with quotes ends with one"
            }
            Self::Parquet(_) | Self::Inconsistent(_) => {
                "write it again, or give it the ending of what it is: .csv, .csv.gz or .parquet"
            }
            Self::Io(error) if error.kind() == io::ErrorKind::InvalidInput => {
                "a file that is not compressed by gzip is named .csv"
            }
            Self::UnknownKind => "name it .csv, .csv.gz or .parquet",
            Self::Empty => "it needs a header of column names and a row for each simulation",
            Self::LongLine => "a table has one line for each simulation",
            Self::TooManyColumns(_) => {
                "a table has one row for each simulation and one column for each quantity"
            }
            Self::Duplicate { .. } => "give each column a name of its own",
            Self::Ragged { columns, values } if *values == columns + 1 => {
                "row names without a name of their own in the header? R: write.csv(table, row.names = FALSE)"
            }
            Self::Ragged { columns, values } if *values > *columns => {
                "numbers with a decimal comma? write them with a decimal point"
            }
            Self::NotNumber(found) if is_decimal_comma(found) => {
                "numbers are written with a decimal point: export the table with a point in place of the comma"
            }
            Self::NotNumber(found) if found.split_whitespace().nth(1).is_some() => {
                "values are separated by commas, semicolons or tabs, and not by blanks"
            }
            Self::NotNumber(_) | Self::NotNumeric { .. } => {
                "a missing value is an empty cell, NA, NaN or null; a column that is no statistic is left out by listing \
                 the others: statistics = [\"...\"]"
            }
            Self::Compression(_) => "write it with compression = \"snappy\", \"gzip\" or \"none\"",
            Self::Changed => "leave the file alone while it is read",
            Self::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                "the file seems to be cut short"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

fn is_decimal_comma(text: &str) -> bool {
    text.matches(',').count() == 1 && text.replace(',', ".").parse::<f64>().is_ok()
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind => write!(f, "the name does not tell what kind of table this is"),
            Self::NotRegular => write!(f, "this is not a regular file"),
            Self::Io(error) => write!(f, "{error}"),
            Self::Empty => write!(f, "the table is empty"),
            Self::LongLine => write!(f, "the line is longer than {} MiB", LONGEST_LINE >> 20),
            Self::TooManyColumns(found) => {
                write!(f, "the table has {found} columns, and at most {MOST_COLUMNS} are read")
            }
            Self::NotUtf8 => write!(f, "the name of a column is not UTF-8"),
            Self::Duplicate { name, columns: (first, second) } => {
                write!(f, "the columns {first} and {second} are both named `{name}`")
            }
            Self::Ragged { columns, values } => {
                write!(f, "the header has {columns} columns and this line has {values} values")
            }
            Self::Quote => write!(f, "a quote is not closed where the value ends"),
            Self::NotNumber(found) => write!(f, "expected a number, found `{found}`"),
            Self::NotNumeric { name, kind } => {
                write!(f, "the column `{name}` has values of the type {kind}, which are no numbers")
            }
            Self::Parquet(error) => write!(f, "this cannot be read as Parquet: {error}"),
            Self::Compression(name) => write!(f, "the compression {name} is not supported by this version"),
            Self::Inconsistent(what) => write!(f, "this cannot be read as Parquet: {what}"),
            Self::Changed => write!(f, "the file changed while it was read"),
        }
    }
}
