//! The direct method where rates change between reactions, or events wait for their moment.
//!
//! Thinning (Lewis & Shedler 1979; Voliotis et al. 2016): over a stretch of time the total propensity is bounded by
//! interval arithmetic, candidates come at the rate of the bound, and one at time t is a reaction with the
//! probability that the total at t has beside it. Exact for every stretch and every bound that holds.

use counterpoise_core::problem::Failure;
use counterpoise_core::stream::Stream;

use super::events::Events;
use super::{Ended, Limits, OneByOne, PATIENCE, exponential, observe};
use crate::compile::{Compiled, Term};
use crate::expression::bounds::{self, Interval};
use crate::expression::program::{self, Register};
use crate::observe::Recorder;

/// Room for the rounding of bounds.
const SLACK: f64 = 1.0 + 1e-9;
/// Times a stretch is cut to a quarter before its rates count as unbounded.
const MOST_CUTS: usize = 40;

/// A network whose rates or events depend on time, and room for one trajectory.
#[derive(Debug)]
pub(crate) struct Timed<'a> {
    compiled: &'a Compiled,
    events: &'a Events,
    recorder: &'a Recorder,
    limits: Limits,
    /// Whether rates change between reactions.
    changing: bool,
    time: Register,
    registers: Vec<[f64; 1]>,
    intervals: Vec<Interval>,
    propensities: Vec<f64>,
}

impl<'a> Timed<'a> {
    pub(crate) fn new(
        compiled: &'a Compiled,
        events: &'a Events,
        recorder: &'a Recorder,
        limits: Limits,
    ) -> Self {
        Self {
            compiled,
            events,
            recorder,
            limits,
            changing: compiled.depends_on_time(),
            time: compiled.compiler.time(),
            registers: Vec::new(),
            intervals: Vec::new(),
            propensities: vec![0.0; compiled.terms.len()],
        }
    }

    fn complaint(&self) -> Failure {
        self.compiled.complaint(self.registers.clone(), self.limits.ceiling)
    }

    /// The propensities now and their sum.
    fn total(&mut self) -> Result<f64, Failure> {
        program::run(&self.compiled.at_events, &mut self.registers);
        let mut total = 0.0;
        for (term, propensity) in self.compiled.terms.iter().zip(&mut self.propensities) {
            *propensity = term.value(|register| self.registers[register as usize][0]);
            if !(*propensity >= 0.0) {
                return Err(self.complaint());
            }
            total += *propensity;
        }
        if total <= self.limits.ceiling { Ok(total) } else { Err(self.complaint()) }
    }

    /// A stretch from `now`, at most `stretch` long, and a bound of the total propensity in it.
    fn bound(&mut self, now: f64, mut stretch: f64) -> Result<(f64, f64), Failure> {
        if !self.changing {
            return Ok((self.total()?, stretch));
        }
        self.intervals.clear();
        self.intervals.extend(self.registers.iter().map(|[value]| Interval::point(*value)));
        for _ in 0..MOST_CUTS {
            self.intervals[self.time as usize] = Interval { low: now, high: now + stretch };
            bounds::run(&self.compiled.at_events, &mut self.intervals);
            let most = |term: &Term| {
                let most = term.value(|register| self.intervals[register as usize].high);
                // What is no number must not pass for 0.
                if most.is_nan() { f64::INFINITY } else { most.max(0.0) }
            };
            // From 0, since an empty sum is -0.
            let bound = SLACK * self.compiled.terms.iter().map(most).fold(0.0, |sum, most| sum + most);
            if bound <= self.limits.ceiling {
                return Ok((bound, stretch));
            }
            stretch *= 0.25;
            // A stretch of no time at all would be looked at for ever.
            if now + stretch == now {
                break;
            }
        }
        // A rate that is no number at all says so itself.
        self.total()?;
        Err(Failure::Declined(format!("the rates grow without bound near time {now}")))
    }

    /// The reaction on which `mark` falls, if it falls on one.
    fn find(&self, mut mark: f64) -> Option<usize> {
        let chosen = self.propensities.iter().position(|&propensity| {
            let here = mark < propensity;
            mark -= propensity;
            here
        });
        // The difference of roundings beyond the last.
        chosen.or_else(|| self.propensities.iter().rposition(|&propensity| propensity > 0.0))
    }

    fn react(&mut self, reaction: usize) -> Result<(), Failure> {
        for change in &self.compiled.changes[reaction] {
            self.registers[change.register as usize][0] += change.by;
        }
        let below = |register: &&Register| self.registers[**register as usize][0] < 0.0;
        if self.compiled.watched.iter().any(|register| below(&register)) {
            return Err(self.complaint());
        }
        Ok(())
    }
}

impl OneByOne for Timed<'_> {
    fn trajectory(
        &mut self,
        theta: &[f64],
        rng: &mut Stream,
        summaries: &mut [f64],
        is_cut: &dyn Fn() -> bool,
    ) -> Result<(), Ended> {
        self.compiled.set_out(theta, &mut self.registers)?;
        summaries.fill(f64::NAN);
        let mut were = self.events.before();
        self.events.settle(&mut self.registers, &mut were)?;
        let times = self.recorder.times();
        // What lies after the last observation need not be known.
        let end = self.recorder.end().next_up();
        let (mut now, mut next, mut reactions, mut looks, mut rest) = (0.0, 0, 0, 0, 0);
        let mut stretch = end;
        loop {
            let (bound, looked) = self.bound(now, stretch.min(end - now))?;
            let candidate = now + exponential(rng) / bound;
            let (mut to, mut reacts) = (candidate, true);
            if !(candidate <= now + looked) {
                (to, reacts) = (now + looked, false);
            }
            let flip =
                self.events.first_flip((now, to), &self.registers, &were, &mut self.intervals, &mut looks)?;
            if let Some(flip) = flip {
                (to, reacts) = (flip, false);
            }
            next = observe(self.recorder, next, to, &self.registers, summaries);
            now = to;
            self.registers[self.time as usize] = [now];
            if self.changing && !reacts {
                // A rate that is negative where no candidate came is negative still.
                self.total()?;
            }
            if next == times.len() {
                break;
            }
            if reacts {
                let total = self.total()?;
                if total > bound {
                    return Err(
                        Failure::Declined(format!("the rates could not be bounded near time {now}")).into()
                    );
                }
                let mark = rng.uniform() * bound;
                if mark < total
                    && let Some(reaction) = self.find(mark)
                {
                    self.react(reaction)?;
                    reactions += 1;
                }
                // Poor bounds come from long stretches, and good ones from short ones.
                stretch = if total < 0.5 * bound { 0.5 * looked } else { stretch };
            } else if flip.is_none() {
                stretch = 2.0 * looked;
            }
            self.events.settle(&mut self.registers, &mut were)?;
            looks += 1;
            if looks >= rest {
                rest = looks + PATIENCE;
                self.limits.allow(reactions)?;
                if is_cut() {
                    return Err(Ended::Cut);
                }
            }
        }
        self.limits.allow(reactions)?;
        let value = |register: Register| self.registers[register as usize][0];
        Ok(self.recorder.measure(value, rng, summaries)?)
    }
}
