//! Tables of simulations that exist in Python, as files that a problem can name.

use std::fs::File;
use std::path::PathBuf;

use counterpoise_tables::write;
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

use crate::errors::{bad, failed};
use crate::simulator::matrix;

/// Rows that are written at a time.
const BLOCK: usize = 8_192;

/// Writes an array of numbers as the Parquet table that `path` names.
#[pyfunction]
pub(crate) fn write_table(
    py: Python<'_>,
    path: PathBuf,
    names: Vec<String>,
    values: Bound<'_, PyAny>,
) -> PyResult<()> {
    let values = matrix(&values)?;
    if values.shape()[1] != names.len() {
        return Err(bad(format!("{} names for {} columns", names.len(), values.shape()[1])));
    }
    let rows: Vec<f64> = values.as_slice()?.to_vec();
    py.detach(|| {
        let file = File::create(&path).map_err(failed)?;
        let mut sink = write::sink(&path, file, &names).map_err(failed)?;
        for block in rows.chunks(BLOCK * names.len().max(1)) {
            sink.rows(block).map_err(failed)?;
        }
        sink.finish().map_err(failed)
    })
}
