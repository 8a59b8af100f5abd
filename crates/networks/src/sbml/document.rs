//! A document from its text to a model.

use std::collections::BTreeMap;

use super::Model;
use super::formula::mentions;
use super::law::{Probe, doubts};
use super::math::MOST_NODES_TOGETHER;
use super::order::{constants, order};
use super::problem::{Notes, Problem};
use super::quantity::{Kind, Quantities, Start};
use super::reaction::Reaction;
use super::reader::Reader;
use super::xml::{Node, child, parse, shown};

/// The namespace of all levels.
const SBML: &str = "http://www.sbml.org/sbml/level";

/// Reads a model.
///
/// # Errors
/// All that cannot be read, in the order of the text.
pub fn read(text: &str) -> Result<Model, Vec<Problem>> {
    // A mark of the order of bytes is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let failed = |offset: usize, message: String| {
        let mut notes = Notes::default();
        notes.at(offset, message);
        notes.placed(text)
    };
    let document = parse(text).map_err(|(offset, message)| failed(offset, message))?;
    let root = document.root_element();
    let (level, version) = level(root).map_err(|message| failed(root.range().start, message))?;
    let Some(model) = child(root, "model") else {
        return Err(failed(root.range().start, "expected a <model> in <sbml>, found none".into()));
    };
    let mut reader = Reader {
        level,
        version,
        refusals: Notes::default(),
        warnings: Notes::default(),
        quantities: Quantities::default(),
        functions: BTreeMap::new(),
        nodes_left: MOST_NODES_TOGETHER,
        spent: false,
    };
    reader.packages(root);
    reader
        .model(model)
        .map_err(|notes| notes.placed(text))
        .map(|(model, warnings)| Model { warnings: warnings.placed(text), ..model })
}

/// Level and version of a document, or why it cannot be read.
fn level(root: Node<'_>) -> Result<(u32, u32), String> {
    let namespace = root.tag_name().namespace().unwrap_or_default();
    if root.tag_name().name() != "sbml" || !namespace.starts_with(SBML) {
        let found = shown(root.tag_name().name());
        return Err(format!(
            "expected <sbml> in the namespace of SBML, found <{found}> in \"{}\"",
            shown(namespace)
        ));
    }
    let number = |name: &str| root.attribute(name).and_then(|text| text.trim().parse::<u32>().ok());
    let (Some(level), Some(version)) = (number("level"), number("version")) else {
        return Err("expected whole numbers in the attributes level and version of <sbml>".into());
    };
    match (level, version) {
        (1, _) => {
            Err("SBML Level 1 is not supported: convert the file to Level 3, for example with libSBML".into())
        }
        (2, 1..=5) | (3, 1..=2) if namespace[SBML.len()..].starts_with(&level.to_string()) => {
            Ok((level, version))
        }
        (2, 1..=5) | (3, 1..=2) => {
            Err(format!("the level of <sbml> is {level}, but its namespace is \"{}\"", shown(namespace)))
        }
        _ => Err(format!("expected SBML Level 2 or 3, found Level {level} Version {version}")),
    }
}

impl<'a> Reader<'a> {
    /// Refuses packages that change the meaning of the model.
    fn packages(&mut self, root: Node<'a>) {
        let required = root.attributes().filter(|attribute| attribute.name() == "required");
        for attribute in required.filter(|attribute| attribute.namespace().is_some()) {
            let package = attribute.namespace().unwrap_or_default();
            // .../level3/version1/distrib/version1
            let name = package.rsplit('/').nth(1).unwrap_or(package);
            if !matches!(attribute.value().trim(), "false" | "0") {
                let reason = "of SBML is not supported and the model says that it needs it";
                self.refusals.add(root, format!("the package \"{}\" {reason}", shown(name)));
            }
        }
    }

    fn model(mut self, node: Node<'a>) -> Result<(Model, Notes), Notes> {
        self.others(node);
        self.declarations(node);
        self.declare_reactions(node);
        self.assignments(node);
        let drafts = self.reactions(node);
        let events = self.events(node);
        let order = order(&self.quantities).map_err(|circle| self.circle(&circle));
        let Ok(order) = order else { return Err(self.refusals) };
        let constants = constants(&self.quantities, &order);
        let reactions = self.settle(drafts, &constants);
        if !self.refusals.is_empty() {
            return Err(self.refusals);
        }
        self.doubt(node, &order, (&reactions, &constants));
        let mentioned = self.mentioned(&reactions, &events);
        let name = node.attribute("name").or_else(|| node.attribute("id")).map(shown).unwrap_or_default();
        let Self { level, version, quantities, functions, warnings, .. } = self;
        let (functions, nothing) = (functions.len(), Vec::new());
        let model = Model {
            name,
            level,
            version,
            quantities,
            order,
            mentioned,
            functions,
            reactions,
            events,
            warnings: nothing,
        };
        Ok((model, warnings))
    }

    fn circle(&mut self, circle: &[usize]) {
        const NAMED: usize = 8;
        let name = |number: &usize| format!("\"{}\"", self.quantities.all[*number].name);
        let mut names: Vec<String> = circle.iter().take(NAMED).map(name).collect();
        names.push(if circle.len() > NAMED { "...".into() } else { name(&circle[0]) });
        let message = format!("rules and initial values go round in a circle: {}", names.join(" from "));
        self.refusals.at(self.quantities.all[circle[0]].offset, message);
    }

    /// Warns of laws that do not suit their reactions, and of values that are not there or not whole.
    fn doubt(
        &mut self,
        model: Node<'a>,
        order: &[usize],
        (reactions, constants): (&[Reaction], &[Option<f64>]),
    ) {
        let mut probe = Probe::new(&self.quantities, order);
        for reaction in reactions {
            for doubt in doubts(reaction, &self.quantities, &mut probe) {
                self.warnings.at(reaction.offset, format!("reaction \"{}\": {doubt}", reaction.id));
            }
        }
        for quantity in &self.quantities.all {
            let (element, name) = (quantity.element(), &quantity.name);
            let amount = match (&quantity.start, &quantity.kind) {
                (Start::Value(amount), _) => Some(*amount),
                (Start::Concentration(value), Kind::Species { compartment, .. }) => {
                    constants[*compartment].map(|size| value * size)
                }
                _ => None,
            };
            if let Some(amount) = amount.filter(|amount| quantity.reacts && amount.fract() != 0.0) {
                let reason = "reactions change it by whole molecules: it is rounded";
                self.warnings.at(
                    quantity.offset,
                    format!("{element} \"{name}\": it starts at {amount}, but {reason}"),
                );
            }
            let valued = matches!(quantity.kind, Kind::Parameter | Kind::Local | Kind::Species { .. });
            if valued && quantity.start == Start::Unset && quantity.rule.is_none() {
                let reason = "it has no value: infer it, or give it one";
                self.warnings.at(quantity.offset, format!("{element} \"{name}\": {reason}"));
            }
        }
        if reactions.is_empty() {
            self.warn(model, "it has no reactions: nothing happens at random");
        }
    }

    fn mentioned(&self, reactions: &[Reaction], events: &[super::event::Event]) -> Vec<bool> {
        let mut mentioned = vec![false; self.quantities.all.len()];
        let mut visit = |number: usize| mentioned[number] = true;
        for quantity in &self.quantities.all {
            quantity.definition().iter().for_each(|formula| mentions(formula, &mut visit));
        }
        reactions.iter().for_each(|reaction| mentions(&reaction.law, &mut visit));
        for event in events {
            mentions(&event.trigger, &mut visit);
            event.priority.iter().for_each(|priority| mentions(priority, &mut visit));
            event.assignments.iter().for_each(|(_, formula)| mentions(formula, &mut visit));
        }
        mentioned
    }
}
