//! Data that `compare` is given: observations, what they were made with, and their exact posteriors.

use std::collections::BTreeMap;
use std::path::Path;

use counterpoise_core::judge::Exact;
use counterpoise_core::problem::{Prior, Problem};
use counterpoise_core::table::Table;
use counterpoise_run::study::Dataset;

use crate::numbers::Numbers;
use crate::print::list::listed;
use crate::trouble::Trouble;

const DATASET: &str = "dataset";
const WEIGHT: &str = "importance_weight";
/// Columns beside parameters that a posterior written by this program has.
const OURS: [&str; 4] = [WEIGHT, "distance", "generation", "row"];
/// Fewer draws of a posterior say too little about it.
const LEAST_DRAWS: usize = 20;
/// Numbers of datasets that a message lists.
const SHOWN: usize = 5;

/// Rows of a table by the number of their dataset; one number a row where there is no such column.
struct Numbered {
    numbers: Option<Vec<u64>>,
    values: Table,
}

impl Numbered {
    fn read(table: &Numbers, columns: &[usize]) -> Result<Self, Trouble> {
        let Some(dataset) = table.column(DATASET) else {
            return Ok(Self { numbers: None, values: table.read(columns)? });
        };
        let all = table.read(&[&[dataset], columns].concat())?;
        let numbers = table.whole(&all.column(0))?;
        let values = all.iter().flat_map(|row| row[1..].iter().copied()).collect();
        Ok(Self { numbers: Some(numbers), values: Table::from_rows(columns.len(), values) })
    }

    /// The row of each dataset.
    fn rows(&self, table: &Numbers) -> Result<BTreeMap<u64, usize>, Trouble> {
        let count = self.values.rows();
        let numbers = self.numbers.clone().unwrap_or_else(|| (1..=count as u64).collect());
        let mut rows = BTreeMap::new();
        for (row, number) in numbers.into_iter().enumerate() {
            if rows.insert(number, row).is_some() {
                return Err(table.wrong(format!("there are two rows of dataset {number}"), None));
            }
        }
        Ok(rows)
    }
}

/// Observations by the number of their dataset.
pub(super) fn observed(path: &Path, problem: &Problem) -> Result<BTreeMap<u64, Vec<f64>>, Trouble> {
    let table = Numbers::open(path)?;
    let mut columns = Vec::new();
    for name in &problem.statistics {
        columns.push(table.column(name).ok_or_else(|| table.lacks(name, "a statistic of the model"))?);
    }
    let read = Numbered::read(&table, &columns)?;
    let rows = read.rows(&table)?;
    if rows.len() < 2 {
        let hint = "one observation is compared as often as --datasets says if it is in the problem file";
        return Err(
            table.wrong(format!("{} dataset: at least two are compared", rows.len()), hint.to_owned())
        );
    }
    Ok(rows.into_iter().map(|(number, row)| (number, read.values.row(row).to_vec())).collect())
}

/// Unit-space truths by the number of their dataset.
pub(super) fn truths(path: &Path, prior: &Prior) -> Result<BTreeMap<u64, Vec<f64>>, Trouble> {
    let table = Numbers::open(path)?;
    let found = table.parameters(prior)?;
    let columns: Vec<usize> = found.iter().map(|(column, _)| *column).collect();
    let read = Numbered::read(&table, &columns)?;
    let units = table.units(prior, &found, &read.values)?;
    let rows = read.rows(&table)?;
    Ok(rows.into_iter().map(|(number, row)| (number, units.row(row).to_vec())).collect())
}

/// Exact posteriors by the number of their dataset; without such a column they belong to the one there is.
pub(super) enum Posteriors {
    One(Exact),
    Many(BTreeMap<u64, Exact>),
}

/// The exact posteriors of a table.
pub(super) fn exact(path: &Path, prior: &Prior) -> Result<Posteriors, Trouble> {
    let table = Numbers::open(path)?;
    let found = table.parameters(prior)?;
    let mut columns: Vec<usize> = found.iter().map(|(column, _)| *column).collect();
    let nobodys = |name: &str| name.is_empty() || name.starts_with("__index_level_");
    let other = table.names().iter().enumerate().find(|(at, name)| {
        !columns.contains(at) && !nobodys(name) && *name != DATASET && !OURS.contains(&&***name)
    });
    if let Some((_, name)) = other {
        let message = format!("`{name}` is no parameter of the problem");
        let hint = "columns are named as the parameters, or log10_ and the name, beside dataset".to_owned();
        return Err(table.wrong(message, hint));
    }
    let weight = table.column(WEIGHT);
    columns.extend(weight);
    let Numbered { numbers, values } = Numbered::read(&table, &columns)?;
    let units = table.units(prior, &found, &values)?;
    let mass = |row: usize| if weight.is_some() { values.at(row, found.len()) } else { 1.0 };
    if let Some(row) = (0..values.rows()).find(|&row| mass(row) < 0.0) {
        return Err(table.wrong(format!("`{WEIGHT}` in row {} is negative", row + 1), None));
    }
    let posterior = |rows: &[u32], whose: &str| {
        let total: f64 = rows.iter().map(|&row| mass(row as usize)).sum();
        let counted = rows.iter().filter(|&&row| mass(row as usize) > 0.0).count();
        if counted < LEAST_DRAWS {
            let message =
                format!("{counted} draws of the posterior{whose}: at least {LEAST_DRAWS} are needed");
            return Err(table.wrong(message, "a few thousand draws a dataset are enough".to_owned()));
        }
        let weights = rows.iter().map(|&row| mass(row as usize) / total).collect();
        let exact = Exact::new(units.select(rows), weights);
        // By the draws themselves: the deviation of equal ones need not come out as zero.
        let same =
            |j: usize| rows.iter().all(|&row| units.at(row as usize, j) == units.at(rows[0] as usize, j));
        match (0..found.len()).find(|&j| same(j)) {
            Some(j) => {
                let name = &prior.names()[j];
                Err(table.wrong(
                    format!("all draws of `{name}`{whose} are the same"),
                    "a posterior has draws that differ".to_owned(),
                ))
            }
            None => Ok(exact),
        }
    };
    let Some(numbers) = numbers else {
        let all: Vec<u32> = (0..units.rows() as u32).collect();
        return posterior(&all, "").map(Posteriors::One);
    };
    let mut rows: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    (0u32..).zip(numbers).for_each(|(row, number)| rows.entry(number).or_default().push(row));
    let each =
        rows.iter().map(|(number, rows)| Ok((*number, posterior(rows, &format!(" of dataset {number}"))?)));
    Ok(Posteriors::Many(each.collect::<Result<_, Trouble>>()?))
}

/// What every dataset is judged by.
pub(super) struct Judge {
    pub(super) data: Vec<Dataset>,
    /// One a dataset, or one for all, or none.
    exact: Vec<Exact>,
}

impl Judge {
    /// Judges by truths alone.
    pub(super) fn by_truth(data: Vec<Dataset>) -> Self {
        Self { data, exact: Vec::new() }
    }

    /// Judges one observation, several times, by one exact posterior.
    pub(super) fn of_one(data: Vec<Dataset>, exact: Exact) -> Self {
        Self { data, exact: vec![exact] }
    }

    /// Judges given observations by what is known of each.
    pub(super) fn of_given(
        observed: BTreeMap<u64, Vec<f64>>,
        mut truths: Option<BTreeMap<u64, Vec<f64>>>,
        exact: Option<(&Path, Posteriors)>,
    ) -> Result<Self, Trouble> {
        let numbers: Vec<u64> = observed.keys().copied().collect();
        if let Some(truths) = &truths {
            same(&numbers, truths.keys().copied().collect(), "--truths")?;
        }
        let exact = match exact {
            Some((_, Posteriors::Many(exact))) => {
                same(&numbers, exact.keys().copied().collect(), "--exact")?;
                exact.into_values().collect()
            }
            Some((path, Posteriors::One(_))) => {
                let message = anyhow::anyhow!(
                    "{}: there is no column `{DATASET}`, and --observed has {} datasets",
                    path.display(),
                    numbers.len()
                );
                let hint = "say in a column `dataset` which of them each draw belongs to".to_owned();
                return Err(Trouble::input(message, hint));
            }
            None => Vec::new(),
        };
        let data = observed
            .into_iter()
            .map(|(number, observed)| Dataset {
                truth: truths.as_mut().and_then(|truths| truths.remove(&number)),
                observed,
            })
            .collect();
        Ok(Self { data, exact })
    }

    /// The exact posterior of a dataset, if it is known.
    pub(super) fn exact(&self, dataset: usize) -> Option<&Exact> {
        self.exact.get(if self.exact.len() == 1 { 0 } else { dataset })
    }

    /// Every exact posterior once.
    pub(super) fn posteriors(&self) -> &[Exact] {
        &self.exact
    }
}

/// Checks that another table has the datasets of the observations.
fn same(numbers: &[u64], others: Vec<u64>, option: &str) -> Result<(), Trouble> {
    let missing: Vec<String> =
        numbers.iter().filter(|number| !others.contains(number)).map(u64::to_string).collect();
    let extra: Vec<String> =
        others.iter().filter(|number| !numbers.contains(number)).map(u64::to_string).collect();
    let message = if !missing.is_empty() {
        format!("{option} has nothing for dataset {} of --observed", listed(&missing, SHOWN))
    } else if !extra.is_empty() {
        format!("--observed has nothing for dataset {} of {option}", listed(&extra, SHOWN))
    } else {
        return Ok(());
    };
    let counts = format!("--observed has {} datasets and {option} {}", numbers.len(), others.len());
    let hint = format!("{counts}; both are numbered by a column `{DATASET}`, or from 1 on without one");
    Err(Trouble::input(anyhow::anyhow!(message), hint))
}
