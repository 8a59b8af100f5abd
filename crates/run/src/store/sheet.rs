//! Parquet files of named columns, written and read back to the bit.

mod layout;
mod order;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Type as Physical;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use counterpoise_core::stacked::Layer;
use counterpoise_tables::Fault;
use counterpoise_tables::guard::{check_footer, guarded};

use self::layout::{SAMPLE, field, properties};
use self::order::Order;
use super::StoreError;

/// Rows that are written and read together: as many as make so many cells. A column of the largest group is small
/// enough for its memory to be used again and not asked for anew, which costs more than writing it.
const GROUP_CELLS: usize = 1 << 21;
const SMALLEST_GROUP: usize = 1 << 8;
const LARGEST_GROUP: usize = 1 << 14;

/// The cells of a column, by row.
pub(super) enum Cells<'a> {
    /// Numbers.
    Real(Box<dyn Fn(usize) -> f64 + 'a>),
    /// Whole numbers.
    Whole(Box<dyn Fn(usize) -> i64 + 'a>),
    /// Texts, some of them missing.
    Text(Box<dyn Fn(usize) -> Option<String> + 'a>),
    /// Numbers of several columns at once.
    Table(Layer<'a>),
}

/// Names of columns, which are made different from each other by adding underscores.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<String>,
    /// How many underscores the next column of a name gets, for names that were asked for or given.
    next: HashMap<String, usize>,
}

impl Names {
    /// Adds a column that is to have this name.
    pub fn add(&mut self, name: &str) {
        let mut underscores = self.next.get(name).copied().unwrap_or(0);
        let free = loop {
            let tried = format!("{name}{}", "_".repeat(underscores));
            underscores += 1;
            if !self.next.contains_key(&tried) {
                break tried;
            }
        };
        self.next.insert(name.to_owned(), underscores);
        self.next.entry(free.clone()).or_insert(1);
        self.names.push(free);
    }

    /// The names that the columns have.
    #[must_use]
    pub fn list(&self) -> &[String] {
        &self.names
    }
}

/// Columns with their names.
#[derive(Default)]
pub(super) struct Columns<'a> {
    names: Names,
    cells: Vec<Cells<'a>>,
    any_order: bool,
}

impl<'a> Columns<'a> {
    pub(super) fn add(&mut self, name: &str, cells: Cells<'a>) {
        self.names.add(name);
        self.cells.push(cells);
    }

    pub(super) fn real(&mut self, name: &str, cell: impl Fn(usize) -> f64 + 'a) {
        self.add(name, Cells::Real(Box::new(cell)));
    }

    /// The columns of a table, with a name each.
    pub(super) fn table(&mut self, names: &[String], table: impl Into<Layer<'a>>) {
        let table = table.into();
        assert_eq!(names.len(), table.columns(), "names of columns");
        for name in names {
            self.names.add(name);
        }
        self.cells.push(Cells::Table(table));
    }

    pub(super) fn whole(&mut self, name: &str, cell: impl Fn(usize) -> i64 + 'a) {
        self.add(name, Cells::Whole(Box::new(cell)));
    }

    /// Allows the rows of a group to be written in any order: one of the columns says which is which.
    pub(super) fn in_any_order(mut self) -> Self {
        self.any_order = true;
        self
    }

    /// Writes so many rows, a column of a group at a time. `before_footer` is called when all of them are written.
    pub(super) fn write<W: Write + Send>(
        &self,
        file: W,
        rows: usize,
        before_footer: impl FnOnce(&mut W),
    ) -> Result<(), ParquetError> {
        let sample = 0..rows.min(SAMPLE);
        let examples: Vec<Values> = self.values(sample).collect();
        let mut writer = SheetWriter::new(file, self.names.list(), &examples)?;
        let most = (GROUP_CELLS / self.names.list().len().max(1)).clamp(SMALLEST_GROUP, LARGEST_GROUP);
        // Groups alike: a small one at the end would cost as much beside its rows as the others.
        let step = rows.div_ceil(rows.div_ceil(most).max(1));
        let order = if self.any_order { Order::of(&examples) } else { None };
        let mut first = 0;
        while first < rows {
            let range = first..rows.min(first + step);
            first = range.end;
            // Columns are made twice rather than kept: all of a group take more room than what it is made from.
            match order.as_ref().map(|order| order.rows(range.len(), self.values(range.clone()))) {
                None => writer.columns(self.values(range).map(Cow::Owned))?,
                Some(rows) => {
                    let picked = self.values(range).map(|values| Cow::Owned(values.picked(&rows)));
                    writer.columns(picked)?;
                }
            }
        }
        writer.writer.flush()?;
        before_footer(writer.writer.inner_mut());
        writer.close()
    }

    /// The columns of some rows.
    fn values(&self, rows: Range<usize>) -> impl Iterator<Item = Values> {
        let few = |cells: &'_ Cells<'a>| {
            let width = cells.width();
            (0..width).step_by(TOGETHER).map(move |first| first..width.min(first + TOGETHER))
        };
        let parts = self.cells.iter().flat_map(move |cells| few(cells).map(move |few| (cells, few)));
        parts.flat_map(move |(cells, few)| cells.values(few, rows.clone()))
    }
}

/// Columns of a table that are made at once: neighbours in a row are fetched together.
const TOGETHER: usize = 8;

impl Cells<'_> {
    fn width(&self) -> usize {
        match self {
            Self::Table(table) => table.columns(),
            _ => 1,
        }
    }

    /// Some of the columns, of some rows.
    fn values(&self, columns: Range<usize>, rows: Range<usize>) -> Vec<Values> {
        match self {
            Self::Real(cell) => vec![Values::Real(rows.map(cell).collect())],
            Self::Whole(cell) => vec![Values::Whole(rows.map(cell).collect())],
            Self::Text(cell) => vec![Values::Text(rows.map(cell).collect())],
            // Row by row, as it lies in memory: column by column every number would be fetched from far away.
            Self::Table(Layer::Plain(table)) => {
                let mut made = vec![Vec::with_capacity(rows.len()); columns.len()];
                for row in rows {
                    let values = &table.row(row)[columns.clone()];
                    made.iter_mut().zip(values).for_each(|(column, value)| column.push(*value));
                }
                made.into_iter().map(Values::Real).collect()
            }
            Self::Table(Layer::Packed(packed)) => {
                let column = |j: usize| {
                    let mut values = Vec::with_capacity(rows.len());
                    packed.column(j, rows.clone(), &mut values);
                    Values::Real(values)
                };
                columns.map(column).collect()
            }
        }
    }
}

/// Writes groups of rows into a Parquet file.
pub struct SheetWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> SheetWriter<W> {
    /// Begins a file with columns of these names, of the kinds of `examples` and written in the way that suits them.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new(file: W, names: &[String], examples: &[Values]) -> Result<Self, ParquetError> {
        let fields = names.iter().zip(examples).map(|(name, values)| field(name, values.kind()));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?);
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties(names, examples)))?;
        Ok(Self { writer })
    }

    /// Writes a group.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn group(&mut self, columns: &[Values]) -> Result<(), ParquetError> {
        self.columns(columns.iter().map(Cow::Borrowed))
    }

    fn columns<'v>(&mut self, columns: impl Iterator<Item = Cow<'v, Values>>) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for values in columns {
            let next = group.next_column()?;
            let mut column = next.ok_or_else(|| ParquetError::General("too few columns".into()))?;
            values.write(&mut column)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn close(self) -> Result<(), ParquetError> {
        self.writer.close().map(|_| ())
    }
}

/// A column that was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers.
    Real(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Texts, some of them missing.
    Text(Vec<Option<String>>),
}

impl Values {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Real(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the rows, in an order of their own.
    fn picked(&self, rows: &[u32]) -> Self {
        fn pick<T: Clone>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&row| values[row as usize].clone()).collect()
        }
        match self {
            Self::Real(values) => Self::Real(pick(values, rows)),
            Self::Whole(values) => Self::Whole(pick(values, rows)),
            Self::Text(values) => Self::Text(pick(values, rows)),
        }
    }

    fn kind(&self) -> Physical {
        match self {
            Self::Real(_) => Physical::DOUBLE,
            Self::Whole(_) => Physical::INT64,
            Self::Text(_) => Physical::BYTE_ARRAY,
        }
    }

    fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Self::Real(values) => column.typed::<DoubleType>().write_batch(values, None, None)?,
            Self::Whole(values) => column.typed::<Int64Type>().write_batch(values, None, None)?,
            Self::Text(cells) => {
                let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
                let texts = cells.iter().flatten().map(|text| ByteArray::from(text.as_str()));
                let texts: Vec<ByteArray> = texts.collect();
                column.typed::<ByteArrayType>().write_batch(&texts, Some(&present), None)?
            }
        };
        Ok(())
    }
}

/// A Parquet file of a run, open to be read in groups of rows.
pub struct Sheet {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    names: Vec<String>,
}

impl Sheet {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read, or has columns that no file of a run has.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let missing = || StoreError::damaged(path, None, "it is missing");
        let file = super::folder::open(path)?.ok_or_else(missing)?;
        let broken = |fault: Fault| StoreError::damaged(path, None, fault.to_string());
        check_footer(&file, u64::MAX).map_err(broken)?;
        let opened = guarded(|| SerializedFileReader::new(file)).map_err(broken)?;
        let reader = opened.map_err(unreadable(path))?;
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let names = columns.iter().map(|column| column.name().to_owned()).collect();
        let flat = columns.iter().all(|column| column.max_rep_level() == 0 && column.max_def_level() <= 1);
        if !flat {
            return Err(StoreError::damaged(path, None, "it has nested columns"));
        }
        Ok(Self { path: path.to_path_buf(), reader, names })
    }

    /// Names of the columns.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        usize::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// How many groups of rows there are.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// The bytes that hold a group.
    pub(super) fn bytes(&self, group: usize) -> std::ops::Range<u64> {
        let columns = self.reader.metadata().row_group(group).columns();
        let ranges = columns.iter().map(|column| column.byte_range());
        let (start, end) = ranges.fold((u64::MAX, 0), |(first, last), (start, length)| {
            (first.min(start), last.max(start.saturating_add(length)))
        });
        start..end
    }

    /// All columns of a group.
    ///
    /// # Errors
    /// If the file is not what it should be.
    pub fn read(&self, group: usize) -> Result<Vec<Values>, StoreError> {
        (0..self.names.len()).map(|column| self.column(group, column)).collect()
    }

    /// All columns of a group of simulations, in the order of the row numbers in the first column, whatever that of the file is. Groups
    /// follow each other.
    ///
    /// # Errors
    /// If the file is not what it should be.
    pub fn read_by_row(&self, group: usize) -> Result<Vec<Values>, StoreError> {
        let mut columns = self.read(group)?;
        let wrong = |what: &str| StoreError::damaged(&self.path, None, what);
        let Some(Values::Whole(numbers)) = columns.first() else {
            return Err(wrong("it has no row numbers"));
        };
        if columns.iter().any(|column| column.len() != numbers.len()) {
            return Err(wrong("its columns are not of one length"));
        }
        if numbers.is_sorted() {
            return Ok(columns);
        }
        let mut rows: Vec<u32> = (0..numbers.len() as u32).collect();
        rows.sort_by_key(|&row| numbers[row as usize]);
        // One after the other, so that no more than one is there twice.
        columns.iter_mut().for_each(|column| *column = column.picked(&rows));
        Ok(columns)
    }

    /// How many rows a group has.
    pub(super) fn length(&self, group: usize) -> usize {
        usize::try_from(self.reader.metadata().row_group(group).num_rows()).unwrap_or(0)
    }

    /// One column of a group.
    pub(super) fn column(&self, group: usize, column: usize) -> Result<Values, StoreError> {
        let metadata = self.reader.metadata().row_group(group);
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
        let kind = metadata.column(column).column_type();
        let read = || match kind {
            Physical::DOUBLE => {
                self.cells::<DoubleType>(group, column, rows).map(|cells| Values::Real(cells.0))
            }
            Physical::INT64 => {
                self.cells::<Int64Type>(group, column, rows).map(|cells| Values::Whole(cells.0))
            }
            Physical::BYTE_ARRAY => {
                let (texts, present) = self.cells::<ByteArrayType>(group, column, rows)?;
                let mut texts = texts.into_iter();
                let mut next = |&present: &i16| (present > 0).then(|| texts.next()).flatten();
                let cells = present.iter().map(|present| {
                    next(present).map(|text| String::from_utf8_lossy(text.data()).into_owned())
                });
                Ok(Values::Text(cells.collect()))
            }
            other => Err(ParquetError::General(format!("a column of type {other}"))),
        };
        let broken = |fault: Fault| StoreError::damaged(&self.path, None, fault.to_string());
        guarded(read).map_err(broken)?.map_err(unreadable(&self.path))
    }

    /// The values of a column that are present, and which rows have one.
    fn cells<T: DataType>(
        &self,
        group: usize,
        column: usize,
        rows: usize,
    ) -> Result<(Vec<T::T>, Vec<i16>), ParquetError> {
        let group = self.reader.get_row_group(group)?;
        let mut reader =
            parquet::column::reader::get_typed_column_reader::<T>(group.get_column_reader(column)?);
        let (mut values, mut present) = (Vec::new(), Vec::new());
        let (mut read, optional) = (0, group.metadata().column(column).column_descr().max_def_level() > 0);
        while read < rows {
            let levels = optional.then_some(&mut present);
            // As many as there are; the number of rows is only what the file says.
            let (records, ..) =
                reader.read_records((rows - read).min(LARGEST_GROUP), levels, None, &mut values)?;
            if records == 0 {
                return Err(ParquetError::General(format!("{read} of {rows} rows in a column")));
            }
            read += records;
        }
        Ok((values, present))
    }
}

fn unreadable(path: &Path) -> impl Fn(ParquetError) -> StoreError + '_ {
    |source| StoreError::Parquet { action: "read", path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests;
