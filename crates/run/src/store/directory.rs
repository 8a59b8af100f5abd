//! A run's directory: `run.json` and `posterior.parquet`, readable without us.
//!
//! Both are written when a run ends, each under a temporary name and then renamed, so that a reader never
//! sees half a file. Chunks are not kept: a run that is cut short starts over, with the same result.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use counterpoise_core::digest::Generation;
use counterpoise_core::simulate::Chunk;
use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::{Value, json};

use super::{Header, Store, StoreError};

/// Format of the directory; a number that this version does not know is refused.
pub const FORMAT: u64 = 1;
/// Description and summary of the run.
pub const RUN_FILE: &str = "run.json";
/// The kept particles of the last generation.
pub const POSTERIOR_FILE: &str = "posterior.parquet";

/// The largest `run.json` that is read.
pub(super) const LARGEST_RUN_FILE: u64 = 256 << 20;

/// A run on disk.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    header: Option<Header>,
    last: Option<Generation>,
}

impl Directory {
    /// The run in `path`, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), header: None, last: None }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The contents of `run.json`; `None` where there is none.
    ///
    /// # Errors
    /// If it cannot be read, is no JSON, or is of another format.
    pub fn read(&self) -> Result<Option<Value>, StoreError> {
        let path = self.path.join(RUN_FILE);
        let mut text = String::new();
        let read =
            File::open(&path).and_then(|file| file.take(LARGEST_RUN_FILE + 1).read_to_string(&mut text));
        match read {
            Ok(length) if length as u64 > LARGEST_RUN_FILE => return Err(StoreError::TooLarge { path }),
            Ok(_) => {}
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Io { action: "read", path, source }),
        }
        let run: Value = serde_json::from_str(&text)
            .map_err(|source| StoreError::Unreadable { path: path.clone(), source })?;
        match run.get("format").and_then(Value::as_u64) {
            Some(FORMAT) => Ok(Some(run)),
            other => {
                let found = other.map_or_else(|| "unknown".into(), |number| number.to_string());
                Err(StoreError::Format { path, found })
            }
        }
    }

    /// Whether the directory holds the finished run that `header` describes.
    ///
    /// # Errors
    /// As [`Directory::read`], and [`StoreError::Mismatch`] when it holds another run.
    pub fn holds(&self, header: &Header) -> Result<bool, StoreError> {
        let Some(run) = self.read()? else { return Ok(false) };
        let mut differences = Vec::new();
        compare("", &run["run"], &header.description, &mut differences);
        if !differences.is_empty() {
            return Err(StoreError::Mismatch { path: self.path.clone(), differences });
        }
        Ok(run["summary"]["finished"] == json!(true))
    }

    /// Writes `run.json` with this summary, and the posterior of the last committed generation.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, summary: &Value) -> Result<(), StoreError> {
        let description = self.header.as_ref().map_or(Value::Null, |header| header.description.clone());
        if let (Some(header), Some(last)) = (&self.header, &self.last) {
            let path = self.path.join(POSTERIOR_FILE);
            write_posterior(&path, &header.parameters, last)?;
        }
        let run = json!({ "format": FORMAT, "run": description, "summary": summary });
        let path = self.path.join(RUN_FILE);
        let text = serde_json::to_string_pretty(&run);
        let text = text.map_err(|source| StoreError::Unreadable { path: path.clone(), source })? + "\n";
        replace(&path, |file| file.write_all(text.as_bytes()).map_err(io("write", &path)))
    }
}

impl Store for Directory {
    fn open(&mut self, header: &Header) -> Result<Vec<Generation>, StoreError> {
        self.holds(header)?;
        fs::create_dir_all(&self.path).map_err(|source| StoreError::Io {
            action: "create directory",
            path: self.path.clone(),
            source,
        })?;
        self.header = Some(header.clone());
        Ok(Vec::new())
    }

    fn chunks(&mut self, _: u32) -> Result<Vec<Chunk>, StoreError> {
        Ok(Vec::new())
    }

    fn append(&mut self, _: u32, _: &Chunk) -> Result<(), StoreError> {
        Ok(())
    }

    fn commit(&mut self, generation: &Generation) -> Result<(), StoreError> {
        self.last = Some(generation.clone());
        Ok(())
    }
}

/// Lists what differs between two descriptions, by path.
fn compare(at: &str, stored: &Value, given: &Value, differences: &mut Vec<String>) {
    if let (Value::Object(stored), Value::Object(given)) = (stored, given) {
        let mut keys: Vec<&String> = stored.keys().chain(given.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            let side = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
            compare(&at, &side(stored), &side(given), differences);
        }
    } else if stored != given {
        differences.push(format!("{at} was {stored} and is now {given}"));
    }
}

/// Writes a file under a temporary name, flushes it to the disk and renames it. On failure nothing is left of it.
fn replace(path: &Path, fill: impl FnOnce(&mut File) -> Result<(), StoreError>) -> Result<(), StoreError> {
    let temporary = path.with_extension("partial");
    let mut file = File::create(&temporary).map_err(io("create", path))?;
    let written = fill(&mut file)
        .and_then(|()| file.sync_all().map_err(io("write", path)))
        .and_then(|()| fs::rename(&temporary, path).map_err(io("rename", path)));
    if written.is_err() {
        fs::remove_file(&temporary).ok();
    }
    written
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_path_buf();
    move |source| StoreError::Io { action, path, source }
}

fn write_posterior(path: &Path, parameters: &[String], last: &Generation) -> Result<(), StoreError> {
    replace(path, |file| {
        let file = file.try_clone().map_err(io("create", path))?;
        fill_posterior(file, parameters, last)
            .map_err(|source| StoreError::Parquet { path: path.to_path_buf(), source })
    })
}

fn fill_posterior(file: File, parameters: &[String], last: &Generation) -> Result<(), ParquetError> {
    let population = last.posterior();
    let column = |name: &str, kind: Physical| {
        Type::primitive_type_builder(name, kind).with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    };
    let mut fields = Vec::new();
    for name in parameters {
        fields.push(column(name, Physical::DOUBLE)?);
    }
    for name in ["importance_weight", "distance"] {
        fields.push(column(name, Physical::DOUBLE)?);
    }
    for name in ["generation", "row"] {
        fields.push(column(name, Physical::INT64)?);
    }
    let schema = Arc::new(Type::group_type_builder("posterior").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let mut doubles: Vec<Vec<f64>> = (0..parameters.len()).map(|j| population.thetas.column(j)).collect();
    doubles.push(population.weights.normalised().to_vec());
    doubles.push(population.distances.clone());
    for values in &doubles {
        let mut column =
            group.next_column()?.ok_or_else(|| ParquetError::General("too few columns".into()))?;
        column.typed::<DoubleType>().write_batch(values, None, None)?;
        column.close()?;
    }
    let generation = vec![i64::from(last.index); population.len()];
    let rows: Vec<i64> = population.rows.iter().map(|&row| i64::from(row)).collect();
    for values in [&generation, &rows] {
        let mut column =
            group.next_column()?.ok_or_else(|| ParquetError::General("too few columns".into()))?;
        column.typed::<Int64Type>().write_batch(values, None, None)?;
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}
