//! The catalogue of built-in models: from a name and options to a simulator.

use std::fmt::{Debug, Formatter};

use counterpoise_core::problem::Simulator;

use crate::{ModelError, Preset, Setting, death, diffusion, dimerization, limits, toy};

/// Everything the catalogue knows of one model; each model's file provides its own.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) options: &'static [ModelOption],
    pub(crate) text: Setting,
    pub(crate) appendix: Setting,
    pub(crate) build: fn(&Chosen<'_>) -> Result<Built, ModelError>,
}

/// A simulator and the names of its statistics.
pub(crate) type Built = (Box<dyn Simulator>, Vec<String>);

const ENTRIES: [Entry; 5] = [toy::RAW, toy::SORTED, death::ENTRY, dimerization::ENTRY, diffusion::ENTRY];

/// The built-in models.
pub const NAMES: &[&str] = &["toy", "toy-sorted", "death", "dimerization", "diffusion"];

/// A number that shapes a built-in model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelOption {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Its value in the paper's text.
    pub text: f64,
    /// Its value in the paper's appendix.
    pub appendix: f64,
}

impl ModelOption {
    /// An option that text and appendix agree on.
    pub(crate) const fn new(name: &'static str, description: &'static str, value: f64) -> Self {
        Self { name, description, text: value, appendix: value }
    }

    /// The same option with another value in the appendix.
    pub(crate) const fn appendix(self, value: f64) -> Self {
        Self { appendix: value, ..self }
    }

    /// The value it has unless another is given.
    #[must_use]
    pub const fn default(&self, preset: Preset) -> f64 {
        match preset {
            Preset::Text => self.text,
            Preset::Appendix => self.appendix,
        }
    }
}

/// A built-in model, ready to run.
#[non_exhaustive]
pub struct Model {
    /// Its name in the catalogue.
    pub name: &'static str,
    /// What turns parameters into summaries.
    pub simulator: Box<dyn Simulator>,
    /// Names of the parameters, in the simulator's order.
    pub parameters: Vec<String>,
    /// Names of the summaries, in the simulator's order.
    pub statistics: Vec<String>,
    /// Every option with the value it has here.
    pub options: Vec<(&'static str, f64)>,
}

impl Model {
    /// The model and its options in one line: equal lines simulate alike.
    #[must_use]
    pub fn identity(&self) -> String {
        let options: Vec<_> = self.options.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("{} ({})", self.name, options.join(", "))
    }
}

impl Debug for Model {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.identity())
    }
}

/// The options of one model with the values they were given.
pub(crate) struct Chosen<'a> {
    model: &'static str,
    values: &'a [(&'static str, f64)],
}

impl Chosen<'_> {
    /// The value of an option.
    pub(crate) fn number(&self, option: &str) -> Result<f64, ModelError> {
        match self.values.iter().find(|(name, _)| *name == option) {
            Some(&(_, value)) => Ok(value),
            None => Err(unknown_option(self.model, option, self.values.iter().map(|&(name, _)| name))),
        }
    }

    /// The value of an option that counts something.
    pub(crate) fn count(&self, option: &'static str) -> Result<usize, ModelError> {
        limits::whole(option, self.number(option)?)
    }
}

fn unknown_option(model: &'static str, found: &str, known: impl Iterator<Item = &'static str>) -> ModelError {
    ModelError::UnknownOption { model, found: found.into(), known: known.collect() }
}

/// The entry of a name.
pub(crate) fn entry(name: &str) -> Result<&'static Entry, ModelError> {
    const { assert!(ENTRIES.len() == NAMES.len()) };
    static CATALOGUE: [Entry; 5] = ENTRIES;
    let found = CATALOGUE.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| ModelError::UnknownModel { found: name.into() })
}

/// The options of the model `name`.
///
/// # Errors
/// If there is no such model.
pub fn options(name: &str) -> Result<&'static [ModelOption], ModelError> {
    Ok(entry(name)?.options)
}

/// The model `name`, with the preset's value for each option that is not given.
///
/// # Errors
/// If there is no such model, or an option is unknown, repeated or out of range.
pub fn builtin(name: &str, preset: Preset, options: &[(String, f64)]) -> Result<Model, ModelError> {
    let entry = entry(name)?;
    let mut values: Vec<_> =
        entry.options.iter().map(|option| (option.name, option.default(preset))).collect();
    for (index, (given, value)) in options.iter().enumerate() {
        let Some(slot) = values.iter_mut().find(|(option, _)| option == given) else {
            return Err(unknown_option(entry.name, given, entry.options.iter().map(|option| option.name)));
        };
        if options[..index].iter().any(|(earlier, _)| earlier == given) {
            return Err(ModelError::RepeatedOption { model: entry.name, option: slot.0 });
        }
        slot.1 = *value;
    }
    let (simulator, statistics) = (entry.build)(&Chosen { model: entry.name, values: &values })?;
    let parameters = entry.text.parameters.iter().map(|parameter| parameter.name.into()).collect();
    Ok(Model { name: entry.name, simulator, parameters, statistics, options: values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_builds_with_both_presets() {
        let sizes = [(10, 32), (10, 32), (34, 34), (99, 51), (72, 72)];
        for (name, (text, appendix)) in NAMES.iter().zip(sizes) {
            for (preset, size) in [(Preset::Text, text), (Preset::Appendix, appendix)] {
                let model = builtin(name, preset, &[]).unwrap();
                assert_eq!(model.name, *name);
                assert_eq!(model.statistics.len(), size, "{name} {preset:?}");
                assert_eq!(model.simulator.summaries(), size, "{name} {preset:?}");
                let distinct: BTreeSet<_> = model.statistics.iter().collect();
                assert_eq!(distinct.len(), size, "{name} {preset:?}: a statistic's name is used twice");
                let setting = crate::setting(name, preset).unwrap();
                let expected: Vec<_> = setting.parameters.iter().map(|parameter| parameter.name).collect();
                assert_eq!(model.parameters, expected);
            }
        }
    }

    #[test]
    fn statistics_are_named_as_in_the_reference_data() {
        for name in ["toy-sorted", "death", "diffusion"] {
            let (header, _) = oracle::reference(name, "observed.csv");
            assert_eq!(builtin(name, Preset::Text, &[]).unwrap().statistics, header[1..], "{name}");
        }
        let toy = builtin("toy", Preset::Text, &[("draws".into(), 2.0)]).unwrap();
        assert_eq!(toy.statistics, ["x1", "x2"]);
    }

    /// A change of these values changes every result of every run: it belongs into CHANGELOG.md.
    #[test]
    fn simulations_are_frozen() {
        let found: Vec<_> = NAMES
            .iter()
            .map(|name| {
                let model = builtin(name, Preset::Text, &[]).unwrap();
                let truth = crate::setting(name, Preset::Text).unwrap().truth();
                let values = oracle::simulate(&*model.simulator, &truth, 5);
                let mixed = |hash: u64, value: &f64| (hash ^ value.to_bits()).wrapping_mul(0x0100_0000_01b3);
                values.values().iter().fold(0xcbf2_9ce4_8422_2325, mixed)
            })
            .collect();
        let frozen = [
            2_112_699_059_213_241_497,
            15_205_865_974_761_151_745,
            17_017_919_567_200_509_116,
            9_604_610_447_595_764_231,
            2_087_061_753_770_046_789,
        ];
        assert_eq!(found, frozen);
    }

    #[test]
    fn options_replace_the_presets_values() {
        let model = builtin("death", Preset::Text, &[("count".into(), 4.0), ("to".into(), 1.0)]).unwrap();
        assert_eq!(model.statistics, ["A@0", "A@0.25", "A@0.5", "A@0.75", "A@1", "z"]);
        assert_eq!(model.identity(), "death (initial = 10, to = 1, count = 4)");
        assert_eq!(format!("{model:?}"), model.identity());
        let described = options("dimerization").unwrap();
        let names: Vec<_> = described.iter().map(|option| option.name).collect();
        assert_eq!(names, ["initial", "first", "to", "count"]);
        assert_eq!((described[3].text, described[3].appendix), (32.0, 16.0));
        assert!(described.iter().all(|option| !option.description.is_empty()));
    }

    #[test]
    fn what_cannot_be_built_is_refused_with_what_was_expected() {
        let refused = |name: &str, options: &[(&str, f64)]| {
            let options: Vec<_> = options.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
            builtin(name, Preset::Text, &options).unwrap_err().to_string()
        };
        assert_eq!(
            refused("decay", &[]),
            "expected a built-in model (toy, toy-sorted, death, dimerization, diffusion), found 'decay'"
        );
        assert_eq!(
            refused("death", &[("draws", 3.0)]),
            "model death: expected an option among initial, to, count, found 'draws'"
        );
        assert_eq!(
            refused("death", &[("count", 3.0), ("count", 4.0)]),
            "model death: expected option count once, found it again"
        );
        assert_eq!(refused("toy", &[("draws", 2.5)]), "option draws: expected a whole number, found 2.5");
        assert_eq!(
            refused("death", &[("initial", 0.0)]),
            "option initial: expected a whole number from 1 to 1000000000, found 0"
        );
        assert_eq!(
            refused("diffusion", &[("voxels", 7.0)]),
            "option voxels: expected an even number from 2 to 1000, found 7"
        );
        assert_eq!(
            refused("dimerization", &[("to", -1.0)]),
            "option to: expected a finite number above 0, found -1"
        );
        assert!(options("decay").is_err());
    }
}
