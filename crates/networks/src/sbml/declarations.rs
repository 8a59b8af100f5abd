//! Compartments, species, parameters and functions as a document declares them.

use std::collections::BTreeSet;

use super::quantity::{Kind, Start};
use super::reader::Reader;
use super::xml::{Node, child, children, shown};

impl<'a> Reader<'a> {
    /// All that formulas may name, apart from reactions and what is in them.
    pub(super) fn declarations(&mut self, model: Node<'a>) {
        for node in self.list(model, "listOfFunctionDefinitions", "functionDefinition") {
            if let Some(id) = self.id(node, "id")
                && self.functions.insert(id, node).is_some()
            {
                self.refuse(node, "another element has the same id");
            }
        }
        for node in self.list(model, "listOfCompartments", "compartment") {
            self.compartment(node);
        }
        for node in self.list(model, "listOfSpecies", "species") {
            self.one_species(node, model);
        }
        for node in self.list(model, "listOfParameters", "parameter") {
            let constant = self.flag(node, "constant", true);
            let value = self.number(node, "value");
            if let Some(id) = self.id(node, "id")
                && let Some(number) = self.declare(node, id.to_owned(), Kind::Parameter)
            {
                let quantity = &mut self.quantities.all[number];
                quantity.constant = constant;
                quantity.start = value.map_or(Start::Unset, Start::Value);
            }
        }
    }

    fn compartment(&mut self, node: Node<'a>) {
        let constant = self.flag(node, "constant", true);
        let dimensions = self.number(node, "spatialDimensions").unwrap_or(3.0);
        if ![0.0, 1.0, 2.0, 3.0].contains(&dimensions) {
            self.refuse(node, format!("expected 0, 1, 2 or 3 spatialDimensions, found {dimensions}"));
        }
        let size = self.number(node, "size");
        if let Some(size) = size
            && size < 0.0
        {
            self.refuse(node, format!("expected a size of at least 0, found {size}"));
        }
        let Some(id) = self.id(node, "id") else { return };
        if let Some(number) = self.declare(node, id.to_owned(), Kind::Compartment) {
            let quantity = &mut self.quantities.all[number];
            quantity.constant = constant;
            // A point has no size, and species in it are amounts.
            quantity.start = match size {
                _ if dimensions == 0.0 => Start::Value(1.0),
                Some(size) => Start::Value(size),
                None => Start::Unset,
            };
        }
    }

    fn one_species(&mut self, node: Node<'a>, model: Node<'a>) {
        let concentration = !self.flag(node, "hasOnlySubstanceUnits", false);
        let boundary = self.flag(node, "boundaryCondition", false);
        let constant = self.flag(node, "constant", false);
        let (amount, density) =
            (self.number(node, "initialAmount"), self.number(node, "initialConcentration"));
        if node.attribute("conversionFactor").is_some() || model.attribute("conversionFactor").is_some() {
            let reason = "conversionFactor is not supported: give the stoichiometry in items of this species";
            self.refuse(node, reason);
        }
        let start = match (amount, density) {
            (Some(_), Some(_)) => {
                self.refuse(node, "expected initialAmount or initialConcentration, found both");
                Start::Unset
            }
            (Some(amount), None) => Start::Value(amount),
            (None, Some(density)) => Start::Concentration(density),
            (None, None) => Start::Unset,
        };
        if let Some(value) = amount.or(density)
            && value < 0.0
        {
            self.refuse(node, format!("expected an initial value of at least 0, found {value}"));
        }
        let compartment = self.reference(node, "compartment");
        let Some((id, compartment)) = self.id(node, "id").zip(compartment) else { return };
        if self.quantities.all[compartment].kind != Kind::Compartment {
            self.refuse(node, "expected the id of a compartment in compartment");
            return;
        }
        let kind = Kind::Species { compartment, concentration, boundary };
        if let Some(number) = self.declare(node, id.to_owned(), kind) {
            let quantity = &mut self.quantities.all[number];
            (quantity.constant, quantity.start) = (constant, start);
        }
    }

    /// Refuses what a model holds beside the lists that are read, and says what amounts are taken for.
    pub(super) fn others(&mut self, model: Node<'a>) {
        for node in children(model) {
            match node.tag_name().name() {
                "listOfFunctionDefinitions"
                | "listOfCompartmentTypes"
                | "listOfSpeciesTypes"
                | "listOfCompartments"
                | "listOfSpecies"
                | "listOfParameters"
                | "listOfInitialAssignments"
                | "listOfRules"
                | "listOfReactions"
                | "listOfEvents" => {}
                "listOfUnitDefinitions" => {
                    for unit in children(node).filter(|unit| unit.attribute("id") == Some("substance")) {
                        self.unit_of_amounts(unit);
                    }
                }
                "listOfConstraints" => {
                    for constraint in self.list(model, "listOfConstraints", "constraint") {
                        let reason =
                            "constraints are not supported: remove it, or make what violates it an event";
                        self.refuse(constraint, reason);
                    }
                }
                other => self.refuse(node, format!("the element <{}> is not supported", shown(other))),
            }
        }
        for attribute in ["substanceUnits", "extentUnits"] {
            if let Some(unit) = model.attribute(attribute)
                && !self.counts_items(model, unit)
            {
                self.warn(model, not_items(unit));
            }
        }
        self.units_of_species(model);
    }

    /// Each unit of species is named once.
    fn units_of_species(&mut self, model: Node<'a>) {
        let species = child(model, "listOfSpecies").into_iter().flat_map(children);
        let species = species.filter(|node| node.tag_name().name() == "species");
        let (mut named, mut default) = (BTreeSet::new(), false);
        for node in species {
            match node.attribute("substanceUnits").map(str::trim) {
                None => default = true,
                // What Level 2 means without an attribute.
                Some("substance") if self.level == 2 => default = true,
                Some(unit) => {
                    if named.insert(unit) && !self.counts_items(model, unit) {
                        self.warn(node, not_items(unit));
                    }
                }
            }
        }
        if self.level == 2 && default && definition(model, "substance").is_none() {
            let reason = "amounts are taken as numbers of molecules, but without a unitDefinition \"substance\" their \
                          unit is mole in Level 2";
            self.warn(model, reason);
        }
    }

    fn unit_of_amounts(&mut self, unit: Node<'a>) {
        if !is_items(unit) {
            self.warn(unit, not_items("substance"));
        }
    }

    fn counts_items(&self, model: Node<'a>, unit: &str) -> bool {
        matches!(unit, "item" | "dimensionless") || definition(model, unit).is_some_and(is_items)
    }
}

/// The definition of a unit.
fn definition<'a>(model: Node<'a>, id: &str) -> Option<Node<'a>> {
    child(model, "listOfUnitDefinitions")
        .and_then(|list| children(list).find(|unit| unit.attribute("id") == Some(id)))
}

/// Whether a unit definition is that of items, without a scale.
fn is_items(definition: Node<'_>) -> bool {
    let one = |unit: Node<'_>, key: &str, default: f64| {
        unit.attribute(key).is_none_or(|text| super::xml::number(text) == Some(default))
    };
    let item = |unit: Node<'_>| {
        matches!(unit.attribute("kind"), Some("item" | "dimensionless"))
            && one(unit, "exponent", 1.0)
            && one(unit, "scale", 0.0)
            && one(unit, "multiplier", 1.0)
    };
    children(definition).flat_map(children).all(item)
}

fn not_items(unit: &str) -> String {
    format!("amounts are taken as numbers of molecules, but their unit \"{}\" is not item", shown(unit))
}
