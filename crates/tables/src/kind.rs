//! Kinds of tables, told by the end of a file's name.

use std::path::Path;

/// A kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Comma-separated values.
    Csv,
    /// The same, compressed by gzip.
    GzippedCsv,
    /// Parquet.
    Parquet,
}

impl Kind {
    /// The ends of names that are understood, for messages.
    pub const ENDS: &str = ".csv, .csv.gz or .parquet";

    /// The kind that the end of a file's name stands for.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_lowercase();
        let kinds = [(".csv", Self::Csv), (".csv.gz", Self::GzippedCsv), (".parquet", Self::Parquet)];
        kinds.into_iter().find(|(end, _)| name.ends_with(end) && name.len() > end.len()).map(|(_, kind)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_tells_the_kind() {
        let kind = |name: &str| Kind::of(Path::new(name));
        assert_eq!(kind("a/b.CSV"), Some(Kind::Csv));
        assert_eq!(kind("b.csv.gz"), Some(Kind::GzippedCsv));
        assert_eq!(kind("b.parquet"), Some(Kind::Parquet));
        assert_eq!((kind("b.gz"), kind(".csv"), kind("csv"), kind("")), (None, None, None, None));
    }
}
