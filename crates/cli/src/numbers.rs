//! A table of numbers in a file, looked at by the names of its columns and read whole.

use std::path::Path;

use anyhow::anyhow;
use counterpoise_core::problem::Prior;
use counterpoise_core::table::Table;
use counterpoise_core::workers::Serial;
use counterpoise_tables::{Block, TableError, TableFile};

use crate::print::number::significant;
use crate::problem_file::suggestion;
use crate::trouble::Trouble;

/// Values that are read into memory, at the most.
const MOST_VALUES: u64 = 100_000_000;
/// Names among which a near miss is looked for.
const MOST_COMPARED: usize = 2_000;
/// How far beyond the end of the prior a value may lie, in prior standard deviations: tables round.
const SLACK: f64 = 1e-6;

/// A table whose columns are known.
pub(crate) struct Numbers {
    file: TableFile,
    rows: u64,
}

impl Numbers {
    /// Opens a table and counts its rows.
    pub(crate) fn open(path: &Path) -> Result<Self, Trouble> {
        let file = TableFile::open(path).map_err(trouble)?;
        let rows = file.survey(&mut |_| true).map_err(trouble)?.rows;
        Ok(Self { file, rows })
    }

    /// Names of all columns.
    pub(crate) fn names(&self) -> &[String] {
        self.file.names()
    }

    /// The column of a name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.names().iter().position(|known| known == name && !name.is_empty())
    }

    /// What is wrong with the table, and a remedy.
    pub(crate) fn wrong(&self, message: impl std::fmt::Display, hint: impl Into<Option<String>>) -> Trouble {
        Trouble::input(anyhow!("{}: {message}", self.file.path().display()), hint)
    }

    /// A column that should be there and is not.
    pub(crate) fn lacks(&self, name: &str, what: &str) -> Trouble {
        let known = self.names().iter().map(String::as_str).filter(|name| !name.is_empty());
        let hint = suggestion(name, "its columns", known.take(MOST_COMPARED));
        self.wrong(format!("there is no column `{name}`, {what}"), hint)
    }

    /// The values of some columns; each must be a finite number.
    pub(crate) fn read(&self, columns: &[usize]) -> Result<Table, Trouble> {
        if self.rows == 0 {
            return Err(self.wrong("there is no row below the header", None));
        }
        if self.rows.saturating_mul(columns.len() as u64) > MOST_VALUES {
            let message = format!("{} rows of {} columns are too many", self.rows, columns.len());
            return Err(self.wrong(message, "a few thousand draws a dataset are enough".to_owned()));
        }
        let mut table = Table::filled(self.rows as usize, columns.len(), f64::NAN);
        let read = self.file.read(columns, self.rows, &Serial, &mut |block: Block<'_>| {
            let width = block.columns.len();
            for (row, values) in (block.first as usize..).zip(block.values.chunks_exact(width)) {
                table.row_mut(row)[block.columns.clone()].copy_from_slice(values);
            }
            true
        });
        read.map_err(trouble)?;
        for (row, values) in table.iter().enumerate() {
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                let (name, found) = (&self.names()[columns[at]], values[at]);
                let found = if found.is_nan() { "is missing".into() } else { format!("is {found}") };
                return Err(self.wrong(format!("the value of `{name}` in row {} {found}", row + 1), None));
            }
        }
        Ok(table)
    }

    /// The column `dataset`, if there is one, as whole numbers of `values`.
    pub(crate) fn whole(&self, values: &[f64]) -> Result<Vec<u64>, Trouble> {
        let whole = |(row, &value): (usize, &f64)| {
            if value.fract() == 0.0 && (0.0..9e15).contains(&value) {
                return Ok(value as u64);
            }
            Err(self.wrong(format!("the dataset in row {} is {value}, and no whole number", row + 1), None))
        };
        values.iter().enumerate().map(whole).collect()
    }

    /// Where the parameters are: columns named as they are, or `log10_` and the name.
    pub(crate) fn parameters(&self, prior: &Prior) -> Result<Vec<(usize, bool)>, Trouble> {
        let find = |name: &String| {
            let logarithm = format!("log10_{name}");
            match (self.column(name), self.column(&logarithm)) {
                (Some(_), Some(_)) => {
                    Err(self.wrong(format!("both `{name}` and `{logarithm}` are there"), None))
                }
                (Some(at), None) => Ok((at, false)),
                (None, Some(at)) => Ok((at, true)),
                (None, None) => {
                    Err(self.lacks(name, &format!("nor `{logarithm}`: a parameter of the problem")))
                }
            }
        };
        prior.names().iter().map(find).collect()
    }

    /// Unit-space points of rows of parameters, each within the prior.
    pub(crate) fn units(
        &self,
        prior: &Prior,
        found: &[(usize, bool)],
        values: &Table,
    ) -> Result<Table, Trouble> {
        let mut units = Vec::with_capacity(values.rows() * found.len());
        for (row, values) in values.iter().enumerate() {
            for ((marginal, &(_, logarithm)), &value) in prior.marginals().iter().zip(found).zip(values) {
                let natural = if logarithm { libm::exp10(value) } else { value };
                let unit = marginal.unit(natural);
                let (low, high) = marginal.unit_support();
                if unit.is_nan() || unit < low - SLACK || unit > high + SLACK {
                    let (low, high) = marginal.support();
                    let message = format!(
                        "{} = {natural} in row {} lies outside the prior, [{}, {}]",
                        marginal.name(),
                        row + 1,
                        significant(low, 9),
                        significant(high, 9),
                    );
                    return Err(self.wrong(message, "use the prior that the table was made with".to_owned()));
                }
                units.push(unit.clamp(low, high));
            }
        }
        Ok(Table::from_rows(found.len(), units))
    }
}

fn trouble(error: TableError) -> Trouble {
    let hint = error.fault.hint();
    Trouble::input(error, hint)
}
