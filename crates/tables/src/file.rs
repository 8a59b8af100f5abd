//! A table in a file, whatever its kind.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};

use counterpoise_core::workers::Workers;

use crate::error::{Fault, TableError};
use crate::hashing::Hashing;
use crate::kind::Kind;
use crate::{MOST_COLUMNS, csv, parquet};

/// A table whose column names are known.
#[derive(Clone, Debug)]
pub struct TableFile {
    path: PathBuf,
    kind: Kind,
    names: Vec<String>,
}

/// What one pass over a table tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Rows below the header.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
    /// BLAKE3 hash of the file, in hexadecimal digits.
    pub hash: String,
}

/// Values of some neighbouring rows and columns.
#[derive(Debug)]
pub struct Block<'a> {
    /// The first of the rows.
    pub first: u64,
    /// Which of the columns asked for.
    pub columns: Range<usize>,
    /// The values, row by row; NaN where one is missing.
    pub values: &'a [f64],
}

/// Takes blocks: an observer's answer to how far a reading is, `false` to break it off.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Block<'_>) -> bool;

impl TableFile {
    /// Opens a table and reads the names of its columns.
    ///
    /// # Errors
    /// If the file cannot be read, or its header makes no table.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, TableError> {
        let path = path.into();
        let fail = |fault| TableError { path: path.clone(), at: None, fault };
        let kind = Kind::of(&path).ok_or_else(|| fail(Fault::UnknownKind))?;
        let names = match kind {
            Kind::Csv | Kind::GzippedCsv => csv::names(&path, kind)?,
            Kind::Parquet => parquet::names(regular(&path)?).map_err(fail)?,
        };
        if names.len() > MOST_COLUMNS {
            return Err(fail(Fault::TooManyColumns(names.len())));
        }
        let mut seen = BTreeMap::new();
        for (at, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            if let Some(first) = seen.insert(name, at) {
                let columns = (first + 1, at + 1);
                return Err(fail(Fault::Duplicate { name: name.clone(), columns }));
            }
        }
        Ok(Self { path, kind, names })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of all columns. Those without a name are row names that R and pandas write, and nobody's.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Counts the rows and hashes the file. `observe` is told the bytes read so far, and says whether to go on.
    ///
    /// # Errors
    /// If the file cannot be read, or `observe` breaks it off (interrupted).
    pub fn survey(&self, observe: &mut dyn FnMut(u64) -> bool) -> Result<Survey, TableError> {
        let fail = |fault| TableError { path: self.path.clone(), at: None, fault };
        match self.kind {
            Kind::Csv | Kind::GzippedCsv => csv::survey(&self.path, self.kind, observe),
            Kind::Parquet => {
                let rows = parquet::rows(regular(&self.path)?).map_err(fail)?;
                let hashing = Hashing::new(regular(&self.path)?);
                let (bytes, hash) = hashing.finish().map_err(|error| fail(Fault::Io(error)))?;
                Ok(Survey { rows, bytes, hash })
            }
        }
    }

    /// Reads the columns with these numbers, and of the rows the first `rows`, a block at a time. Blocks do not come in
    /// any special order; together they have every value once. Breaks off, without an error, where `take` says `false`.
    ///
    /// # Errors
    /// If a value is no number, or the file is not as it was when it was surveyed.
    pub fn read(
        &self,
        columns: &[usize],
        rows: u64,
        workers: &dyn Workers,
        take: &mut dyn FnMut(Block<'_>) -> bool,
    ) -> Result<(), TableError> {
        let fail = |fault| TableError { path: self.path.clone(), at: None, fault };
        if rows == 0 || columns.is_empty() {
            return Ok(());
        }
        match self.kind {
            Kind::Csv | Kind::GzippedCsv => {
                csv::read((&self.path, self.kind), &self.names, (columns, rows), workers, take)
            }
            Kind::Parquet => {
                parquet::read(regular(&self.path)?, &self.names, columns, rows, take).map_err(fail)
            }
        }
    }
}

/// Opens a regular file. Asked before it is opened: opening a pipe waits for somebody to write into it.
pub(crate) fn regular(path: &Path) -> Result<File, TableError> {
    let fail = |fault| TableError { path: path.to_path_buf(), at: None, fault };
    let failed = |error| fail(Fault::Io(error));
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(fail(Fault::NotRegular));
    }
    File::open(path).map_err(failed)
}
