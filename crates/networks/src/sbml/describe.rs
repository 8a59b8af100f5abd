//! What a model contains, in words.

use super::Model;
use super::quantity::{Kind, Start};
use super::reaction::Reaction;

/// How many of each a model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Compartments.
    pub compartments: usize,
    /// Species.
    pub species: usize,
    /// Parameters of the model.
    pub parameters: usize,
    /// Parameters of single reactions.
    pub local_parameters: usize,
    /// Function definitions.
    pub functions: usize,
    /// Initial assignments.
    pub initial_assignments: usize,
    /// Assignment rules.
    pub rules: usize,
    /// Reactions.
    pub reactions: usize,
    /// Events.
    pub events: usize,
}

impl Model {
    /// Its name, or its id; empty if it has neither.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The level and version of SBML.
    #[must_use]
    pub fn level(&self) -> (u32, u32) {
        (self.level, self.version)
    }

    /// How many of each it has.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let all = &self.quantities.all;
        let kind = |wanted: Kind| all.iter().filter(|quantity| quantity.kind == wanted).count();
        let ruled =
            |quantity: &&super::quantity::Quantity| quantity.kind != Kind::Rate && quantity.rule.is_some();
        Counts {
            compartments: kind(Kind::Compartment),
            species: self.species().len(),
            parameters: kind(Kind::Parameter),
            local_parameters: kind(Kind::Local),
            functions: self.functions,
            initial_assignments: all.iter().filter(|each| matches!(each.start, Start::Assigned(_))).count(),
            rules: all.iter().filter(ruled).count(),
            reactions: self.reactions.len(),
            events: self.events.len(),
        }
    }

    /// The ids of the species.
    #[must_use]
    pub fn species(&self) -> Vec<String> {
        let species = self.quantities.all.iter().filter(|each| matches!(each.kind, Kind::Species { .. }));
        species.map(|each| each.name.clone()).collect()
    }

    /// The ids of the compartments.
    #[must_use]
    pub fn compartments(&self) -> Vec<String> {
        let compartments = self.quantities.all.iter().filter(|each| each.kind == Kind::Compartment);
        compartments.map(|each| each.name.clone()).collect()
    }

    /// The reactions by id, as one writes them: `2 P -> P2 @ k1*P*(P - 1)/2`.
    #[must_use]
    pub fn reactions(&self) -> Vec<(String, String)> {
        self.reactions.iter().map(|reaction| (reaction.id.clone(), self.reaction(reaction))).collect()
    }

    fn reaction(&self, reaction: &Reaction) -> String {
        let side = |side: &[(usize, f64)]| {
            let term = |&(species, count): &(usize, f64)| match (count, &self.quantities.all[species].name) {
                (1.0, name) => name.clone(),
                (count, name) => format!("{count} {name}"),
            };
            let terms: Vec<String> = side.iter().map(term).collect();
            if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
        };
        let law = self.quantities.text(&reaction.law);
        format!("{} -> {} @ {law}", side(&reaction.reactants), side(&reaction.products))
    }

    /// The assignment rules: `y = 2*X`.
    #[must_use]
    pub fn rules(&self) -> Vec<String> {
        let ruled = self.quantities.all.iter().filter(|quantity| quantity.kind != Kind::Rate);
        let text = |quantity: &super::quantity::Quantity| {
            Some(format!("{} = {}", quantity.name, self.quantities.text(quantity.rule.as_ref()?)))
        };
        ruled.filter_map(text).collect()
    }

    /// The events: `reset: when time >= 5, X = 20`.
    #[must_use]
    pub fn events(&self) -> Vec<String> {
        let text = |event: &super::event::Event| {
            let mut text = format!("{}: when {}", event.name, self.quantities.text(&event.trigger));
            for (target, value) in &event.assignments {
                text += &format!(", {} = {}", self.quantities.all[*target].name, self.quantities.text(value));
            }
            text
        };
        self.events.iter().map(text).collect()
    }
}
