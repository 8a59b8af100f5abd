//! Writing down what is observed while a trajectory is made, and measuring it at its end.

use std::ops::Range;

use counterpoise_core::problem::Failure;
use counterpoise_core::stream::Stream;
use counterpoise_core::variates::{Poisson, StandardNormal};
use rand::RngExt;

use super::{NoiseLaw, Observation};
use crate::expression::program::{self, Compiler, Known, Operation, Register};

/// Where each observed quantity is found and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    times: Vec<f64>,
    /// The number of the first observation time in each of equal stretches of time, and how many there are in one
    /// unit of time.
    first_in: Vec<u32>,
    stretches_a_time: f64,
    outputs: Vec<Output>,
    /// What quantities that are no species need, and the register of the time if they need it.
    operations: Vec<Operation>,
    time: Register,
    plain: bool,
    columns: usize,
}

/// One observable.
#[derive(Clone, Debug)]
struct Output {
    name: String,
    register: Register,
    column: usize,
    once: bool,
    noise: Option<(NoiseLaw, Register)>,
}

impl Recorder {
    pub(crate) fn new(observation: &Observation, compiler: &mut Compiler) -> Self {
        let times = observation.times.values().to_vec();
        let mut columns = 0;
        let outputs: Vec<Output> = observation
            .observables
            .iter()
            .map(|observable| {
                let column = columns;
                columns += if observable.once { 1 } else { times.len() };
                Output {
                    name: observable.name.clone(),
                    register: compiler.expression(&observable.value),
                    column,
                    once: observable.once,
                    noise: observable
                        .noise
                        .as_ref()
                        .map(|noise| (noise.law, compiler.expression(&noise.size))),
                }
            })
            .collect();
        let registers: Vec<Register> = outputs.iter().map(|output| output.register).collect();
        let operations = compiler.with_state(&registers);
        let plain =
            operations.is_empty() && registers.iter().all(|&each| compiler.known(each) != Known::InTime);
        let end = times[times.len() - 1];
        let stretches = if end > 0.0 { times.iter().filter(|&&time| time > 0.0).count() } else { 1 };
        let stretches_a_time = if end > 0.0 { stretches as f64 / end } else { 0.0 };
        // The very times that `passed` would put into a stretch, whatever the rounding.
        let first_in = |stretch: usize| {
            times.iter().position(|time| (time * stretches_a_time) as usize >= stretch).unwrap_or(0) as u32
        };
        let first_in = (0..=stretches).map(first_in).collect();
        Self { first_in, stretches_a_time, outputs, operations, time: compiler.time(), plain, columns, times }
    }

    /// The observation times.
    pub(crate) fn times(&self) -> &[f64] {
        &self.times
    }

    /// The last of them.
    pub(crate) fn end(&self) -> f64 {
        self.times[self.times.len() - 1]
    }

    /// Number of statistics.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Number of the first observation time, from number `next` on, that is not before `now`.
    #[inline(always)]
    pub(crate) fn passed(&self, next: usize, now: f64) -> usize {
        // How far a search would go is anyone's guess; from the start of its stretch it nearly always goes one step.
        let stretch = ((now * self.stretches_a_time) as usize).min(self.first_in.len() - 1);
        let mut next = next.max(self.first_in[stretch] as usize);
        while next < self.times.len() && self.times[next] < now {
            next += 1;
        }
        next
    }

    /// Writes a state as that at some observation times, by their numbers, into summaries that were NaN when the
    /// trajectory set out. It has so many registers.
    #[inline(always)]
    pub(crate) fn record(
        &self,
        times: Range<usize>,
        value: impl Fn(Register) -> f64,
        registers: usize,
        summaries: &mut [f64],
    ) {
        if !self.plain {
            for at in times {
                let registers = (0..registers).map(|register| [value(register as Register)]).collect();
                self.compute(at, registers, summaries);
            }
        } else if times.start < times.end {
            // The others are left for `measure` to fill in: how many there are is anyone's guess.
            self.write(times.start, &value, summaries);
            if times.end == self.times.len() {
                self.write_once(value, summaries);
            }
        }
    }

    /// What was not written is as it was at the time before.
    #[inline(always)]
    fn fill_in(&self, summaries: &mut [f64]) {
        for output in self.outputs.iter().filter(|output| !output.once) {
            let series = &mut summaries[output.column..output.column + self.times.len()];
            let mut last = f64::NAN;
            for summary in series {
                last = if summary.is_nan() { last } else { *summary };
                *summary = last;
            }
        }
    }

    #[inline(always)]
    fn write(&self, at: usize, value: impl Fn(Register) -> f64, summaries: &mut [f64]) {
        for output in &self.outputs {
            if !output.once {
                summaries[output.column + at] = value(output.register);
            }
        }
    }

    #[inline(always)]
    fn write_once(&self, value: impl Fn(Register) -> f64, summaries: &mut [f64]) {
        for output in self.outputs.iter().filter(|output| output.once) {
            summaries[output.column] = value(output.register);
        }
    }

    #[inline(never)]
    fn compute(&self, at: usize, mut registers: Vec<[f64; 1]>, summaries: &mut [f64]) {
        registers[self.time as usize] = [self.times[at]];
        program::run(&self.operations, &mut registers);
        let value = |register: Register| registers[register as usize][0];
        self.write(at, value, summaries);
        if at + 1 == self.times.len() {
            self.write_once(value, summaries);
        }
    }

    /// Completes the summaries of a finished trajectory, and adds the noise of measurement to them.
    ///
    /// # Errors
    /// If a size of noise is not a finite number of at least 0, or a quantity cannot be counted.
    pub(crate) fn measure(
        &self,
        value: impl Fn(Register) -> f64,
        rng: &mut Stream,
        summaries: &mut [f64],
    ) -> Result<(), Failure> {
        if self.plain {
            self.fill_in(summaries);
        }
        for output in &self.outputs {
            let Some((law, size)) = output.noise else { continue };
            let (size, count) = (value(size), if output.once { 1 } else { self.times.len() });
            if !(size.is_finite() && size >= 0.0) {
                return Err(Failure::Declined(format!(
                    "the noise of {} must be a finite number of at least 0, found {size}",
                    output.name
                )));
            }
            for summary in &mut summaries[output.column..output.column + count] {
                *summary = match law {
                    NoiseLaw::Normal => *summary + size * rng.sample::<f64, _>(StandardNormal),
                    NoiseLaw::LogNormal => *summary * libm::exp(size * rng.sample::<f64, _>(StandardNormal)),
                    NoiseLaw::Poisson => {
                        let mean = size * *summary;
                        if !(mean.is_finite() && mean >= 0.0) {
                            let what = format!("a count of {} cannot have the mean {mean}", output.name);
                            return Err(Failure::Declined(what));
                        }
                        rng.sample(Poisson::new(mean))
                    }
                };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Observable, Times};

    #[test]
    fn times_before_a_moment_are_found_from_anywhere() {
        let grids = [
            Times::linear(20.0, 32, true),
            Times::linear(1.0, 7, false),
            Times::geometric(1e-3, 100.0, 32, true),
            Times::new(vec![0.0]),
            Times::new(vec![5.0]),
            Times::new(vec![0.0, 1e-300, 1e300]),
        ];
        for times in grids.map(Result::unwrap) {
            let values = times.values().to_vec();
            let observable = Observable { name: "x".into(), value: 0.0.into(), noise: None, once: true };
            let observation = Observation { times, observables: vec![observable] };
            let recorder = Recorder::new(&observation, &mut Compiler::new(0, 0));
            let around =
                values.iter().flat_map(|time| [time.next_down(), *time, time.next_up(), time * 1.01]);
            for now in around.chain([f64::INFINITY]).filter(|now| *now >= 0.0) {
                let expected = values.iter().filter(|time| **time < now).count();
                for next in 0..=expected {
                    assert_eq!(recorder.passed(next, now), expected, "{now} among {values:?} from {next}");
                }
            }
        }
    }
}
