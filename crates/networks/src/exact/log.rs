//! What happened lately in each lane, to be looked through later: where most events pass an observation time, which ones do
//! is anyone's guess, and a loop over a trajectory's events guesses nothing.

use std::ops::Range;

use super::wide::Wide;
use crate::expression::program::Register;
use crate::observe::Recorder;

/// Steps that a log holds.
pub(super) const STEPS: usize = 32;

/// The times of the last steps, and what was observed before each.
#[derive(Debug)]
pub(super) struct Log<const Q: usize> {
    times: Box<[Wide<Q>; STEPS]>,
    observed: Vec<Observed<Q>>,
}

/// A register, where its series begins among the summaries, and its values.
#[derive(Debug)]
struct Observed<const Q: usize> {
    register: usize,
    column: usize,
    values: Box<[Wide<Q>; STEPS]>,
}

/// The place of a step in the log.
#[inline(always)]
fn place(step: i64) -> usize {
    step as usize % STEPS
}

impl<const Q: usize> Log<Q> {
    pub(super) fn new(recorder: &Recorder) -> Self {
        let none = || Box::new([Wide::splat(0.0); STEPS]);
        let observed = |&(register, column): &(Register, usize)| Observed {
            register: register as usize,
            column,
            values: none(),
        };
        Self { times: none(), observed: recorder.series().iter().map(observed).collect() }
    }

    /// Notes the moments to which a step takes the lanes, and the state before.
    #[inline(always)]
    pub(super) fn note(&mut self, step: i64, now: &Wide<Q>, registers: &[Wide<Q>]) {
        let at = place(step);
        self.times[at] = *now;
        for Observed { register, values, .. } in &mut self.observed {
            values[at] = registers[*register];
        }
    }

    /// Writes down what the steps of lane (q, k) passed, from observation time number `next` on, and gives the number of
    /// the next one.
    pub(super) fn replay(
        &self,
        lane: (usize, usize),
        steps: Range<i64>,
        next: usize,
        recorder: &Recorder,
        summaries: &mut [f64],
    ) -> usize {
        let (finder, end) = (recorder.finder(), recorder.times().len());
        let moments = steps.map(|step| (place(step), self.times[place(step)][lane.0][lane.1]));
        match &self.observed[..] {
            // The most common case, in as few operations as can be.
            [Observed { column, values, .. }] if finder.is_plain() => {
                let series = &mut summaries[*column..column + end];
                let mut next = next;
                for (at, now) in moments {
                    // Should no observation be due, this will be overwritten when it is.
                    series[next] = values[at][lane.0][lane.1];
                    next = finder.passed_plain(now);
                }
                next
            }
            observed => moments.fold(next, |next, (at, now)| {
                for Observed { column, values, .. } in observed {
                    summaries[column + next] = values[at][lane.0][lane.1];
                }
                finder.passed(next, now)
            }),
        }
    }
}
