//! Observations in the shape of a time course: a column `time`, a column for each observable, a row for each time.

use super::csv::Cell;
use super::model::Series;
use super::observed::{Given, given};
use super::reading::{Mistakes, suggestion};
use crate::print::list::listed;

/// Times that differ by less than this share of them are the same.
const SAME: f64 = 1e-6;
/// Times and names that are shown.
const SHOWN: usize = 6;

/// A table in this shape.
pub(super) struct Table<'t> {
    pub(super) header: &'t [Cell<'t>],
    pub(super) rows: &'t [Vec<Cell<'t>>],
    /// The number of the column `time`.
    pub(super) column: usize,
    pub(super) source: usize,
}

impl Table<'_> {
    /// The statistics of the table, in any order of rows and columns, unless rows are wrong or times are missing.
    pub(super) fn read(
        &self,
        series: &Series,
        statistics: &[String],
        mistakes: &mut Mistakes,
    ) -> Option<Vec<Given>> {
        let before = mistakes.count();
        let columns = self.observables(series, mistakes);
        let (mut all, mut seen) = (Vec::new(), vec![false; series.times.len()]);
        for row in self.rows {
            if mistakes.are_many() {
                break;
            }
            let Some(at) = self.time(row, &series.times, &mut seen, mistakes) else { continue };
            for &(column, observable) in &columns {
                let one = given(&self.header[column], &row[column], self.source, mistakes);
                let name = statistics[observable * series.times.len() + at].clone();
                all.push(Given { name, ..one });
            }
        }
        let missing = series.times.iter().zip(&seen).filter(|(_, seen)| !**seen);
        let missing: Vec<String> = missing.map(|(time, _)| time.to_string()).collect();
        if mistakes.count() == before && !missing.is_empty() {
            let place = mistakes.place(self.source, self.header[self.column].span.clone());
            let times = if missing.len() == 1 {
                "there is no row for the time"
            } else {
                "there are no rows for the times"
            };
            let message = format!("{times} {} of the model", listed(missing, SHOWN));
            mistakes.add(place, message, "a row for each observation time".to_owned());
        }
        (mistakes.count() == before).then_some(all)
    }

    /// Columns of observables, with the number of the observable.
    fn observables(&self, series: &Series, mistakes: &mut Mistakes) -> Vec<(usize, usize)> {
        let mut columns: Vec<(usize, usize)> = Vec::new();
        for (column, cell) in self.header.iter().enumerate().filter(|(column, _)| *column != self.column) {
            let place = mistakes.place(self.source, cell.span.clone());
            match series.observables.iter().position(|name| *name == cell.text) {
                Some(at) if columns.iter().any(|(_, other)| *other == at) => {
                    mistakes.add(place, format!("the observable `{}` is given twice", cell.text), None);
                }
                Some(at) => columns.push((column, at)),
                None if cell.text == "time" => mistakes.add(place, "there are two columns `time`", None),
                None => {
                    let known = series.observables.iter().map(String::as_str);
                    let hint = suggestion(&cell.text, "its observables", known);
                    mistakes.add(place, format!("the model has no observable `{}`", cell.text), hint);
                }
            }
        }
        columns
    }

    /// The number of a row's time among those of the model.
    fn time(
        &self,
        row: &[Cell<'_>],
        times: &[f64],
        seen: &mut [bool],
        mistakes: &mut Mistakes,
    ) -> Option<usize> {
        if row.len() != self.header.len() {
            let (expected, found) = (self.header.len(), row.len());
            let place = mistakes.place(self.source, row[found - 1].span.clone());
            let message = format!("the header has {expected} cells and this row has {found}");
            mistakes.add(place, message, None);
            return None;
        }
        let cell = &row[self.column];
        let time = given(&self.header[self.column], cell, self.source, mistakes).value?;
        let place = mistakes.place(self.source, cell.span.clone());
        let Some(at) = nearest(time, times) else {
            let hint = format!("it is observed at {}", listed(times.iter().map(f64::to_string), SHOWN));
            mistakes.add(place, format!("the model is not observed at the time {}", cell.text), hint);
            return None;
        };
        if std::mem::replace(&mut seen[at], true) {
            mistakes.add(place, format!("the time {} is given twice", cell.text), None);
            return None;
        }
        Some(at)
    }
}

/// The number of the time, of some in ascending order, that is the same.
fn nearest(time: f64, times: &[f64]) -> Option<usize> {
    let after = times.partition_point(|&other| other < time);
    let away = |at: &usize| (times[*at] - time).abs();
    let around = (after.saturating_sub(1)..=after).filter(|&at| at < times.len());
    let at = around.min_by(|a, b| away(a).total_cmp(&away(b)))?;
    same(times[at], time).then_some(at)
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs())
}

/// What a table with several rows may be.
pub(super) fn hint(series: &Series) -> String {
    let first = series.observables.first().map_or("", String::as_str);
    format!("a table with a row for each observation time has a column `time`: time,{first}")
}

/// The statistic at the same time as one that writes it otherwise: `I@1` for `I@1.0`.
pub(super) fn same_time<'s>(name: &str, statistics: &'s [String]) -> Option<&'s str> {
    let parts = |name: &'_ str| {
        let at = name.rfind('@')?;
        Some((at, name[at + 1..].trim().parse::<f64>().ok()?))
    };
    let (at, time) = parts(name)?;
    let alike = |known: &&String| {
        parts(known).is_some_and(|(other, at_time)| known[..other] == name[..at] && same(time, at_time))
    };
    statistics.iter().find(alike).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_the_same_within_a_millionth() {
        let times = [0.0, 1.0, 1.5, 1e6];
        for (time, expected) in [
            (0.0, Some(0)),
            (1.0, Some(1)),
            (1.000_000_9, Some(1)),
            (0.999_999_2, Some(1)),
            (1.000_01, None),
            (-1.0, None),
            (1e-9, None),
            (1_000_000.5, Some(3)),
            (2e6, None),
        ] {
            assert_eq!(nearest(time, &times), expected, "{time}");
        }
    }

    #[test]
    fn the_same_time_otherwise() {
        let known = ["I@1", "I@2.5", "J@1"].map(str::to_owned);
        assert_eq!(same_time("I@1.0", &known), Some("I@1"));
        assert_eq!(same_time("J@1e0", &known), Some("J@1"));
        assert_eq!(same_time("I@2.50", &known), Some("I@2.5"));
        assert_eq!(same_time("I@3", &known), None);
        assert_eq!(same_time("I", &known), None);
    }
}
