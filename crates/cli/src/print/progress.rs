//! What a run tells while it goes on: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::time::Instant;

use counterpoise_core::digest::Generation;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::number::{duration, significant};
use crate::output::Output;

/// Seconds between two lines, and between two states of a bar.
const PAUSE: f64 = 2.0;
const FRAME: f64 = 0.1;

/// Rates and the time that is left, from what has been done so far.
#[derive(Clone, Debug, Default)]
struct Pace {
    generations: usize,
    simulations: usize,
    /// Generations committed, and the seconds since the start when the last of them was.
    committed: usize,
    committed_at: f64,
    /// When the simulations of the present generation were done.
    simulated_at: f64,
    simulating: f64,
    weighing: f64,
    done: usize,
    /// Generations, and simulations of the present one, that were there before this process.
    before: usize,
    stored: usize,
    /// Simulations that were there, over all generations of this process.
    all_stored: usize,
}

impl Pace {
    fn simulated(&mut self, done: usize, now: f64) {
        (self.done, self.simulated_at) = (done, now);
    }

    fn committed(&mut self, now: f64) {
        self.simulating += self.simulated_at - self.committed_at;
        self.weighing += now - self.simulated_at;
        self.committed += 1;
        (self.committed_at, self.simulated_at, self.done, self.stored) = (now, now, 0, 0);
    }

    /// Simulations a second in this generation.
    fn rate(&self) -> f64 {
        self.done.saturating_sub(self.stored) as f64 / (self.simulated_at - self.committed_at)
    }

    /// Seconds until the last generation is done; NaN until something is known.
    fn left(&self) -> f64 {
        let all = self.committed * self.simulations + self.done;
        let made = all.saturating_sub(self.before * self.simulations + self.all_stored);
        let seconds = self.simulating + (self.simulated_at - self.committed_at);
        let missing = (self.generations * self.simulations).saturating_sub(all);
        let weighed = self.committed - self.before;
        let weighing = if weighed == 0 { 0.0 } else { self.weighing / weighed as f64 };
        let to_weigh = self.generations.saturating_sub(self.committed) as f64;
        missing as f64 * seconds / made as f64 + to_weigh * weighing
    }

    fn describe(&self) -> String {
        let (rate, left) = (self.rate(), self.left());
        let rate = if rate.is_finite() { format!(", {}/s", significant(rate, 3)) } else { String::new() };
        let left = if left.is_finite() { format!(", about {} left", duration(left)) } else { String::new() };
        format!("{rate}{left}")
    }
}

/// Tells the user how far the run is.
pub(crate) struct Progress {
    output: Output,
    bar: Option<ProgressBar>,
    started: Instant,
    told: f64,
    pace: Pace,
}

impl Progress {
    /// For a run of so many generations of so many simulations.
    pub(crate) fn new(output: Output, generations: usize, simulations: usize) -> Self {
        let terminal = !output.is_quiet() && std::io::stderr().is_terminal();
        let pace = Pace { generations, simulations, ..Pace::default() };
        Self { output, bar: terminal.then(|| bar(simulations)), started: Instant::now(), told: 0.0, pace }
    }

    /// Seconds since the start.
    pub(crate) fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Some generations were there.
    pub(crate) fn resumed(&mut self, generations: usize) {
        (self.pace.before, self.pace.committed) = (generations, generations);
        self.pace.committed_at = self.elapsed();
        self.pace.simulated_at = self.pace.committed_at;
    }

    /// A generation begins, of which some simulations were there.
    pub(crate) fn begun(&mut self, stored: usize) {
        self.pace.stored = stored;
        self.pace.all_stored += stored;
    }

    /// Some simulations of a generation are done.
    pub(crate) fn simulated(&mut self, index: u32, done: usize, failed: usize) {
        let now = self.elapsed();
        self.pace.simulated(done, now);
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        let name = self.name(index);
        let pause = if self.bar.is_some() { FRAME } else { PAUSE };
        if now - self.told < pause {
            return;
        }
        self.told = now;
        let (all, pace) = (self.pace.simulations, self.pace.describe());
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{name}{failed}{pace}"));
            bar.set_position(done as u64);
        } else {
            self.output.note(&format!("{name}: {done} of {all} simulations{failed}{pace}"));
        }
    }

    /// All simulations of a generation are done.
    pub(crate) fn weighing(&mut self, index: u32) {
        let now = self.elapsed();
        self.pace.simulated(self.pace.simulations, now);
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}: weighing{}", self.name(index), self.pace.describe()));
            bar.set_position(self.pace.simulations as u64);
        }
    }

    /// A generation is done.
    pub(crate) fn committed(&mut self, generation: &Generation) {
        let now = self.elapsed();
        self.pace.committed(now);
        self.told = now;
        let population = &generation.population;
        let threshold = population.distances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let line = format!(
            "{}: {} kept, threshold {}, ESS {:.1}, information {:.3}, {}",
            self.name(generation.index),
            population.len(),
            significant(threshold, 3),
            population.effective_sample_size(),
            generation.information.held_out,
            duration(now),
        );
        match &self.bar {
            Some(bar) => bar.println(line),
            None => self.output.note(&line),
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn name(&self, index: u32) -> String {
        format!("generation {index} ({} of {})", index + 1, self.pace.generations)
    }
}

fn bar(simulations: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(simulations as u64), ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("[{bar:24}] {pos}/{len} {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_counts_simulations_and_weighing() {
        let mut pace = Pace { generations: 3, simulations: 100, ..Pace::default() };
        assert!(pace.left().is_nan());
        pace.simulated(50, 5.0);
        assert_eq!((pace.rate(), pace.left()), (10.0, 25.0));
        pace.simulated(100, 10.0);
        pace.committed(12.0);
        assert_eq!(pace.left(), 24.0, "two generations of 10 s of simulating and 2 s of weighing");
        pace.simulated(50, 17.0);
        assert_eq!(pace.left(), 19.0);
        assert_eq!(pace.describe(), ", 10/s, about 19 s left");
        let mut pace = Pace { generations: 3, simulations: 100, before: 1, committed: 1, ..Pace::default() };
        (pace.stored, pace.all_stored) = (40, 40);
        pace.simulated(60, 2.0);
        assert_eq!((pace.rate(), pace.left()), (10.0, 14.0), "what was there took no time");
    }
}
