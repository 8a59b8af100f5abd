//! Models in SBML: Level 2 and Level 3 core, as far as a stochastic simulation gives them a meaning.
//!
//! Laws are propensities as they are, and amounts are numbers of molecules. What has no such meaning, or none here, is
//! refused with its line; nothing is left out silently.

mod assignments;
mod declarations;
mod describe;
mod document;
mod event;
mod formula;
mod law;
mod layout;
mod math;
mod operators;
mod order;
mod problem;
mod quantity;
mod reaction;
mod reader;
mod xml;

#[cfg(test)]
mod tests;

pub use describe::Counts;
pub use document::read;
pub use problem::Problem;
pub use xml::MOST_BYTES;

use std::cell::RefCell;

use layout::{Layout, obstacle};
use quantity::{Kind, Quantities, Start};

use crate::language::near_miss;
use crate::{Expression, Network};

/// A model of an SBML document.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    name: String,
    level: u32,
    version: u32,
    quantities: Quantities,
    /// Every quantity after those it follows from.
    order: Vec<usize>,
    /// Whether a formula mentions a quantity.
    mentioned: Vec<bool>,
    functions: usize,
    reactions: Vec<reaction::Reaction>,
    events: Vec<event::Event>,
    warnings: Vec<Problem>,
}

impl Model {
    /// The network whose parameters are these, in this order: a parameter by its id, a parameter of a reaction as
    /// `reaction.parameter`, a species for its initial amount, a compartment for its size. All else is as in the file.
    ///
    /// # Errors
    /// Names that are not in the file or cannot be inferred, and quantities without a value.
    pub fn network(&self, parameters: &[String]) -> Result<Network, Vec<String>> {
        Layout::new(self, &self.inferred(parameters)?).network(parameters)
    }

    /// What a name stands for in that network: the amount of a species, the size of a compartment, the value of a
    /// parameter or of a reaction's law. None if there is no such name, or it has no value.
    #[must_use]
    pub fn resolve(&self, name: &str, parameters: &[String]) -> Option<Expression> {
        self.resolver(parameters)(name)
    }

    /// [`Model::resolve`] for many names: what they all need is looked up once.
    pub fn resolver(&self, parameters: &[String]) -> impl Fn(&str) -> Option<Expression> {
        let layout = self.inferred(parameters).ok().map(|numbers| Layout::new(self, &numbers));
        let layout = RefCell::new(layout);
        move |name| layout.borrow_mut().as_mut()?.resolve(self.quantities.find(name)?)
    }

    fn inferred(&self, parameters: &[String]) -> Result<Vec<usize>, Vec<String>> {
        let (mut numbers, mut errors) = (Vec::new(), Vec::new());
        for name in parameters {
            match self.quantities.find(name) {
                None => {
                    errors
                        .push(format!("there is no quantity \"{name}\" in the model{}", self.similar(name)));
                }
                Some(number) => match obstacle(self, number) {
                    Some(reason) => errors.push(format!("\"{name}\" cannot be inferred: {reason}")),
                    None if numbers.contains(&number) => errors.push(format!("\"{name}\" is inferred twice")),
                    None => numbers.push(number),
                },
            }
        }
        if errors.is_empty() { Ok(numbers) } else { Err(errors) }
    }

    /// Names that could be meant by one that is not there: those of reactions' own parameters, or else the nearest.
    fn similar(&self, name: &str) -> String {
        let free = (0..self.quantities.all.len()).filter(|&number| obstacle(self, number).is_none());
        let known: Vec<&str> = free.map(|number| self.quantities.all[number].name.as_str()).collect();
        let local = |known: &&str| known.split_once('.').is_some_and(|(_, short)| short == name);
        let mut meant: Vec<&str> = known.iter().copied().filter(local).take(3).collect();
        if meant.is_empty() {
            meant.extend(near_miss(name, known));
        }
        let names: Vec<String> = meant.iter().map(|name| format!("\"{name}\"")).collect();
        if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(" or ")) }
    }

    /// All names that [`Model::resolve`] may know.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.quantities.all.iter().map(|quantity| quantity.name.clone()).collect()
    }

    /// What can be inferred, with the values of the file: NaN where it has none.
    #[must_use]
    pub fn inferable(&self) -> Vec<(String, f64)> {
        let constants = order::constants(&self.quantities, &self.order);
        let mut inferable = Vec::new();
        for (number, quantity) in self.quantities.all.iter().enumerate() {
            if obstacle(self, number).is_some() {
                continue;
            }
            let value = match (&quantity.start, &quantity.kind) {
                (Start::Value(value), _) => *value,
                (Start::Concentration(value), Kind::Species { compartment, .. }) => {
                    value * constants[*compartment].unwrap_or(f64::NAN)
                }
                _ => f64::NAN,
            };
            inferable.push((quantity.name.clone(), value));
        }
        inferable
    }

    /// What should be looked at before the model is believed.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}
