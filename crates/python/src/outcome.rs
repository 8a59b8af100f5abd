//! What came of a run: in memory, or in its directory.

use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_array::ArrayRef;
use counterpoise_core::digest::Generation;
use counterpoise_core::population::Population;
use counterpoise_core::table::Table;
use counterpoise_report::{Run, page};
use counterpoise_run::store::{
    GENERATION_FILE, POPULATION_FILE, POSTERIOR_FILE, RunRecord, SIMULATIONS_FILE, Sheet, Values, accepted,
    committed, without_units,
};
use counterpoise_tables::write::Partial;
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors::{bad, calm, unreadable, unreported, unwritable};
use crate::frame::{Frame, real, whole};
use crate::kept::{Kept, PRIOR};

enum Place {
    Memory(Box<Kept>),
    Directory(PathBuf),
}

/// What came of a run.
#[pyclass(frozen, module = "counterpoise._native")]
pub(crate) struct Outcome {
    place: Place,
    summary: Value,
    description: Value,
    #[pyo3(get)]
    stopped: Option<String>,
}

impl Outcome {
    /// A run in memory.
    pub(crate) fn in_memory(kept: Kept, mut summary: Value, stopped: Option<String>) -> Self {
        // The command line would have kept it there, and gone on with it.
        if let Some(summary) = summary.as_object_mut() {
            summary.insert("directory".into(), Value::Null);
            summary.shift_remove("origin");
        }
        let description = kept.header.as_ref().map_or(Value::Null, |header| header.description.clone());
        Self { place: Place::Memory(Box::new(kept)), summary, description, stopped }
    }

    /// A run in a directory.
    pub(crate) fn in_directory(directory: &Path, stopped: Option<String>) -> PyResult<Self> {
        let Some(record) = RunRecord::read(directory).map_err(|error| unreadable(&error))? else {
            let message = format!("{} holds no run: it has no run.json", directory.display());
            return Err(PyFileNotFoundError::new_err(message));
        };
        let RunRecord { description, summary, .. } = record;
        Ok(Self { place: Place::Directory(directory.to_path_buf()), summary, description, stopped })
    }

    fn generations(&self) -> usize {
        match &self.place {
            Place::Memory(kept) => kept.generations.len(),
            Place::Directory(directory) => {
                (0..).take_while(|&index| folder(directory, index).join(GENERATION_FILE).exists()).count()
            }
        }
    }

    /// Names that the description lists.
    fn names(&self, key: &str) -> Vec<String> {
        self.description[key].as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
    }

    /// Refuses a run of which nothing is finished.
    fn begun(&self) -> PyResult<()> {
        if self.generations() > 0 { Ok(()) } else { Err(bad("no generation is finished")) }
    }

    fn index(&self, generation: Option<i64>) -> PyResult<usize> {
        let count = self.generations();
        let asked = generation.unwrap_or(-1);
        let index = if asked < 0 { asked.saturating_add(count as i64) } else { asked };
        usize::try_from(index).ok().filter(|&index| index < count).ok_or_else(|| {
            bad(format!("`generation` must be one of the {count} that are finished, found {asked}"))
        })
    }

    /// Some columns of the simulations of a generation, in the order of their rows.
    fn simulated(
        &self,
        path: &Path,
        wanted: &dyn Fn(usize) -> bool,
        most: usize,
    ) -> PyResult<(Vec<String>, Vec<Values>)> {
        Frame::read(&open(path)?, wanted, most, Sheet::read_by_row).map_err(|error| unreadable(&error))
    }
}

fn open(path: &Path) -> PyResult<Sheet> {
    if !path.exists() {
        let message = format!("{} is missing: simulations of a table stay in the table", path.display());
        return Err(PyFileNotFoundError::new_err(message));
    }
    Sheet::open(path).map_err(|error| unreadable(&error))
}

/// Writes a file, all or nothing.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let (partial, mut file) = Partial::create(path)?;
    file.write_all(bytes)?;
    partial.complete(&file)
}

/// Some columns of particles, in their own order.
fn particles(sheet: &Sheet, wanted: &dyn Fn(usize) -> bool) -> PyResult<(Vec<String>, Vec<Values>)> {
    Frame::read(sheet, wanted, usize::MAX, Sheet::read).map_err(|error| unreadable(&error))
}

fn folder(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("generations/{index:03}"))
}

/// Where particles were simulated: in which generations, and in which rows of these.
fn origins(generation: &Generation, population: &Population) -> (ArrayRef, ArrayRef) {
    let origins = population.rows.iter().map(|&row| generation.origin(row));
    let (generations, rows) = origins.map(|(index, row)| (i64::from(index), i64::from(row))).unzip();
    (whole(generations), whole(rows))
}

fn columns(table: &Table) -> impl Iterator<Item = ArrayRef> + '_ {
    (0..table.columns()).map(|column| real(table.column(column)))
}

#[pymethods]
impl Outcome {
    /// A run in a directory.
    #[staticmethod]
    fn load(py: Python<'_>, directory: PathBuf) -> PyResult<Self> {
        py.detach(|| calm(|| Self::in_directory(&directory, None)))
    }

    /// What `--json` prints.
    #[getter]
    fn summary(&self) -> String {
        self.summary.to_string()
    }

    /// Problem, method and seed, as JSON.
    #[getter]
    fn description(&self) -> String {
        self.description.to_string()
    }

    /// Where it is, if it is in a directory.
    #[getter]
    fn directory(&self) -> Option<PathBuf> {
        match &self.place {
            Place::Memory(_) => None,
            Place::Directory(directory) => Some(directory.clone()),
        }
    }

    /// Finished generations.
    #[getter]
    fn count(&self) -> usize {
        self.generations()
    }

    /// The kept particles of the last generation.
    fn posterior(&self, py: Python<'_>) -> PyResult<Frame> {
        self.begun()?;
        match &self.place {
            Place::Directory(directory) => {
                let (names, values) =
                    py.detach(|| calm(|| particles(&open(&directory.join(POSTERIOR_FILE))?, &|_| true)))?;
                Frame::of_values(&names, values)
            }
            Place::Memory(kept) => {
                let Some(last) = kept.generations.last() else {
                    return Err(bad("no generation is finished"));
                };
                let population = last.posterior();
                let mut names = self.names("parameters");
                names.extend(["importance_weight", "distance", "generation", "row"].map(str::to_owned));
                let mut values: Vec<_> = columns(&population.thetas).collect();
                values.push(real(population.weights.normalised().to_vec()));
                values.push(real(population.distances.clone()));
                let (generations, rows) = origins(last, population);
                values.extend([generations, rows]);
                Frame::new(&names, values)
            }
        }
    }

    /// The kept particles of a generation, before any adjustment: row, parameters, log_importance_weight, distance,
    /// generation.
    #[pyo3(signature = (generation=None))]
    fn population(&self, py: Python<'_>, generation: Option<i64>) -> PyResult<Frame> {
        let index = self.index(generation)?;
        match &self.place {
            Place::Directory(directory) => {
                let path = folder(directory, index).join(POPULATION_FILE);
                let read = || {
                    let sheet = open(&path)?;
                    let chosen = without_units(sheet.names(), &self.names("parameters"));
                    let chosen = chosen.ok_or_else(|| bad(format!("{} is damaged", path.display())))?;
                    particles(&sheet, &|at| chosen.contains(&at))
                };
                let (names, values) = py.detach(|| calm(read))?;
                Frame::of_values(&names, values)
            }
            Place::Memory(kept) => {
                let generation = &kept.generations[index];
                let population = &generation.population;
                let mut names = vec!["row".to_owned()];
                names.extend(self.names("parameters"));
                names.extend(["log_importance_weight", "distance", "generation"].map(str::to_owned));
                let (generations, rows) = origins(generation, population);
                let mut values = vec![rows];
                values.extend(columns(&population.thetas));
                values.push(real(population.weights.ln().to_vec()));
                values.push(real(population.distances.clone()));
                values.push(generations);
                Frame::new(&names, values)
            }
        }
    }

    /// Statistics of the particles of a generation's posterior, in its order.
    #[pyo3(signature = (generation=None))]
    fn predictive(&self, py: Python<'_>, generation: Option<i64>) -> PyResult<Frame> {
        let index = self.index(generation)?;
        let statistics = self.names("observed");
        match &self.place {
            Place::Memory(kept) => {
                let table = kept.predictive(index);
                let table = table.ok_or_else(|| bad("simulations of a table stay in the table"))?;
                Frame::new(&statistics, columns(&table).collect())
            }
            Place::Directory(directory) => {
                let shape = (self.names("parameters").len(), statistics.len());
                let read = || {
                    let last = committed(directory, index as u32)?;
                    last.map_or(Ok(None), |last| accepted(directory, &last, last.posterior(), shape))
                };
                let table = py.detach(|| calm(|| read().map_err(|error| unreadable(&error))))?;
                let table = table.ok_or_else(|| bad("simulations of a table stay in the table"))?;
                Frame::new(&statistics, columns(&table).collect())
            }
        }
    }

    /// Parameters of the first draws from the prior, or their statistics.
    fn prior(&self, py: Python<'_>, statistics: bool) -> PyResult<Frame> {
        self.begun()?;
        let (parameters, observed) = (self.names("parameters"), self.names("observed"));
        let d = parameters.len();
        let names = if statistics { &observed } else { &parameters };
        match &self.place {
            Place::Memory(kept) => {
                let prior = kept.prior.as_ref();
                let (thetas, summaries) =
                    prior.ok_or_else(|| bad("simulations of a table stay in the table"))?;
                Frame::new(names, columns(if statistics { summaries } else { thetas }).collect())
            }
            Place::Directory(directory) => {
                let path = folder(directory, 0).join(SIMULATIONS_FILE);
                let wanted = |at: usize| (1..=d + observed.len()).contains(&at);
                let (_, values) = py.detach(|| calm(|| self.simulated(&path, &wanted, PRIOR)))?;
                let usable = |row: usize| {
                    values.iter().all(|values| match values {
                        Values::Real(values) => values.get(row).is_some_and(|value| value.is_finite()),
                        _ => true,
                    })
                };
                let count = values.first().map_or(0, Values::len);
                let rows: Vec<usize> = (0..count).filter(|&row| usable(row)).take(PRIOR).collect();
                let chosen = if statistics { &values[d..] } else { &values[..d] };
                let kept = chosen.iter().map(|values| match values {
                    Values::Real(values) => real(rows.iter().map(|&row| values[row]).collect()),
                    _ => real(vec![f64::NAN; rows.len()]),
                });
                Frame::new(names, kept.collect())
            }
        }
    }

    /// Writes a page with pictures.
    fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| {
            let run = match &self.place {
                Place::Directory(directory) => Run::read(directory),
                Place::Memory(kept) => {
                    let (history, last) = (kept.generations.clone(), kept.generations.len().checked_sub(1));
                    let accepted = last.and_then(|last| kept.accepted(last));
                    let (description, summary) = (self.description.clone(), self.summary.clone());
                    let run = Run::in_memory(description, summary, history, accepted);
                    Ok(run.ok_or_else(|| bad("no generation is finished"))?)
                }
            };
            let text = calm(|| run.and_then(Run::with_something).map(|run| page(&run)).map_err(unreported))?;
            write(&path, text.as_bytes()).map_err(|error| unwritable(&path, &error))
        })
    }

    /// Every simulation of a generation: row, parameters, statistics, outcome.
    #[pyo3(signature = (generation=None))]
    fn simulations(&self, py: Python<'_>, generation: Option<i64>) -> PyResult<Frame> {
        let index = self.index(generation)?;
        let Place::Directory(directory) = &self.place else {
            return Err(bad("all simulations are kept in a directory only: give `into` to run"));
        };
        let path = folder(directory, index).join(SIMULATIONS_FILE);
        let (names, values) = py.detach(|| calm(|| self.simulated(&path, &|_| true, usize::MAX)))?;
        Frame::of_values(&names, values)
    }
}
