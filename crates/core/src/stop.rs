//! When a run has done enough.

use std::fmt::{Debug, Display, Formatter};

use crate::digest::Generation;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The generations asked for are done.
    Generations,
    /// The simulations that were allowed have been made.
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
    /// The reason to stop now, if any.
    fn check(&self, history: &[Generation]) -> Option<StopReason>;

    /// How many simulations all generations together may make, where the rule limits them: a run makes no more,
    /// and stops inside a generation.
    fn simulations(&self) -> Option<usize> {
        None
    }
}

/// Stops after a number of generations.
#[derive(Clone, Debug)]
pub struct AfterGenerations(pub usize);

impl Stop for AfterGenerations {
    fn check(&self, history: &[Generation]) -> Option<StopReason> {
        (history.len() >= self.0).then_some(StopReason::Generations)
    }
}

/// Stops when the simulations of all generations have reached a number.
#[derive(Clone, Debug)]
pub struct SimulationBudget(pub usize);

impl Stop for SimulationBudget {
    fn check(&self, history: &[Generation]) -> Option<StopReason> {
        let done: usize = history.iter().map(|generation| generation.simulations).sum();
        (done >= self.0).then_some(StopReason::Simulations)
    }

    fn simulations(&self) -> Option<usize> {
        Some(self.0)
    }
}

/// Stops after a generation whose effective sample size is below a floor.
#[derive(Clone, Debug)]
pub struct EffectiveSampleSizeFloor(pub f64);

impl Stop for EffectiveSampleSizeFloor {
    fn check(&self, history: &[Generation]) -> Option<StopReason> {
        let last = history.last()?;
        let ess = last.population.effective_sample_size();
        (ess < self.0).then_some(StopReason::EffectiveSampleSize)
    }
}

/// Stops when the first of several rules says so.
#[derive(Debug)]
pub struct FirstOf(pub Vec<Box<dyn Stop>>);

impl Stop for FirstOf {
    fn check(&self, history: &[Generation]) -> Option<StopReason> {
        self.0.iter().find_map(|rule| rule.check(history))
    }

    fn simulations(&self) -> Option<usize> {
        self.0.iter().filter_map(|rule| rule.simulations()).min()
    }
}
