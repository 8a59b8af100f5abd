//! The names of a network: parameters, constants, species and rules.

use std::collections::BTreeMap;

use super::lexer::is_name;
use super::{FUNCTIONS, Mistake, Scope};
use crate::{Expression, Network, Reaction, Rule, Species, Symbol};

/// Everything that has a name in a network. Each name is given once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    meanings: BTreeMap<String, (Kind, Expression)>,
    parameters: Vec<String>,
    species: Vec<String>,
    rules: Vec<Rule>,
}

/// What kind of thing a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Parameter,
    Constant,
    Species,
    Rule,
}

impl Kind {
    const fn text(self) -> &'static str {
        match self {
            Self::Parameter => "a parameter",
            Self::Constant => "a constant",
            Self::Species => "a species",
            Self::Rule => "a rule",
        }
    }
}

impl Names {
    /// Adds a parameter after those there are.
    ///
    /// # Errors
    /// If the name cannot be used or is taken.
    pub fn parameter(&mut self, name: &str) -> Result<(), Mistake> {
        self.add(name, Kind::Parameter, Expression::parameter(self.parameters.len()))?;
        self.parameters.push(name.to_owned());
        Ok(())
    }

    /// Adds a name for a number.
    ///
    /// # Errors
    /// If the name cannot be used or is taken.
    pub fn constant(&mut self, name: &str, value: f64) -> Result<(), Mistake> {
        self.add(name, Kind::Constant, value.into())
    }

    /// Adds a species after those there are.
    ///
    /// # Errors
    /// If the name cannot be used or is taken.
    pub fn species(&mut self, name: &str) -> Result<(), Mistake> {
        self.add(name, Kind::Species, Expression::species(self.species.len()))?;
        self.species.push(name.to_owned());
        Ok(())
    }

    /// Adds a rule after those there are. One that cannot change in time stands for its expression.
    ///
    /// # Errors
    /// If the name cannot be used or is taken.
    pub fn rule(&mut self, name: &str, value: Expression) -> Result<(), Mistake> {
        if value.is_constant() {
            return self.add(name, Kind::Rule, value);
        }
        self.add(name, Kind::Rule, Expression::Symbol(Symbol::Rule(self.rules.len())))?;
        self.rules.push(Rule { name: name.to_owned(), value });
        Ok(())
    }

    fn add(&mut self, name: &str, kind: Kind, meaning: Expression) -> Result<(), Mistake> {
        let refused = |why: String| Err(Mistake::new(0..name.len(), why));
        if !is_name(name) {
            let hint = "names are made of letters, digits and _, and begin with no digit";
            return refused(format!("`{name}` cannot be a name in a network"))
                .map_err(|mistake: Mistake| mistake.with_hint(hint));
        }
        if name == "time" {
            return refused("`time` is the simulated time and cannot be another name".into());
        }
        if FUNCTIONS.iter().any(|(function, _)| *function == name) || name == "log" {
            return refused(format!("`{name}` is a function and cannot be another name"));
        }
        match self.meanings.get(name) {
            Some((other, _)) if *other == kind => refused(format!("`{name}` is {} already", kind.text())),
            Some((other, _)) => {
                refused(format!("`{name}` is {} and cannot be {} too", other.text(), kind.text()))
            }
            None => {
                self.meanings.insert(name.to_owned(), (kind, meaning));
                Ok(())
            }
        }
    }

    /// Whether there is a species of this name.
    #[must_use]
    pub fn has_species(&self, name: &str) -> bool {
        self.species_index(name).is_some()
    }

    /// The species, in order.
    #[must_use]
    pub fn all_species(&self) -> &[String] {
        &self.species
    }

    pub(super) fn species_index(&self, name: &str) -> Option<usize> {
        match self.meanings.get(name)? {
            (Kind::Species, Expression::Symbol(Symbol::Species(index))) => Some(*index),
            _ => None,
        }
    }

    /// All names as an expression sees them.
    #[must_use]
    pub fn scope(&self) -> Scope<'_> {
        let resolve = |name: &str| self.meanings.get(name).map(|(_, meaning)| meaning.clone());
        Scope::new(resolve, self.meanings.keys().cloned().collect())
    }

    /// The network of these names, given what each species begins with.
    #[must_use]
    pub fn into_network(self, initial: Vec<Expression>, reactions: Vec<Reaction>) -> Network {
        let amounts = initial.into_iter().chain(std::iter::repeat(Expression::Number(0.0)));
        let species = self.species.into_iter().zip(amounts);
        Network {
            parameters: self.parameters,
            species: species.map(|(name, initial)| Species { name, initial }).collect(),
            rules: self.rules,
            reactions,
            events: Vec::new(),
        }
    }
}
