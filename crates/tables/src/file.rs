//! A table in a file, whatever its kind.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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
    stamp: Stamp,
}

/// Size and time of a file: what is read later must be what was looked at before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(path: &Path) -> Result<Self, TableError> {
        let metadata = fs::metadata(path);
        let failed = |error| TableError { path: path.to_path_buf(), at: None, fault: Fault::Io(error) };
        metadata.map(|found| Self { bytes: found.len(), modified: found.modified().ok() }).map_err(failed)
    }
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
        let stamp = Stamp::of(&path)?;
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
        Ok(Self { path, kind, names, stamp })
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
        let survey = match self.kind {
            Kind::Csv | Kind::GzippedCsv => csv::survey(&self.path, self.kind, observe)?,
            Kind::Parquet => {
                let rows = parquet::rows(regular(&self.path)?).map_err(fail)?;
                let hashing = Hashing::new(regular(&self.path)?);
                let (bytes, hash) = hashing.finish().map_err(|error| fail(Fault::Io(error)))?;
                Survey { rows, bytes, hash }
            }
        };
        self.unchanged()?;
        Ok(survey)
    }

    /// Checks that the file is what it was when it was opened.
    fn unchanged(&self) -> Result<(), TableError> {
        if Stamp::of(&self.path)? == self.stamp {
            return Ok(());
        }
        Err(TableError { path: self.path.clone(), at: None, fault: Fault::Changed })
    }

    /// Reads the columns with these numbers, and of the rows the first `rows`, a block at a time. Blocks do not come in
    /// any special order; together they have every value once. Breaks off, without an error, where `take` says `false`.
    ///
    /// # Errors
    /// If a value is no number, or the file has another size or time than when it was opened.
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
        self.unchanged()?;
        match self.kind {
            Kind::Csv | Kind::GzippedCsv => {
                csv::read((&self.path, self.kind), &self.names, (columns, rows), workers, take)?;
            }
            Kind::Parquet => {
                parquet::read(regular(&self.path)?, &self.names, columns, rows, take).map_err(fail)?;
            }
        }
        self.unchanged()
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

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::workers::Serial;

    #[test]
    fn a_table_that_changes_after_it_was_looked_at_is_not_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("t.csv");
        fs::write(&path, "k,s\n1,2\n").expect("a temporary file");
        let table = TableFile::open(&path).expect("a table");
        assert_eq!(table.survey(&mut |_| true).expect("a survey").rows, 1);
        // Other values in a file of the same length; only its time is another.
        fs::write(&path, "k,s\n1,3\n").expect("a temporary file");
        let later = SystemTime::now() + std::time::Duration::from_secs(2);
        File::options().write(true).open(&path).and_then(|file| file.set_modified(later)).expect("a time");
        let read = table.read(&[0, 1], 1, &Serial, &mut |_| true);
        assert!(matches!(read, Err(TableError { fault: Fault::Changed, .. })));
    }
}
