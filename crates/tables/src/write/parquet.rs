//! Parquet out.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::{Sink, WriteError};

/// Parquet, one column of doubles a name; each call of `rows` makes a row group.
pub struct Parquet {
    writer: SerializedFileWriter<File>,
    columns: usize,
}

impl Parquet {
    /// Begins with the schema.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(file: File, names: &[String]) -> Result<Self, ParquetError> {
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
    fn rows(&mut self, values: &[f64]) -> Result<(), WriteError> {
        let mut group = self.writer.next_row_group()?;
        for at in 0..self.columns {
            let values: Vec<f64> = values.iter().skip(at).step_by(self.columns).copied().collect();
            let next = group.next_column()?;
            let mut column = next.ok_or_else(|| ParquetError::General("too few columns".into()))?;
            column.typed::<DoubleType>().write_batch(&values, None, None)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), WriteError> {
        self.writer.close()?;
        Ok(())
    }
}
