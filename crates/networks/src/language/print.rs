//! Reactions back into text, with the names of a network.

use crate::expression::number;
use crate::{Expression, Network, Rate, Reaction, Symbol};

/// An expression in the language, with the names of a network.
#[must_use]
pub fn expression_text(expression: &Expression, network: &Network) -> String {
    expression.text(&|name| symbol(name, network))
}

/// A reaction in the language: its reactants where it follows mass action, otherwise what it changes.
#[must_use]
pub fn reaction_text(reaction: &Reaction, network: &Network) -> String {
    let (picked, rate) = match &reaction.rate {
        Rate::MassAction { constant, reactants, .. } => {
            let reactants = reactants.iter().map(|&(species, count)| (species, f64::from(count))).collect();
            (reactants, expression_text(constant, network))
        }
        Rate::Expression(rate) => (Vec::new(), format!("{{ {} }}", expression_text(rate, network))),
    };
    let net = |species: usize| {
        reaction.changes.iter().find(|(changed, _)| *changed == species).map_or(0.0, |(_, change)| *change)
    };
    let before = |species: usize| {
        picked
            .iter()
            .find(|(other, _)| *other == species)
            .map_or((-net(species)).max(0.0), |(_, count)| *count)
    };
    let mut left: Vec<(usize, f64)> = picked.clone();
    left.extend(reaction.changes.iter().map(|(species, _)| (*species, before(*species))));
    let mut seen = Vec::new();
    left.retain(|(species, _)| !seen.contains(species) && (seen.push(*species), true).1);
    let right: Vec<(usize, f64)> =
        left.iter().map(|&(species, count)| (species, count + net(species))).collect();
    format!("{} -> {} @ {rate}", side(&left, network), side(&right, network))
}

fn side(terms: &[(usize, f64)], network: &Network) -> String {
    let term = |&(species, count): &(usize, f64)| {
        let name = symbol(Symbol::Species(species), network);
        if count == 1.0 { name } else { format!("{} {name}", number(count)) }
    };
    let terms: Vec<String> = terms.iter().filter(|(_, count)| *count != 0.0).map(term).collect();
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}

fn symbol(symbol: Symbol, network: &Network) -> String {
    let name = match symbol {
        Symbol::Species(at) => network.species.get(at).map(|species| &species.name),
        Symbol::Parameter(at) => network.parameters.get(at),
        Symbol::Rule(at) => network.rules.get(at).map(|rule| &rule.name),
        Symbol::Time => return "time".to_owned(),
    };
    name.map_or_else(|| format!("{symbol:?}"), Clone::clone)
}
