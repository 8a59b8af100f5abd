//! `[model.table]`: simulations that exist already, one row each.

use counterpoise_core::problem::Simulator;
use counterpoise_run::executor::Tolerance;
use counterpoise_run::given::Source;
use counterpoise_tables::{Survey, TableError, TableFile};
use serde_json::json;

use super::super::keys;
use super::super::method::{LEAST_SIMULATIONS, MOST_SIMULATIONS, Method};
use super::super::reading::{Section, Value, suggestion};
use super::{Material, Ready, Surroundings};

/// Names among which a near miss is looked for.
const MOST_COMPARED: usize = 2_000;

/// A table of simulations whose columns are known.
#[derive(Debug)]
pub(crate) struct TableModel {
    file: TableFile,
    survey: Survey,
    parameters: Vec<usize>,
    statistics: Vec<usize>,
}

impl Material {
    /// What makes simulations, if they are not there already.
    pub(crate) fn simulator(&self) -> Option<&dyn Simulator> {
        match self {
            Self::Simulator(simulator) => Some(&**simulator),
            Self::Table(_) => None,
        }
    }

    /// The table, if there is one.
    pub(crate) fn table(&self) -> Option<&TableModel> {
        match self {
            Self::Simulator(_) => None,
            Self::Table(table) => Some(table),
        }
    }
}

impl TableModel {
    /// Rows of the table.
    pub(crate) fn rows(&self) -> usize {
        self.survey.rows as usize
    }

    /// Columns that are neither parameters nor statistics and have a name.
    pub(crate) fn unused(&self) -> Vec<&str> {
        let used = |at: &usize| self.parameters.contains(at) || self.statistics.contains(at);
        let names = self.file.names().iter().enumerate();
        names.filter(|(at, name)| !used(at) && !name.is_empty()).map(|(_, name)| &**name).collect()
    }

    /// The first `rows` rows, to be read.
    pub(crate) fn source(self, rows: usize) -> Source {
        let Self { file, parameters, statistics, .. } = self;
        Source { file, parameters, statistics, rows }
    }

    /// Notes what a method asks for and a table cannot give.
    pub(crate) fn check_method(&self, mut section: Section<'_>, method: &Method) {
        if section.has("generations") && method.generations != 1 {
            let message = format!("a table is one generation, and not {}", method.generations);
            section.mistake(
                "generations",
                message,
                "remove it; method.simulations takes fewer rows".to_owned(),
            );
        }
        if section.has("simulations") && method.simulations > self.rows() {
            let message = format!("the table has {} rows, and not {}", self.rows(), method.simulations);
            section.mistake("simulations", message, "remove it, and all rows are taken".to_owned());
        }
    }
}

/// Whether the observations are not to be simulated, which a table cannot do.
pub(crate) fn without_truth(root: &mut Section<'_>) -> bool {
    let Some(mut observed) = root.section("observed") else { return true };
    if !observed.has("truth") {
        return true;
    }
    let place = observed.key_place("truth");
    let message = "a table cannot be simulated at a truth";
    let hint = "give the data: file = \"observed.csv\" or values = { ... }; a row of the table will do";
    observed.mistakes().add(place, message, hint.to_owned());
    false
}

/// The model of the section, unless a mistake leaves none.
pub(super) fn read(mut section: Section<'_>, surroundings: &Surroundings<'_>) -> Option<Ready> {
    section.only(&keys::names(keys::TABLE));
    if !section.has("file") {
        section.missing("file", "file = \"simulations.parquet\"".to_owned());
    }
    let before = section.mistakes().count();
    let name = section.text("file")?;
    let path = surroundings.directory.join(&name);
    let file = TableFile::open(&path).map_err(|error| note(&mut section, &error)).ok()?;
    let parameters = find_parameters(&mut section, &file, surroundings);
    let statistics = find_statistics(&mut section, &file, parameters.as_deref());
    let (parameters, statistics) = (parameters?, statistics?);
    if section.mistakes().count() > before {
        return None;
    }
    let survey = file.survey(&mut |_| true).map_err(|error| note(&mut section, &error)).ok()?;
    if !(LEAST_SIMULATIONS..=MOST_SIMULATIONS).contains(&survey.rows) {
        let message = format!("the table has {} rows", survey.rows);
        let hint =
            format!("a table of at least {LEAST_SIMULATIONS} and at most {MOST_SIMULATIONS} simulations");
        section.mistake("file", message, hint);
        return None;
    }
    let named =
        |columns: &[usize]| -> Vec<String> { columns.iter().map(|&at| file.names()[at].clone()).collect() };
    let base = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let Survey { rows, bytes, hash } = &survey;
    let identity = json!({ "file": base, "rows": rows, "bytes": bytes, "blake3": hash });
    Some(Ready {
        parameters: named(&parameters),
        statistics: named(&statistics),
        series: None,
        description: json!({ "table": identity }),
        headline: Some(format!("a table of {rows} simulations, {}", base.unwrap_or(name))),
        advice: None,
        tolerance: Tolerance::Any,
        material: Material::Table(TableModel { file, survey, parameters, statistics }),
    })
}

fn note(section: &mut Section<'_>, error: &TableError) {
    let relative = || "the path is relative to the problem file".to_owned();
    let hint = error.fault.hint().or_else(|| (!error.path.exists()).then(relative));
    section.mistake("file", error.to_string(), hint);
}

/// The column of each parameter; a mistake for each that has none.
fn find_parameters(
    section: &mut Section<'_>,
    file: &TableFile,
    surroundings: &Surroundings<'_>,
) -> Option<Vec<usize>> {
    let mut columns = Vec::new();
    let parameters = surroundings.parameters?;
    for (name, place) in parameters {
        match file.names().iter().position(|known| known == name) {
            Some(at) => columns.push(at),
            None => {
                let hint = suggestion(name, "its columns", names(file));
                section.mistakes().add(*place, format!("the table has no column `{name}`"), hint);
            }
        }
    }
    (columns.len() == parameters.len()).then_some(columns)
}

fn names(file: &TableFile) -> impl Iterator<Item = &str> + Clone {
    file.names().iter().map(String::as_str).filter(|name| !name.is_empty()).take(MOST_COMPARED)
}

/// The columns of `statistics`; without it all that are no parameters.
fn find_statistics(
    section: &mut Section<'_>,
    file: &TableFile,
    parameters: Option<&[usize]>,
) -> Option<Vec<usize>> {
    if !section.has("statistics") {
        // What pandas keeps its row names in is no statistic, nor is a column without a name.
        let other = |name: &str| !name.is_empty() && !name.starts_with("__index_level_");
        let columns: Vec<usize> = (0..file.names().len())
            .filter(|at| other(&file.names()[*at]) && !parameters.unwrap_or_default().contains(at))
            .collect();
        if columns.is_empty() && parameters.is_some() {
            section.mistake(
                "file",
                "the table has no column beside the parameters",
                "a table has a column for each statistic too".to_owned(),
            );
        }
        return (!columns.is_empty()).then_some(columns);
    }
    let mut columns: Vec<usize> = Vec::new();
    let list = section.list("statistics", "a list of column names")?;
    for node in list {
        let Value::Text(name) = &node.value else {
            let message = format!("a statistic is named by text, found {}", node.value.kind());
            section.mistakes().add(
                node.place,
                message,
                "for example statistics = [\"s1\", \"s2\"]".to_owned(),
            );
            continue;
        };
        match file.names().iter().position(|known| known == name && !name.is_empty()) {
            Some(at) if columns.contains(&at) => {
                section.mistakes().add(
                    node.place,
                    format!("the statistic `{name}` is listed twice"),
                    "list it once".to_owned(),
                );
            }
            Some(at) if parameters.unwrap_or_default().contains(&at) => {
                section.mistakes().add(
                    node.place,
                    format!("`{name}` is a parameter and no statistic"),
                    "take it out of the list".to_owned(),
                );
            }
            Some(at) => columns.push(at),
            None => {
                let hint = suggestion(name, "its columns", names(file));
                section.mistakes().add(node.place, format!("the table has no column `{name}`"), hint);
            }
        }
    }
    if list.is_empty() {
        let hint =
            "list columns, or remove it: every column that is no parameter is then a statistic".to_owned();
        section.mistake("statistics", "there is no statistic", hint);
    }
    (columns.len() == list.len() && !list.is_empty()).then_some(columns)
}
