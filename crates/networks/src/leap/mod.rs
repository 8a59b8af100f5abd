//! Tau-leaping: over stretches in which many reactions happen and none of their rates changes much.
//!
//! The step is that of Cao, Gillespie & Petzold (2006), with their critical reactions. Over it the rates are not held
//! as they are at its begin, which puts the mean of a fast transient out by many standard errors, but follow the weak
//! trapezoidal rule of Anderson & Koyama (2012): half a step with the rates a at its begin, then half a step with the
//! rates 2 a' - a, where a' are those midway. Means and variances are then right to the second order in the step;
//! `bench leaping` measures both. Critical reactions keep the rates of the begin.
//!
//! A trajectory leaps only where a leap is expected to cover so many reactions that it costs less than simulating
//! them, and is exact elsewhere, in the lanes or the queue that `exact` has for the network: [`Leaper`] is asked there
//! after every so many steps, counted within the trajectory, so that results depend on its stream alone.
//!
//! A leap that would take an amount below 0 is undone and made anew, half as long. That is a small bias towards leaps
//! which consume less; with ten firings to the end of every reactant it is rare.

mod step;

use counterpoise_core::problem::Failure;
use counterpoise_core::stream::Stream;
use counterpoise_core::variates::{Exp1, Poisson};
use rand::RngExt;

use crate::compile::{Change, Compiled};
use crate::exact::{Ended, Limits, PATIENCE};
use crate::expression::program::{self, Register};
use crate::observe::Recorder;
use step::{Choice, Steps};

/// Reactions that a leap must be expected to cover, for each reaction of the network and besides.
const WORTH_A_REACTION: f64 = 20.0;
const WORTH: f64 = 20.0;

/// Exact steps before the first look at whether leaping pays.
pub(crate) const FIRST_LOOK: u64 = 128;
/// Exact steps between two looks, at the most.
const LONGEST_LOOK: u64 = 1024;

/// Exact steps until the next look, when the last came after `wait` and was followed by so many leaps.
pub(crate) fn next_look(wait: u64, leaps: u64) -> u64 {
    if leaps > 0 { FIRST_LOOK } else { (2 * wait).min(LONGEST_LOOK) }
}

/// How a network is leapt over.
#[derive(Clone, Debug)]
pub(crate) struct Leap {
    steps: Steps,
    /// Reactions that a leap must be expected to cover.
    worth: f64,
}

impl Leap {
    pub(crate) fn new(compiled: &Compiled, epsilon: f64) -> Self {
        let worth = WORTH + WORTH_A_REACTION * compiled.terms.len() as f64;
        Self { steps: Steps::new(compiled, epsilon), worth }
    }
}

/// How far a trajectory has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) now: f64,
    /// Number of the next observation time.
    pub(crate) next: usize,
    /// Exact steps and leaps.
    pub(crate) steps: u64,
}

/// A network, and room for leaps.
#[derive(Clone, Debug)]
pub(crate) struct Leaper<'a> {
    leap: &'a Leap,
    compiled: &'a Compiled,
    recorder: &'a Recorder,
    limits: Limits,
    propensities: Vec<f64>,
    midway: Vec<f64>,
    choice: Choice,
    /// Amounts of the species before the leap.
    before: Vec<[f64; 1]>,
}

impl<'a> Leaper<'a> {
    pub(crate) fn new(
        leap: &'a Leap,
        compiled: &'a Compiled,
        recorder: &'a Recorder,
        limits: Limits,
    ) -> Self {
        let reactions = compiled.terms.len();
        Self {
            leap,
            compiled,
            recorder,
            limits,
            propensities: vec![0.0; reactions],
            midway: vec![0.0; reactions],
            choice: Steps::choice(compiled),
            before: vec![[0.0]; compiled.network.species.len()],
        }
    }

    /// Leaps from where a trajectory is for as long as it pays: perhaps not at all, perhaps past its last observation.
    ///
    /// # Errors
    /// If rates become unusable on the way, there are too many steps, or nobody waits any more.
    #[inline(never)]
    pub(crate) fn leap(
        &mut self,
        place: &mut Place,
        registers: &mut [[f64; 1]],
        rng: &mut Stream,
        summaries: &mut [f64],
        is_cut: &dyn Fn() -> bool,
    ) -> Result<(), Ended> {
        let times = self.recorder.times();
        while place.next < times.len() {
            let Some(total) = propensities(self.compiled, self.limits, registers, &mut self.propensities)
            else {
                // The exact step that follows says what is wrong.
                return Ok(());
            };
            let chosen =
                self.leap.steps.choose(self.compiled, registers, &self.propensities, &mut self.choice);
            let Some(mut longest) = chosen else { return Ok(()) };
            let left = times[place.next] - place.now;
            loop {
                // Two equal leaps to an observation instead of a long one and a short one.
                let step = if longest < left { longest.min(0.5 * left) } else { left };
                if total * step.min(1.0 / self.choice.critical_total) < self.leap.worth {
                    return Ok(());
                }
                if let Some(taken) = self.attempt(step, registers, rng)? {
                    if taken == left {
                        place.now = times[place.next];
                        let value = |register: Register| registers[register as usize][0];
                        self.recorder.record(place.next..place.next + 1, value, registers.len(), summaries);
                        place.next += 1;
                    } else {
                        place.now += taken;
                    }
                    break;
                }
                longest = 0.5 * step;
            }
            place.steps += 1;
            if place.steps.is_multiple_of(PATIENCE) {
                self.limits.allow(place.steps)?;
                if is_cut() {
                    return Err(Ended::Cut);
                }
            }
        }
        Ok(())
    }

    /// A leap of at most `step`, which ends with the next critical reaction: how long it was. Nothing, with the
    /// state as it was, if it would take an amount below 0.
    #[inline(always)]
    fn attempt(
        &mut self,
        mut step: f64,
        registers: &mut [[f64; 1]],
        rng: &mut Stream,
    ) -> Result<Option<f64>, Failure> {
        let Compiled { compiler, changes, .. } = self.compiled;
        let mut fires = None;
        if self.choice.critical_total > 0.0 {
            let wait = rng.sample::<f64, _>(Exp1) / self.choice.critical_total;
            if wait < step {
                step = wait;
                fires = Some(rng.random::<f64>() * self.choice.critical_total);
            }
        }
        let first = compiler.species(0) as usize;
        let species = first..first + self.before.len();
        self.before.copy_from_slice(&registers[species.clone()]);
        let half = 0.5 * step;
        self.draw(|leaper, reaction| leaper.propensities[reaction] * half, registers, rng);
        if below_zero(&registers[species.clone()]) {
            registers[species].copy_from_slice(&self.before);
            return Ok(None);
        }
        if propensities(self.compiled, self.limits, registers, &mut self.midway).is_none() {
            return Err(self.compiled.complaint(registers.to_vec(), self.limits.ceiling));
        }
        let mean = |leaper: &Self, at: usize| (2.0 * leaper.midway[at] - leaper.propensities[at]) * half;
        self.draw(mean, registers, rng);
        if let Some(mut mark) = fires {
            let mut last = None;
            for reaction in (0..changes.len()).filter(|&reaction| self.choice.critical[reaction]) {
                last = Some(reaction);
                mark -= self.propensities[reaction];
                if mark < 0.0 {
                    break;
                }
            }
            last.into_iter().for_each(|reaction| apply(&changes[reaction], 1.0, registers));
        }
        if below_zero(&registers[species.clone()]) {
            registers[species].copy_from_slice(&self.before);
            return Ok(None);
        }
        Ok(Some(step))
    }

    /// Fires each reaction that is not critical a Poisson number of times, of this mean or, if it is less, of 0.
    #[inline(always)]
    fn draw(&self, mean: impl Fn(&Self, usize) -> f64, registers: &mut [[f64; 1]], rng: &mut Stream) {
        for (reaction, changes) in self.compiled.changes.iter().enumerate() {
            let mean = mean(self, reaction);
            if mean > 0.0 && !self.choice.critical[reaction] {
                apply(changes, rng.sample(Poisson::new(mean)), registers);
            }
        }
    }
}

#[inline(always)]
fn below_zero(amounts: &[[f64; 1]]) -> bool {
    amounts.iter().any(|[amount]| *amount < 0.0)
}

/// Adds a reaction's changes, as many times as it fires.
#[inline(always)]
fn apply(changes: &[Change], times: f64, registers: &mut [[f64; 1]]) {
    for change in changes {
        registers[change.register as usize][0] += times * change.by;
    }
}

/// The propensities of a state and their sum; nothing if they cannot be used.
#[inline(always)]
fn propensities(
    compiled: &Compiled,
    limits: Limits,
    registers: &mut [[f64; 1]],
    propensities: &mut [f64],
) -> Option<f64> {
    program::run(&compiled.at_events, registers);
    let (mut total, mut least) = (0.0, 0.0);
    for (term, propensity) in compiled.terms.iter().zip(propensities) {
        *propensity = term.value(|register| registers[register as usize][0]);
        total += *propensity;
        least = if *propensity < least { *propensity } else { least };
    }
    (least >= 0.0 && total <= limits.ceiling).then_some(total)
}

#[cfg(test)]
mod tests;
