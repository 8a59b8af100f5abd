//! Expressions and reactions back into text, in one form for each meaning.

use super::FUNCTIONS;
use super::operators::binding;
use crate::{Expression, Function, Network, Rate, Reaction, Symbol};

/// Binds tighter than any operator.
const CLOSED: u8 = u8::MAX;

/// An expression in the language, with the names of a network.
#[must_use]
pub fn expression_text(expression: &Expression, network: &Network) -> String {
    let mut text = String::new();
    write(expression, 0, network, &mut text);
    text
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

/// A number to the last bit, without a row of zeros.
fn number(value: f64) -> String {
    const LONGEST: usize = 20;
    let plain = value.to_string();
    if plain.len() > LONGEST { format!("{value:e}") } else { plain }
}

fn strength(expression: &Expression) -> u8 {
    match expression {
        Expression::Number(value) if value.is_sign_negative() => binding::MINUS,
        Expression::Number(_) | Expression::Symbol(_) => CLOSED,
        Expression::Call(function, _) => match function {
            Function::Or => binding::OR,
            Function::And => binding::AND,
            Function::Not => binding::NOT,
            Function::Less | Function::LessOrEqual | Function::Equal => binding::COMPARISON,
            Function::Add | Function::Subtract => binding::SUM,
            Function::Multiply | Function::Divide => binding::PRODUCT,
            Function::Negate => binding::MINUS,
            Function::Power => binding::POWER,
            _ => CLOSED,
        },
    }
}

/// The sign of an operator with two sides, and how tightly each side must bind to stand without parentheses.
fn operator(function: Function) -> Option<(&'static str, u8, u8)> {
    match function {
        Function::Or => Some((" or ", binding::OR, binding::AND)),
        Function::And => Some((" and ", binding::AND, binding::NOT)),
        Function::Less => Some((" < ", binding::SUM, binding::SUM)),
        Function::LessOrEqual => Some((" <= ", binding::SUM, binding::SUM)),
        Function::Equal => Some((" == ", binding::SUM, binding::SUM)),
        Function::Add => Some((" + ", binding::SUM, binding::PRODUCT)),
        Function::Subtract => Some((" - ", binding::SUM, binding::PRODUCT)),
        Function::Multiply => Some((" * ", binding::PRODUCT, binding::MINUS)),
        Function::Divide => Some((" / ", binding::PRODUCT, binding::MINUS)),
        Function::Power => Some(("^", CLOSED, binding::POWER)),
        _ => None,
    }
}

/// Writes an expression where only what binds at least as tightly as `least` stands without parentheses.
fn write(expression: &Expression, least: u8, network: &Network, text: &mut String) {
    let open = strength(expression) < least;
    if open {
        text.push('(');
    }
    match expression {
        Expression::Number(value) => text.push_str(&number(*value)),
        Expression::Symbol(named) => text.push_str(&symbol(*named, network)),
        Expression::Call(function, arguments) => match (operator(*function), &arguments[..]) {
            (Some((sign, left, right)), [a, b]) => {
                write(a, left, network, text);
                text.push_str(sign);
                write(b, right, network, text);
            }
            (_, [only]) if *function == Function::Negate => {
                text.push('-');
                write(only, binding::MINUS, network, text);
            }
            (_, [only]) if *function == Function::Not => {
                text.push_str("not ");
                write(only, binding::NOT, network, text);
            }
            (_, arguments) => {
                let known = FUNCTIONS.iter().find(|(_, other)| other == function);
                text.push_str(known.map_or("?", |(name, _)| name));
                text.push('(');
                for (at, argument) in arguments.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    write(argument, 0, network, text);
                }
                text.push(')');
            }
        },
    }
    if open {
        text.push(')');
    }
}
