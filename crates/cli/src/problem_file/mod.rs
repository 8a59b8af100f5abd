//! From a problem file to what it means: a problem, a simulator and a method, or every mistake in it.

mod adjust;
mod csv;
mod hellinger;
mod keys;
mod laws;
pub(crate) mod manual;
mod method;
mod model;
mod observed;
mod overrides;
mod proposal;
mod reading;
mod reduction;
mod rules;
mod series;
mod weighting;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use counterpoise_core::problem::{Failure, Joint, Prior, Problem, Simulator};
use counterpoise_core::propose::propose_rows;
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_models::Setting;
use counterpoise_run::executor::Tolerance;
use counterpoise_run::pool::Pool;
use serde_json::{Value, json};

use crate::args::ProblemArguments;
use crate::host::Stated;

pub(crate) use method::Method;
pub(crate) use overrides::Override;
pub(crate) use reading::{Mistakes, read_bounded, suggestion};
pub(crate) use rules::{names as rule_names, overrides as rule_overrides};

use laws::Parameter;
use model::{Chosen, Ready, Reordered, Surroundings};
pub(crate) use model::{Material, TableModel};
use observed::{Expected, Observed};
use reading::{Place, Section, Table, Value as Written};

/// Largest problem file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// What the problem is loaded for: simulating alone needs no observations, and reading alone simulates none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Infer,
    Simulate,
    Read,
}

/// A problem file that has no mistakes.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) problem: Problem,
    pub(crate) material: Material,
    pub(crate) method: Method,
    /// Everything that determines the result, in canonical form.
    pub(crate) description: Value,
    /// What the model is, in one line, unless its name says all.
    pub(crate) headline: Option<String>,
    /// What to do where some simulations take far longer than others.
    pub(crate) advice: Option<String>,
    /// The parameters that the observations were made with, where the file says so.
    pub(crate) truth: Option<Vec<f64>>,
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

/// Reads the problem that arguments name, or that a program states in its place.
pub(crate) fn open(
    arguments: &ProblemArguments,
    overrides: &[Override],
    purpose: Purpose,
) -> Result<Loaded, LoadError> {
    let Some(stated) = &arguments.stated else { return load(&arguments.problem, overrides, purpose) };
    let text = stated.text.as_bytes();
    load_text((&arguments.problem, Some(stated)), text, overrides, purpose).map_err(LoadError::Mistakes)
}

/// Reads a problem file, with some of its keys given on the command line.
pub(crate) fn load(path: &Path, overrides: &[Override], purpose: Purpose) -> Result<Loaded, LoadError> {
    let unreadable = |reason| LoadError::Unreadable { path: path.into(), reason };
    let bytes = read_bounded(path, MOST_BYTES).map_err(unreadable)?;
    load_text((path, None), &bytes, overrides, purpose).map_err(LoadError::Mistakes)
}

/// The same from the bytes of the file, and what a program says beside it.
fn load_text(
    (path, stated): (&Path, Option<&Stated>),
    bytes: &[u8],
    overrides: &[Override],
    purpose: Purpose,
) -> Result<Loaded, Mistakes> {
    let mut mistakes = Mistakes::default();
    let source = mistakes.source(path.display().to_string(), String::from_utf8_lossy(bytes));
    if let Err(error) = std::str::from_utf8(bytes) {
        let at = error.valid_up_to();
        mistakes.add(mistakes.place(source, at..at + 1), "this is not UTF-8", "save it as UTF-8".to_owned());
        return Err(mistakes);
    }
    let mut table = Table::parse(source, &mut mistakes);
    if mistakes.is_empty() {
        overrides::apply(&mut table, overrides, &mut mistakes);
    }
    let loaded =
        mistakes.is_empty().then(|| interpret(&table, (path, stated), purpose, &mut mistakes)).flatten();
    match loaded {
        Some(loaded) if mistakes.is_empty() => Ok(loaded),
        _ => Err(mistakes),
    }
}

/// What the bytes of a problem file in `directory` mean: a description, or every mistake. Nothing is simulated and no
/// program is started, whatever they say: this is for fuzzing.
pub(crate) fn read_text(bytes: &[u8], directory: &Path) -> Result<Value, String> {
    let mut mistakes = Mistakes::default();
    let source = mistakes.source("problem.toml", String::from_utf8_lossy(bytes));
    let parsed = Table::parse(source, &mut mistakes);
    if let Some(Written::Table(model)) = parsed.get("model").map(|entry| &entry.node.value)
        && model.get("command").is_some()
    {
        return Err("a program would be started".into());
    }
    let loaded = load_text((&directory.join("problem.toml"), None), bytes, &[], Purpose::Read);
    loaded.map(|loaded| loaded.description).map_err(|mistakes| mistakes.render(false))
}

fn interpret(
    table: &Table,
    (path, stated): (&Path, Option<&Stated>),
    purpose: Purpose,
    mistakes: &mut Mistakes,
) -> Option<Loaded> {
    let place = mistakes.place(0, 0..0);
    let mut root = Section::root(table, place, mistakes);
    root.only_or(&["name", "parameters", "model", "observed", "method", "stop"], |key| {
        ["network", "sbml", "command", "table"]
            .contains(&key)
            .then(|| format!("it belongs to the model: [model.{key}]"))
    });
    let name = read_name(&mut root, path);
    let directory = path.parent().unwrap_or(Path::new(""));
    let names = parameter_names(&mut root);
    let draws = |count: usize| trial_draws(table, place, count);
    let surroundings = Surroundings { parameters: names.as_deref(), directory, draws: &draws };
    let chosen = match stated.and_then(|stated| stated.model.as_ref()) {
        Some(given) => Some(model::of_host(given, names.as_deref().unwrap_or_default())),
        None => read_model(&mut root, &surroundings),
    };
    let parameters = read_parameters(&mut root, chosen.as_ref());
    let defaults = method_defaults(chosen.as_ref());
    let mut method =
        root.section("method").map_or(defaults.into(), |section| method::read(section, defaults));
    let table = chosen.as_ref().and_then(|chosen| chosen.ready.as_ref()?.material.table());
    if let (Some(table), Some(section)) = (table, root.section("method")) {
        table.check_method(section, &method);
    }
    if let Some(stop) = root.section("stop") {
        method::read_stop(stop, &mut method);
    }
    check_regressors(&mut root, &method, chosen.as_ref());
    let expected = Expected {
        statistics: chosen.as_ref().and_then(|chosen| chosen.ready.as_ref()).map(|ready| &*ready.statistics),
        series: chosen.as_ref().and_then(|chosen| chosen.ready.as_ref()?.series.as_ref()),
        parameters: parameters.as_deref(),
        directory,
    };
    let observed = match purpose {
        Purpose::Simulate => Some(Observed::Values(Vec::new())),
        _ if table.is_some() => {
            model::without_truth(&mut root).then(|| read_observed(&mut root, &expected)).flatten()
        }
        Purpose::Infer | Purpose::Read => read_observed(&mut root, &expected),
    };
    let parts = Parts { name, model: chosen?.ready?, parameters: parameters?, method, observed: observed? };
    let joint = stated.and_then(|stated| stated.joint.as_ref());
    mistakes.is_empty().then(|| assemble(parts, joint, purpose, mistakes)).flatten()
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
    if let Some(table) = chosen.and_then(|chosen| chosen.ready.as_ref()?.material.table()) {
        return method::Defaults::of_table(table.rows());
    }
    let paper = chosen.and_then(|chosen| chosen.paper.as_ref()).filter(|paper| paper.written);
    paper.map_or_else(method::Defaults::default, |paper| (&paper.setting).into())
}

/// Notes where an adjustment would have too many regressors.
fn check_regressors(root: &mut Section<'_>, method: &Method, chosen: Option<&Chosen>) {
    let Some(ready) = chosen.and_then(|chosen| chosen.ready.as_ref()) else { return };
    let Some(message) = method.too_many(ready.statistics.len(), ready.parameters.len()) else { return };
    if let Some(mut section) = root.section("method") {
        let hint = "keep more, set reduction = \"semi-automatic\", or adjust = \"ridge\"".to_owned();
        section.mistake("adjust", message, hint);
    }
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
fn assemble(
    parts: Parts,
    joint: Option<&(Arc<dyn Joint>, Value)>,
    purpose: Purpose,
    mistakes: &mut Mistakes,
) -> Option<Loaded> {
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
    let material = match model.material {
        Material::Simulator(inner) => Material::Simulator(Reordered::wrap(inner, &model.parameters, &names)),
        table @ Material::Table(_) => table,
    };
    let truth = match &observed {
        Observed::Truth { theta, .. } => Some(theta.clone()),
        Observed::Values(_) => None,
    };
    let observed = match observed {
        Observed::Values(values) => values,
        Observed::Truth { .. } if purpose == Purpose::Read => Vec::new(),
        Observed::Truth { theta, seed, place } => {
            let made = observe(material.simulator()?, &theta, Seed(seed.unwrap_or(method.seed)));
            made.map_err(|failure| {
                mistakes.add(place, format!("the model cannot be simulated at the truth: {failure}"), None);
            })
            .ok()?
        }
    };
    let values = model.statistics.iter().cloned().zip(observed.iter().map(|value| json!(value)));
    description["observed"] = Value::Object(values.collect());
    description["method"] = method.describe();
    let marginals = parameters.into_iter().map(|parameter| parameter.marginal).collect();
    let prior = match joint {
        Some((joint, identity)) => {
            description["joint"] = identity.clone();
            Prior::joint(marginals, joint.clone())
        }
        None => Prior::new(marginals),
    };
    let problem = Problem { prior: prior.into(), statistics: model.statistics, observed };
    let Ready { headline, advice, tolerance, .. } = model;
    Some(Loaded { name, problem, material, method, description, headline, advice, tolerance, truth })
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
