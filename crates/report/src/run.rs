//! A run as it is read from its directory, or as a program has it in memory.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use counterpoise_core::diagnose::{Warning, diagnose};
use counterpoise_core::digest::Generation;
use counterpoise_core::problem::Problem;
use counterpoise_core::propose::{ProposeError, draws};
use counterpoise_core::stream::Seed;
use counterpoise_core::summary::{ParameterSummary, summarise};
use counterpoise_core::table::Table;
use counterpoise_run::store::{self, RUN_FILE, RunRecord, StoreError};
use serde_json::Value;

use crate::prior;

/// Why a directory gives no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There is no run.
    #[error("{} holds no run: it has no {RUN_FILE}", path.display())]
    NoRun {
        /// The directory.
        path: PathBuf,
    },
    /// Nothing is kept of its generations.
    #[error("{} is of format 1, which keeps no generations to report on", path.display())]
    TooOld {
        /// The directory.
        path: PathBuf,
    },
    /// Its description is not one.
    #[error("{} does not say what it is the run of", path.display())]
    Undescribed {
        /// The file.
        path: PathBuf,
    },
    /// Nothing is finished that could be shown.
    #[error("no generation of the run in {} is finished yet", path.display())]
    Nothing {
        /// The directory.
        path: PathBuf,
    },
    /// Its posterior cannot be drawn from.
    #[error(transparent)]
    Draws(#[from] ProposeError),
    /// It is damaged, of a newer format, or cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A run: its question, its generations and what is told of it.
#[derive(Debug)]
pub struct Run {
    /// Where it is kept, if it is.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) description: Value,
    pub(crate) summary: Value,
    pub(crate) problem: Problem,
    pub(crate) history: Vec<Generation>,
    /// Statistics of the particles that the last generation kept; nothing where its simulations are a table's.
    pub(crate) accepted: Option<Table>,
    /// What `calibrate --json` and `compare --json` printed, where it was kept beside.
    pub(crate) calibration: Option<Value>,
    pub(crate) comparison: Option<Value>,
}

/// The largest file of a study that is read.
const LARGEST: u64 = 64 << 20;
/// No run has more generations.
const MOST: u32 = 1_000_000;

impl Run {
    /// Reads a directory. Nothing is written, so that another process may be at work in it.
    ///
    /// # Errors
    /// Where there is no run, or it is damaged, too old or too new.
    pub fn read(directory: &Path) -> Result<Self, ReportError> {
        let path = || directory.to_path_buf();
        let record = match RunRecord::read(directory) {
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotADirectory => None,
            other => other?,
        };
        let record = record.ok_or_else(|| ReportError::NoRun { path: path() })?;
        if record.format == 1 {
            return Err(ReportError::TooOld { path: path() });
        }
        let (description, summary) = (record.description, record.summary);
        let undescribed = || ReportError::Undescribed { path: directory.join(RUN_FILE) };
        let problem = prior::problem(&description).ok_or_else(undescribed)?;
        let mut history: Vec<Generation> = vec![];
        for index in 0..MOST {
            match store::committed(directory, index)? {
                Some(generation) if generation.population.thetas.columns() == problem.prior.dimension() => {
                    history.push(generation);
                }
                Some(_) => return Err(undescribed()),
                None => break,
            }
        }
        let accepted = match history.last() {
            Some(last) => {
                let shape = (problem.prior.dimension(), problem.statistics.len());
                store::accepted(directory, last, &last.population, shape)?
            }
            None => None,
        };
        Ok(Self {
            directory: Some(path()),
            description,
            summary,
            problem,
            history,
            accepted,
            calibration: beside(directory, "calibration.json"),
            comparison: beside(directory, "comparison.json"),
        })
    }

    /// A run that is kept nowhere: what was asked, what is told of it, its generations, and the statistics of the particles that the
    /// last one kept; nothing where the description is none.
    #[must_use]
    pub fn in_memory(
        description: Value,
        summary: Value,
        history: Vec<Generation>,
        accepted: Option<Table>,
    ) -> Option<Self> {
        let problem = prior::problem(&description)?;
        let (directory, calibration, comparison) = (None, None, None);
        Some(Self { directory, description, summary, problem, history, accepted, calibration, comparison })
    }

    /// Refuses a run without a finished generation.
    ///
    /// # Errors
    /// Where there is none.
    pub fn with_something(self) -> Result<Self, ReportError> {
        if self.history.is_empty() { Err(self.nothing()) } else { Ok(self) }
    }

    fn nothing(&self) -> ReportError {
        ReportError::Nothing { path: self.directory.clone().unwrap_or_else(|| "memory".into()) }
    }

    /// Equally weighted draws from the posterior, no two alike, on the natural scale; with the names of the parameters.
    ///
    /// # Errors
    /// If there is no posterior, or it is too degenerate to be smoothed.
    pub fn draws(&self, count: usize) -> Result<(Vec<String>, Table), ReportError> {
        let last = self.history.last().ok_or_else(|| self.nothing())?;
        let seed = Seed(self.summary["seed"].as_u64().unwrap_or(1));
        let drawn = draws(&self.problem.prior, last.posterior(), count, seed)?;
        Ok((self.problem.prior.names(), drawn))
    }

    /// How many generations are finished.
    #[must_use]
    pub fn generations(&self) -> usize {
        self.history.len()
    }

    /// The problem's name.
    pub(crate) fn name(&self) -> &str {
        self.description["name"].as_str().unwrap_or("run")
    }

    /// Marginal posteriors of the last generation.
    pub(crate) fn posterior(&self) -> Vec<ParameterSummary> {
        self.history.last().map_or_else(Vec::new, |last| summarise(&self.problem.prior, last.posterior()))
    }

    /// The parameters that the data were made with, by position, where somebody has said so.
    pub(crate) fn truth(&self) -> Vec<Option<f64>> {
        let names = self.problem.prior.names();
        names.iter().map(|name| self.summary["truth"][name].as_f64()).collect()
    }

    /// What is to be worried about.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        diagnose(&self.problem, &self.history)
    }

    /// How many generations were planned.
    pub(crate) fn planned(&self) -> u64 {
        self.description["method"]["generations"].as_u64().unwrap_or(0)
    }
}

/// A JSON file in the directory; nothing where there is none, or it is none.
fn beside(directory: &Path, name: &str) -> Option<Value> {
    let path = directory.join(name);
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    File::open(path).ok()?.take(LARGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
