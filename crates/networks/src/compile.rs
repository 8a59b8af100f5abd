//! A network compiled for simulation: registers, terms, changes.

use counterpoise_core::problem::Failure;

use crate::expression::program::{self, Compiler, Known, ONE, Operation, Register};
use crate::expression::{Expression, Function, Symbol};
use crate::network::{Counting, Network, Rate};

/// A propensity: the product `c i (j - less)` of three registers and a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) c: Register,
    pub(crate) i: Register,
    pub(crate) j: Register,
    pub(crate) less: f64,
}

/// What a reaction adds to the register of a species.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) register: Register,
    pub(crate) by: f64,
}

/// What reactions, by their numbers, add to the register of a species.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Balance {
    pub(crate) register: Register,
    pub(crate) changes: Vec<(usize, f64)>,
}

/// A network as the simulators want it.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) network: Network,
    pub(crate) compiler: Compiler,
    /// What follows from the parameters, done once a trajectory.
    pub(crate) setting_out: Vec<Operation>,
    /// Registers of the species at time 0, and the operations they need besides.
    initial: Vec<(Register, Vec<Operation>)>,
    /// Whether a reaction changes the species: its amount is then a whole number.
    pub(crate) counted: Vec<bool>,
    /// Whether a propensity is a multiple of the species, which must not be negative then.
    factor: Vec<bool>,
    /// What the propensities that are not products need, done at each event.
    pub(crate) at_events: Vec<Operation>,
    /// A propensity a reaction.
    pub(crate) terms: Vec<Term>,
    /// Registers of propensities that could be negative or NaN, which no simulator may believe.
    pub(crate) doubtful: Vec<Register>,
    /// Registers of species that a reaction could take below 0.
    pub(crate) watched: Vec<Register>,
    /// Changes of each reaction.
    pub(crate) changes: Vec<Vec<Change>>,
    /// The same, species by species.
    pub(crate) balances: Vec<Balance>,
    /// The same, as many for each reaction: those that are missing change nothing.
    pub(crate) uniform_changes: Vec<Change>,
    pub(crate) changes_each: usize,
}

/// Amounts above this are no longer counted exactly.
const MOST: f64 = 9_007_199_254_740_992.0;

impl Term {
    /// Its value, given those of the registers.
    #[inline(always)]
    pub(crate) fn value(&self, at: impl Fn(Register) -> f64) -> f64 {
        at(self.c) * at(self.i) * (at(self.j) - self.less)
    }
}

impl Compiled {
    pub(crate) fn new(network: Network) -> Self {
        let mut compiler = Compiler::new(network.parameters.len(), network.species.len());
        network.rules.iter().for_each(|rule| compiler.rule(&rule.value));
        let mut counted = vec![false; network.species.len()];
        network
            .reactions
            .iter()
            .flat_map(|each| &each.changes)
            .for_each(|&(species, _)| counted[species] = true);
        let initial: Vec<Register> =
            network.species.iter().map(|species| compiler.expression(&species.initial)).collect();
        let (mut terms, mut doubtful, mut watched) = (Vec::new(), Vec::new(), Vec::new());
        for reaction in &network.reactions {
            let product = Product::of(&reaction.rate, &counted);
            let term = match &product {
                Some(product) => product.term(&mut compiler),
                None => {
                    let rate = full_rate(&reaction.rate);
                    let c = compiler.expression(&rate);
                    Term { c, i: ONE, j: ONE, less: 0.0 }
                }
            };
            if product.is_none() && !doubtful.contains(&term.c) {
                doubtful.push(term.c);
            }
            for &(species, by) in &reaction.changes {
                let register = compiler.species(species);
                let safe = reaction.rate.vanishes_below(species, -by)
                    || product.as_ref().is_some_and(|product| product.vanishes_below(species, -by));
                if by < 0.0 && !safe && !watched.contains(&register) {
                    watched.push(register);
                }
            }
            terms.push(term);
        }
        let mut factor = vec![false; network.species.len()];
        let first = compiler.species(0);
        for register in terms.iter().flat_map(|term| [term.i, term.j]).filter(|&register| register != ONE) {
            factor[(register - first) as usize] = true;
        }
        let outputs: Vec<Register> = terms.iter().flat_map(|term| [term.c, term.i, term.j]).collect();
        let changes = network.reactions.iter().map(|reaction| {
            reaction.changes.iter().map(|&(s, by)| Change { register: compiler.species(s), by }).collect()
        });
        let changes: Vec<Vec<Change>> = changes.collect();
        let balances = (0..network.species.len()).filter(|&species| counted[species]).map(|species| {
            let register = compiler.species(species);
            let changes = changes.iter().enumerate().flat_map(|(reaction, changes)| {
                let here = changes.iter().filter(move |change| change.register == register);
                here.map(move |change| (reaction, change.by))
            });
            Balance { register, changes: changes.collect() }
        });
        let balances: Vec<Balance> = balances.collect();
        let changes_each = changes.iter().map(Vec::len).max().unwrap_or(0);
        let nothing = Change { register: ONE, by: 0.0 };
        let uniform_changes: Vec<Change> = changes
            .iter()
            .flat_map(|changes: &Vec<Change>| {
                changes.iter().copied().chain(std::iter::repeat(nothing)).take(changes_each)
            })
            .collect();
        let mut compiled = Self {
            setting_out: Vec::new(),
            at_events: compiler.with_state(&outputs),
            initial: initial.into_iter().map(|each| (each, compiler.with_state(&[each]))).collect(),
            counted,
            factor,
            terms,
            doubtful,
            watched,
            changes,
            balances,
            uniform_changes,
            changes_each,
            compiler,
            network,
        };
        compiled.close();
        compiled
    }

    /// Takes over what was compiled since.
    pub(crate) fn close(&mut self) {
        self.setting_out = self.compiler.with_parameters();
    }

    /// Whether a propensity changes although the state does not.
    pub(crate) fn depends_on_time(&self) -> bool {
        self.terms.iter().any(|term| self.compiler.known(term.c) == Known::InTime)
    }

    /// Fills a register file with all that is known at time 0.
    ///
    /// # Errors
    /// If a parameter is missing or not finite, an amount is not one, or a constant of mass action is negative.
    pub(crate) fn set_out(&self, theta: &[f64], registers: &mut Vec<[f64; 1]>) -> Result<(), Failure> {
        let Network { parameters, species, reactions, .. } = &self.network;
        if theta.len() != parameters.len() {
            let (expected, found) = (parameters.len(), theta.len());
            return Err(Failure::Declined(format!("expected {expected} parameters, found {found}")));
        }
        if let Some(at) = theta.iter().position(|value| !value.is_finite()) {
            let (name, value) = (&parameters[at], theta[at]);
            return Err(Failure::Declined(format!("{name} must be a finite number, found {value}")));
        }
        registers.clear();
        registers.extend(self.compiler.values().iter().map(|&value| [value]));
        let first = Compiler::FIRST_PARAMETER as usize;
        registers[first..first + theta.len()].iter_mut().zip(theta).for_each(|(r, &value)| *r = [value]);
        program::run(&self.setting_out, registers);
        for (index, (species, (register, operations))) in species.iter().zip(&self.initial).enumerate() {
            program::run(operations, registers);
            let given = registers[*register as usize][0];
            // A whole number needs no call of the library to be one.
            let whole = given as i64 as f64 == given;
            let amount = if self.counted[index] && !whole { given.round() } else { given };
            let least = if self.counted[index] || self.factor[index] { 0.0 } else { -f64::MAX };
            let most = if self.counted[index] { MOST } else { f64::MAX };
            let fits = (least..=most).contains(&amount);
            if !fits {
                let what = format!("{} cannot be {given} at time 0", species.name);
                return Err(Failure::Declined(what));
            }
            registers[self.compiler.species(index) as usize] = [amount + 0.0];
        }
        for (term, reaction) in self.terms.iter().zip(reactions) {
            let constant = registers[term.c as usize][0];
            if self.compiler.known(term.c) <= Known::WithParameters
                && !(constant.is_finite() && constant >= 0.0)
            {
                return Err(Failure::Declined(format!(
                    "the rate constant of `{}` must be a finite number of at least 0, found {constant}",
                    reaction.name
                )));
            }
        }
        Ok(())
    }

    /// What is wrong with a state whose propensities cannot be used.
    pub(crate) fn complaint(&self, mut registers: Vec<[f64; 1]>, ceiling: f64) -> Failure {
        program::run(&self.at_events, &mut registers);
        let at = |register: Register| registers[register as usize][0];
        if let Some(&register) = self.watched.iter().find(|&&register| at(register) < 0.0) {
            let species = &self.network.species[(register - self.compiler.species(0)) as usize].name;
            return Failure::Declined(format!(
                "{species} fell below 0: a reaction that uses it up has a rate that does not vanish with it"
            ));
        }
        for (term, reaction) in self.terms.iter().zip(&self.network.reactions) {
            let propensity = term.value(at);
            if !(propensity.is_finite() && propensity >= 0.0) {
                return Failure::Declined(format!("the rate of `{}` became {propensity}", reaction.name));
            }
        }
        Failure::Declined(format!(
            "reactions became faster than {ceiling:e} a unit of time, where the clock no longer moves"
        ))
    }
}

/// The rate of a reaction as one expression.
fn full_rate(rate: &Rate) -> Expression {
    let (constant, reactants, counting) = match rate {
        Rate::Expression(expression) => return expression.clone(),
        Rate::MassAction { constant, reactants, counting } => (constant, reactants, counting),
    };
    let mut product = constant.clone();
    for &(species, count) in reactants {
        for picked in 0..count {
            let mut factor = Expression::species(species);
            if picked > 0 {
                factor = Expression::call(Function::Subtract, [factor, f64::from(picked).into()]);
                // Pick by pick: all picks together would overflow long before their number of orders divides them.
                if *counting == Counting::Combinations {
                    factor = Expression::call(Function::Divide, [factor, f64::from(picked + 1).into()]);
                }
            }
            product = Expression::call(Function::Multiply, [product, factor]);
        }
    }
    product
}

impl Rate {
    /// Whether mass action stops a reaction that would take `count` of a species of which there are fewer.
    fn vanishes_below(&self, species: usize, count: f64) -> bool {
        match self {
            Self::MassAction { reactants, .. } => {
                reactants.iter().any(|&(s, picked)| s == species && f64::from(picked) >= count)
            }
            Self::Expression(_) => false,
        }
    }
}

/// A rate that is a constant times at most two amounts, the second perhaps less one.
struct Product {
    constant: Expression,
    /// Species and what is subtracted: `S`, `S T` or `S (S - 1)`.
    factors: Vec<(usize, f64)>,
}

impl Product {
    /// The rate as such a product, if it is one.
    fn of(rate: &Rate, counted: &[bool]) -> Option<Self> {
        let expression = full_rate(rate);
        let mut parts = Self { constant: 1.0.into(), factors: Vec::new() };
        parts.take(&expression, false)?;
        match parts.factors[..] {
            [] => {}
            [(_, 0.0)] => {}
            [(_, a), (_, b)] if a == 0.0 && b == 0.0 => {}
            [(s, a), (t, b)] if s == t && a + b == 1.0 && a * b == 0.0 && counted[s] => {
                parts.factors.sort_by(|a, b| a.1.total_cmp(&b.1));
            }
            _ => return None,
        }
        Some(parts)
    }

    /// Multiplies by an expression, or divides by it.
    fn take(&mut self, expression: &Expression, below: bool) -> Option<()> {
        match expression {
            Expression::Symbol(Symbol::Species(species)) if !below => self.factors.push((*species, 0.0)),
            Expression::Call(Function::Multiply, parts) => {
                parts.iter().try_for_each(|part| self.take(part, below))?;
            }
            Expression::Call(Function::Divide, parts) => {
                self.take(&parts[0], below)?;
                self.take(&parts[1], !below)?;
            }
            Expression::Call(Function::Subtract, parts) if !below => match (&parts[0], &parts[1]) {
                (Expression::Symbol(Symbol::Species(species)), Expression::Number(1.0)) => {
                    self.factors.push((*species, 1.0));
                }
                _ => self.constant(expression, below)?,
            },
            other => self.constant(other, below)?,
        }
        Some(())
    }

    /// Takes an expression of numbers and parameters into the constant.
    fn constant(&mut self, expression: &Expression, below: bool) -> Option<()> {
        let mut constant = true;
        expression.symbols(&mut |symbol| constant &= matches!(symbol, Symbol::Parameter(_)));
        let function = if below { Function::Divide } else { Function::Multiply };
        let before = std::mem::replace(&mut self.constant, 1.0.into());
        self.constant = match before {
            Expression::Number(1.0) if !below => expression.clone(),
            before => Expression::call(function, [before, expression.clone()]),
        };
        constant.then_some(())
    }

    fn term(&self, compiler: &mut Compiler) -> Term {
        let c = compiler.expression(&self.constant);
        let register =
            |at: usize| self.factors.get(at).map_or(ONE, |&(species, _)| compiler.species(species));
        let less = self.factors.get(1).map_or(0.0, |factor| factor.1);
        Term { c, i: register(0), j: register(1), less }
    }

    /// Whether the rate is 0 when there are fewer than `count` of a species.
    fn vanishes_below(&self, species: usize, count: f64) -> bool {
        let there = |less: f64| self.factors.contains(&(species, less));
        (count <= 1.0 && there(0.0)) || (count <= 2.0 && there(0.0) && there(1.0))
    }
}
