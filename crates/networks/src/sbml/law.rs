//! What a kinetic law says about its reactants, and where it looks like that of a differential equation.

use std::collections::BTreeMap;

use super::formula::{Formula, depends_on_time, joined, value};
use super::quantity::{Kind, Quantities};
use super::reaction::{Reaction, changes};
use crate::{Expression, Function, Symbol};

/// A law as a product.
#[derive(Debug, Default)]
pub(super) struct Factors<'f> {
    /// Above the line.
    pub(super) above: Vec<&'f Formula>,
    /// Below it.
    pub(super) below: Vec<&'f Formula>,
}

impl<'f> Factors<'f> {
    /// The factors of a formula; small whole powers are repeated.
    pub(super) fn of(formula: &'f Formula) -> Self {
        let mut factors = Self::default();
        factors.add(formula, true);
        factors
    }

    fn add(&mut self, formula: &'f Formula, above: bool) {
        const HIGHEST_POWER: f64 = 8.0;
        if let Expression::Call(function, arguments) = formula {
            match (function, &arguments[..]) {
                (Function::Multiply, _) => {
                    return arguments.iter().for_each(|factor| self.add(factor, above));
                }
                (Function::Divide, [a, b]) => {
                    self.add(a, above);
                    return self.add(b, !above);
                }
                (Function::Power, [base, Expression::Number(power)])
                    if power.fract() == 0.0 && (1.0..=HIGHEST_POWER).contains(power) =>
                {
                    return (0..*power as usize).for_each(|_| self.add(base, above));
                }
                _ => {}
            }
        }
        if above { self.above.push(formula) } else { self.below.push(formula) }
    }
}

/// A quantity, if the formula is nothing else.
pub(super) fn lone(formula: &Formula) -> Option<usize> {
    match formula {
        Expression::Symbol(Symbol::Parameter(number)) => Some(*number),
        _ => None,
    }
}

/// What should be looked at in a law.
pub(super) fn doubts(reaction: &Reaction, quantities: &Quantities, probe: &mut Probe<'_>) -> Vec<String> {
    let mut doubts = Vec::new();
    let mut reactants: Vec<usize> = reaction.reactants.iter().map(|(species, _)| *species).collect();
    reactants.sort_unstable();
    reactants.dedup();
    let mut ruled = None;
    for species in reactants {
        let taken: f64 =
            reaction.reactants.iter().filter(|(other, _)| *other == species).map(|(_, count)| count).sum();
        let net = changes(&reaction.reactants, &reaction.products).get(&species).copied().unwrap_or(0.0);
        let name = &quantities.all[species].name;
        let law = quantities.text(&reaction.law);
        if taken >= 2.0
            && let Some(suggested) = falling(&reaction.law, species, quantities)
        {
            doubts.push(format!(
                "the law {law} is that of a differential equation: {taken} {name} meet, and a molecule is no partner of \
                 its own; write {} (or half of it, if pairs are counted once)",
                quantities.text(&suggested)
            ));
        } else if quantities.all[species].reacts && net < 0.0 {
            const MOST: usize = 20;
            let ruled: &[usize] = ruled.get_or_insert_with(|| probe.rules_of(&reaction.law));
            let mut too_few = (0..(-net) as usize).rev().take(MOST);
            if let Some(amount) =
                too_few.find(|&amount| !probe.vanishes((&reaction.law, ruled), species, amount as f64))
            {
                doubts.push(format!(
                    "the law {law} does not vanish when only {amount} {name} are left, and the reaction takes {}: the \
                     amount may become negative",
                    -net
                ));
            }
        }
    }
    doubts
}

/// The law with `S*(S - 1)` in the place of `S*S`, if the latter is in it.
fn falling(law: &Formula, species: usize, quantities: &Quantities) -> Option<Formula> {
    let factors = Factors::of(law);
    if factors.above.iter().filter(|factor| lone(factor) == Some(species)).count() < 2 {
        return None;
    }
    // One molecule of a concentration is one by the size of the compartment.
    let one = |count: f64| match quantities.all[species].divided_by() {
        None => Expression::Number(count),
        Some(size) => Expression::call(Function::Divide, [count.into(), Expression::parameter(size)]),
    };
    let mut seen = 0.0;
    let factor = |formula: &&Formula| {
        let formula = (*formula).clone();
        if lone(&formula) != Some(species) {
            return formula;
        }
        seen += 1.0;
        if seen == 1.0 { formula } else { Expression::call(Function::Subtract, [formula, one(seen - 1.0)]) }
    };
    let above = joined(Function::Multiply, factors.above.iter().map(factor).collect(), 1.0);
    if factors.below.is_empty() {
        return Some(above);
    }
    let below = joined(Function::Multiply, factors.below.into_iter().cloned().collect(), 1.0);
    Some(Expression::call(Function::Divide, [above, below]))
}

/// Tries laws at made-up amounts.
pub(super) struct Probe<'q> {
    quantities: &'q Quantities,
    values: Vec<f64>,
    /// The place of each quantity among those that follow from others.
    places: Vec<usize>,
}

impl<'q> Probe<'q> {
    /// Every amount some tens, every other quantity as in the file.
    pub(super) fn new(quantities: &'q Quantities, order: &[usize]) -> Self {
        let count = quantities.all.len();
        let mut probe = Self { quantities, values: vec![1.0; count], places: vec![0; count] };
        for (place, &number) in order.iter().enumerate() {
            probe.places[number] = place;
            let quantity = &quantities.all[number];
            probe.values[number] = match (&quantity.kind, quantity.definition()) {
                (_, Some(_)) if quantity.rule.is_some() => continue,
                (Kind::Species { .. }, _) => 41.0 + 2.0 * (number % 17) as f64,
                (_, Some(start)) => {
                    let value = probe.value(&start, &probe.values);
                    if value == 0.0 || !value.is_finite() { 1.0 } else { value }
                }
                (_, None) => 1.0,
            };
        }
        probe
    }

    fn value(&self, formula: &Formula, values: &[f64]) -> f64 {
        value(formula, &|symbol| match symbol {
            Symbol::Parameter(number) => {
                let quantity = &self.quantities.all[number];
                match quantity.divided_by() {
                    Some(size) if quantity.rule.is_none() => values[number] / values[size],
                    _ => values[number],
                }
            }
            _ => 1.0,
        })
    }

    /// The quantities set by rules that a law follows from, each after those it follows from itself.
    fn rules_of(&self, law: &Formula) -> Vec<usize> {
        let (mut found, mut waiting) = (BTreeMap::new(), self.quantities.needed(law));
        while let Some(number) = waiting.pop() {
            if let Some(rule) = &self.quantities.all[number].rule
                && found.insert(self.places[number], number).is_none()
            {
                waiting.extend(self.quantities.needed(rule));
            }
        }
        found.into_values().collect()
    }

    /// Whether a law is 0 at this amount of a species; where it has no value, that is not known to be wrong.
    fn vanishes(&mut self, (law, ruled): (&Formula, &[usize]), species: usize, amount: f64) -> bool {
        if depends_on_time(law) {
            return true;
        }
        let before = std::mem::replace(&mut self.values[species], amount);
        for &number in ruled {
            if let Some(rule) = &self.quantities.all[number].rule {
                self.values[number] = self.value(rule, &self.values);
            }
        }
        let rate = self.value(law, &self.values);
        self.values[species] = before;
        rate == 0.0 || rate.is_nan()
    }
}
