//! `[model]`: the simulator.

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;
use counterpoise_core::table::Table;
use counterpoise_models::{Model, ModelError, NAMES, Preset, builtin, options};
use serde_json::{Map, Value, json};

use super::reading::{Section, near_miss, suggestion};

/// Kinds of models that the format knows and this version does not run.
const OTHERS: [&str; 4] = ["network", "sbml", "command", "table"];
const PRESETS: [&str; 2] = ["text", "appendix"];

/// A built-in model and the preset its defaults came from.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) name: &'static str,
    pub(crate) preset: Preset,
    /// Whether the file names the preset: it then asks for the paper's experiment and not for its model alone.
    pub(crate) written: bool,
    /// `None` where its options have mistakes.
    pub(crate) model: Option<Model>,
}

/// A model with every option, as a run's description keeps it.
pub(crate) fn describe(model: &Model, preset: Preset) -> Value {
    let preset = if preset == Preset::Appendix { "appendix" } else { "text" };
    let mut map = Map::new();
    map.insert("builtin".into(), json!(model.name));
    map.insert("preset".into(), json!(preset));
    map.extend(model.options.iter().map(|&(name, value)| (name.to_owned(), json!(value))));
    Value::Object(map)
}

/// The model of the file, unless a mistake leaves none.
pub(crate) fn read(mut section: Section<'_>) -> Option<Chosen> {
    let others: Vec<String> =
        section.keys().into_iter().filter(|key| OTHERS.contains(&key.as_str())).collect();
    for key in &others {
        let place = section.key_place(key);
        let message = format!("models of the kind `{key}` are not supported by this version");
        section.mistakes().add(
            place,
            message,
            format!("builtin = \"...\" takes one of {}", NAMES.join(", ")),
        );
    }
    if !section.has("builtin") {
        if others.is_empty() {
            section.missing("builtin", format!("builtin = \"...\" takes one of {}", NAMES.join(", ")));
        }
        return None;
    }
    if !others.is_empty() {
        return None;
    }
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
    let given = given_options(name, &known, &mut section);
    let model = build(name, preset?, given, &mut section).filter(|_| section.mistakes().count() == before);
    Some(Chosen { name, preset: preset?, written: section.has("preset"), model })
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

/// A simulator whose parameters come in another order than it wants them.
pub(crate) struct Reordered {
    inner: Box<dyn Simulator>,
    /// For each parameter of the simulator, its place among those given.
    order: Vec<usize>,
}

impl Reordered {
    /// `inner`, which wants its parameters as `wanted`, taking them as `given`.
    pub(crate) fn wrap(inner: Box<dyn Simulator>, wanted: &[String], given: &[String]) -> Box<dyn Simulator> {
        if wanted == given {
            return inner;
        }
        let position = |name: &String| given.iter().position(|other| other == name);
        Box::new(Self { inner, order: wanted.iter().filter_map(position).collect() })
    }
}

impl Simulator for Reordered {
    fn summaries(&self) -> usize {
        self.inner.summaries()
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        let ordered: Vec<f64> = self.order.iter().map(|&at| theta[at]).collect();
        self.inner.simulate(&ordered, rng, summaries)
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let turned = jobs.thetas.iter().flat_map(|theta| self.order.iter().map(|&at| theta[at])).collect();
        let thetas = Table::from_rows(self.order.len(), turned);
        self.inner.simulate_rows(&Jobs { thetas: &thetas, ..*jobs }, feed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::simulate::simulate_rows;
    use counterpoise_core::stream::{Seed, Stage};

    #[test]
    fn parameters_reach_the_simulator_in_its_own_order() {
        let death = || builtin("death", Preset::Text, &[]).unwrap();
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let turned = Reordered::wrap(death().simulator, &names(["k", "sigma"]), &names(["sigma", "k"]));
        let run = |simulator: &dyn Simulator, theta: &[f64]| {
            let mut summaries = vec![0.0; simulator.summaries()];
            simulator.simulate(theta, &mut Seed(1).stream(Stage::Simulate, 0, 0), &mut summaries).unwrap();
            summaries
        };
        assert_eq!(run(&*turned, &[0.01, 0.1]), run(&*death().simulator, &[0.1, 0.01]));
    }

    /// A simulator that can only do many rows at once, of which it gives the parameters back.
    struct Together;

    impl Simulator for Together {
        fn summaries(&self) -> usize {
            2
        }

        fn simulate(&self, _: &[f64], _: &mut Stream, _: &mut [f64]) -> Result<(), Failure> {
            Err(Failure::Declined("one by one".into()))
        }

        fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
            while let Some(row) = feed.next() {
                feed.finish(row, jobs.theta(row), Ok(()));
            }
        }
    }

    #[test]
    fn many_rows_stay_together_and_keep_their_numbers() {
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let turned = Reordered::wrap(Box::new(Together), &names(["k", "sigma"]), &names(["sigma", "k"]));
        let thetas = Table::from_rows(2, vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0]);
        let jobs = Jobs { thetas: &thetas, seed: Seed(1), generation: 0, first: 0 };
        let chunk = simulate_rows(&*turned, &jobs, &[2, 0]);
        assert_eq!(chunk.rows, [2, 0]);
        assert_eq!(chunk.outcomes, [Ok(()), Ok(())]);
        assert_eq!(chunk.summaries.values(), [21.0, 20.0, 1.0, 0.0]);
    }
}
