//! Parquet without nesting: numbers of any type, with or without missing values.

mod column;

use std::fs::File;

use parquet::basic::CompressionCodec;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetStatisticsPolicy;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};

use crate::MOST_COLUMNS;
use crate::error::Fault;
use crate::file::{Block, Take};
use crate::guard::{check_footer, guarded};
use column::Column;

/// Largest description of a file, in bytes: that of a thousand row groups of a thousand columns.
const LARGEST_FOOTER: u64 = 128 << 20;
/// Columns that are read side by side. Eight doubles are a line of the processor's cache.
const TOGETHER: usize = 8;
/// Rows of a block.
const ROWS: usize = 8_192;

impl From<ParquetError> for Fault {
    fn from(error: ParquetError) -> Self {
        Self::Parquet(error)
    }
}

fn open(file: File) -> Result<SerializedFileReader<File>, Fault> {
    check_footer(&file, LARGEST_FOOTER)?;
    let options = ReadOptionsBuilder::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
    Ok(guarded(|| SerializedFileReader::new_with_options(file, options.build()))??)
}

/// Names of the columns.
pub(crate) fn names(file: File) -> Result<Vec<String>, Fault> {
    let reader = open(file)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    if schema.num_columns() > MOST_COLUMNS {
        return Err(Fault::TooManyColumns(schema.num_columns()));
    }
    if schema.num_columns() == 0 {
        return Err(Fault::Empty);
    }
    // A column within another has a name of several parts.
    Ok(schema.columns().iter().map(|column| column.path().string()).collect())
}

/// Number of rows.
pub(crate) fn rows(file: File) -> Result<u64, Fault> {
    let reader = open(file)?;
    let groups = reader.metadata().row_groups();
    let count = groups.iter().try_fold(0u64, |sum, group| {
        u64::try_from(group.num_rows()).ok().and_then(|rows| sum.checked_add(rows))
    });
    count.ok_or(Fault::Inconsistent("the number of its rows makes no sense"))
}

/// Reads columns of the first rows.
pub(crate) fn read(
    file: File,
    names: &[String],
    columns: &[usize],
    rows: u64,
    take: Take<'_>,
) -> Result<(), Fault> {
    let reader = open(file)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let same = schema.num_columns() == names.len()
        && schema.columns().iter().zip(names).all(|(column, name)| column.path().string() == *name);
    if !same {
        return Err(Fault::Changed);
    }
    let mut first = 0;
    for at in 0..reader.num_row_groups() {
        let group = reader.get_row_group(at)?;
        let count = u64::try_from(group.metadata().num_rows()).unwrap_or(0).min(rows - first);
        for (part, some) in columns.chunks(TOGETHER).enumerate() {
            let place = (first, part * TOGETHER);
            if !read_group(&*group, some, count as usize, place, take)? {
                return Ok(());
            }
        }
        first += count;
        if first == rows {
            return Ok(());
        }
    }
    Err(Fault::Changed)
}

/// Some columns of a row group, a block of rows at a time; `false` where `take` wants no more.
fn read_group(
    group: &dyn RowGroupReader,
    columns: &[usize],
    rows: usize,
    (first, left): (u64, usize),
    take: Take<'_>,
) -> Result<bool, Fault> {
    let mut readers = Vec::with_capacity(columns.len());
    for &column in columns {
        let chunk = group.metadata().column(column);
        match chunk.compression_codec() {
            CompressionCodec::UNCOMPRESSED | CompressionCodec::SNAPPY | CompressionCodec::GZIP => {}
            other => return Err(Fault::Compression(format!("{other:?}"))),
        }
        readers.push(guarded(|| Column::new(chunk.column_descr(), group.get_column_reader(column)?))??);
    }
    let width = columns.len();
    let mut values = vec![f64::NAN; ROWS.min(rows) * width];
    for start in (0..rows).step_by(ROWS) {
        let count = ROWS.min(rows - start);
        let values = &mut values[..count * width];
        for (at, reader) in readers.iter_mut().enumerate() {
            guarded(|| reader.read(count, |row, value| values[row * width + at] = value))??;
        }
        if !take(Block { first: first + start as u64, columns: left..left + width, values }) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
