//! `[parameters]`: a law for each parameter.

use counterpoise_core::problem::law::{KINDS, Kind, LogUniform};
use counterpoise_core::problem::{LawError, Marginal};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_models::Setting;
use serde_json::{Map, Value, json};

use super::reading::Section;

/// Beyond these, ratios of a law's numbers leave the range of floating point.
const SMALLEST: f64 = 1e-150;
const LARGEST: f64 = 1e150;

/// A parameter with its law and the numbers that were given for it.
#[derive(Debug)]
pub(crate) struct Parameter {
    law: &'static str,
    numbers: Vec<(&'static str, f64)>,
    pub(crate) marginal: Marginal,
}

impl Parameter {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.marginal.name()
    }

    /// The law and its numbers, as a run's description keeps them.
    pub(crate) fn describe(&self) -> Value {
        let mut map = Map::new();
        map.insert("law".into(), json!(self.law));
        map.extend(self.numbers.iter().map(|&(key, number)| (key.to_owned(), json!(number))));
        Value::Object(map)
    }
}

/// The parameters of the file, in its order; those with mistakes are left out.
pub(crate) fn read(mut section: Section<'_>) -> Vec<Parameter> {
    if section.keys().is_empty() {
        let hint = "leave [parameters] out to use the prior of a built-in model".to_owned();
        let place = section.place();
        section.mistakes().add(place, "[parameters] is empty", hint);
    }
    let names = section.keys();
    names.into_iter().filter_map(|name| read_parameter(&name, section.section(&name)?)).collect()
}

/// The prior that a built-in model has unless the file gives another.
pub(crate) fn of_setting(setting: &Setting) -> Vec<Parameter> {
    let one = |parameter: &counterpoise_models::Parameter| {
        let numbers = vec![("low", parameter.low), ("high", parameter.high)];
        let law = LogUniform::new(parameter.low, parameter.high).ok()?;
        let marginal = Marginal::new(parameter.name, Box::new(law));
        Some(Parameter { law: "log-uniform", numbers, marginal })
    };
    setting.parameters.iter().filter_map(one).collect()
}

fn read_parameter(name: &str, mut section: Section<'_>) -> Option<Parameter> {
    let names: Vec<&'static str> = KINDS.iter().map(|kind| kind.name).collect();
    if !section.has("law") {
        section.missing("law", format!("laws: {}", names.join(", ")));
        return None;
    }
    let law = section.choice("law", &names)?;
    let kind = KINDS.iter().find(|kind| kind.name == law)?;
    let cut: &[&str] = if kind.keys.contains(&"low") { &[] } else { &["low", "high"] };
    section.only(&[&["law"], kind.keys, cut].concat());
    for key in kind.keys {
        if !section.has(key) {
            section.missing(key, format!("the law {law} takes {}", kind.keys.join(" and ")));
        }
    }
    let mut numbers = Vec::new();
    for key in kind.keys.iter().chain(cut.iter().filter(|key| section.has(key)).collect::<Vec<_>>()) {
        numbers.push((*key, read_number(key, &mut section)));
    }
    let numbers: Vec<(&str, f64)> =
        numbers.into_iter().map(|(key, number)| Some((key, number?))).collect::<Option<_>>()?;
    make(name, kind, numbers, &mut section)
}

/// A number that the law can be computed with.
fn read_number(key: &str, section: &mut Section<'_>) -> Option<f64> {
    let number = section.number(key)?;
    // What is not above zero is refused by the law itself, which says it better.
    let (fits, expected) = match key {
        "shape" | "alpha" | "beta" => {
            (number <= 0.0 || (1e-6..=1e6).contains(&number), "between 1e-6 and 1e6")
        }
        _ => {
            let size = number.abs();
            (size == 0.0 || (SMALLEST..=LARGEST).contains(&size), "0 or between 1e-150 and 1e150 in size")
        }
    };
    section.number_that(key, expected, |_| fits)
}

fn make(
    name: &str,
    kind: &Kind,
    numbers: Vec<(&'static str, f64)>,
    section: &mut Section<'_>,
) -> Option<Parameter> {
    let number = |key: &str| numbers.iter().find(|(known, _)| *known == key).map(|(_, number)| *number);
    let second = kind.keys.get(1).and_then(|key| number(key)).unwrap_or(f64::NAN);
    let law = match (kind.build)(number(kind.keys[0])?, second) {
        Ok(law) => law,
        Err(error) => {
            refuse(name, &error, section);
            return None;
        }
    };
    let marginal = if kind.keys.contains(&"low") || numbers.len() == kind.keys.len() {
        Marginal::new(name, law)
    } else {
        let (low, high) =
            (number("low").unwrap_or(f64::NEG_INFINITY), number("high").unwrap_or(f64::INFINITY));
        match Marginal::truncated(name, law, low, high) {
            Ok(marginal) => marginal,
            Err(error) => {
                let key = if section.has("low") { "low" } else { "high" };
                let hint = match low > high {
                    true => "exchange low and high",
                    false => "low and high cut the law: choose them where it has values",
                };
                section.mistake(key, format!("parameter {name}: {error}"), hint.to_owned());
                return None;
            }
        }
    };
    if !drawable(&marginal) {
        let hint = "the numbers are too extreme: bring them nearer to one another".to_owned();
        section.mistake("law", format!("parameter {name}: its values cannot be told apart as numbers"), hint);
        return None;
    }
    Some(Parameter { law: kind.name, numbers, marginal })
}

fn refuse(name: &str, error: &LawError, section: &mut Section<'_>) {
    let (key, hint) = match error {
        LawError::NotPositive { name, .. }
        | LawError::NotFinite { name, .. }
        | LawError::NotWhole { name, .. } => (*name, None),
        LawError::Reversed { low, high } if low > high => ("low", Some("exchange low and high".to_owned())),
        _ => ("low", None),
    };
    section.mistake(key, format!("parameter {name}: {error}"), hint);
}

/// Whether draws differ, are finite and have a density: numbers near the limits of floating point may leave none.
fn drawable(marginal: &Marginal) -> bool {
    let mut rng = Seed(0).stream(Stage::Propose, 0, 0);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let usable = (0..64).all(|_| {
        let unit = marginal.draw(&mut rng);
        let natural = marginal.natural(unit);
        (low, high) = (low.min(natural), high.max(natural));
        unit.is_finite() && natural.is_finite() && marginal.ln_density(unit).is_finite()
    });
    // One bit from one another would still be no law.
    usable && high > low.next_up()
}
