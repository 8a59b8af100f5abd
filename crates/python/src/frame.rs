//! Named columns that dataframe libraries take without a copy, through the Arrow C interface.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use counterpoise_run::store::{Names, Sheet, StoreError, Values};
use numpy::IntoPyArray;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::failed;

/// Named columns of equal length.
#[pyclass(frozen, module = "counterpoise._native")]
pub(crate) struct Frame {
    batch: RecordBatch,
}

/// A column of numbers.
pub(crate) fn real(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(values))
}

/// A column of whole numbers.
pub(crate) fn whole(values: Vec<i64>) -> ArrayRef {
    Arc::new(Int64Array::from(values))
}

impl Frame {
    /// Puts columns together, under the names that they have in a directory.
    pub(crate) fn new(names: &[String], columns: Vec<ArrayRef>) -> PyResult<Self> {
        let mut distinct = Names::default();
        names.iter().for_each(|name| distinct.add(name));
        let names = distinct.list();
        let field = |(name, column): (&String, &ArrayRef)| {
            Field::new(name, column.data_type().clone(), *column.data_type() == DataType::Utf8)
        };
        let schema = Schema::new(names.iter().zip(&columns).map(field).collect::<Vec<_>>());
        Ok(Self { batch: RecordBatch::try_new(Arc::new(schema), columns).map_err(failed)? })
    }

    /// Reads the columns of a Parquet file of a run that are chosen by their place, until there are so many rows; `group` reads those of a
    /// group.
    pub(crate) fn read(
        sheet: &Sheet,
        wanted: &dyn Fn(usize) -> bool,
        most: usize,
        group: impl Fn(&Sheet, usize) -> Result<Vec<Values>, StoreError>,
    ) -> Result<(Vec<String>, Vec<Values>), StoreError> {
        let chosen: Vec<usize> = (0..sheet.names().len()).filter(|&at| wanted(at)).collect();
        let mut columns: Vec<Option<Values>> = vec![None; chosen.len()];
        for index in 0..sheet.groups() {
            if columns
                .first()
                .is_some_and(|column| column.as_ref().is_some_and(|column| column.len() >= most))
            {
                break;
            }
            let mut read: Vec<Option<Values>> = group(sheet, index)?.into_iter().map(Some).collect();
            for (column, &at) in columns.iter_mut().zip(&chosen) {
                let more = read.get_mut(at).and_then(Option::take);
                match (column, more) {
                    (Some(Values::Real(all)), Some(Values::Real(more))) => all.extend(more),
                    (Some(Values::Whole(all)), Some(Values::Whole(more))) => all.extend(more),
                    (Some(Values::Text(all)), Some(Values::Text(more))) => all.extend(more),
                    (column, more) => *column = more,
                }
            }
        }
        let names = chosen.iter().map(|&at| sheet.names()[at].clone()).collect();
        Ok((names, columns.into_iter().map(|column| column.unwrap_or(Values::Real(Vec::new()))).collect()))
    }

    /// Columns that were read.
    pub(crate) fn of_values(names: &[String], columns: Vec<Values>) -> PyResult<Self> {
        let column = |values: Values| match values {
            Values::Real(values) => real(values),
            Values::Whole(values) => whole(values),
            Values::Text(values) => Arc::new(StringArray::from(values)) as ArrayRef,
        };
        Self::new(names, columns.into_iter().map(column).collect())
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema_ref().as_ref()).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

#[pymethods]
impl Frame {
    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// A column as an array, or as a list where it holds texts.
    pub(crate) fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.batch.column_by_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        let any = column.as_any();
        if let Some(values) = any.downcast_ref::<Float64Array>() {
            return Ok(values.values().to_vec().into_pyarray(py).into_any());
        }
        if let Some(values) = any.downcast_ref::<Int64Array>() {
            return Ok(values.values().to_vec().into_pyarray(py).into_any());
        }
        let texts = any.downcast_ref::<StringArray>().ok_or_else(|| failed("a column of an unknown kind"))?;
        texts.iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>().into_pyobject(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.schema(py)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to ignore what is requested, and has the consumer look at what it got.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new(vec![Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}
