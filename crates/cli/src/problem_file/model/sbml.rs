//! `[model.sbml]`: a network from a file in SBML.

use counterpoise_networks::Expression;
use counterpoise_networks::language::Scope;
use counterpoise_networks::sbml;

use super::super::keys;
use super::super::reading::{Place, Section, read_bounded};
use super::{Ready, Surroundings, observation, ready};

/// The model of the section, unless a mistake leaves none.
pub(super) fn read(mut section: Section<'_>, surroundings: &Surroundings<'_>) -> Option<Ready> {
    section.only(&[keys::names(keys::SBML), keys::names(keys::OBSERVATION)].concat());
    if !section.has("file") {
        section.missing("file", "file = \"model.xml\"".to_owned());
    }
    let before = section.mistakes().count();
    let model = read_file(&mut section, surroundings)?;
    let parameters = surroundings.parameters?;
    let names: Vec<String> = parameters.iter().map(|(name, _)| name.clone()).collect();
    let network = model.network(&names).map_err(|reasons| {
        for reason in reasons {
            // A reason names in quotes what it is about: a parameter of the problem, or something in the file.
            let about = |(name, _): &&(String, Place)| reason.contains(&format!("\"{name}\""));
            match parameters.iter().find(about) {
                Some(&(_, place)) => {
                    let file = section.text("file").unwrap_or_default();
                    let hint = format!("`counterpoise sbml {file}` lists what can be inferred");
                    section.mistakes().add(place, reason, hint);
                }
                None => section.mistake("file", reason, None),
            }
        }
    });
    let network = network.ok()?;
    let resolve = model.resolver(&names);
    let species = model.species().into_iter().filter_map(|name| resolve(&name).map(|value| (name, value)));
    let species = species.collect();
    let any = Scope::new(resolve, model.names());
    let parameter = |name: &str| names.iter().position(|known| known == name).map(Expression::parameter);
    let constant = Scope::new(parameter, names.clone()).unknown("add it to [parameters]");
    let observed = observation::read(&mut section, species, (&any, constant));
    let (observation, course) = observed.complete()?;
    ready::complete(&mut section, (network, observation, course), parameters, before)
}

fn read_file(section: &mut Section<'_>, surroundings: &Surroundings<'_>) -> Option<sbml::Model> {
    let name = section.text("file")?;
    let path = surroundings.directory.join(&name);
    let bytes = read_bounded(&path, sbml::MOST_BYTES as u64).map_err(|reason| {
        let hint = "the path is relative to the problem file".to_owned();
        section.mistake("file", format!("cannot read {}: {reason}", path.display()), hint);
    });
    let bytes = bytes.ok()?;
    let mistakes = section.mistakes();
    let text = String::from_utf8_lossy(&bytes);
    let source = mistakes.source(path.display().to_string(), text.clone());
    if let Err(error) = std::str::from_utf8(&bytes) {
        let at = error.valid_up_to();
        mistakes.add(mistakes.place(source, at..at + 1), "this is not UTF-8", "save it as UTF-8".to_owned());
        return None;
    }
    let refused = |problems: Vec<sbml::Problem>| {
        for sbml::Problem { line, column, message } in problems {
            mistakes.add(mistakes.place_at(source, (line, column)), message, None);
        }
    };
    sbml::read(&text).map_err(refused).ok()
}
