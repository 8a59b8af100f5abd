//! The direct method for larger networks: after an event only the propensities that it changed are computed anew.

use std::collections::BTreeSet;

use counterpoise_core::stream::Stream;

use super::sums::Sums;
use super::{Ended, Limits, OneByOne, PATIENCE, exponential, observe};
use crate::compile::{Compiled, Term};
use crate::expression::Function;
use crate::expression::program::{self, Operation, Register};
use crate::leap::{FIRST_LOOK, Leap, Leaper, Place, next_look};
use crate::observe::Recorder;

/// Which propensities depend on each species, and what they need.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// The reactions whose propensities read each register, ascending; for species alone.
    readers: Vec<Vec<u32>>,
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
        let mut readers = vec![Vec::new(); compiler.values().len()];
        for (reaction, term) in terms.iter().enumerate() {
            for species in compiler.species_behind(&inputs(term)) {
                readers[compiler.species(species) as usize].push(reaction as u32);
            }
        }
        let mut watched = vec![false; compiler.values().len()];
        compiled.watched.iter().for_each(|&register| watched[register as usize] = true);
        let doubtful: BTreeSet<Register> = compiled.doubtful.iter().copied().collect();
        Self {
            readers,
            operations: terms.iter().map(|term| compiler.with_state(&inputs(term))).collect(),
            doubtful: terms.iter().map(|term| doubtful.contains(&term.c)).collect(),
            watched,
        }
    }
}

/// A network of many reactions, and room for one trajectory.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    compiled: &'a Compiled,
    graph: &'a Graph,
    recorder: &'a Recorder,
    limits: Limits,
    registers: Vec<[f64; 1]>,
    sums: Sums,
    leaper: Option<Leaper<'a>>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(
        compiled: &'a Compiled,
        graph: &'a Graph,
        recorder: &'a Recorder,
        limits: Limits,
        leap: Option<&'a Leap>,
    ) -> Self {
        let sums = Sums::new(compiled.terms.len());
        let leaper = leap.map(|leap| Leaper::new(leap, compiled, recorder, limits));
        Self { compiled, graph, recorder, limits, registers: Vec::new(), sums, leaper }
    }

    /// Computes all propensities anew.
    fn fill(&mut self) {
        let all: Vec<f64> =
            (0..self.compiled.terms.len()).map(|reaction| self.propensity(reaction)).collect();
        self.sums.fill(all.into_iter());
    }

    /// The propensity of a reaction; NaN, which shows in the total, where it is negative.
    #[inline(always)]
    fn propensity(&mut self, reaction: usize) -> f64 {
        let operations = &self.graph.operations[reaction];
        if !operations.is_empty() {
            program::run(operations, &mut self.registers);
        }
        let value = self.compiled.terms[reaction].value(|register| self.registers[register as usize][0]);
        if self.graph.doubtful[reaction] && !(value >= 0.0) { f64::NAN } else { value }
    }

    fn complaint(&self) -> Ended {
        self.compiled.complaint(self.registers.clone(), self.limits.ceiling).into()
    }
}

impl OneByOne for Tree<'_> {
    fn trajectory(
        &mut self,
        theta: &[f64],
        rng: &mut Stream,
        summaries: &mut [f64],
        is_cut: &dyn Fn() -> bool,
    ) -> Result<(), Ended> {
        self.compiled.set_out(theta, &mut self.registers)?;
        summaries.fill(f64::NAN);
        self.fill();
        let (graph, compiled, recorder) = (self.graph, self.compiled, self.recorder);
        let times = recorder.times();
        let (mut now, mut next, mut events) = (0.0, 0, 0);
        let (mut wait, mut looks_at) =
            (FIRST_LOOK, if self.leaper.is_some() { FIRST_LOOK } else { u64::MAX });
        loop {
            let total = self.sums.total();
            now += exponential(rng) / total;
            if !(now <= times[next]) || !(total <= self.limits.ceiling) {
                if !(total <= self.limits.ceiling) {
                    return Err(self.complaint());
                }
                next = observe(recorder, next, now, &self.registers, summaries);
                if next == times.len() {
                    break;
                }
            }
            let reaction = self.sums.find(rng.uniform() * total);
            for change in &compiled.changes[reaction] {
                let amount = &mut self.registers[change.register as usize][0];
                *amount += change.by;
                if *amount < 0.0 && graph.watched[change.register as usize] {
                    return Err(self.complaint());
                }
            }
            for change in &compiled.changes[reaction] {
                let readers = &graph.readers[change.register as usize];
                for &reader in readers {
                    let propensity = self.propensity(reader as usize);
                    self.sums.set(reader as usize, propensity);
                }
                self.sums.update(readers);
            }
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
                    self.fill();
                }
                wait = next_look(wait, place.steps - events);
                (now, next, events) = (place.now, place.next, place.steps);
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
        _ => 10,
    };
    compiled.terms.len().div_ceil(TERMS_AN_OPERATION) + compiled.at_events.iter().map(cost).sum::<usize>()
        <= LANES_UP_TO
}

/// Operations up to which lanes are faster, and propensities by mass action that take as long as one. Measured on chains of
/// reactions, each way forced, nanoseconds an event: with 150 reactions lanes take 50 and the tree 230, with 300 105 and
/// 260, with 500 130, with 800 200; with 1,000 the tree takes 320 to 450.
const LANES_UP_TO: usize = 128;
const TERMS_AN_OPERATION: usize = 4;
