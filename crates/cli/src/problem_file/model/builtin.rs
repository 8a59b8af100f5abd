//! `model.builtin`: a model of the paper, by name.

use counterpoise_models::{Model, ModelError, NAMES, Preset, builtin, options, setting};
use counterpoise_networks::language::near_miss;
use counterpoise_run::executor::Tolerance;
use serde_json::{Map, Value, json};

use super::super::reading::{Section, suggestion};
use super::{Chosen, Paper, Ready};

const PRESETS: [&str; 2] = ["text", "appendix"];

/// A model with every option, as a run's description keeps it.
fn describe(model: &Model, preset: Preset) -> Value {
    let preset = if preset == Preset::Appendix { "appendix" } else { "text" };
    let mut map = Map::new();
    map.insert("builtin".into(), json!(model.name));
    map.insert("preset".into(), json!(preset));
    map.extend(model.options.iter().map(|&(name, value)| (name.to_owned(), json!(value))));
    Value::Object(map)
}

/// The model that `[model]` names, unless a mistake leaves none.
pub(super) fn read(section: &mut Section<'_>) -> Option<Chosen> {
    let found = section.text("builtin")?;
    let Some(name) = NAMES.iter().copied().find(|name| *name == found) else {
        let hint = suggestion(&found, "built-in models", NAMES.iter().copied());
        section.mistake("builtin", format!("there is no built-in model `{found}`"), hint);
        return None;
    };
    let preset = match section.has("preset") {
        true => section.choice("preset", &PRESETS).and_then(|preset| Preset::parse(preset).ok()),
        false => Some(Preset::default()),
    };
    let known: Vec<&str> = options(name).unwrap_or_default().iter().map(|option| option.name).collect();
    let before = section.mistakes().count();
    let given = given_options(name, &known, section);
    let model = build(name, preset?, given, section).filter(|_| section.mistakes().count() == before);
    let setting = setting(name, preset?).ok()?;
    let ready = |model: Model| Ready {
        description: describe(&model, preset.unwrap_or_default()),
        simulator: model.simulator,
        parameters: model.parameters,
        statistics: model.statistics,
        series: None,
        headline: None,
        advice: None,
        tolerance: Tolerance::Any,
    };
    let paper = Paper { name, setting, written: section.has("preset") };
    Some(Chosen { paper: Some(paper), ready: model.map(ready) })
}

fn given_options(name: &str, known: &[&str], section: &mut Section<'_>) -> Vec<(String, f64)> {
    let mut given = Vec::new();
    for key in section.keys() {
        if key == "builtin" || key == "preset" {
            continue;
        }
        if known.contains(&key.as_str()) {
            given.extend(section.number(&key).map(|number| (key, number)));
        } else {
            let place = section.key_place(&key);
            let near = near_miss(&key, known.iter().copied().chain(["builtin", "preset"]));
            let hint = near.map_or_else(
                || format!("its options are {}", known.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            section.mistakes().add(place, format!("the model {name} has no option `{key}`"), hint);
        }
    }
    given
}

/// Builds the model, noting every option it refuses.
fn build(
    name: &str,
    preset: Preset,
    mut given: Vec<(String, f64)>,
    section: &mut Section<'_>,
) -> Option<Model> {
    let mut refused = false;
    loop {
        let error = match builtin(name, preset, &given) {
            Ok(model) => return (!refused).then_some(model),
            Err(error) => error,
        };
        refused = true;
        let blamed = match &error {
            ModelError::OutOfRange { option, .. } => given.iter().position(|(given, _)| given == option),
            _ => None,
        };
        section.mistake(blamed.map_or("builtin", |at| given[at].0.as_str()), error.to_string(), None);
        given.remove(blamed?);
    }
}
