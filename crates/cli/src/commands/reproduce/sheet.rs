//! Tables of texts and numbers, as CSV and as Markdown.

use counterpoise_core::judge::mean_and_error;
use counterpoise_tables::write::quoted;

use crate::print::number::significant;

/// One value.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Text(String),
    Number(f64),
    /// A mean over datasets with its standard error.
    Mean(f64, f64),
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Mean and standard error; nothing where a value is missing.
    pub(super) fn mean(values: &[f64]) -> Self {
        let (mean, error) = mean_and_error(values);
        Self::Mean(mean, error)
    }
}

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    header: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Sheet {
    pub(super) fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// As CSV; a mean has a second column for its error.
    pub(super) fn csv(&self) -> String {
        let is_mean =
            |column: usize| self.rows.iter().any(|row| matches!(row.get(column), Some(Cell::Mean(..))));
        let number = |value: f64| if value.is_nan() { String::new() } else { format!("{value}") };
        let mut text = String::new();
        let mut line = |cells: Vec<String>| {
            text.push_str(&cells.join(","));
            text.push('\n');
        };
        let names = self.header.iter().enumerate().flat_map(|(at, name)| {
            let error = is_mean(at).then(|| quoted(&format!("{name} (error)")));
            [Some(quoted(name)), error].into_iter().flatten()
        });
        line(names.collect());
        for row in &self.rows {
            let cells = row.iter().enumerate().flat_map(|(at, cell)| {
                let (value, error) = match cell {
                    Cell::Text(text) => (quoted(text), String::new()),
                    Cell::Number(value) => (number(*value), String::new()),
                    Cell::Mean(mean, error) => (number(*mean), number(*error)),
                };
                [Some(value), is_mean(at).then_some(error)].into_iter().flatten()
            });
            line(cells.collect());
        }
        text
    }

    /// As Markdown.
    pub(super) fn markdown(&self) -> String {
        let cell = |cell: &Cell| match cell {
            Cell::Text(text) => text.replace('|', "\\|"),
            Cell::Number(value) | Cell::Mean(value, _) if value.is_nan() => "-".into(),
            Cell::Number(value) => significant(*value, 3),
            Cell::Mean(mean, error) if error.is_nan() => significant(*mean, 3),
            Cell::Mean(mean, error) => format!("{} ± {}", significant(*mean, 3), significant(*error, 1)),
        };
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.header.clone());
        text.push_str(&format!("|{}\n", "---|".repeat(self.header.len())));
        self.rows.iter().for_each(|row| text.push_str(&line(row.iter().map(cell).collect())));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_a_column_for_their_error() {
        let mut sheet = Sheet::new(["rule", "bias"]);
        sheet.row(vec![Cell::text("a,b"), Cell::mean(&[1.0, 3.0])]);
        sheet.row(vec![Cell::text("c|d"), Cell::Number(f64::NAN)]);
        assert_eq!(sheet.csv(), "rule,bias,bias (error)\n\"a,b\",2,1\nc|d,,\n");
        assert_eq!(sheet.markdown(), "| rule | bias |\n|---|---|\n| a,b | 2 ± 1 |\n| c\\|d | - |\n");
    }
}
