//! Many dimerization trajectories side by side, each bit for bit what it would be alone.
//!
//! A single trajectory waits for its own last event: the processor idles between dependent operations. In
//! lanes, plain arrays that the compiler turns into vector instructions, an event takes half the time.

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;
use counterpoise_core::table::Table;
use counterpoise_core::variates::Exp1;
use rand::RngExt;

use super::Dimerization;
use super::path::Path;
use crate::limits::{MOST_EVENTS, endless};

const LANES: usize = 16;

/// Events between two looks at which lanes have finished.
const STEPS: usize = 64;

// Otherwise patience would run out at another event than it does alone.
const _: () = assert!(MOST_EVENTS.is_multiple_of(STEPS as u64));

/// With fewer trajectories than this, one after another is faster.
const FEWEST: usize = 4;

/// A trajectory with its own stream and its own row of the table.
struct Lane {
    path: Path,
    rng: Stream,
    slot: usize,
    row: usize,
}

/// The variates of a block: a trajectory takes them in the order in which it would draw them alone.
struct Draws {
    waits: [[f64; LANES]; STEPS],
    marks: [[f64; LANES]; STEPS],
}

/// [`Simulator::simulate_rows`] in lanes.
pub(super) fn simulate_rows(model: &Dimerization, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
    let mut summaries = Table::filled(LANES, model.summaries(), f64::NAN);
    let mut lanes: Vec<Lane> = Vec::with_capacity(LANES);
    let mut free: Vec<usize> = (0..LANES).collect();
    let mut draws = Draws { waits: [[1.0; LANES]; STEPS], marks: [[0.0; LANES]; STEPS] };
    loop {
        while let Some(slot) = free.pop() {
            let Some(row) = feed.next() else {
                free.push(slot);
                break;
            };
            match Path::start(model, jobs.theta(row), summaries.row_mut(slot)) {
                Ok(path) => lanes.push(Lane { path, rng: jobs.stream(row), slot, row }),
                Err(failure) => {
                    feed.finish(row, summaries.row(slot), Err(failure));
                    free.push(slot);
                }
            }
        }
        if lanes.len() < FEWEST {
            break;
        }
        draws.refill(&mut lanes);
        advance(model, &mut lanes, &draws, &mut summaries);
        lanes.retain(|lane| match ended(model, &lane.path) {
            None => true,
            Some(outcome) => {
                feed.finish(lane.row, summaries.row(lane.slot), outcome);
                free.push(lane.slot);
                false
            }
        });
    }
    for mut lane in lanes {
        let outcome = lane.path.finish(model, &mut lane.rng, summaries.row_mut(lane.slot));
        feed.finish(lane.row, summaries.row(lane.slot), outcome);
    }
}

fn ended(model: &Dimerization, path: &Path) -> Option<Result<(), Failure>> {
    if path.next == model.times.values().len() {
        Some(Ok(()))
    } else if path.events >= model.patience {
        Some(Err(endless()))
    } else {
        None
    }
}

impl Draws {
    fn refill(&mut self, lanes: &mut [Lane]) {
        for (index, lane) in lanes.iter_mut().enumerate() {
            for (waits, marks) in self.waits.iter_mut().zip(&mut self.marks) {
                waits[index] = lane.rng.sample(Exp1);
                marks[index] = lane.rng.random();
            }
        }
    }
}

/// Takes every lane through a block of events; one that ends in it idles until the block is over.
fn advance(model: &Dimerization, lanes: &mut [Lane], draws: &Draws, summaries: &mut Table) {
    let times = model.times.values();
    let mut block = Block::gather(lanes, times);
    for (waits, marks) in draws.waits.iter().zip(&draws.marks) {
        let bounds = block.bounds();
        if block.wait(waits, &bounds[3]) {
            for (l, Lane { path, slot, .. }) in lanes.iter_mut().enumerate() {
                while block.due[l] < block.now[l] {
                    path.observe(block.state.map(|species| species[l]), summaries.row_mut(*slot));
                    block.due[l] = times.get(path.next).copied().unwrap_or(f64::INFINITY);
                }
            }
        }
        block.react(marks, &bounds);
    }
    for (l, Lane { path, .. }) in lanes.iter_mut().enumerate() {
        (path.state, path.now) = (block.state.map(|species| species[l]), block.now[l]);
        path.events += STEPS as u64;
    }
}

type Lanes = [f64; LANES];

/// The lanes' numbers, each quantity in a row of its own. Every operation is that of [`Path::finish`], in the
/// same order, and explained there.
struct Block {
    rates: [Lanes; 4],
    state: [Lanes; 3],
    now: Lanes,
    /// The next observation time; infinite for a lane without one.
    due: Lanes,
}

impl Block {
    fn gather(lanes: &[Lane], times: &[f64]) -> Self {
        let mut block = Self {
            rates: [[0.0; LANES]; 4],
            state: [[0.0; LANES]; 3],
            now: [0.0; LANES],
            due: [f64::INFINITY; LANES],
        };
        for (l, Lane { path, .. }) in lanes.iter().enumerate() {
            block.rates.iter_mut().zip(path.rates).for_each(|(lanes, rate)| lanes[l] = rate);
            block.state.iter_mut().zip(path.state).for_each(|(lanes, count)| lanes[l] = count);
            (block.now[l], block.due[l]) = (path.now, times[path.next]);
        }
        block
    }

    /// Cumulative propensities of the four reactions; the last is the total.
    #[inline]
    fn bounds(&self) -> [Lanes; 4] {
        let ([decay, convert, pair, split], [s1, s2, _]) = (&self.rates, &self.state);
        let mut bounds = [[0.0; LANES]; 4];
        for l in 0..LANES {
            bounds[0][l] = decay[l] * s1[l];
            bounds[1][l] = bounds[0][l] + convert[l] * s2[l];
            bounds[2][l] = bounds[1][l] + pair[l] * s1[l] * (s1[l] - 1.0);
            bounds[3][l] = bounds[2][l] + split[l] * s2[l];
        }
        bounds
    }

    /// Moves each lane to its next event and says whether an observation comes before any of them.
    #[inline]
    fn wait(&mut self, waits: &Lanes, totals: &Lanes) -> bool {
        let mut any = false;
        for l in 0..LANES {
            self.now[l] += waits[l] / totals[l];
        }
        for l in 0..LANES {
            any |= self.due[l] < self.now[l];
        }
        any
    }

    /// Applies to each lane the reaction its mark falls on.
    #[inline]
    fn react(&mut self, marks: &Lanes, bounds: &[Lanes; 4]) {
        let [s1, s2, s3] = &mut self.state;
        for l in 0..LANES {
            let mark = marks[l] * bounds[3][l];
            let passed = |bound: f64| if mark >= bound { 1.0 } else { 0.0 };
            let [a, b, c] = [passed(bounds[0][l]), passed(bounds[1][l]), passed(bounds[2][l])];
            // The changes of the four reactions as differences from one to the next.
            s1[l] += a - 1.0 - 2.0 * b + 4.0 * c;
            s2[l] += 2.0 * b - a - 2.0 * c;
            s3[l] += a - b;
        }
    }
}
