//! Where the quantities of a document are in a network, and the network itself.

use std::collections::{BTreeMap, BTreeSet};

use super::Model;
use super::formula::{Formula, depends_on_time, folded, mentions, replaced};
use super::law::{Factors, lone};
use super::quantity::{Kind, Start};
use super::reaction::{Reaction, changes};
use crate::language::MOST_PICKS;
use crate::{Counting, Event, Expression, Function, Network, Rate, Rule, Species, Symbol};

/// What a quantity is in a network. For species this is the amount, unless a rule sets what formulas mean by it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Number(f64),
    Symbol(Symbol),
    Missing,
}

/// The places of all quantities, given which of them are inferred.
#[derive(Debug)]
pub(super) struct Layout<'m> {
    model: &'m Model,
    places: Vec<Place>,
    /// Whether a quantity is the same at every moment.
    fixed: Vec<bool>,
    parameters: BTreeMap<usize, usize>,
    species: Vec<usize>,
    rules: Vec<usize>,
    /// Quantities that have no value but need one.
    missing: BTreeSet<usize>,
}

impl<'m> Layout<'m> {
    /// Inferring these quantities, in this order.
    pub(super) fn new(model: &'m Model, inferred: &[usize]) -> Self {
        let count = model.quantities.all.len();
        let mut layout = Self {
            model,
            places: vec![Place::Missing; count],
            fixed: vec![false; count],
            parameters: inferred.iter().enumerate().map(|(place, &number)| (number, place)).collect(),
            species: Vec::new(),
            rules: Vec::new(),
            missing: BTreeSet::new(),
        };
        for &number in &model.order {
            let (place, fixed) = layout.place(number);
            (layout.places[number], layout.fixed[number]) = (place, fixed);
        }
        layout
    }

    fn place(&mut self, number: usize) -> (Place, bool) {
        let quantity = &self.model.quantities.all[number];
        let steady = |layout: &Self, formula: &Formula| {
            let mut steady = !depends_on_time(formula);
            for needed in layout.model.quantities.needed(formula) {
                steady &= layout.fixed[needed];
            }
            steady
        };
        if let Some(rule) = &quantity.rule {
            if quantity.kind == Kind::Rate && !self.model.mentioned[number] {
                return (Place::Missing, false);
            }
            let fixed = steady(self, rule);
            return (self.as_rule(number), fixed);
        }
        if quantity.varies() {
            return (self.as_species(number), false);
        }
        if let Some(&parameter) = self.parameters.get(&number) {
            return (Place::Symbol(Symbol::Parameter(parameter)), true);
        }
        let Some(start) = quantity.start() else { return (Place::Missing, true) };
        match self.at_start(&start) {
            Expression::Number(value) => (Place::Number(value), true),
            // Without a value for something it follows from, it has none either.
            _ if steady(self, &start) => (self.as_rule(number), true),
            _ => (self.as_species(number), true),
        }
    }

    fn as_rule(&mut self, number: usize) -> Place {
        self.rules.push(number);
        Place::Symbol(Symbol::Rule(self.rules.len() - 1))
    }

    fn as_species(&mut self, number: usize) -> Place {
        self.species.push(number);
        Place::Symbol(Symbol::Species(self.species.len() - 1))
    }

    /// What is stored of a quantity.
    fn stored(&mut self, number: usize) -> Expression {
        match self.places[number] {
            Place::Number(value) => Expression::Number(value),
            Place::Symbol(symbol) => Expression::Symbol(symbol),
            Place::Missing => {
                self.missing.insert(number);
                // Not a number, so that nothing is folded away that needs a value.
                Expression::Symbol(Symbol::Time)
            }
        }
    }

    /// What formulas mean by a quantity.
    fn meaning(&mut self, number: usize) -> Expression {
        let quantity = &self.model.quantities.all[number];
        let stored = self.stored(number);
        match quantity.divided_by() {
            Some(compartment) if quantity.rule.is_none() => {
                let size = self.stored(compartment);
                // Division by 1 is the usual case, and changes nothing.
                if size == Expression::Number(1.0) {
                    stored
                } else {
                    folded(Function::Divide, vec![stored, size])
                }
            }
            _ => stored,
        }
    }

    /// The size of a compartment, the amount of a species, the value of anything else.
    fn amount(&mut self, number: usize) -> Expression {
        let quantity = &self.model.quantities.all[number];
        let stored = match (&quantity.kind, &quantity.rule) {
            (Kind::Rate, Some(law)) if self.places[number] == Place::Missing => return self.lowered(law),
            _ => self.stored(number),
        };
        match quantity.divided_by() {
            Some(compartment) if quantity.rule.is_some() => self.by_size(stored, compartment),
            _ => stored,
        }
    }

    /// The amount of a quantity, if it has one.
    pub(super) fn resolve(&mut self, number: usize) -> Option<Expression> {
        self.missing.clear();
        let amount = self.amount(number);
        self.missing.is_empty().then_some(amount)
    }

    fn by_size(&mut self, value: Expression, compartment: usize) -> Expression {
        let size = self.stored(compartment);
        if size == Expression::Number(1.0) { value } else { folded(Function::Multiply, vec![value, size]) }
    }

    fn lowered(&mut self, formula: &Formula) -> Expression {
        replaced(formula, &mut |symbol| match symbol {
            Symbol::Parameter(number) => self.meaning(number),
            other => Expression::Symbol(other),
        })
    }

    /// A formula at time 0.
    fn at_start(&mut self, formula: &Formula) -> Expression {
        replaced(formula, &mut |symbol| match symbol {
            Symbol::Parameter(number) => self.meaning(number),
            _ => Expression::Number(0.0),
        })
    }

    /// The network, or what has no value.
    pub(super) fn network(mut self, parameters: &[String]) -> Result<Network, Vec<String>> {
        let model = self.model;
        let name = |number: &usize| model.quantities.all[*number].name.clone();
        let species = self.species.clone();
        let species =
            species.iter().map(|at| Species { name: name(at), initial: self.initial(*at) }).collect();
        let rules = self.rules.clone();
        let rules = rules.iter().map(|at| Rule { name: name(at), value: self.rule(*at) }).collect();
        let reactions = model.reactions.iter().filter_map(|reaction| self.reaction(reaction)).collect();
        let events = model.events.iter().map(|event| self.event(event)).collect();
        if self.missing.is_empty() {
            return Ok(Network { parameters: parameters.to_vec(), species, rules, reactions, events });
        }
        let without = |number: &usize| {
            let quantity = &model.quantities.all[*number];
            let what = match quantity.kind {
                Kind::Species { .. } => "initial amount",
                Kind::Compartment => "size",
                _ => "value",
            };
            let (element, name) = (quantity.element(), &quantity.name);
            format!("the {element} \"{name}\" has no {what} in the file: give it one there, or infer it")
        };
        Err(self.missing.iter().map(without).collect())
    }

    fn initial(&mut self, number: usize) -> Expression {
        if let Some(&parameter) = self.parameters.get(&number) {
            return Expression::parameter(parameter);
        }
        match self.model.quantities.all[number].start() {
            Some(start) => self.at_start(&start),
            None => {
                self.missing.insert(number);
                Expression::Number(f64::NAN)
            }
        }
    }

    fn rule(&mut self, number: usize) -> Expression {
        match &self.model.quantities.all[number].rule {
            Some(rule) => self.lowered(rule),
            None => self.initial(number),
        }
    }

    fn reaction(&mut self, reaction: &Reaction) -> Option<crate::Reaction> {
        let mut changed = Vec::new();
        for (number, change) in changes(&reaction.reactants, &reaction.products) {
            if let Place::Symbol(Symbol::Species(species)) = self.places[number]
                && self.model.quantities.all[number].reacts
                && change != 0.0
            {
                changed.push((species, change));
            }
        }
        let rate = match self.mass_action(&reaction.law) {
            Some(rate) => rate,
            None => Rate::Expression(self.lowered(&reaction.law)),
        };
        // Nothing would be different after it.
        (!changed.is_empty()).then(|| crate::Reaction { name: reaction.id.clone(), changes: changed, rate })
    }

    /// A law that is a constant by `S (S - 1) ...` for each of some species.
    fn mass_action(&mut self, law: &Formula) -> Option<Rate> {
        let Factors { above, below } = Factors::of(law);
        let mut picked: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let (mut above_line, mut below_line) = (Vec::new(), Vec::new());
        for factor in above {
            match self.pick(factor) {
                Some((species, less, size)) => {
                    picked.entry(species).or_default().push(less);
                    below_line.extend(size);
                }
                None => above_line.push(self.constant(factor)?),
            }
        }
        for factor in below {
            below_line.push(self.constant(factor)?);
        }
        if picked.values().map(Vec::len).sum::<usize>() > MOST_PICKS as usize {
            return None;
        }
        let mut reactants = Vec::new();
        for (species, mut less) in picked {
            less.sort_by(f64::total_cmp);
            if less.iter().enumerate().any(|(place, &less)| less != place as f64) {
                return None;
            }
            reactants.push((species, less.len() as u32));
        }
        let product = |factors: Vec<Expression>| {
            let rest = factors.into_iter().filter(|factor| *factor != Expression::Number(1.0));
            rest.reduce(|a, b| folded(Function::Multiply, vec![a, b]))
        };
        let constant = match (product(above_line), product(below_line)) {
            (above, None) => above.unwrap_or(Expression::Number(1.0)),
            (above, Some(below)) => {
                folded(Function::Divide, vec![above.unwrap_or(Expression::Number(1.0)), below])
            }
        };
        let usable = match constant {
            Expression::Number(value) => value.is_finite() && value >= 0.0,
            _ => true,
        };
        usable.then_some(Rate::MassAction { constant, reactants, counting: Counting::Permutations })
    }

    /// `S` or `S - n` for a species that changes, with the size by which its amount is divided.
    fn pick(&mut self, factor: &Formula) -> Option<(usize, f64, Option<Expression>)> {
        let (number, less) = match factor {
            Expression::Call(Function::Subtract, arguments) => match &arguments[..] {
                [left, Expression::Number(less)] => (lone(left)?, *less),
                _ => return None,
            },
            other => (lone(other)?, 0.0),
        };
        let quantity = &self.model.quantities.all[number];
        let Place::Symbol(Symbol::Species(species)) = self.places[number] else { return None };
        if !matches!(quantity.kind, Kind::Species { .. }) {
            return None;
        }
        let size = match quantity.divided_by() {
            None => None,
            Some(_) if less != 0.0 => return None,
            Some(compartment) => Some(self.constant(&Expression::parameter(compartment))?),
        };
        Some((species, less, size))
    }

    /// An expression of numbers and parameters alone.
    fn constant(&mut self, formula: &Formula) -> Option<Expression> {
        let mut constant = !depends_on_time(formula);
        mentions(formula, &mut |number| {
            let mut parts = vec![number];
            parts.extend(self.model.quantities.all[number].divided_by());
            constant &= parts.iter().all(|part| {
                matches!(self.places[*part], Place::Number(_) | Place::Symbol(Symbol::Parameter(_)))
            });
        });
        if constant { Some(self.lowered(formula)) } else { None }
    }

    fn event(&mut self, event: &super::event::Event) -> Event {
        let mut assignments = Vec::new();
        for (target, formula) in &event.assignments {
            let mut value = self.lowered(formula);
            if let Some(compartment) = self.model.quantities.all[*target].divided_by() {
                value = self.by_size(value, compartment);
            }
            if let Place::Symbol(Symbol::Species(species)) = self.places[*target] {
                assignments.push((species, value));
            }
        }
        Event {
            name: event.name.clone(),
            trigger: self.lowered(&event.trigger),
            initially: event.initially,
            priority: event.priority.as_ref().map(|priority| self.lowered(priority)),
            persistent: event.persistent,
            values_from_trigger_time: event.values_from_trigger_time,
            assignments,
        }
    }
}

/// Why a quantity cannot be inferred.
pub(super) fn obstacle(model: &Model, number: usize) -> Option<String> {
    let quantity = &model.quantities.all[number];
    let species = matches!(quantity.kind, Kind::Species { .. });
    let reason = match (&quantity.kind, &quantity.start, &quantity.event) {
        (Kind::Rate, ..) => "it is a reaction".to_owned(),
        (Kind::Stoichiometry, ..) => "it is a stoichiometry".to_owned(),
        _ if quantity.rule.is_some() => "an assignment rule sets it".to_owned(),
        (_, Start::Assigned(_), _) => "an initial assignment sets it".to_owned(),
        (_, _, Some(event)) if !species => format!("the event \"{event}\" changes it"),
        _ if quantity.shapes => "a stoichiometry follows from it".to_owned(),
        _ => return None,
    };
    Some(reason)
}
