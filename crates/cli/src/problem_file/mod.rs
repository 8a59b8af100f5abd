//! From a problem file to what it means: a problem, a simulator and a method, or every mistake in it.

mod csv;
mod hellinger;
mod laws;
mod method;
mod model;
mod observed;
mod overrides;
mod proposal;
mod reading;
mod series;
mod weighting;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use counterpoise_core::problem::{Failure, Prior, Problem, Simulator};
use counterpoise_core::propose::propose_rows;
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_models::Setting;
use counterpoise_run::executor::Tolerance;
use counterpoise_run::pool::Pool;
use serde_json::{Value, json};

pub(crate) use method::Method;
pub(crate) use overrides::Override;
pub(crate) use reading::{Mistakes, read_bounded, suggestion};

use laws::Parameter;
use model::{Chosen, Ready, Reordered, Surroundings};
use observed::{Expected, Observed};
use reading::{Place, Section, Table, Value as Written};

/// Largest problem file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// What the problem is loaded for: simulating alone needs no observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Infer,
    Simulate,
}

/// A problem file that has no mistakes.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) problem: Problem,
    pub(crate) simulator: Box<dyn Simulator>,
    pub(crate) method: Method,
    /// Everything that determines the result, in canonical form.
    pub(crate) description: Value,
    /// What the model is, in one line, unless its name says all.
    pub(crate) headline: Option<String>,
    /// What to do where some simulations take far longer than others.
    pub(crate) advice: Option<String>,
    /// How many failed simulations are borne.
    pub(crate) tolerance: Tolerance,
}

impl Loaded {
    /// Names of the parameters, in order.
    pub(crate) fn parameters(&self) -> Vec<String> {
        self.problem.prior.marginals().iter().map(|marginal| marginal.name().to_owned()).collect()
    }
}

/// Why there is no problem.
#[derive(Debug)]
pub(crate) enum LoadError {
    Unreadable { path: PathBuf, reason: String },
    Mistakes(Mistakes),
}

/// Reads a problem file, with some of its keys given on the command line.
pub(crate) fn load(path: &Path, overrides: &[Override], purpose: Purpose) -> Result<Loaded, LoadError> {
    let unreadable = |reason| LoadError::Unreadable { path: path.into(), reason };
    let bytes = read_bounded(path, MOST_BYTES).map_err(unreadable)?;
    let mut mistakes = Mistakes::default();
    let source = mistakes.source(path.display().to_string(), String::from_utf8_lossy(&bytes));
    if let Err(error) = std::str::from_utf8(&bytes) {
        let at = error.valid_up_to();
        mistakes.add(mistakes.place(source, at..at + 1), "this is not UTF-8", None);
        return Err(LoadError::Mistakes(mistakes));
    }
    let mut table = Table::parse(source, &mut mistakes);
    if mistakes.is_empty() {
        overrides::apply(&mut table, overrides, &mut mistakes);
    }
    let loaded = mistakes.is_empty().then(|| interpret(&table, path, purpose, &mut mistakes)).flatten();
    match loaded {
        Some(loaded) if mistakes.is_empty() => Ok(loaded),
        _ => Err(LoadError::Mistakes(mistakes)),
    }
}

fn interpret(table: &Table, path: &Path, purpose: Purpose, mistakes: &mut Mistakes) -> Option<Loaded> {
    let place = mistakes.place(0, 0..0);
    let mut root = Section::root(table, place, mistakes);
    root.only_or(&["name", "parameters", "model", "observed", "method", "stop"], |key| {
        ["network", "sbml"].contains(&key).then(|| format!("it belongs to the model: [model.{key}]"))
    });
    let name = read_name(&mut root, path);
    let directory = path.parent().unwrap_or(Path::new(""));
    let names = parameter_names(&mut root);
    let draws = |count: usize| trial_draws(table, place, count);
    let surroundings = Surroundings { parameters: names.as_deref(), directory, draws: &draws };
    let chosen = read_model(&mut root, &surroundings);
    let parameters = read_parameters(&mut root, chosen.as_ref());
    let defaults = method_defaults(chosen.as_ref());
    let mut method =
        root.section("method").map_or(defaults.into(), |section| method::read(section, defaults));
    if let Some(stop) = root.section("stop") {
        method::read_stop(stop, &mut method);
    }
    let expected = Expected {
        statistics: chosen.as_ref().and_then(|chosen| chosen.ready.as_ref()).map(|ready| &*ready.statistics),
        series: chosen.as_ref().and_then(|chosen| chosen.ready.as_ref()?.series.as_ref()),
        parameters: parameters.as_deref(),
        directory,
    };
    let observed = match purpose {
        Purpose::Simulate => Some(Observed::Values(Vec::new())),
        Purpose::Infer => read_observed(&mut root, &expected),
    };
    let parts = Parts { name, model: chosen?.ready?, parameters: parameters?, method, observed: observed? };
    mistakes.is_empty().then(|| assemble(parts, mistakes)).flatten()
}

fn read_name(root: &mut Section<'_>, path: &Path) -> String {
    let text = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    if let Some(name) = root.text("name") {
        if name.trim().is_empty() {
            root.mistake("name", "`name` must not be empty", None);
        }
        return name;
    }
    match text(path.file_stem()) {
        Some(stem) if stem != "problem" => stem,
        _ => text(path.parent().and_then(Path::file_name)).unwrap_or_else(|| "problem".into()),
    }
}

/// The names of `[parameters]` with their places, if it is a table.
fn parameter_names(root: &mut Section<'_>) -> Option<Vec<(String, Place)>> {
    let Some(Written::Table(_)) = root.value("parameters") else { return None };
    let section = root.section("parameters")?;
    Some(section.keys().into_iter().map(|key| (key.clone(), section.key_place(&key))).collect())
}

/// Draws from the prior for a model that must be tried before it is known; whatever is wrong with the prior is noted
/// elsewhere.
fn trial_draws(table: &Table, place: Place, count: usize) -> Vec<Vec<f64>> {
    let mut unheard = Mistakes::default();
    let mut root = Section::root(table, place, &mut unheard);
    let parameters = root.section("parameters").map(laws::read).unwrap_or_default();
    if !unheard.is_empty() {
        return Vec::new();
    }
    let prior = Prior::new(parameters.into_iter().map(|parameter| parameter.marginal).collect());
    let proposed = propose_rows(&prior, None, 0..count, (Seed(0), 0), &Pool::new(1));
    proposed.map_or_else(|_| Vec::new(), |proposed| proposed.thetas.iter().map(<[f64]>::to_vec).collect())
}

fn read_model(root: &mut Section<'_>, surroundings: &Surroundings<'_>) -> Option<Chosen> {
    if !root.has("model") {
        root.missing("model", "a problem has a [model], for example builtin = \"death\"".to_owned());
    }
    root.section("model").and_then(|section| model::read(section, surroundings))
}

/// What holds where `[method]` says nothing: the paper's numbers where the file asks for one of its experiments.
fn method_defaults(chosen: Option<&Chosen>) -> method::Defaults {
    let paper = chosen.and_then(|chosen| chosen.paper.as_ref()).filter(|paper| paper.written);
    paper.map_or_else(method::Defaults::default, |paper| (&paper.setting).into())
}

fn read_observed(root: &mut Section<'_>, expected: &Expected<'_>) -> Option<Observed> {
    if !root.has("observed") {
        root.missing(
            "observed",
            "a problem has an [observed], for example file = \"observed.csv\"".to_owned(),
        );
    }
    root.section("observed").and_then(|section| observed::read(section, expected))
}

/// The parameters with their laws; `None` where a mistake leaves them unknown.
fn read_parameters(root: &mut Section<'_>, chosen: Option<&Chosen>) -> Option<Vec<Parameter>> {
    let paper = chosen.and_then(|chosen| chosen.paper.as_ref());
    if !root.has("parameters") {
        if chosen.is_some() && paper.is_none() {
            let hint = "a law for each, for example k = { law = \"log-uniform\", low = 1e-3, high = 1e3 }";
            root.missing("parameters", hint.to_owned());
        }
        return paper.map(|paper| laws::of_setting(&paper.setting));
    }
    let before = root.mistakes().count();
    let parameters = laws::read(root.section("parameters")?);
    if let Some(paper) = paper {
        compare_names(root.section("parameters")?, paper.name, &paper.setting);
    }
    (root.mistakes().count() == before).then_some(parameters)
}

/// Notes parameters that the model does not have, and those of the model that have no law.
fn compare_names(mut section: Section<'_>, model: &str, setting: &Setting) {
    let wanted: Vec<&str> = setting.parameters.iter().map(|parameter| parameter.name).collect();
    for key in section.keys().iter().filter(|key| !wanted.contains(&key.as_str())) {
        let place = section.key_place(key);
        let message = format!("the model {model} has no parameter `{key}`");
        section.mistakes().add(place, message, suggestion(key, "its parameters", wanted.iter().copied()));
    }
    for parameter in setting.parameters {
        if section.has(parameter.name) {
            continue;
        }
        let counterpoise_models::Parameter { name, low, high, .. } = parameter;
        let message = format!("the parameter `{name}` of the model {model} has no law");
        let hint = format!("{name} = {{ law = \"log-uniform\", low = {low}, high = {high} }}");
        let place = section.place();
        section.mistakes().add(place, message, hint);
    }
}

/// The tables of a file without mistakes.
struct Parts {
    name: String,
    model: Ready,
    parameters: Vec<Parameter>,
    method: Method,
    observed: Observed,
}

/// Puts a problem together; making data at a truth may still fail.
fn assemble(parts: Parts, mistakes: &mut Mistakes) -> Option<Loaded> {
    let Parts { name, model, parameters, method, observed } = parts;
    let names: Vec<String> = parameters.iter().map(|parameter| parameter.name().to_owned()).collect();
    let laws: serde_json::Map<String, Value> =
        parameters.iter().map(|parameter| (parameter.name().to_owned(), parameter.describe())).collect();
    let mut description = json!({
        "name": name,
        "version": env!("CARGO_PKG_VERSION"),
        "seed": method.seed,
        "parameters": laws,
        "model": model.description,
    });
    let simulator = Reordered::wrap(model.simulator, &model.parameters, &names);
    let observed = match observed {
        Observed::Values(values) => values,
        Observed::Truth { theta, seed, place } => {
            let made = observe(&*simulator, &theta, Seed(seed.unwrap_or(method.seed)));
            made.map_err(|failure| {
                mistakes.add(place, format!("the model cannot be simulated at the truth: {failure}"), None);
            })
            .ok()?
        }
    };
    let values = model.statistics.iter().cloned().zip(observed.iter().map(|value| json!(value)));
    description["observed"] = Value::Object(values.collect());
    description["method"] = method.describe();
    let prior = Prior::new(parameters.into_iter().map(|parameter| parameter.marginal).collect());
    let problem = Problem { prior, statistics: model.statistics, observed };
    let Ready { headline, advice, tolerance, .. } = model;
    Some(Loaded { name, problem, simulator, method, description, headline, advice, tolerance })
}

/// Synthetic observations at `theta`.
fn observe(simulator: &dyn Simulator, theta: &[f64], seed: Seed) -> Result<Vec<f64>, Failure> {
    let mut summaries = vec![f64::NAN; simulator.summaries()];
    let mut rng = seed.stream(Stage::Observe, 0, 0);
    catch_unwind(AssertUnwindSafe(|| simulator.simulate(theta, &mut rng, &mut summaries)))
        .unwrap_or_else(|_| Err(Failure::Crashed("panic".into())))?;
    match summaries.iter().position(|value| !value.is_finite()) {
        Some(column) => Err(Failure::NotFinite { column }),
        None => Ok(summaries),
    }
}

#[cfg(test)]
mod tests;
