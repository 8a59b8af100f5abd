//! The next reaction method of Gibson & Bruck (2000), for larger networks: each reaction has the moment at which it will
//! fire. After an event only what it changed is computed anew, and what is left of the waiting is stretched with the rate.

use std::collections::BTreeSet;

use counterpoise_core::stream::Stream;

use super::queue::Queue;
use super::{Ended, Limits, OneByOne, PATIENCE, exponential, observe};
use crate::compile::{Compiled, Term};
use crate::expression::Function;
use crate::expression::program::{self, Operation, Register};
use crate::leap::{FIRST_LOOK, Leap, Leaper, Place, next_look};
use crate::observe::Recorder;

/// Which propensities depend on what a reaction changes, and what they need.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// The reactions whose moments an event of each reaction changes, ascending: those whose propensities read what it
    /// changes, and itself.
    affected: Vec<Vec<u32>>,
    /// What the propensity of each reaction needs; nothing where it is a product.
    operations: Vec<Vec<Operation>>,
    /// Whether the propensity of each reaction could be negative or NaN.
    doubtful: Vec<bool>,
    /// Whether a species' register could fall below 0.
    watched: Vec<bool>,
}

impl Graph {
    pub(crate) fn new(compiled: &Compiled) -> Self {
        let Compiled { compiler, terms, .. } = compiled;
        let inputs = |term: &Term| [term.c, term.i, term.j];
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); compiler.values().len()];
        for (reaction, term) in terms.iter().enumerate() {
            for species in compiler.species_behind(&inputs(term)) {
                readers[compiler.species(species) as usize].push(reaction as u32);
            }
        }
        let affected = compiled.changes.iter().enumerate().map(|(reaction, changes)| {
            let read = changes.iter().flat_map(|change| readers[change.register as usize].iter().copied());
            let affected: BTreeSet<u32> = read.chain([reaction as u32]).collect();
            affected.into_iter().collect()
        });
        let mut watched = vec![false; compiler.values().len()];
        compiled.watched.iter().for_each(|&register| watched[register as usize] = true);
        let doubtful: BTreeSet<Register> = compiled.doubtful.iter().copied().collect();
        Self {
            affected: affected.collect(),
            operations: terms.iter().map(|term| compiler.with_state(&inputs(term))).collect(),
            doubtful: terms.iter().map(|term| doubtful.contains(&term.c)).collect(),
            watched,
        }
    }
}

/// A network of many reactions, and room for one trajectory.
#[derive(Debug)]
pub(crate) struct Next<'a> {
    compiled: &'a Compiled,
    graph: &'a Graph,
    recorder: &'a Recorder,
    limits: Limits,
    registers: Vec<[f64; 1]>,
    propensities: Vec<f64>,
    queue: Queue,
    leaper: Option<Leaper<'a>>,
}

impl<'a> Next<'a> {
    pub(crate) fn new(
        compiled: &'a Compiled,
        graph: &'a Graph,
        recorder: &'a Recorder,
        limits: Limits,
        leap: Option<&'a Leap>,
    ) -> Self {
        let (propensities, queue) = (vec![0.0; compiled.terms.len()], Queue::new(compiled.terms.len()));
        let leaper = leap.map(|leap| Leaper::new(leap, compiled, recorder, limits));
        Self { compiled, graph, recorder, limits, registers: Vec::new(), propensities, queue, leaper }
    }

    /// Computes all propensities anew, and draws all moments from `now` on.
    ///
    /// # Errors
    /// If a propensity cannot be used.
    fn fill(&mut self, now: f64, rng: &mut Stream) -> Result<(), Ended> {
        for reaction in 0..self.propensities.len() {
            self.propensities[reaction] = self.propensity(reaction)?;
        }
        // A moment that never comes where the propensity is 0.
        self.queue.fill(self.propensities.iter().map(|propensity| now + exponential(rng) / propensity));
        Ok(())
    }

    /// The propensity of a reaction.
    ///
    /// # Errors
    /// If it cannot be used.
    #[inline(always)]
    fn propensity(&mut self, reaction: usize) -> Result<f64, Ended> {
        let operations = &self.graph.operations[reaction];
        if !operations.is_empty() {
            program::run(operations, &mut self.registers);
        }
        let value = self.compiled.terms[reaction].value(|register| self.registers[register as usize][0]);
        if !(value <= self.limits.ceiling) || (self.graph.doubtful[reaction] && !(value >= 0.0)) {
            return Err(self.complaint());
        }
        // No -0, which would put the next event at minus infinity.
        Ok(value + 0.0)
    }

    /// Computes anew when the reactions fire that an event of `reaction` has changed.
    #[inline(always)]
    fn update(&mut self, reaction: usize, now: f64, rng: &mut Stream) -> Result<(), Ended> {
        let graph = self.graph;
        for &affected in &graph.affected[reaction] {
            let affected = affected as usize;
            let (before, after) = (self.propensities[affected], self.propensity(affected)?);
            self.propensities[affected] = after;
            let at = self.queue.at(affected);
            let at = if affected == reaction || !at.is_finite() || after == 0.0 {
                now + exponential(rng) / after
            } else {
                now + (at - now) * before / after
            };
            self.queue.set(affected, at);
        }
        Ok(())
    }

    fn complaint(&self) -> Ended {
        self.compiled.complaint(self.registers.clone(), self.limits.ceiling).into()
    }
}

impl OneByOne for Next<'_> {
    fn trajectory(
        &mut self,
        theta: &[f64],
        rng: &mut Stream,
        summaries: &mut [f64],
        is_cut: &dyn Fn() -> bool,
    ) -> Result<(), Ended> {
        self.compiled.set_out(theta, &mut self.registers)?;
        summaries.fill(f64::NAN);
        self.fill(0.0, rng)?;
        let (graph, compiled, recorder) = (self.graph, self.compiled, self.recorder);
        let times = recorder.times();
        let (mut next, mut events) = (0, 0);
        let (mut wait, mut looks_at) =
            (FIRST_LOOK, if self.leaper.is_some() { FIRST_LOOK } else { u64::MAX });
        loop {
            let (reaction, now) = self.queue.first();
            if !(now <= times[next]) {
                next = observe(recorder, next, now, &self.registers, summaries);
                if next == times.len() {
                    break;
                }
            }
            for change in &compiled.changes[reaction] {
                let amount = &mut self.registers[change.register as usize][0];
                *amount += change.by;
                if *amount < 0.0 && graph.watched[change.register as usize] {
                    return Err(self.complaint());
                }
            }
            self.update(reaction, now, rng)?;
            events += 1;
            if events % PATIENCE == 0 {
                self.limits.allow(events)?;
                if is_cut() {
                    return Err(Ended::Cut);
                }
            }
            if events >= looks_at
                && let Some(leaper) = &mut self.leaper
            {
                let mut place = Place { now, next, steps: events };
                leaper.leap(&mut place, &mut self.registers, rng, summaries, is_cut)?;
                if place.steps > events {
                    self.fill(place.now, rng)?;
                }
                wait = next_look(wait, place.steps - events);
                (next, events) = (place.next, place.steps);
                if next == times.len() {
                    break;
                }
                looks_at = events + wait;
            }
        }
        self.limits.allow(events)?;
        let value = |register: Register| self.registers[register as usize][0];
        Ok(recorder.measure(value, rng, summaries)?)
    }
}

/// Whether computing all propensities at every event, in lanes, is the faster way for a network.
pub(crate) fn suits_lanes(compiled: &Compiled) -> bool {
    let cost = |operation: &Operation| match operation.function {
        Function::Add | Function::Subtract | Function::Multiply | Function::Divide | Function::Negate => 1,
        _ => 20,
    };
    compiled.terms.len() + compiled.at_events.iter().map(cost).sum::<usize>() <= LANES_UP_TO
}

/// Reactions and operations up to which lanes are faster. Measured on chains of reactions, nanoseconds an event: lanes take
/// 50 with 150 reactions, 90 with 300, 120 with 500; the queue takes 50 to 75 with 520, 55 to 80 with 1,000.
const LANES_UP_TO: usize = 192;
