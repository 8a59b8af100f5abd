//! When a run has done enough.

use std::fmt::{Debug, Display, Formatter};

use crate::digest::Generation;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The generations asked for are done.
    Generations,
    /// The budget of simulations leaves no room for another generation.
    Simulations,
    /// The effective sample size fell below its floor.
    EffectiveSampleSize,
    /// The time is up.
    Seconds,
    /// The user asked to stop.
    Interrupt,
}

impl Display for StopReason {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Generations => "generations",
            Self::Simulations => "simulations",
            Self::EffectiveSampleSize => "ess",
            Self::Seconds => "seconds",
            Self::Interrupt => "interrupt",
        })
    }
}

/// A stopping rule: a pure function of what has happened so far, asked before each generation.
pub trait Stop: Debug + Send + Sync {
    /// The reason to stop now, if any; `next` is the number of simulations of the coming generation.
    fn check(&self, history: &[Generation], next: usize) -> Option<StopReason>;
}

/// Stops after a number of generations.
#[derive(Clone, Debug)]
pub struct AfterGenerations(pub usize);

impl Stop for AfterGenerations {
    fn check(&self, history: &[Generation], _: usize) -> Option<StopReason> {
        (history.len() >= self.0).then_some(StopReason::Generations)
    }
}

/// Stops before the simulations of all generations exceed a number; the first generation is always run.
#[derive(Clone, Debug)]
pub struct SimulationBudget(pub usize);

impl Stop for SimulationBudget {
    fn check(&self, history: &[Generation], next: usize) -> Option<StopReason> {
        let done: usize = history.iter().map(|generation| generation.simulations).sum();
        (!history.is_empty() && done + next > self.0).then_some(StopReason::Simulations)
    }
}

/// Stops after a generation whose effective sample size is below a floor.
#[derive(Clone, Debug)]
pub struct EffectiveSampleSizeFloor(pub f64);

impl Stop for EffectiveSampleSizeFloor {
    fn check(&self, history: &[Generation], _: usize) -> Option<StopReason> {
        let last = history.last()?;
        let ess = last.population.weights.effective_sample_size();
        (ess < self.0).then_some(StopReason::EffectiveSampleSize)
    }
}

/// Stops when the first of several rules says so.
#[derive(Debug)]
pub struct FirstOf(pub Vec<Box<dyn Stop>>);

impl Stop for FirstOf {
    fn check(&self, history: &[Generation], next: usize) -> Option<StopReason> {
        self.0.iter().find_map(|rule| rule.check(history, next))
    }
}
