//! What networks of every origin have in common: when and how they are observed, and how they are simulated.

use counterpoise_networks::language::{self, Scope};
use counterpoise_networks::{
    DEFAULT_EPSILON, Expression, Method, Noise, NoiseLaw, Observable, Observation, Times, TimesError,
};

use super::super::keys;
use super::super::reading::{Node, Section, Table, Value, Written, suggestion};
use super::network::note_inside;

/// Statistics a model may have.
const MOST_STATISTICS: usize = 100_000;
const MOST_TIMES: u64 = 10_000;
const MOST_EVENTS: u64 = 1_000_000_000_000_000;
pub(in super::super) const LAWS: [(&str, NoiseLaw); 3] =
    [("normal", NoiseLaw::Normal), ("log-normal", NoiseLaw::LogNormal), ("poisson", NoiseLaw::Poisson)];

/// How trajectories are made, and when they are given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) method: Method,
    pub(super) max_events: Option<u64>,
}

/// What was read; `None` where there are mistakes.
pub(super) struct Observed {
    times: Option<Times>,
    observables: Option<Vec<Observable>>,
    course: Option<Course>,
    /// What `observe` names.
    pub(super) named: Vec<Expression>,
}

impl Observed {
    /// All of it, if there are no mistakes.
    pub(super) fn complete(self) -> Option<(Observation, Course)> {
        Some((Observation { times: self.times?, observables: self.observables? }, self.course?))
    }
}

/// Reads the keys; by default every one of `species`, with what it stands for, is observed. The first scope is for what may change in time,
/// the second for what may not.
pub(super) fn read(
    section: &mut Section<'_>,
    species: Vec<(String, Expression)>,
    (any, constant): (&Scope<'_>, Scope<'_>),
) -> Observed {
    let times = read_times(section);
    let mut observables = read_observables(section, species, any);
    let named = match (section.has("observe"), &observables) {
        (true, Some(observables)) => observables.iter().map(|observable| observable.value.clone()).collect(),
        _ => Vec::new(),
    };
    if let Some(observables) = &mut observables {
        read_noise(section, observables, &constant.constant("the size of noise", None));
    }
    if let (Some(times), Some(observables)) = (&times, &observables)
        && times.values().len() * observables.len() > MOST_STATISTICS
    {
        let (all, many) = (times.values().len(), observables.len());
        let message = format!("{many} observables at {all} times are more than {MOST_STATISTICS} statistics");
        section.mistake("times", message, "observe less, or less often".to_owned());
    }
    Observed { times, observables, course: read_course(section), named }
}

fn read_times(section: &mut Section<'_>) -> Option<Times> {
    match section.value("times") {
        None => {
            let hint = "times = [1, 2, 5], or times = { to = 100, count = 10 }".to_owned();
            section.missing("times", hint);
            None
        }
        Some(Value::Table(_)) => spaced_times(section.section("times")?),
        Some(_) => listed_times(section),
    }
}

fn listed_times(section: &mut Section<'_>) -> Option<Times> {
    let list = section.list("times", "a list of numbers or a table")?;
    let (path, mut values) = (section.path("times"), Vec::new());
    for Node { value, place } in list {
        match value {
            Value::Number(number) => values.push(*number),
            Value::Whole(whole) => values.push(*whole as f64),
            other => {
                let message = format!("`{path}` must be a list of numbers, found {} in it", other.kind());
                section.mistakes().add(*place, message, None);
            }
        }
    }
    if values.len() < list.len() {
        return None;
    }
    let refused = |error: TimesError| {
        let place = match &error {
            TimesError::Order { place, .. } => list[place - 1].place,
            _ => section.value_place("times"),
        };
        section.mistakes().add(place, error.to_string(), None);
    };
    Times::new(values).map_err(refused).ok()
}

/// Times by their number and spacing.
fn spaced_times(mut section: Section<'_>) -> Option<Times> {
    section.only(&keys::names(keys::TIMES));
    for key in ["to", "count"] {
        if !section.has(key) {
            section.missing(key, "for example times = { to = 100, count = 10 }".to_owned());
        }
    }
    let geometric = match section.has("spacing") {
        true => section.named("spacing", &[("linear", false), ("geometric", true)]).map(|(_, chosen)| chosen),
        false => Some(false),
    };
    let first = section.number_that("first", "a number above 0", |first| first > 0.0);
    let to = section.number_that("to", "a number above 0", |to| to > 0.0);
    let count = section.whole("count", 1..=MOST_TIMES);
    let zero = if section.has("zero") { section.boolean("zero") } else { Some(false) };
    if geometric == Some(true) && !section.has("first") {
        section.missing("first", "geometric times have equal ratios from first to to".to_owned());
    }
    if section.has("first") && first.is_none() {
        return None;
    }
    let (to, count, zero) = (to?, count? as usize, zero?);
    let times = match (geometric?, first) {
        (_, Some(first)) if first >= to => {
            section.mistake("first", format!("`first` must be below `to`, found {first} and {to}"), None);
            return None;
        }
        (true, first) => Times::geometric(first?, to, count, zero),
        (false, Some(first)) => Times::linear_from(first, to, count, zero),
        (false, None) => Times::linear(to, count, zero),
    };
    times.map_err(|error| section.mistake("count", error.to_string(), None)).ok()
}

fn read_observables(
    section: &mut Section<'_>,
    species: Vec<(String, Expression)>,
    scope: &Scope<'_>,
) -> Option<Vec<Observable>> {
    let plain = |(name, value)| Observable { name, value, noise: None, once: false };
    if !section.has("observe") {
        if species.is_empty() {
            let place = section.place();
            section.mistakes().add(place, "nothing is observed", "give observe = [...]".to_owned());
            return None;
        }
        return Some(species.into_iter().map(plain).collect());
    }
    let list = section.list("observe", "a list of texts")?;
    let (path, before) = (section.path("observe"), section.mistakes().count());
    if list.is_empty() {
        let hint = match species.is_empty() {
            true => "give observe = [...]",
            false => "leave it out to observe every species",
        };
        section.mistake("observe", "nothing is observed", hint.to_owned());
    }
    let mut observables: Vec<Observable> = Vec::new();
    for (at, Node { value, place }) in list.iter().enumerate() {
        let Value::Text(text) = value else {
            let message = format!("`{path}` must be a list of texts, found {} in it", value.kind());
            section.mistakes().add(*place, message, None);
            continue;
        };
        let written = Written { text: text.clone(), place: *place, path: format!("{path}[{at}]") };
        let read = language::observable(text, scope);
        let Some((name, value)) = note_inside(read, &written, section) else { continue };
        if observables.iter().any(|other| other.name == name) {
            section.mistakes().add(*place, format!("`{name}` is observed twice"), None);
        }
        observables.push(plain((name, value)));
    }
    (section.mistakes().count() == before).then_some(observables)
}

/// Gives observables their noise: all the same, or each its own.
fn read_noise(section: &mut Section<'_>, observables: &mut [Observable], scope: &Scope<'_>) {
    if let Some(Value::Text(law)) = section.value("noise") {
        let example = format!("noise = {{ law = \"{law}\", size = 1 }}");
        section.mistake("noise", format!("`{}` must be a table, found text", section.path("noise")), example);
        return;
    }
    let Some(mut noise) = section.section("noise") else { return };
    let keys = noise.keys();
    let single = |key: &String| !matches!(noise.value(key), Some(Value::Table(_)));
    if keys.is_empty() || keys.iter().any(single) {
        let read = read_one_noise(noise, scope);
        observables.iter_mut().for_each(|observable| observable.noise.clone_from(&read));
        return;
    }
    for key in keys {
        let Some(at) = observables.iter().position(|observable| observable.name == key) else {
            let place = noise.key_place(&key);
            let known = observables.iter().map(|observable| observable.name.as_str());
            let hint = suggestion(&key, "observables", known);
            noise.mistakes().add(place, format!("there is no observable `{key}`"), hint);
            continue;
        };
        observables[at].noise = noise.section(&key).and_then(|one| read_one_noise(one, scope));
    }
}

fn read_one_noise(mut section: Section<'_>, scope: &Scope<'_>) -> Option<Noise> {
    section.only(&["law", "size"]);
    if !section.has("law") {
        section.missing("law", format!("laws: {}", LAWS.map(|(name, _)| name).join(", ")));
    }
    let law = section.named("law", &LAWS).map(|(_, law)| law);
    let size = match section.value("size") {
        None if law == Some(NoiseLaw::Poisson) => Some(Expression::Number(1.0)),
        None => {
            section.missing("size", "a number, or an expression of parameters such as \"sigma\"".to_owned());
            None
        }
        Some(Value::Text(_)) => {
            let written = section.written("size")?;
            note_inside(language::expression(&written.text, scope), &written, &mut section)
        }
        Some(_) => {
            section.number_that("size", "a number of at least 0", |size| size >= 0.0).map(Expression::Number)
        }
    };
    Some(Noise { law: law?, size: size? })
}

fn read_course(section: &mut Section<'_>) -> Option<Course> {
    let given = section.has("max_events");
    let max_events = section.whole("max_events", 1..=MOST_EVENTS);
    let method = read_method(section)?;
    (max_events.is_some() || !given).then_some(Course { method, max_events })
}

fn read_method(section: &mut Section<'_>) -> Option<Method> {
    if !section.has("simulator") {
        return Some(Method::Direct);
    }
    let mut made = Table::default();
    let mut rule = section.rule("simulator", &mut made)?;
    let (_, leaps) = rule.rule_of(&[("direct", false), ("tau-leaping", true)])?;
    rule.only(if leaps { &["rule", "epsilon"] } else { &["rule"] });
    if !leaps {
        return Some(Method::Direct);
    }
    let given = rule.has("epsilon");
    let epsilon =
        rule.number_that("epsilon", "above 0 and below 1", |epsilon| epsilon > 0.0 && epsilon < 1.0);
    let epsilon = if given { epsilon? } else { DEFAULT_EPSILON };
    Some(Method::TauLeaping { epsilon })
}
