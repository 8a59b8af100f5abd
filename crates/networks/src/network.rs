//! A stochastic reaction network, whatever it was written in.

use crate::{Expression, Observation, Symbol};

/// Species, and the reactions and events that change them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Names of the parameters, in the order in which a simulation is given them.
    pub parameters: Vec<String>,
    /// All that changes in time.
    pub species: Vec<Species>,
    /// Quantities computed from others at every moment, each from those before it.
    pub rules: Vec<Rule>,
    /// What happens at random.
    pub reactions: Vec<Reaction>,
    /// What happens as soon as a condition holds.
    pub events: Vec<Event>,
}

/// A quantity that reactions or events change.
#[derive(Clone, Debug, PartialEq)]
pub struct Species {
    /// Its name.
    pub name: String,
    /// Its amount at time 0: of numbers, parameters, earlier species at time 0, and rules of these. It is rounded
    /// to a whole number if a reaction changes the species.
    pub initial: Expression,
}

/// A quantity that follows from others.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// What it is.
    pub value: Expression,
}

/// A reaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// What it is called in messages: its text or its id.
    pub name: String,
    /// The species it changes, each once, and by how much; whole numbers, none of them 0.
    pub changes: Vec<(usize, f64)>,
    /// How often it happens.
    pub rate: Rate,
}

/// The rate of a reaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// A constant, of numbers and parameters, for each way of picking the reactants.
    MassAction {
        /// The constant.
        constant: Expression,
        /// How many of each species are picked, each species once.
        reactants: Vec<(usize, u32)>,
        /// Whether the order of picking counts.
        counting: Counting,
    },
    /// Any expression.
    Expression(Expression),
}

/// How mass action counts the ways of picking several of one species.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Sets: `k S (S - 1) / 2` for S + S.
    #[default]
    Combinations,
    /// Ordered picks: `k S (S - 1)` for S + S.
    Permutations,
}

/// Assignments made at the moment a condition becomes true.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What it is called in messages.
    pub name: String,
    /// Happens when this goes from 0 to another value.
    pub trigger: Expression,
    /// Whether the trigger counts as true before time 0; if not, one that is true at time 0 happens then.
    pub initially: bool,
    /// Of events that happen at one moment, those of higher priority go first; among equals, the earlier.
    pub priority: Option<Expression>,
    /// Whether it still happens when an event before it at the same moment has made the trigger false.
    pub persistent: bool,
    /// Whether the assigned values are those of the moment of the trigger, or of the moment of its turn.
    pub values_from_trigger_time: bool,
    /// The species that are set, and to what.
    pub assignments: Vec<(usize, Expression)>,
}

impl Network {
    /// Calls `visit` with every expression of the network.
    pub fn expressions(&self, visit: &mut dyn FnMut(&Expression)) {
        self.species.iter().for_each(|species| visit(&species.initial));
        self.rules.iter().for_each(|rule| visit(&rule.value));
        for reaction in &self.reactions {
            match &reaction.rate {
                Rate::MassAction { constant, .. } => visit(constant),
                Rate::Expression(rate) => visit(rate),
            }
        }
        for event in &self.events {
            visit(&event.trigger);
            event.priority.iter().for_each(&mut *visit);
            event.assignments.iter().for_each(|(_, value)| visit(value));
        }
    }

    /// Places of the parameters that neither the network nor what is observed of it depends on.
    #[must_use]
    pub fn unused_parameters(&self, observation: &Observation) -> Vec<usize> {
        let mut used = vec![false; self.parameters.len()];
        let mut see = |expression: &Expression| {
            expression.symbols(&mut |symbol| {
                if let Symbol::Parameter(at) = symbol
                    && let Some(used) = used.get_mut(at)
                {
                    *used = true;
                }
            });
        };
        self.expressions(&mut see);
        for observable in &observation.observables {
            see(&observable.value);
            observable.noise.iter().for_each(|noise| see(&noise.size));
        }
        (0..used.len()).filter(|&at| !used[at]).collect()
    }
}
