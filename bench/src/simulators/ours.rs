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

/// Rows from the first to the last. What becomes of one is written over the one before, as with the peers, and some of its
/// columns are counted.
struct Batch<'a> {
    waiting: std::ops::Range<usize>,
    record: Vec<f64>,
    columns: &'a [usize],
    counted: Vec<f64>,
    turn: &'a mut Turn,
    failed: bool,
}

impl Feed for Batch<'_> {
    fn next(&mut self) -> Option<usize> {
        self.waiting.next()
    }

    fn finish(&mut self, _: usize, summaries: &[f64], outcome: Result<(), Failure>) {
        self.record.copy_from_slice(summaries);
        let record = std::hint::black_box(&self.record);
        self.counted.clear();
        self.counted.extend(self.columns.iter().map(|&column| record[column]));
        self.turn.add(&self.counted);
        self.failed |= outcome.is_err();
    }
}

impl Ours {
    /// `model` seen at `times`; nothing if it cannot be simulated so.
    pub fn new(model: &Model, times: &[f64], method: Method, seed: Seed) -> anyhow::Result<Option<Self>> {
        let simulation = Simulation::new(model.network(), model.observation(times)?, method, None)?;
        let thetas = Table::from_rows(model.constants.len(), model.constants.repeat(BATCH));
        let mut ours = Self { simulation, thetas, species: model.species.len(), seed, batches: 0 };
        Ok(ours.batch(1, &[], &mut Turn::new(0)).then_some(ours))
    }

    /// Up to [`BATCH`] simulations, never seen before, into a turn; whether none failed.
    fn batch(&mut self, rows: usize, columns: &[usize], turn: &mut Turn) -> bool {
        self.batches += 1;
        let jobs = Jobs { thetas: &self.thetas, seed: self.seed, generation: self.batches, first: 0 };
        let record = vec![0.0; self.simulation.summaries()];
        let counted = Vec::with_capacity(columns.len());
        let clock = ThreadTime::now();
        let mut batch = Batch { waiting: 0..rows, record, columns, counted, turn, failed: false };
        self.simulation.simulate_rows(&jobs, &mut batch);
        let failed = batch.failed;
        turn.seconds += clock.elapsed().as_secs_f64();
        !failed
    }

    /// `count` simulations or [`FEWEST`], with some columns counted.
    fn simulations(&mut self, count: usize, columns: &[usize]) -> anyhow::Result<Turn> {
        let mut turn = Turn::new(columns.len());
        let mut left = count.max(FEWEST);
        while left > 0 {
            let rows = left.min(BATCH);
            anyhow::ensure!(self.batch(rows, columns, &mut turn), "a simulation failed");
            left -= rows;
        }
        Ok(turn)
    }

    /// All summaries of `count` simulations.
    pub fn moments(&mut self, count: usize) -> anyhow::Result<Turn> {
        let all: Vec<usize> = (0..self.simulation.summaries()).collect();
        self.simulations(count, &all)
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
        let last: Vec<usize> = (1..=self.species).map(|species| species * times - 1).collect();
        self.simulations(count, &last)
    }
}
