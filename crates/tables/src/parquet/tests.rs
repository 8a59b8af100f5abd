//! Files that pandas and pyarrow wrote (`tests/data/make.py`), and files that are no Parquet.

use std::fs;
use std::path::{Path, PathBuf};

use counterpoise_core::workers::Serial;

use crate::{Block, TableError, TableFile};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Values of some columns, row by row.
fn read(path: &Path, columns: &[&str]) -> Result<Vec<Vec<f64>>, TableError> {
    let table = TableFile::open(path)?;
    let survey = table.survey(&mut |_| true)?;
    let place = |name: &&str| table.names().iter().position(|known| known == name).unwrap();
    let numbers: Vec<usize> = columns.iter().map(place).collect();
    let mut rows = vec![vec![0.0; columns.len()]; survey.rows as usize];
    table.read(&numbers, survey.rows, &Serial, &mut |Block { first, columns, values }| {
        for (row, values) in values.chunks(columns.len()).enumerate() {
            rows[first as usize + row][columns.clone()].copy_from_slice(values);
        }
        true
    })?;
    Ok(rows)
}

#[test]
fn every_type_of_number_that_pandas_writes() {
    for name in ["pandas.parquet", "pandas-gzip.parquet"] {
        let columns = ["i64", "k", "f32", "i32", "u32", "i8", "flag", "hole", "k"];
        let rows = read(&data(name), &columns[..8]).unwrap();
        assert_eq!(rows.len(), 50);
        for (at, row) in rows.iter().enumerate() {
            let i = at as f64;
            let even = f64::from(u8::from(at % 2 == 0));
            assert_eq!(row[..7], [i - 10.0, 0.1 * i, 0.5 * i, 2.0 * i, 4e9 + i, i - 25.0, even]);
            assert!(if at % 7 == 3 { row[7].is_nan() } else { row[7] == i / 4.0 }, "{row:?}");
        }
    }
}

#[test]
fn missing_values_across_row_groups() {
    let rows = read(&data("nulls.parquet"), &["n", "k"]).unwrap();
    assert!(rows[0][0].is_nan() && rows[0][1] == 1.5 && rows[1][0] == 7.0 && rows[1][1].is_nan());
    assert_eq!(rows[2], [8.0, 2.5]);
}

#[test]
fn what_is_no_number_is_refused_only_where_it_is_wanted() {
    let refused = |name: &str, column: &str| {
        let error = read(&data(name), &[column]).unwrap_err();
        format!("{} | {}", error.fault, error.fault.hint().unwrap_or_default())
    };
    assert!(refused("pandas.parquet", "text").starts_with("the column `text` has values of the type"));
    assert!(refused("nulls.parquet", "when").contains("`when` has values of the type Timestamp"));
    assert!(refused("nested.parquet", "list.list.element").contains("type nested"));
    assert_eq!(read(&data("nested.parquet"), &["k"]).unwrap(), [[1.0], [2.0]]);
    let zstd = refused("pandas-zstd.parquet", "k");
    assert!(zstd.contains("ZSTD is not supported") && zstd.contains("compression = \"snappy\""), "{zstd}");
    let twice = TableFile::open(data("twice.parquet")).unwrap_err().to_string();
    assert!(twice.ends_with("the columns 1 and 2 are both named `k`"), "{twice}");
}

/// Every byte of a small file flipped, and the file cut at every place: an error or some numbers, and no panic.
#[test]
fn broken_files_are_refused_or_read_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.parquet");
    let whole = fs::read(data("nulls.parquet")).unwrap();
    let mut refused = 0;
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 0xff;
        fs::write(&path, &flipped).unwrap();
        refused += usize::from(read_all(&path).is_err());
        fs::write(&path, &whole[..at]).unwrap();
        assert!(read_all(&path).is_err(), "cut at {at}");
    }
    assert!(refused > whole.len() / 4, "{refused} of {}", whole.len());
}

fn read_all(path: &Path) -> Result<(), TableError> {
    let table = TableFile::open(path)?;
    let rows = table.survey(&mut |_| true)?.rows.min(1000);
    let columns: Vec<usize> = (0..table.names().len()).collect();
    columns.iter().try_for_each(|&column| table.read(&[column], rows, &Serial, &mut |_| true))
}
