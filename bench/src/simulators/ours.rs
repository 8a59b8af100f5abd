//! Our own simulator, as a batch on one thread.

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Seed;
use counterpoise_core::table::Table;
use counterpoise_networks::{Method, Simulation};
use cpu_time::ThreadTime;

use super::model::Model;
use super::{Contender, Turn};

/// Rows an executor hands out at a time, at the most.
const BATCH: usize = 8_192;
/// Simulations in a turn, at least: a run makes thousands, and with a few the lanes would mostly drain.
const FEWEST: usize = 192;

pub struct Ours {
    simulation: Simulation,
    thetas: Table,
    species: usize,
    seed: Seed,
    batches: u32,
}

/// Summaries of the first `rows` of `jobs`, one row each; nothing if the simulator declines one.
fn simulate(simulation: &Simulation, jobs: &Jobs<'_>, rows: usize) -> Option<Table> {
    let summaries = Table::filled(rows, simulation.summaries(), f64::NAN);
    let mut batch = Batch { waiting: 0..rows, summaries, failed: false };
    simulation.simulate_rows(jobs, &mut batch);
    (!batch.failed).then_some(batch.summaries)
}

/// Rows from the first to the last, and a table of what became of them.
struct Batch {
    waiting: std::ops::Range<usize>,
    summaries: Table,
    failed: bool,
}

impl Feed for Batch {
    fn next(&mut self) -> Option<usize> {
        self.waiting.next()
    }

    fn finish(&mut self, row: usize, summaries: &[f64], outcome: Result<(), Failure>) {
        self.summaries.row_mut(row).copy_from_slice(summaries);
        self.failed |= outcome.is_err();
    }
}

impl Ours {
    /// `model` seen at `times`; nothing if it cannot be simulated so.
    pub fn new(model: &Model, times: &[f64], method: Method, seed: Seed) -> anyhow::Result<Option<Self>> {
        let simulation = Simulation::new(model.network(), model.observation(times)?, method, None)?;
        let thetas = Table::from_rows(model.constants.len(), model.constants.repeat(BATCH));
        let mut ours = Self { simulation, thetas, species: model.species.len(), seed, batches: 0 };
        Ok(ours.batch(1).map(|_| ours))
    }

    /// Up to [`BATCH`] simulations, never seen before: processor seconds, and the summaries species by species.
    fn batch(&mut self, rows: usize) -> Option<(f64, Table)> {
        self.batches += 1;
        let jobs = Jobs { thetas: &self.thetas, seed: self.seed, generation: self.batches, first: 0 };
        let clock = ThreadTime::now();
        let summaries = simulate(&self.simulation, &jobs, rows)?;
        Some((clock.elapsed().as_secs_f64(), summaries))
    }

    /// `count` simulations or [`FEWEST`], with every summary counted that `wanted` takes from a row.
    pub fn simulations(
        &mut self,
        count: usize,
        mut turn: Turn,
        wanted: impl Fn(&[f64]) -> Vec<f64>,
    ) -> anyhow::Result<Turn> {
        let mut left = count.max(FEWEST);
        while left > 0 {
            let rows = left.min(BATCH);
            let Some((seconds, summaries)) = self.batch(rows) else { anyhow::bail!("a simulation failed") };
            turn.seconds += seconds;
            summaries.iter().for_each(|row| turn.add(&wanted(row)));
            left -= rows;
        }
        Ok(turn)
    }

    /// All summaries of `count` simulations.
    pub fn moments(&mut self, count: usize) -> anyhow::Result<Turn> {
        let turn = Turn::new(self.simulation.summaries());
        self.simulations(count, turn, <[f64]>::to_vec)
    }

    /// Names of the summaries.
    pub fn statistics(&self) -> &[String] {
        self.simulation.statistics()
    }
}

impl Contender for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn turn(&mut self, count: usize) -> anyhow::Result<Turn> {
        let times = self.simulation.summaries() / self.species;
        let last = move |row: &[f64]| row.chunks_exact(times).map(|path| path[times - 1]).collect();
        self.simulations(count, Turn::new(self.species), last)
    }
}
