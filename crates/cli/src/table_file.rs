//! Tables of numbers in files: CSV and Parquet.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// Takes rows, some of them at a time; a missing value is NaN.
pub(crate) trait Sink {
    /// Adds rows, each as long as the header.
    fn rows(&mut self, rows: &[Vec<f64>]) -> anyhow::Result<()>;
    /// Writes what is left.
    fn finish(self: Box<Self>) -> anyhow::Result<()>;
}

/// Comma-separated values; a missing value is an empty cell.
pub(crate) struct Csv<W>(W);

impl<W: Write> Csv<W> {
    /// Begins with the header.
    pub(crate) fn new(mut inner: W, names: &[String]) -> io::Result<Self> {
        let header: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        writeln!(inner, "{}", header.join(","))?;
        Ok(Self(inner))
    }
}

/// A cell with text, in quotes where it needs them.
pub(crate) fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
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
    fn rows(&mut self, rows: &[Vec<f64>]) -> anyhow::Result<()> {
        for row in rows {
            for (at, value) in row.iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let number = if value.is_nan() { String::new() } else { shortest(*value) };
                write!(self.0, "{comma}{number}")?;
            }
            writeln!(self.0)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<()> {
        Ok(self.0.flush()?)
    }
}

/// Parquet, one column of doubles a name; each call of `rows` makes a row group.
pub(crate) struct Parquet {
    writer: SerializedFileWriter<File>,
    columns: usize,
}

impl Parquet {
    /// Begins with the schema.
    pub(crate) fn new(file: File, names: &[String]) -> Result<Self, ParquetError> {
        let column = |name: &String| {
            let builder = Type::primitive_type_builder(name, Physical::DOUBLE);
            builder.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
        };
        let fields = names.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder("simulations").with_fields(fields).build()?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        Ok(Self { writer, columns: names.len() })
    }
}

impl Sink for Parquet {
    fn rows(&mut self, rows: &[Vec<f64>]) -> anyhow::Result<()> {
        let mut group = self.writer.next_row_group()?;
        for at in 0..self.columns {
            let values: Vec<f64> = rows.iter().map(|row| row[at]).collect();
            let next = group.next_column()?;
            let mut column = next.ok_or_else(|| ParquetError::General("too few columns".into()))?;
            column.typed::<DoubleType>().write_batch(&values, None, None)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> anyhow::Result<()> {
        self.writer.close()?.file_metadata().num_rows();
        Ok(())
    }
}

/// A file that takes its name only when it is complete.
pub(crate) struct Partial {
    path: PathBuf,
    temporary: PathBuf,
    complete: bool,
}

impl Partial {
    /// A new file beside `path`.
    pub(crate) fn create(path: &Path) -> io::Result<(Self, File)> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.partial", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create_new(&temporary)?;
        Ok((Self { path: path.into(), temporary, complete: false }, file))
    }

    /// Flushes `file` to the disk and gives it its name.
    pub(crate) fn complete(mut self, file: &File) -> io::Result<()> {
        file.sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        self.complete = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.complete {
            // An unfinished file is of no use to anybody; where it cannot be removed it keeps its telling name.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A sink for `file` by the kind of table that its final name asks for.
pub(crate) fn sink(path: &Path, file: File, names: &[String]) -> anyhow::Result<Box<dyn Sink>> {
    match kind(path) {
        Some(Kind::Parquet) => Ok(Box::new(Parquet::new(file, names)?)),
        _ => Ok(Box::new(Csv::new(BufWriter::new(file), names)?)),
    }
}

/// A kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Csv,
    Parquet,
}

/// The kind that the end of a file's name stands for.
pub(crate) fn kind(path: &Path) -> Option<Kind> {
    let extension = path.extension()?.to_str()?.to_lowercase();
    match extension.as_str() {
        "csv" => Some(Kind::Csv),
        "parquet" => Some(Kind::Parquet),
        _ => None,
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
        csv.rows(&[vec![0.1 + 0.2, f64::NAN], vec![1e-300, -7.0]]).unwrap();
        csv.finish().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, "a,\"b,c\"\n0.30000000000000004,\n1e-300,-7\n");
    }

    #[test]
    fn an_unfinished_file_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        let (partial, file) = Partial::create(&path).unwrap();
        drop((partial, file));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let (partial, file) = Partial::create(&path).unwrap();
        partial.complete(&file).unwrap();
        assert!(path.exists() && fs::read_dir(folder.path()).unwrap().count() == 1);
    }
}
