//! One column of a row group as doubles.

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::schema::types::ColumnDescriptor;

use crate::error::Fault;

/// A column that is read a few rows at a time.
pub(super) struct Column {
    values: Values,
    /// One for each row where values may be missing: whether it is there.
    levels: Option<Vec<i16>>,
}

enum Values {
    Double(ColumnReaderImpl<DoubleType>, Vec<f64>),
    Float(ColumnReaderImpl<FloatType>, Vec<f32>),
    Int32(ColumnReaderImpl<Int32Type>, Vec<i32>, Sign),
    Int64(ColumnReaderImpl<Int64Type>, Vec<i64>, Sign),
    Bool(ColumnReaderImpl<BoolType>, Vec<bool>),
}

#[derive(Clone, Copy)]
enum Sign {
    Signed,
    Unsigned,
}

impl Column {
    /// A column of numbers that is not part of another.
    pub(super) fn new(descriptor: &ColumnDescriptor, reader: ColumnReader) -> Result<Self, Fault> {
        let no_number = |kind: String| Fault::NotNumeric { name: descriptor.path().string(), kind };
        if descriptor.path().parts().len() != 1 || descriptor.max_rep_level() != 0 {
            return Err(no_number("nested".into()));
        }
        let sign = sign(descriptor).ok_or_else(|| {
            no_number(match descriptor.logical_type_ref() {
                Some(logical) => format!("{logical:?}"),
                None => descriptor.converted_type().to_string(),
            })
        })?;
        let values = match reader {
            ColumnReader::DoubleColumnReader(reader) => Values::Double(reader, Vec::new()),
            ColumnReader::FloatColumnReader(reader) => Values::Float(reader, Vec::new()),
            ColumnReader::Int32ColumnReader(reader) => Values::Int32(reader, Vec::new(), sign),
            ColumnReader::Int64ColumnReader(reader) => Values::Int64(reader, Vec::new(), sign),
            ColumnReader::BoolColumnReader(reader) => Values::Bool(reader, Vec::new()),
            _ => return Err(no_number(descriptor.physical_type().to_string())),
        };
        let required = descriptor.self_type().get_basic_info().repetition() == Repetition::REQUIRED;
        Ok(Self { values, levels: (!required).then(Vec::new) })
    }

    /// Reads the next `count` rows; `put` gets each with its value, NaN where it is missing.
    pub(super) fn read(&mut self, count: usize, put: impl FnMut(usize, f64)) -> Result<(), Fault> {
        let levels = &mut self.levels;
        match &mut self.values {
            Values::Double(reader, buffer) => next(reader, buffer, levels, count, |&value| value, put),
            Values::Float(reader, buffer) => next(reader, buffer, levels, count, |&value| value.into(), put),
            Values::Int32(reader, buffer, Sign::Signed) => {
                next(reader, buffer, levels, count, |&value| value.into(), put)
            }
            Values::Int32(reader, buffer, Sign::Unsigned) => {
                next(reader, buffer, levels, count, |&value| value.cast_unsigned().into(), put)
            }
            Values::Int64(reader, buffer, Sign::Signed) => {
                next(reader, buffer, levels, count, |&value| value as f64, put)
            }
            Values::Int64(reader, buffer, Sign::Unsigned) => {
                next(reader, buffer, levels, count, |&value| value.cast_unsigned() as f64, put)
            }
            Values::Bool(reader, buffer) => {
                next(reader, buffer, levels, count, |&value| f64::from(u8::from(value)), put)
            }
        }
    }
}

/// Whether a whole number may be negative; `None` where the column means something else, a date or a decimal.
fn sign(descriptor: &ColumnDescriptor) -> Option<Sign> {
    use ConvertedType::{INT_8, INT_16, INT_32, INT_64, NONE, UINT_8, UINT_16, UINT_32, UINT_64};
    if !matches!(descriptor.physical_type(), Physical::INT32 | Physical::INT64) {
        return Some(Sign::Signed);
    }
    match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(LogicalType::Integer(integer)), _) if integer.is_signed => Some(Sign::Signed),
        (Some(LogicalType::Integer(_)), _) => Some(Sign::Unsigned),
        (None, NONE | INT_8 | INT_16 | INT_32 | INT_64) => Some(Sign::Signed),
        (None, UINT_8 | UINT_16 | UINT_32 | UINT_64) => Some(Sign::Unsigned),
        _ => None,
    }
}

fn next<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    buffer: &mut Vec<T::T>,
    levels: &mut Option<Vec<i16>>,
    count: usize,
    convert: impl Fn(&T::T) -> f64,
    mut put: impl FnMut(usize, f64),
) -> Result<(), Fault> {
    buffer.clear();
    levels.iter_mut().for_each(Vec::clear);
    let (rows, _, _) = reader.read_records(count, levels.as_mut(), None, buffer)?;
    if rows != count {
        return Err(Fault::Inconsistent("a column has fewer values than the table has rows"));
    }
    let Some(levels) = levels else {
        buffer.iter().enumerate().for_each(|(row, value)| put(row, convert(value)));
        return Ok(());
    };
    let mut values = buffer.iter();
    for (row, &level) in levels.iter().enumerate() {
        let value = if level > 0 { values.next().map(&convert) } else { None };
        put(row, value.unwrap_or(f64::NAN));
    }
    Ok(())
}
