//! A committed generation: its files, and the generation that they hold.

use std::path::{Path, PathBuf};

use counterpoise_core::digest::{FailureExample, Generation, Information, Ties};
use counterpoise_core::problem::law::Scale;
use counterpoise_core::problem::{Failure, UnitScale};
use counterpoise_core::simulate::{Chunk, Simulated};
use counterpoise_core::table::Table;
use counterpoise_core::trials::Verdict;
use serde_json::{Map, Value, json};

use super::folder::{Folder, generation as folder_of};
use super::journal::Shape;
use super::sheet::{Cells, Columns, Values};
use super::tally::{Tally, from_text, text};
use super::{Header, Made, StoreError, particles, sealed};

/// What was chosen and found; once it is there, the generation is committed.
pub const GENERATION_FILE: &str = "generation.json";
/// Every simulation of the generation.
pub const SIMULATIONS_FILE: &str = "simulations.parquet";
/// The kept particles, with all that the next generation needs.
pub const POPULATION_FILE: &str = "population.parquet";

/// The same particles as an adjustment corrected them, where there is one and it did.
pub(super) const ADJUSTED_FILE: &str = "adjusted.parquet";
/// The checksums a second time: with `generation.json` damaged they tell what is whole of the simulations.
pub(super) const CHECKSUMS_FILE: &str = "checksums.json";

/// The largest `generation.json` that is read.
const LARGEST: u64 = 256 << 20;
/// The files that `generation.json` may have checksums of.
pub(super) const FILES: [&str; 4] = [SIMULATIONS_FILE, POPULATION_FILE, ADJUSTED_FILE, CHECKSUMS_FILE];

/// What `generation.json` says.
pub(super) struct Record {
    pub(super) path: PathBuf,
    value: Value,
}

/// Writes a generation. It counts from the moment in which `generation.json` has its name.
pub(super) fn write(
    folder: &Folder,
    header: &Header,
    run: u64,
    made: &Made<'_>,
) -> Result<Vec<u8>, StoreError> {
    let generation = made.generation;
    let within = folder_of(generation.index);
    folder.make(&within)?;
    let posterior = posterior(header, generation, &folder.path(super::POSTERIOR_FILE))?;
    let mut files = Map::new();
    // The first ones are draws from the prior, which people read as a table: they stay in order, so that the first of them are a fair
    // sample. Others may lie as they take the least room.
    let in_order = generation.index == 0;
    let simulations = made
        .simulations
        .map(|made| simulations(header, made))
        .map(|columns| if in_order { columns } else { columns.in_any_order() });
    let simulations = simulations.map(|columns| (SIMULATIONS_FILE, columns, generation.simulations));
    // An adjustment may leave the particles as they are: they are not written twice.
    let adjusted = generation.adjusted.as_ref().filter(|&adjusted| *adjusted != generation.population);
    let kept = [(POPULATION_FILE, Some(&generation.population)), (ADJUSTED_FILE, adjusted)];
    let kept = kept.into_iter().filter_map(|(name, kept)| kept.map(|kept| (name, kept)));
    let kept = kept.map(|(name, kept)| (name, particles::columns(header, generation, kept), kept.len()));
    let sheets = simulations.into_iter().chain(kept);
    for (name, columns, rows) in sheets {
        let path = within.join(name);
        let failed = |source| StoreError::Parquet { action: "write", path: folder.path(&path), source };
        let tally = folder
            .replace(&path, |file| columns.write(file, rows, |file| file.begin_footer()).map_err(failed))?;
        files.insert(name.into(), tally.to_json());
    }
    let checksums = json!({
        "generation": generation.index,
        "simulations": generation.simulations,
        "run": text(run),
        "parameters": header.parameters,
        "statistics": header.statistics,
        "files": files,
    });
    let path = within.join(CHECKSUMS_FILE);
    let tally = folder.replace_by(&path, sealed::seal(&checksums, &folder.path(&path))?.as_bytes())?;
    files.insert(CHECKSUMS_FILE.into(), tally.to_json());
    let mut value = describe(generation);
    for key in ["run", "parameters", "statistics"] {
        value[key] = checksums[key].clone();
    }
    if !header.units.is_empty() {
        value["units"] = header.units.iter().map(unit_scale).collect();
    }
    value["files"] = files.into();
    value["posterior"] = Tally::of(&posterior).to_json();
    let path = within.join(GENERATION_FILE);
    let text = sealed::seal(&value, &folder.path(&path))?;
    folder.replace_by(&path, text.as_bytes())?;
    Ok(posterior)
}

fn simulations<'a>(header: &'a Header, (thetas, simulated): (&'a Table, &'a Simulated)) -> Columns<'a> {
    let mut columns = Columns::default();
    columns.whole("row", |row| row as i64);
    columns.table(&header.parameters, thetas);
    columns.table(&header.statistics, simulated.summaries());
    let outcome = move |row: usize| simulated.failures().get(&row).map(Failure::to_text);
    columns.add("outcome", Cells::Text(Box::new(outcome)));
    columns
}

/// The bytes of `posterior.parquet` after this generation.
pub(super) fn posterior(
    header: &Header,
    generation: &Generation,
    path: &Path,
) -> Result<Vec<u8>, StoreError> {
    let population = generation.posterior();
    let mut columns = Columns::default();
    for (j, name) in header.parameters.iter().enumerate() {
        columns.real(name, move |at| population.thetas.at(at, j));
    }
    columns.real("importance_weight", |at| population.weights.normalised()[at]);
    columns.real("distance", |at| population.distances[at]);
    columns.whole("generation", |at| i64::from(generation.origin(population.rows[at]).0));
    columns.whole("row", |at| i64::from(generation.origin(population.rows[at]).1));
    let mut bytes = Vec::new();
    let failed = |source| StoreError::Parquet { action: "write", path: path.to_path_buf(), source };
    columns.write(&mut bytes, population.len(), |_| ()).map_err(failed)?;
    Ok(bytes)
}

/// A number; JSON has no word for those that are not finite.
fn real(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { value.to_string().into() }
}

fn reals(values: &[f64]) -> Value {
    values.iter().copied().map(real).collect()
}

fn describe(generation: &Generation) -> Value {
    let information = &generation.information;
    let baselines = information.baselines.iter().map(|(rule, value)| (rule.clone(), real(*value)));
    let mean = generation.features.iter().cloned().zip(generation.mean_weights().into_iter().map(real));
    let failure = generation.failure.as_ref().map(|example| {
        json!({ "row": example.row, "parameters": reals(&example.theta), "outcome": example.failure.to_text() })
    });
    json!({
        "generation": generation.index,
        "simulations": generation.simulations,
        "failed": generation.failed,
        "failure": failure,
        "kept": generation.population.len(),
        "left_as_accepted": generation.adjusted.as_ref() == Some(&generation.population),
        "distance_weights": Value::Object(mean.collect()),
        "features": generation.features,
        "folds": generation.weights.iter().map(|fold| reals(fold)).collect::<Value>(),
        "in_sample": generation.in_sample,
        "evaluations": generation.evaluations,
        "evidence": generation.evidence.iter().map(verdict).collect::<Value>(),
        "information": {
            "in_sample": real(information.in_sample),
            "held_out": real(information.held_out),
            "baselines": Value::Object(baselines.collect()),
        },
        "spread": reals(&generation.spread),
        "influence": reals(&generation.influence),
        "constant": generation.constant,
        "unreached": generation.unreached,
        "ties": { "at_threshold": generation.ties.at_threshold, "parameters": generation.ties.parameters },
    })
}

impl Record {
    /// Reads `generation.json`; `None` where the generation is not committed.
    pub(super) fn read(folder: &Folder, index: u32) -> Result<Option<Self>, StoreError> {
        Self::read_from(folder, index, GENERATION_FILE)
    }

    /// Reads what is known of the simulations of a generation whose `generation.json` is damaged or not there.
    pub(super) fn read_checksums(folder: &Folder, index: u32) -> Result<Option<Self>, StoreError> {
        Self::read_from(folder, index, CHECKSUMS_FILE)
    }

    fn read_from(folder: &Folder, index: u32, file: &str) -> Result<Option<Self>, StoreError> {
        let relative = folder_of(index).join(file);
        let path = folder.path(&relative);
        let Some(bytes) = folder.read(&relative, LARGEST)? else { return Ok(None) };
        let record = Self { value: sealed::open(bytes, &path)?, path };
        if record.value["generation"] != json!(index) {
            return Err(record.senseless("generation"));
        }
        Ok(Some(record))
    }

    fn senseless(&self, key: &str) -> StoreError {
        StoreError::damaged(&self.path, None, format!("`{key}` is not what it should be"))
    }

    /// What a journal of the same simulations would be of.
    pub(super) fn shape(&self) -> Result<Shape, StoreError> {
        let columns = |key: &str| self.value[key].as_array().map(Vec::len);
        let shape = || {
            Some(Shape {
                generation: u32::try_from(self.value["generation"].as_u64()?).ok()?,
                run: from_text(self.value["run"].as_str()?)?,
                rows: self.value["simulations"].as_u64()?,
                columns: u32::try_from(columns("statistics")?).ok()?,
            })
        };
        shape().ok_or_else(|| self.senseless("statistics"))
    }

    /// How many parameters there are.
    pub(super) fn parameters(&self) -> usize {
        self.value["parameters"].as_array().map_or(0, Vec::len)
    }

    fn parameter_names(&self) -> Result<Vec<String>, StoreError> {
        let names = list(&self.value["parameters"], |name| name.as_str().map(str::to_owned));
        names.ok_or_else(|| self.senseless("parameters"))
    }

    /// How parameters become unit-space coordinates; earlier versions do not tell.
    fn units(&self) -> Result<Option<Vec<UnitScale>>, StoreError> {
        let Some(units) = self.value.get("units") else { return Ok(None) };
        list(units, to_unit_scale).map(Some).ok_or_else(|| self.senseless("units"))
    }

    /// The bytes that `posterior.parquet` must have after this generation.
    pub(super) fn posterior_bytes(&self, path: &Path) -> Result<Vec<u8>, StoreError> {
        let parameters = self.parameter_names()?;
        let header =
            Header { description: Value::Null, parameters, statistics: Vec::new(), units: Vec::new() };
        posterior(&header, &self.generation()?, path)
    }

    /// The files of the generation; a table's simulations are not among them.
    pub(super) fn files(&self) -> impl Iterator<Item = &'static str> {
        FILES.into_iter().filter(|name| self.value["files"].get(name).is_some())
    }

    /// What a file of the generation must be.
    pub(super) fn tally(&self, name: &str) -> Result<Tally, StoreError> {
        Tally::from_json(&self.value["files"][name]).ok_or_else(|| self.senseless("files"))
    }

    /// Whether `posterior.parquet` is that of this generation: as it was when that was committed, or as this version writes it, which is
    /// what it does where a version before was killed just then.
    pub(super) fn is_posterior(&self, folder: &Folder) -> Result<bool, StoreError> {
        let expected = self.posterior()?;
        let Some(found) = folder.tally(super::POSTERIOR_FILE, &expected)? else { return Ok(false) };
        if found == expected {
            return Ok(true);
        }
        let anew = self.posterior_bytes(&folder.path(super::POSTERIOR_FILE));
        Ok(anew.is_ok_and(|bytes| expected.like(&bytes[..]).is_ok_and(|anew| anew == found)))
    }

    /// What `posterior.parquet` must be after this generation.
    fn posterior(&self) -> Result<Tally, StoreError> {
        Tally::from_json(&self.value["posterior"]).ok_or_else(|| self.senseless("posterior"))
    }

    /// The generation itself, with the population in its file beside.
    pub(super) fn generation(&self) -> Result<Generation, StoreError> {
        let shape = self.shape()?;
        let (names, units) = (self.parameter_names()?, self.units()?);
        let read = |name| particles::read(&self.path.with_file_name(name), &names, units.as_deref(), &shape);
        let population = read(POPULATION_FILE)?;
        let adjusted = if self.files().any(|name| name == ADJUSTED_FILE) {
            Some(read(ADJUSTED_FILE)?)
        } else {
            (self.value["left_as_accepted"] == true).then(|| population.clone())
        };
        let read = || {
            let value = &self.value;
            let whole = |key: &str| usize::try_from(value[key].as_u64()?).ok();
            let information = &value["information"];
            let baselines = information["baselines"].as_object()?.iter();
            Some(Generation {
                index: u32::try_from(whole("generation")?).ok()?,
                simulations: whole("simulations")?,
                features: list(&value["features"], |name| name.as_str().map(str::to_owned))?,
                weights: list(&value["folds"], |fold| list(fold, to_real))?,
                in_sample: value["in_sample"].as_bool()?,
                evaluations: whole("evaluations")?,
                evidence: if value["evidence"].is_null() {
                    Vec::new()
                } else {
                    list(&value["evidence"], to_verdict)?
                },
                information: Information {
                    in_sample: to_real(&information["in_sample"])?,
                    held_out: to_real(&information["held_out"])?,
                    baselines: baselines
                        .map(|(rule, value)| Some((rule.clone(), to_real(value)?)))
                        .collect::<Option<_>>()?,
                },
                spread: list(&value["spread"], to_real)?,
                influence: match value.get("influence") {
                    Some(influence) => list(influence, to_real)?,
                    None => Vec::new(),
                },
                constant: list(&value["constant"], to_index)?,
                unreached: list(&value["unreached"], to_index)?,
                ties: Ties {
                    at_threshold: to_index(&value["ties"]["at_threshold"])?,
                    parameters: to_index(&value["ties"]["parameters"])?,
                },
                failed: whole("failed")?,
                failure: if value["failure"].is_null() { None } else { Some(example(&value["failure"])?) },
                population,
                adjusted,
            })
        };
        let generation = read().ok_or_else(|| self.senseless("generation.json"))?;
        let features = generation.features.len();
        let fits = generation.weights.iter().all(|fold| fold.len() == features)
            && generation.spread.len() == features
            && [0, shape.columns as usize].contains(&generation.influence.len())
            && generation.constant.iter().chain(&generation.unreached).all(|&feature| feature < features)
            && !generation.weights.is_empty();
        if fits { Ok(generation) } else { Err(self.senseless("features")) }
    }
}

/// The rows of a group of `simulations.parquet`.
pub(super) fn chunk(columns: Vec<Values>, parameters: usize, shape: &Shape) -> Option<Chunk> {
    let statistics = shape.columns as usize;
    let mut columns = columns.into_iter();
    let Values::Whole(rows) = columns.next()? else { return None };
    let mut columns = columns.skip(parameters);
    let mut reals = Vec::new();
    for _ in 0..statistics {
        let Values::Real(column) = columns.next()? else { return None };
        reals.push(column);
    }
    let Values::Text(outcomes) = columns.next()? else { return None };
    let rows: Vec<usize> =
        rows.iter().filter(|&&row| (row as u64) < shape.rows).map(|&row| row as usize).collect();
    let even = reals.iter().all(|column| column.len() == rows.len()) && outcomes.len() == rows.len();
    (even && statistics > 0).then_some(())?;
    let values = (0..rows.len()).flat_map(|row| reals.iter().map(move |column| column[row])).collect();
    let outcomes = outcomes.into_iter().map(|outcome| match outcome {
        None => Some(Ok(())),
        Some(text) => Failure::from_text(&text).map(Err),
    });
    let outcomes = outcomes.collect::<Option<Vec<_>>>()?;
    // Whatever the file says, no row without finite numbers has gone well.
    Some(Chunk::new(rows, Table::from_rows(statistics, values), outcomes))
}

/// The words for scales.
const SCALES: [(&str, Scale); 3] = [("linear", Scale::Linear), ("log", Scale::Log), ("whole", Scale::Whole)];

fn unit_scale(unit: &UnitScale) -> Value {
    let word = SCALES.iter().find(|(_, scale)| *scale == unit.scale).map(|(word, _)| *word);
    json!({ "scale": word, "centre": real(unit.centre), "spread": real(unit.spread) })
}

fn to_unit_scale(value: &Value) -> Option<UnitScale> {
    let word = value["scale"].as_str()?;
    let (_, scale) = *SCALES.iter().find(|(known, _)| *known == word)?;
    Some(UnitScale { scale, centre: to_real(&value["centre"])?, spread: to_real(&value["spread"])? })
}

fn verdict(verdict: &Verdict) -> Value {
    json!({
        "subject": verdict.subject,
        "way": verdict.way,
        "name": verdict.name,
        "score": real(verdict.score),
        "error": real(verdict.error),
        "chosen": verdict.chosen,
    })
}

fn to_verdict(value: &Value) -> Option<Verdict> {
    Some(Verdict {
        subject: value["subject"].as_str()?.to_owned(),
        // Directories of before have none.
        way: value["way"].as_str().unwrap_or_default().to_owned(),
        name: value["name"].as_str()?.to_owned(),
        score: to_real(&value["score"])?,
        error: to_real(&value["error"])?,
        chosen: value["chosen"].as_bool()?,
    })
}

fn to_real(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn to_index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(read).collect()
}

fn example(value: &Value) -> Option<FailureExample> {
    Some(FailureExample {
        row: to_index(&value["row"])?,
        theta: list(&value["parameters"], to_real)?,
        failure: Failure::from_text(value["outcome"].as_str()?)?,
    })
}
