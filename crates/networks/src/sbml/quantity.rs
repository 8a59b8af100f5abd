//! The quantities of a document: all that its formulas may name.

use std::collections::BTreeMap;

use super::formula::{Formula, mentions, quantity};
use crate::{Expression, Function};

/// What a quantity is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Its value is its size.
    Compartment,
    /// Its value is an amount.
    Species {
        /// Where it is.
        compartment: usize,
        /// Whether formulas mean the amount by the size of the compartment, and not the amount.
        concentration: bool,
        /// Whether reactions leave it as it is.
        boundary: bool,
    },
    /// A parameter of the model.
    Parameter,
    /// A parameter of one reaction.
    Local,
    /// How many of a species a reaction takes or makes.
    Stoichiometry,
    /// The value of a reaction's kinetic law.
    Rate,
}

/// What a quantity is at the start.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Start {
    /// The file does not say.
    Unset,
    /// A number; for species an amount.
    Value(f64),
    /// A number to multiply with the size of the compartment.
    Concentration(f64),
    /// What an initial assignment says; for species what formulas mean by them.
    Assigned(Formula),
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantity {
    /// Its id; `reaction.id` for a parameter of a reaction.
    pub(super) name: String,
    /// What it is.
    pub(super) kind: Kind,
    /// Where in the text it is declared.
    pub(super) offset: usize,
    /// Whether the document says that it never changes.
    pub(super) constant: bool,
    /// What it is at the start.
    pub(super) start: Start,
    /// What it always is, if a rule or a kinetic law says so; for species what formulas mean by them.
    pub(super) rule: Option<Formula>,
    /// Whether reactions change it.
    pub(super) reacts: bool,
    /// The event that sets it.
    pub(super) event: Option<String>,
    /// Whether a stoichiometry depends on it.
    pub(super) shapes: bool,
}

impl Quantity {
    /// Whether it changes other than by a rule.
    pub(super) fn varies(&self) -> bool {
        self.reacts || self.event.is_some()
    }

    /// The element that declares it.
    pub(super) fn element(&self) -> &'static str {
        match self.kind {
            Kind::Compartment => "compartment",
            Kind::Species { .. } => "species",
            Kind::Parameter => "parameter",
            Kind::Local => "local parameter",
            Kind::Stoichiometry => "species reference",
            Kind::Rate => "reaction",
        }
    }

    /// The compartment by whose size formulas divide it.
    pub(super) fn divided_by(&self) -> Option<usize> {
        match self.kind {
            Kind::Species { compartment, concentration: true, .. } => Some(compartment),
            _ => None,
        }
    }

    /// Its start as a formula; for species the amount.
    pub(super) fn start(&self) -> Option<Formula> {
        let by_size = |formula: Formula, compartment: usize| {
            Expression::call(Function::Multiply, [formula, quantity(compartment)])
        };
        match (&self.start, &self.kind) {
            (Start::Unset, _) => None,
            (Start::Value(value), _) => Some(Expression::Number(*value)),
            (Start::Concentration(value), Kind::Species { compartment, .. }) => {
                Some(by_size(Expression::Number(*value), *compartment))
            }
            (Start::Concentration(_), _) => None,
            (Start::Assigned(formula), _) => Some(match self.divided_by() {
                Some(compartment) => by_size(formula.clone(), compartment),
                None => formula.clone(),
            }),
        }
    }

    /// What it follows from, at the start if no rule holds it.
    pub(super) fn definition(&self) -> Option<Formula> {
        self.rule.clone().or_else(|| self.start())
    }
}

/// All of them, by number and by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Quantities {
    /// In the order in which they are declared.
    pub(super) all: Vec<Quantity>,
    index: BTreeMap<String, usize>,
}

impl Quantities {
    /// The number of a name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Adds a quantity; its number, or none if the name is taken.
    pub(super) fn add(&mut self, name: String, kind: Kind, offset: usize) -> Option<usize> {
        if self.index.contains_key(&name) {
            return None;
        }
        let number = self.all.len();
        self.index.insert(name.clone(), number);
        let (start, rule, event) = (Start::Unset, None, None);
        let (constant, reacts, shapes) = (true, false, false);
        self.all.push(Quantity { name, kind, offset, constant, start, rule, reacts, event, shapes });
        Some(number)
    }

    /// The quantities that a formula's value follows from directly, sizes of compartments included.
    pub(super) fn needed(&self, formula: &Formula) -> Vec<usize> {
        let mut needed = Vec::new();
        mentions(formula, &mut |number| {
            needed.push(number);
            needed.extend(self.all[number].divided_by());
        });
        needed
    }

    /// A formula as text.
    pub(super) fn text(&self, formula: &Formula) -> String {
        formula.text(&|symbol| match symbol {
            crate::Symbol::Parameter(number) => {
                let Quantity { name, kind, .. } = &self.all[number];
                // Within its reaction, a local parameter has its short name.
                let short =
                    if *kind == Kind::Local { name.split_once('.').map(|(_, short)| short) } else { None };
                short.unwrap_or(name).to_owned()
            }
            _ => "time".to_owned(),
        })
    }
}
