//! Events that happen as soon as their condition holds.

use counterpoise_core::problem::Failure;

use crate::compile::Compiled;
use crate::expression::bounds::{self, Interval};
use crate::expression::program::{self, Known, Operation, Register};

/// Events at one moment before we say that they never end.
const MOST_AT_ONCE: usize = 10_000;
/// Looks at conditions in the search for the moment one changes.
const MOST_LOOKS: u64 = 1_000_000;

/// The events of a network, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    events: Vec<Planned>,
    /// What the conditions need.
    operations: Vec<Operation>,
    /// What those that change in time need.
    timed: Vec<(usize, Vec<Operation>)>,
    time: Register,
}

/// One event.
#[derive(Clone, Debug)]
struct Planned {
    name: String,
    trigger: Register,
    initially: bool,
    persistent: bool,
    values_from_trigger_time: bool,
    priority: Option<Register>,
    assignments: Vec<Assignment>,
    /// What priority and assignments need.
    operations: Vec<Operation>,
}

#[derive(Clone, Debug)]
struct Assignment {
    to: Register,
    from: Register,
    species: String,
    /// Whether reactions change the species, so that it is a whole number.
    counted: bool,
}

/// An event whose condition became true and whose turn has not come.
struct Waiting {
    event: usize,
    values: Option<Vec<f64>>,
}

impl Events {
    pub(crate) fn new(compiled: &mut Compiled) -> Self {
        let network = &compiled.network;
        let compiler = &mut compiled.compiler;
        let plan = |event: &crate::Event| {
            let trigger = compiler.expression(&event.trigger);
            let priority = event.priority.as_ref().map(|priority| compiler.expression(priority));
            let assignments: Vec<Assignment> = event
                .assignments
                .iter()
                .map(|(species, value)| Assignment {
                    to: compiler.species(*species),
                    from: compiler.expression(value),
                    species: network.species[*species].name.clone(),
                    counted: compiled.counted[*species],
                })
                .collect();
            let inputs: Vec<Register> = assignments.iter().map(|each| each.from).chain(priority).collect();
            Planned {
                name: event.name.clone(),
                trigger,
                initially: event.initially,
                persistent: event.persistent,
                values_from_trigger_time: event.values_from_trigger_time,
                priority,
                assignments,
                operations: compiler.with_state(&inputs),
            }
        };
        let events: Vec<Planned> = network.events.iter().map(plan).collect();
        let triggers: Vec<Register> = events.iter().map(|event| event.trigger).collect();
        let in_time = |&(_, &trigger): &(usize, &Register)| compiler.known(trigger) == Known::InTime;
        let timed = triggers.iter().enumerate().filter(in_time);
        let timed = timed.map(|(event, &trigger)| (event, compiler.with_state(&[trigger]))).collect();
        Self { operations: compiler.with_state(&triggers), timed, time: compiler.time(), events }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// What each condition counts as before time 0.
    pub(super) fn before(&self) -> Vec<bool> {
        self.events.iter().map(|event| event.initially).collect()
    }

    /// Lets every event happen whose condition has become true; `were` are the conditions until now. Whether any
    /// happened.
    ///
    /// # Errors
    /// If events never cease, or set a species to what it cannot be.
    pub(super) fn settle(&self, registers: &mut [[f64; 1]], were: &mut [bool]) -> Result<bool, Failure> {
        let mut waiting: Vec<Waiting> = Vec::new();
        for happened in 0.. {
            program::run(&self.operations, registers);
            for (event, (planned, was)) in self.events.iter().zip(&mut *were).enumerate() {
                let holds = registers[planned.trigger as usize][0] != 0.0;
                if holds && !*was {
                    let values = planned.values_from_trigger_time.then(|| planned.values(registers));
                    waiting.push(Waiting { event, values });
                }
                *was = holds;
            }
            waiting.retain(|each| self.events[each.event].persistent || were[each.event]);
            let Some(first) = self.first(&waiting, registers) else { return Ok(happened > 0) };
            let Waiting { event, values } = waiting.remove(first);
            let planned = &self.events[event];
            if happened >= MOST_AT_ONCE {
                let name = &planned.name;
                return Err(Failure::Declined(format!("the event {name} and others go on without end")));
            }
            let values = values.unwrap_or_else(|| planned.values(registers));
            planned.assign(&values, registers)?;
        }
        Ok(true)
    }

    /// Which of those waiting comes first: the highest priority, then the earlier event.
    fn first(&self, waiting: &[Waiting], registers: &mut [[f64; 1]]) -> Option<usize> {
        let mut first: Option<(usize, f64)> = None;
        for (place, each) in waiting.iter().enumerate() {
            let planned = &self.events[each.event];
            program::run(&planned.operations, registers);
            let priority =
                planned.priority.map_or(f64::NEG_INFINITY, |register| registers[register as usize][0]);
            let before = |&(other, highest): &(usize, f64)| {
                priority > highest || (priority == highest && each.event < waiting[other].event)
            };
            if first.as_ref().is_none_or(before) {
                first = Some((place, priority));
            }
        }
        first.map(|(place, _)| place)
    }

    /// The first moment after `from`, up to `to`, at which a condition is no longer as it was, while the state stays.
    ///
    /// # Errors
    /// If there is no telling.
    pub(super) fn first_flip(
        &self,
        (from, to): (f64, f64),
        registers: &[[f64; 1]],
        were: &[bool],
        intervals: &mut Vec<Interval>,
        looks: &mut u64,
    ) -> Result<Option<f64>, Failure> {
        if self.timed.is_empty() {
            return Ok(None);
        }
        intervals.clear();
        intervals.extend(registers.iter().map(|[value]| Interval::point(*value)));
        // Stretches still to be looked at, the earliest last.
        let mut stretches = vec![(from, to)];
        let most = *looks + MOST_LOOKS;
        while let Some((low, high)) = stretches.pop() {
            *looks += 1;
            if *looks > most {
                let name = &self.events[self.timed[0].0].name;
                let what =
                    format!("the moment of an event such as {name} could not be found near time {low}");
                return Err(Failure::Declined(what));
            }
            let last = high <= low.next_up();
            // The condition at the end of a stretch of nothing but its end is all there is to know.
            let stretch = if last { Interval::point(high) } else { Interval { low, high } };
            intervals[self.time as usize] = stretch;
            let same = self.timed.iter().all(|(event, operations)| {
                bounds::run(operations, intervals);
                intervals[self.events[*event].trigger as usize].truth() == Some(were[*event])
            });
            if same {
                continue;
            }
            if last {
                // Bounds may not know what the values are: these decide.
                let mut there = registers.to_vec();
                there[self.time as usize] = [high];
                program::run(&self.operations, &mut there);
                let flips = |(event, planned): (usize, &Planned)| {
                    (there[planned.trigger as usize][0] != 0.0) != were[event]
                };
                if self.events.iter().enumerate().any(flips) {
                    return Ok(Some(high));
                }
                continue;
            }
            let middle = low + 0.5 * (high - low);
            stretches.push((middle, high));
            stretches.push((low, middle));
        }
        Ok(None)
    }
}

impl Planned {
    fn values(&self, registers: &mut [[f64; 1]]) -> Vec<f64> {
        program::run(&self.operations, registers);
        self.assignments.iter().map(|each| registers[each.from as usize][0]).collect()
    }

    fn assign(&self, values: &[f64], registers: &mut [[f64; 1]]) -> Result<(), Failure> {
        for (assignment, &value) in self.assignments.iter().zip(values) {
            let amount = if assignment.counted { value.round() } else { value };
            if !amount.is_finite() || (assignment.counted && amount < 0.0) {
                let (species, name) = (&assignment.species, &self.name);
                return Err(Failure::Declined(format!("the event {name} would set {species} to {value}")));
            }
            registers[assignment.to as usize] = [amount + 0.0];
        }
        Ok(())
    }
}
