//! The reference datasets with exact posteriors, and distances between posteriors.

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

/// One observed dataset with draws from its exact posterior.
pub struct Dataset {
    pub observed: Vec<f64>,
    /// Sorted exact draws, a parameter each, on the scale of the file (log10 where it says so).
    pub exact: Vec<Vec<f64>>,
}

/// The datasets of one problem.
pub fn load(problem: &str) -> anyhow::Result<Vec<Dataset>> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../reference")).join(problem);
    let text = std::fs::read_to_string(folder.join("observed.csv")).context("reading observed.csv")?;
    let mut datasets: Vec<Dataset> = Vec::new();
    for line in text.lines().skip(1) {
        let values: Result<Vec<f64>, _> = line.split(',').skip(1).map(str::parse).collect();
        datasets.push(Dataset { observed: values?, exact: Vec::new() });
    }
    let file = File::open(folder.join("posterior.parquet")).context("opening posterior.parquet")?;
    for row in SerializedFileReader::new(file)?.get_row_iter(None)? {
        let row = row?;
        let number = |field: &Field| match field {
            Field::Double(value) => Some(*value),
            Field::Float(value) => Some(f64::from(*value)),
            Field::Long(value) => Some(*value as f64),
            Field::Int(value) => Some(f64::from(*value)),
            Field::Byte(value) => Some(f64::from(*value)),
            _ => None,
        };
        let mut dataset = 0;
        let mut values = Vec::new();
        for (name, field) in row.get_column_iter() {
            let value = number(field).with_context(|| format!("column {name} is no number"))?;
            if name == "dataset" { dataset = value as usize } else { values.push(value) }
        }
        ensure!((1..=datasets.len()).contains(&dataset), "dataset {dataset} has no observation");
        let exact = &mut datasets[dataset - 1].exact;
        exact.resize(values.len(), Vec::new());
        exact.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    for column in datasets.iter_mut().flat_map(|dataset| &mut dataset.exact) {
        column.sort_by(f64::total_cmp);
    }
    Ok(datasets)
}

/// Mean and standard deviation of equally weighted values.
pub fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}
