//! `[observed]`: the data, from a file, from the problem file itself, or made at a known truth.

use std::collections::BTreeMap;
use std::path::Path;

use counterpoise_core::problem::law::Scale;
use counterpoise_networks::language::near_miss;

use super::csv::{self, Cell};
use super::keys;
use super::laws::Parameter;
use super::model::Series;
use super::reading::{Mistakes, Place, Section, read_bounded, suggestion};
use super::series;
use crate::print::list::listed;
use crate::print::number::significant;

/// Largest table of observations that is read.
const MOST_BYTES: u64 = 64 << 20;

/// Names among which a near miss is looked for.
const MOST_COMPARED: usize = 2_000;

/// Where the observed summaries come from.
#[derive(Debug)]
pub(crate) enum Observed {
    /// They are known, in the model's order.
    Values(Vec<f64>),
    /// They are to be simulated at these parameters.
    Truth { theta: Vec<f64>, seed: Option<u64>, place: Place },
}

/// What the observations must fit; `None` where a mistake left it unknown.
pub(crate) struct Expected<'a> {
    pub(crate) statistics: Option<&'a [String]>,
    /// How the statistics are made of observables at times, if they are.
    pub(crate) series: Option<&'a Series>,
    pub(crate) parameters: Option<&'a [Parameter]>,
    /// Directory of the problem file.
    pub(crate) directory: &'a Path,
}

/// A statistic someone gave a value for.
pub(super) struct Given {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) value: Option<f64>,
}

/// The observations of the file, unless a mistake leaves none.
pub(crate) fn read(mut section: Section<'_>, expected: &Expected<'_>) -> Option<Observed> {
    section.only(&keys::names(keys::OBSERVED));
    let kinds: Vec<&str> = ["file", "values", "truth"].into_iter().filter(|kind| section.has(kind)).collect();
    if section.has("seed") && !section.has("truth") {
        let hint = "the seed of the run is method.seed".to_owned();
        section.mistake("seed", "`observed.seed` is only used with `observed.truth`", hint);
    }
    match kinds[..] {
        ["file"] => from_file(&mut section, expected).map(Observed::Values),
        ["values"] => from_values(&mut section, expected.statistics).map(Observed::Values),
        ["truth"] => from_truth(&mut section, expected.parameters),
        [] => {
            let place = section.place();
            let hint = "give exactly one of file = \"observed.csv\", values = { ... } or truth = { ... }";
            section.mistakes().add(place, "[observed] has no data", hint.to_owned());
            None
        }
        _ => {
            let place = section.key_place(kinds[1]);
            let message = format!("[observed] has {} at once", kinds.join(" and "));
            section.mistakes().add(place, message, "keep exactly one of them".to_owned());
            None
        }
    }
}

fn from_values(section: &mut Section<'_>, statistics: Option<&[String]>) -> Option<Vec<f64>> {
    let mut values = section.section("values")?;
    let mut given = Vec::new();
    for name in values.keys() {
        let (place, value) = (values.key_place(&name), values.number(&name));
        given.push(Given { name, place, value });
    }
    let place = values.place();
    arrange(given, statistics?, place, values.mistakes())
}

fn from_file(section: &mut Section<'_>, expected: &Expected<'_>) -> Option<Vec<f64>> {
    let name = section.text("file")?;
    let path = expected.directory.join(&name);
    let bytes = match read_bounded(&path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(reason) => {
            let hint = "the path is relative to the problem file".to_owned();
            section.mistake("file", format!("cannot read {}: {reason}", path.display()), hint);
            return None;
        }
    };
    let mistakes = section.mistakes();
    let source = mistakes.source(path.display().to_string(), String::from_utf8_lossy(&bytes));
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            mistakes.add(
                mistakes.place(source, at..at + 1),
                "this is not UTF-8",
                "save it as UTF-8".to_owned(),
            );
            return None;
        }
    };
    let mut given = read_table((&text, source), expected, mistakes)?;
    // What `simulate` writes has the parameters in front: such a table serves as it is.
    let (statistics, parameters) = (expected.statistics?, expected.parameters.unwrap_or_default());
    let is_parameter = |name: &str| parameters.iter().any(|parameter| parameter.name() == name);
    given.retain(|cell| statistics.contains(&cell.name) || !is_parameter(&cell.name));
    let place = mistakes.place(source, 0..text.find('\n').unwrap_or(text.len()));
    arrange(given, statistics, place, mistakes)
}

/// Names and values of a table: a header and a row, two columns named `statistic` and `value`, or a column `time`
/// and one for each observable.
fn read_table(
    (text, source): (&str, usize),
    expected: &Expected<'_>,
    mistakes: &mut Mistakes,
) -> Option<Vec<Given>> {
    let records = match csv::records(text) {
        Ok(records) => records,
        Err(broken) => {
            mistakes.add(mistakes.place(source, broken.span), broken.message, None);
            return None;
        }
    };
    let Some((header, rows)) = records.split_first() else {
        let hint = "it needs a header of statistic names and one row of numbers".to_owned();
        mistakes.add(mistakes.place(source, 0..0), "the file is empty", hint);
        return None;
    };
    let names: Vec<&str> = header.iter().map(|cell| &*cell.text).collect();
    if names == ["statistic", "value"] {
        return Some(read_pairs(rows, source, mistakes));
    }
    if let (Some(series), Some(statistics)) = (expected.series, expected.statistics)
        && let Some(column) = names.iter().position(|name| *name == "time")
    {
        let table = series::Table { header, rows, column, source };
        return table.read(series, statistics, mistakes);
    }
    let hint = expected.series.map(series::hint);
    let row = only_row(header, rows, (text.len(), source, hint), mistakes)?;
    Some(header.iter().zip(row).map(|(name, value)| given(name, value, source, mistakes)).collect())
}

/// Rows of a statistic and its value each.
fn read_pairs(rows: &[Vec<Cell<'_>>], source: usize, mistakes: &mut Mistakes) -> Vec<Given> {
    let mut pairs = Vec::new();
    for row in rows {
        if let [name, value] = &row[..] {
            pairs.push(given(name, value, source, mistakes));
        } else {
            let place = mistakes.place(source, row[0].span.clone());
            mistakes.add(place, format!("expected a statistic and a value, found {} cells", row.len()), None);
        }
    }
    pairs
}

/// The row below the header, unless there is none, more than one, or one of another length.
fn only_row<'r, 't>(
    header: &[Cell<'_>],
    rows: &'r [Vec<Cell<'t>>],
    (end, source, hint): (usize, usize, Option<String>),
    mistakes: &mut Mistakes,
) -> Option<&'r Vec<Cell<'t>>> {
    let (span, message) = match rows {
        [] => (end..end, "there is no row of numbers below the header".to_owned()),
        [row] if row.len() == header.len() => return Some(row),
        [row] => {
            let message = format!("the header has {} cells and this row has {}", header.len(), row.len());
            (row[row.len() - 1].span.clone(), message)
        }
        [_, second, ..] => {
            (second[0].span.clone(), format!("expected one row below the header, found {}", rows.len()))
        }
    };
    mistakes.add(mistakes.place(source, span), message, hint.filter(|_| rows.len() > 1));
    None
}

pub(super) fn given(name: &Cell<'_>, value: &Cell<'_>, source: usize, mistakes: &mut Mistakes) -> Given {
    let place = mistakes.place(source, value.span.clone());
    let number = match value.text.parse::<f64>() {
        Ok(number) if number.is_finite() => Some(number),
        Ok(number) => {
            mistakes.add(place, format!("`{}` must be a finite number, found {number}", name.text), None);
            None
        }
        Err(_) => {
            mistakes.add(place, format!("`{}` must be a number, found `{}`", name.text, value.text), None);
            None
        }
    };
    Given { name: name.text.to_string(), place: mistakes.place(source, name.span.clone()), value: number }
}

/// The values in the order of `statistics`, with a mistake for each that is missing, extra or repeated.
fn arrange(
    given: Vec<Given>,
    statistics: &[String],
    place: Place,
    mistakes: &mut Mistakes,
) -> Option<Vec<f64>> {
    let index: BTreeMap<&str, usize> =
        statistics.iter().enumerate().map(|(at, name)| (&**name, at)).collect();
    let mut found: Vec<Option<Option<f64>>> = vec![None; statistics.len()];
    for Given { name, place, value } in given {
        match index.get(name.as_str()) {
            Some(&at) if found[at].is_none() => found[at] = Some(value),
            Some(_) => mistakes.add(place, format!("the statistic `{name}` is given twice"), None),
            None if mistakes.are_many() => {
                mistakes.add(place, "another statistic the model does not have", None);
            }
            None => {
                let known = || statistics.iter().map(String::as_str).take(MOST_COMPARED);
                let near = series::same_time(&name, statistics);
                let near = near.or_else(|| near_miss(&name, known()));
                let near = near.filter(|near| found[index[near]].is_none());
                let hint = near.map_or_else(
                    || suggestion("", "its statistics", known()),
                    |near| format!("did you mean `{near}`?"),
                );
                mistakes.add(place, format!("the model has no statistic `{name}`"), hint);
            }
        }
    }
    let missing: Vec<&str> =
        statistics.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(name, _)| &**name).collect();
    if !missing.is_empty() {
        mistakes.add(place, missing_message(&missing), None);
        return None;
    }
    found.into_iter().map(|value| value.flatten()).collect()
}

fn missing_message(missing: &[&str]) -> String {
    const SHOWN: usize = 6;
    let shown = listed(missing.iter().map(|name| format!("`{name}`")), SHOWN);
    match missing.len() {
        1 => format!("the statistic {shown} of the model is missing"),
        n => format!("{n} statistics of the model are missing: {shown}"),
    }
}

fn from_truth(section: &mut Section<'_>, parameters: Option<&[Parameter]>) -> Option<Observed> {
    let seed = section.whole("seed", 0..=u64::MAX);
    let place = section.key_place("truth");
    let mut truth = section.section("truth")?;
    let parameters = parameters?;
    let names: Vec<&str> = parameters.iter().map(Parameter::name).collect();
    truth.only(&names);
    let mut theta = Vec::new();
    for parameter in parameters {
        let name = parameter.name();
        if !truth.has(name) {
            truth.missing(name, "the truth gives a value to every parameter".to_owned());
            continue;
        }
        let Some(value) = truth.number(name) else { continue };
        let marginal = &parameter.marginal;
        let whole = marginal.scale() != Scale::Whole || value.fract() == 0.0;
        if whole && marginal.ln_density(marginal.unit(value)) > f64::NEG_INFINITY {
            theta.push(value);
        } else {
            let (low, high) = marginal.support();
            let what = if whole { "lies outside the prior" } else { "is not a whole number" };
            let hint =
                format!("the prior allows values from {} to {}", significant(low, 9), significant(high, 9));
            truth.mistake(name, format!("the truth {name} = {value} {what}"), hint);
        }
    }
    (theta.len() == names.len()).then_some(Observed::Truth { theta, seed, place })
}
