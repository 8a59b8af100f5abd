//! Reactions as a document writes them.

use std::collections::BTreeMap;

use super::formula::{Formula, quantity};
use super::quantity::{Kind, Quantity, Start};
use super::reader::Reader;
use super::xml::{Node, child};
use crate::language::MOST_REACTIONS;
use crate::{Expression, Function};

/// A reaction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reaction {
    /// Its id.
    pub(super) id: String,
    /// Where its kinetic law is in the text.
    pub(super) offset: usize,
    /// What it takes and makes: species and how many.
    pub(super) reactants: Vec<(usize, f64)>,
    /// See `reactants`.
    pub(super) products: Vec<(usize, f64)>,
    /// Its kinetic law.
    pub(super) law: Formula,
}

/// A species on one side of a reaction, before its number is known.
type Side<'a> = Vec<(Node<'a>, usize, Formula)>;

/// A reaction whose stoichiometries are still formulas.
pub(super) struct Draft<'a> {
    node: Node<'a>,
    id: &'a str,
    law: Option<(usize, Formula)>,
    sides: [Side<'a>; 2],
}

impl<'a> Reader<'a> {
    /// Declares reactions, their parameters and the stoichiometries that have an id.
    pub(super) fn declare_reactions(&mut self, model: Node<'a>) {
        let nodes = self.list(model, "listOfReactions", "reaction");
        if let Some(&more) = nodes.get(MOST_REACTIONS) {
            self.refuse(
                more,
                format!("a model may have {MOST_REACTIONS} reactions, this has {}", nodes.len()),
            );
        }
        for node in nodes.into_iter().take(MOST_REACTIONS) {
            let Some(id) = self.id(node, "id") else { continue };
            self.declare(node, id.to_owned(), Kind::Rate);
            if let Some(law) = child(node, "kineticLaw") {
                let (list, element) = match self.level {
                    2 => ("listOfParameters", "parameter"),
                    _ => ("listOfLocalParameters", "localParameter"),
                };
                for node in self.list(law, list, element) {
                    let value = self.number(node, "value");
                    let Some(local) = self.id(node, "id") else { continue };
                    if let Some(number) = self.declare(node, format!("{id}.{local}"), Kind::Local) {
                        self.quantities.all[number].start = value.map_or(Start::Unset, Start::Value);
                    }
                }
            }
            for list in ["listOfReactants", "listOfProducts"] {
                for node in self.list(node, list, "speciesReference") {
                    if node.attribute("id").is_some()
                        && let Some(id) = self.id(node, "id")
                        && let Some(number) = self.declare(node, id.to_owned(), Kind::Stoichiometry)
                    {
                        let value = self.number(node, "stoichiometry");
                        let default = if self.level == 2 { Start::Value(1.0) } else { Start::Unset };
                        self.quantities.all[number].start = value.map_or(default, Start::Value);
                    }
                }
            }
        }
    }

    /// Reads reactions; their laws become the values of their ids.
    pub(super) fn reactions(&mut self, model: Node<'a>) -> Vec<Draft<'a>> {
        let nodes = self.list(model, "listOfReactions", "reaction");
        nodes.into_iter().take(MOST_REACTIONS).filter_map(|node| self.reaction(node)).collect()
    }

    fn reaction(&mut self, node: Node<'a>) -> Option<Draft<'a>> {
        let id = node.attribute("id")?;
        if self.optional_flag(node, "fast", false) {
            self.refuse(node, "fast reactions are not supported: set fast=\"false\" and give it a rate");
        }
        for modifier in self.list(node, "listOfModifiers", "modifierSpeciesReference") {
            self.species(modifier);
        }
        let sides = ["listOfReactants", "listOfProducts"].map(|list| {
            let references = self.list(node, list, "speciesReference");
            references.into_iter().filter_map(|reference| self.participant(reference)).collect()
        });
        let law = match child(node, "kineticLaw") {
            Some(law) => self.formula(law, Some(id)).map(|formula| (law.range().start, formula)),
            None => {
                self.refuse(node, "expected a kineticLaw: without one its rate is not known");
                None
            }
        };
        let reversible = self.flag(node, "reversible", true);
        if let Some((_, law)) = &law {
            if reversible && self.may_be_negative(law) {
                self.refuse(
                    node,
                    "it is reversible and its law may be a difference of two rates, of which a stochastic simulation \
                     must know each: split it into two irreversible reactions, or set reversible=\"false\" if the law \
                     cannot be negative",
                );
            } else if reversible {
                let reason =
                    "it is reversible, but its law has one direction only: it is taken as irreversible";
                self.warn(node, reason);
            }
            if let Some(number) = self.quantities.find(id) {
                self.quantities.all[number].rule = Some(law.clone());
            }
        }
        Some(Draft { node, id, law, sides })
    }

    fn participant(&mut self, node: Node<'a>) -> Option<(Node<'a>, usize, Formula)> {
        let species = self.species(node);
        if let Some(Quantity { kind: Kind::Species { boundary: false, .. }, constant: true, name, .. }) =
            species.map(|species| &self.quantities.all[species])
        {
            let reason =
                "a reaction cannot take or make it: set its boundaryCondition=\"true\" or constant=\"false\"";
            let message = format!("the species \"{name}\" is constant, and {reason}");
            self.refuse(node, message);
        }
        let written = self.number(node, "stoichiometry");
        if self.level > 2 {
            self.flag(node, "constant", true);
        }
        let named = node.attribute("id").and_then(|id| self.quantities.find(id));
        let formula = match (child(node, "stoichiometryMath"), named, written) {
            (Some(math), _, _) => self.formula(math, None)?,
            (None, Some(number), _) => quantity(number),
            (None, None, Some(value)) => Expression::Number(value),
            (None, None, None) if self.level == 2 => Expression::Number(1.0),
            _ => {
                self.refuse(node, "expected a stoichiometry");
                return None;
            }
        };
        Some((node, species?, formula))
    }

    /// Whether a law subtracts anything but a number from a species, as in `S*(S - 1)`.
    fn may_be_negative(&self, law: &Formula) -> bool {
        let species = |formula: &Formula| match formula {
            Expression::Symbol(crate::Symbol::Parameter(number)) => {
                matches!(self.quantities.all[*number].kind, Kind::Species { .. })
            }
            _ => false,
        };
        match law {
            Expression::Number(value) => *value < 0.0,
            Expression::Symbol(_) => false,
            Expression::Call(Function::Negate, _) => true,
            Expression::Call(Function::Subtract, arguments) => match &arguments[..] {
                [left, Expression::Number(_)] => !species(left),
                _ => true,
            },
            Expression::Call(_, arguments) => arguments.iter().any(|argument| self.may_be_negative(argument)),
        }
    }

    /// The reactions with their stoichiometries as numbers, given those of the quantities that never change.
    pub(super) fn settle(&mut self, drafts: Vec<Draft<'a>>, constants: &[Option<f64>]) -> Vec<Reaction> {
        let mut reactions = Vec::new();
        for Draft { node, id, law, sides } in drafts {
            let [reactants, products] = sides.map(|side| self.counted(side, constants));
            for (species, change) in changes(&reactants, &products) {
                self.react(node, species, change);
            }
            if let Some((offset, law)) = law {
                reactions.push(Reaction { id: id.to_owned(), offset, reactants, products, law });
            }
        }
        reactions
    }

    fn react(&mut self, node: Node<'a>, species: usize, change: f64) {
        let quantity = &mut self.quantities.all[species];
        let boundary = matches!(quantity.kind, Kind::Species { boundary: true, .. });
        if boundary || quantity.constant || change == 0.0 {
            return;
        }
        if quantity.rule.is_some() {
            let name = quantity.name.clone();
            let reason = "which a rule sets: set its boundaryCondition=\"true\" or remove the rule";
            self.refuse(node, format!("it changes the species \"{name}\", {reason}"));
            return;
        }
        quantity.reacts = true;
    }

    fn counted(&mut self, side: Side<'a>, constants: &[Option<f64>]) -> Vec<(usize, f64)> {
        const MOST: f64 = 1e9;
        let mut counted = Vec::new();
        for (node, species, formula) in side {
            let mut known = true;
            let of = |symbol| match symbol {
                crate::Symbol::Parameter(number) => constants[number],
                _ => None,
            };
            formula.symbols(&mut |symbol| known &= of(symbol).is_some());
            let value = super::formula::value(&formula, &|symbol| of(symbol).unwrap_or(f64::NAN));
            if !known {
                self.refuse(node, "its stoichiometry is not a constant of the file: give it a number");
            } else if value.fract() != 0.0 || !(0.0..=MOST).contains(&value) {
                let reason = "reactions take and make whole numbers of molecules: multiply the stoichiometries of the \
                              reaction and divide its law";
                self.refuse(node, format!("its stoichiometry is {value}, but {reason}"));
            } else {
                self.shape(&formula);
                counted.push((species, value));
            }
        }
        counted
    }

    /// Marks all that a stoichiometry follows from.
    fn shape(&mut self, formula: &Formula) {
        let mut waiting = self.quantities.needed(formula);
        while let Some(number) = waiting.pop() {
            let quantity = &mut self.quantities.all[number];
            if !std::mem::replace(&mut quantity.shapes, true)
                && let Some(definition) = quantity.definition()
            {
                waiting.extend(self.quantities.needed(&definition));
            }
        }
    }
}

/// By how much each species changes, in the order of their numbers.
pub(super) fn changes(reactants: &[(usize, f64)], products: &[(usize, f64)]) -> BTreeMap<usize, f64> {
    let mut changes = BTreeMap::new();
    let taken = reactants.iter().map(|&(species, count)| (species, -count));
    for (species, count) in taken.chain(products.iter().copied()) {
        *changes.entry(species).or_insert(0.0) += count;
    }
    changes
}
