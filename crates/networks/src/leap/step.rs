//! How far a leap may go: the step of Cao, Gillespie & Petzold (2006), and the reactions that must not be leapt over.

use crate::compile::{Compiled, Term};
use crate::expression::program::{ONE, Register};
use crate::network::Rate;

/// Reactions that could use up a reactant in fewer firings than this are critical: at most one fires in a leap.
const CRITICAL: f64 = 10.0;

/// The order at which a rate that is no mass action is taken to depend on each species that it reads.
///
/// What counts is the elasticity, by how many percent the rate changes when the species changes by one. Products,
/// quotients and Hill functions with coefficients up to 4 have no more than this.
const EXPRESSION_ORDER: f64 = 4.0;

/// How a reaction's rate depends on a species: its order, and how many of the species it picks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Order {
    order: f64,
    picks: u32,
}

impl Order {
    /// The g of the paper, for any order: a relative change of epsilon / g keeps that of the rate below epsilon.
    #[inline(always)]
    fn g(self, amount: f64) -> f64 {
        let Self { order, picks } = self;
        match picks {
            1 => order,
            2 => 0.5 * order * (2.0 + 1.0 / (amount - 1.0).max(1.0)),
            picks => {
                let share = |less: u32| amount.max(1.0) / (amount - f64::from(less)).max(1.0);
                order / f64::from(picks) * (0..picks).map(share).sum::<f64>()
            }
        }
    }
}

/// A species that rates depend on.
#[derive(Clone, Debug)]
struct Read {
    species: usize,
    register: Register,
    orders: Vec<Order>,
}

/// What the choice of a step needs to know of a network.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    epsilon: f64,
    first: Register,
    reads: Vec<Read>,
}

/// Room for the choice of a step.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) critical: Vec<bool>,
    /// Sum of the propensities of critical reactions.
    pub(super) critical_total: f64,
    /// Mean and variance of the change of each species in a unit of time, by reactions that are not critical.
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl Steps {
    pub(super) fn new(compiled: &Compiled, epsilon: f64) -> Self {
        let Compiled { compiler, network, terms, .. } = compiled;
        let first = compiler.species(0);
        let read = |species| Read { species, register: compiler.species(species), orders: Vec::new() };
        let mut reads: Vec<Read> = (0..network.species.len()).map(read).collect();
        for (term, reaction) in terms.iter().zip(&network.reactions) {
            for (species, order) in orders(compiled, term, &reaction.rate) {
                let orders = &mut reads[species].orders;
                if !orders.iter().any(|other| other.order >= order.order && other.picks >= order.picks) {
                    orders.retain(|other| other.order > order.order || other.picks > order.picks);
                    orders.push(order);
                }
            }
        }
        reads.retain(|read| !read.orders.is_empty());
        Self { epsilon, first, reads }
    }

    pub(super) fn choice(compiled: &Compiled) -> Choice {
        let (reactions, species) = (compiled.terms.len(), compiled.network.species.len());
        Choice {
            critical: vec![false; reactions],
            critical_total: 0.0,
            mean: vec![0.0; species],
            variance: vec![0.0; species],
        }
    }

    /// How long the reactions that are not critical may be leapt over: no propensity should change by more than a
    /// share epsilon, nor its standard deviation be more. Nothing if a reaction would use up more than there is.
    #[inline(always)]
    pub(super) fn choose(
        &self,
        compiled: &Compiled,
        registers: &[[f64; 1]],
        propensities: &[f64],
        choice: &mut Choice,
    ) -> Option<f64> {
        let Choice { critical, critical_total, mean, variance } = choice;
        mean.fill(0.0);
        variance.fill(0.0);
        *critical_total = 0.0;
        for ((changes, &propensity), critical) in compiled.changes.iter().zip(propensities).zip(critical) {
            *critical = false;
            if propensity == 0.0 {
                continue;
            }
            for change in changes {
                let after = registers[change.register as usize][0] + change.by;
                if change.by < 0.0 && after < 0.0 {
                    return None;
                }
                *critical |= after < -(CRITICAL - 1.0) * change.by;
            }
            if *critical {
                *critical_total += propensity;
                continue;
            }
            for change in changes {
                let species = (change.register - self.first) as usize;
                mean[species] += change.by * propensity;
                variance[species] += change.by * change.by * propensity;
            }
        }
        let mut step = f64::INFINITY;
        for Read { species, register, orders } in &self.reads {
            if variance[*species] == 0.0 {
                continue;
            }
            let amount = registers[*register as usize][0];
            let g = orders.iter().map(|order| order.g(amount)).fold(1.0, f64::max);
            // One firing always changes something: less than it cannot be asked for.
            let most = (self.epsilon * amount / g).max(1.0);
            step = step.min(most / mean[*species].abs()).min(most * most / variance[*species]);
        }
        Some(step)
    }
}

/// The species that a rate depends on, and how.
fn orders(compiled: &Compiled, term: &Term, rate: &Rate) -> Vec<(usize, Order)> {
    let Compiled { compiler, .. } = compiled;
    if let Rate::MassAction { reactants, .. } = rate {
        let order = reactants.iter().map(|&(_, picks)| f64::from(picks)).sum();
        return reactants.iter().map(|&(species, picks)| (species, Order { order, picks })).collect();
    }
    let read = compiler.species_behind(&[term.c, term.i, term.j]);
    if compiled.doubtful.contains(&term.c) {
        let order = Order { order: EXPRESSION_ORDER, picks: 1 };
        return read.into_iter().map(|species| (species, order)).collect();
    }
    // A product of a constant and at most two amounts.
    let order = if term.i != ONE && term.j != ONE { 2.0 } else { 1.0 };
    let picks = if term.less == 0.0 { 1 } else { 2 };
    read.into_iter().map(|species| (species, Order { order, picks })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g_is_that_of_the_paper() {
        let g = |order, picks| Order { order, picks }.g(5.0);
        assert_eq!((g(1.0, 1), g(2.0, 1), g(3.0, 1)), (1.0, 2.0, 3.0));
        assert_eq!((g(2.0, 2), g(3.0, 2)), (2.0 + 1.0 / 4.0, 1.5 * (2.0 + 1.0 / 4.0)));
        assert!((g(3.0, 3) - (3.0 + 1.0 / 4.0 + 2.0 / 3.0)).abs() < 1e-15);
    }
}
