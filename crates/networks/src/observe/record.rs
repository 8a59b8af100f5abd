//! Writing down what is observed while a trajectory is made, and measuring it at its end.

use std::ops::Range;

use counterpoise_core::problem::Failure;
use counterpoise_core::stream::Stream;
use counterpoise_core::variates::{Poisson, StandardNormal};
use rand::RngExt;

use super::finder::Finder;
use super::{NoiseLaw, Observation};
use crate::expression::program::{self, Compiler, Known, Operation, Register};

/// Where each observed quantity is found and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    times: Vec<f64>,
    finder: Finder,
    outputs: Vec<Output>,
    /// Those observed at every time: register and first column.
    series: Vec<(Register, usize)>,
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
        let finder = Finder::new(&times);
        let series = outputs.iter().filter(|output| !output.once);
        let series = series.map(|output| (output.register, output.column)).collect();
        Self { finder, outputs, series, operations, time: compiler.time(), plain, columns, times }
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

    /// What finds the next of them.
    #[inline(always)]
    pub(crate) fn finder(&self) -> &Finder {
        &self.finder
    }

    /// Whether what is observed is in registers as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// The registers that are observed at every time, and the column of the first.
    pub(crate) fn series(&self) -> &[(Register, usize)] {
        &self.series
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
        for &(_, column) in &self.series {
            let series = &mut summaries[column..column + self.times.len()];
            let mut last = f64::NAN;
            for summary in series {
                last = if summary.is_nan() { last } else { *summary };
                *summary = last;
            }
        }
    }

    #[inline(always)]
    fn write(&self, at: usize, value: impl Fn(Register) -> f64, summaries: &mut [f64]) {
        for &(register, column) in &self.series {
            summaries[column + at] = value(register);
        }
    }

    /// Writes what is observed at the end only.
    #[inline(always)]
    pub(crate) fn write_once(&self, value: impl Fn(Register) -> f64, summaries: &mut [f64]) {
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
