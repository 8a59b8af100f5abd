//! The direct method for small networks, many trajectories side by side.
//!
//! A single trajectory waits for its own last event: the processor idles between dependent operations. In lanes,
//! plain arrays that the compiler turns into vector instructions, an event takes a fraction of the time. All
//! propensities are computed anew at each event, so no error builds up. A trajectory has the same bits in any
//! lane and any width, since a lane's operations and their order are those of a single one.

use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::{Feed, Jobs, RowStreams};
use counterpoise_core::stream::{self, Stream};
use counterpoise_core::vectors::{Loop, vectorised};

use super::logarithm::minus_ln;
use super::{Ended, Limits, PATIENCE};
use crate::compile::{Change, Compiled};
use crate::expression::program::{self, ONE, Register};
use crate::leap::{FIRST_LOOK, Leap, Leaper, Place, next_look};
use crate::observe::Recorder;

/// Trajectories side by side, and how many when fewer are left.
const WIDE: usize = 16;
const NARROW: usize = 4;

/// A network whose reactions are few enough to compute them all at every event.
#[derive(Debug)]
pub(crate) struct Lanes<'a> {
    pub(crate) compiled: &'a Compiled,
    pub(crate) recorder: &'a Recorder,
    pub(crate) limits: Limits,
    /// How to leap where that pays; never, if nothing is said.
    pub(crate) leap: Option<&'a Leap>,
}

impl Lanes<'_> {
    /// One trajectory.
    pub(crate) fn simulate(
        &self,
        theta: &[f64],
        rng: &mut Stream,
        summaries: &mut [f64],
    ) -> Result<(), Failure> {
        let mut single = Single { outcome: Ok(()), summaries };
        let mut block = Block::<1>::new(self);
        block.set_out(0, (theta, rng), 0)?;
        vectorised(Drain { block, rows: None, feed: &mut single });
        single.outcome
    }

    /// All the rows of a feed.
    pub(crate) fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let mut rows = Rows { jobs, streams: jobs.streams() };
        let mut block = Block::<WIDE>::new(self);
        (0..WIDE).for_each(|lane| block.fill(lane, &mut rows, feed));
        let paths = vectorised(Drain { block, rows: Some(&mut rows), feed });
        let block = Block::<NARROW>::resume(self, paths);
        let paths = vectorised(Drain { block, rows: None, feed });
        for path in paths {
            let block = Block::<1>::resume(self, vec![path]);
            vectorised(Drain { block, rows: None, feed });
        }
    }
}

/// Takes the one row there is.
struct Single<'a> {
    outcome: Result<(), Failure>,
    summaries: &'a mut [f64],
}

impl Feed for Single<'_> {
    fn next(&mut self) -> Option<usize> {
        None
    }

    fn finish(&mut self, _: usize, summaries: &[f64], outcome: Result<(), Failure>) {
        self.summaries.copy_from_slice(summaries);
        self.outcome = outcome;
    }
}

/// What a row needs to set out.
struct Rows<'a> {
    jobs: &'a Jobs<'a>,
    streams: RowStreams,
}

/// Simulates what is in a block, and rows of the feed where there are any, until so few are left that fewer lanes
/// are faster: gives those back.
struct Drain<'a, 'r, const L: usize> {
    block: Block<'a, L>,
    rows: Option<&'a mut Rows<'r>>,
    feed: &'a mut dyn Feed,
}

impl<const L: usize> Loop for Drain<'_, '_, L> {
    type Output = Vec<Path>;

    #[inline(always)]
    fn run(self) -> Vec<Path> {
        let Self { mut block, mut rows, feed } = self;
        let fewest = [0, 1, NARROW][usize::from(L > 1) + usize::from(L > NARROW)];
        while block.active > fewest {
            let mut ended = block.step();
            if block.steps >= block.check {
                let Ok(leapt_out) = block.look_around(feed) else { return Vec::new() };
                ended |= leapt_out;
            }
            if !ended {
                continue;
            }
            for lane in 0..L {
                if block.lanes[lane].ended {
                    block.finish(lane, feed);
                    if let Some(rows) = &mut rows {
                        block.fill(lane, rows, feed);
                    }
                }
            }
        }
        (0..L).filter_map(|lane| block.path(lane)).collect()
    }
}

/// A trajectory on its way from one block to another.
struct Path {
    registers: Vec<f64>,
    summaries: Vec<f64>,
    rng: Stream,
    now: f64,
    row: usize,
    next: usize,
    events: u64,
    wait: u64,
    looks_in: u64,
}

/// What a lane is about, apart from its numbers.
#[derive(Clone, Debug, Default)]
struct Lane {
    row: usize,
    /// Number of the next observation time.
    next: usize,
    /// The block's count of steps when the trajectory had made none; less than 0 for one that came from elsewhere.
    began: i64,
    /// The block's count of steps at which to look whether leaping pays, and the steps since the last look.
    looks_at: u64,
    wait: u64,
    busy: bool,
    ended: bool,
    failure: Option<Failure>,
}

/// The lanes' numbers, each quantity in an array of its own. A lane without a trajectory goes on with its last one,
/// whose next observation is never due.
struct Block<'a, const L: usize> {
    plan: &'a Lanes<'a>,
    registers: Vec<[f64; L]>,
    /// Sums of the propensities of the reactions up to each.
    sums: Vec<[f64; L]>,
    now: [f64; L],
    /// The next observation time.
    due: [f64; L],
    rng: stream::Lanes<L>,
    lanes: [Lane; L],
    active: usize,
    steps: u64,
    /// Count of steps at which to look around, and at which to see whether anyone still waits.
    check: u64,
    patience: u64,
    /// Summaries of one lane after another.
    summaries: Vec<f64>,
    scratch: Vec<[f64; 1]>,
    leaper: Option<Leaper<'a>>,
}

impl<'a, const L: usize> Block<'a, L> {
    fn new(plan: &'a Lanes<'a>) -> Self {
        let values = plan.compiled.compiler.values();
        Self {
            plan,
            registers: values.iter().map(|&value| [value; L]).collect(),
            sums: vec![[0.0; L]; plan.compiled.terms.len()],
            now: [0.0; L],
            due: [f64::INFINITY; L],
            rng: stream::Lanes::default(),
            lanes: std::array::from_fn(|_| Lane::default()),
            active: 0,
            steps: 0,
            check: PATIENCE,
            patience: PATIENCE,
            summaries: vec![f64::NAN; L * plan.recorder.columns()],
            scratch: Vec::with_capacity(values.len()),
            leaper: plan.leap.map(|leap| Leaper::new(leap, plan.compiled, plan.recorder, plan.limits)),
        }
    }

    /// At most as many trajectories as there are lanes, where they were.
    fn resume(plan: &'a Lanes<'a>, paths: Vec<Path>) -> Self {
        let mut block = Self::new(plan);
        for (lane, path) in paths.into_iter().enumerate() {
            block.registers.iter_mut().zip(path.registers).for_each(|(lanes, value)| lanes[lane] = value);
            block.summaries_mut(lane).copy_from_slice(&path.summaries);
            block.occupy(lane, &path.rng, (path.row, path.next), path.now);
            block.lanes[lane].began = -(path.events as i64);
            block.look_in(lane, path.wait, path.looks_in);
        }
        block
    }

    /// Takes a trajectory out of its lane.
    fn path(&self, lane: usize) -> Option<Path> {
        let Lane { row, next, began, looks_at, wait, busy, .. } = self.lanes[lane];
        let columns = self.plan.recorder.columns();
        busy.then(|| Path {
            registers: self.registers.iter().map(|lanes| lanes[lane]).collect(),
            summaries: self.summaries[lane * columns..(lane + 1) * columns].to_vec(),
            rng: self.rng.get(lane),
            now: self.now[lane],
            row,
            next,
            events: (self.steps as i64 - began) as u64,
            wait,
            looks_in: looks_at.saturating_sub(self.steps),
        })
    }

    fn summaries_mut(&mut self, lane: usize) -> &mut [f64] {
        let columns = self.plan.recorder.columns();
        &mut self.summaries[lane * columns..(lane + 1) * columns]
    }

    #[inline(always)]
    fn occupy(&mut self, lane: usize, rng: &Stream, (row, next): (usize, usize), now: f64) {
        self.rng.set(lane, rng);
        (self.now[lane], self.due[lane]) = (now, self.plan.recorder.times()[next]);
        let began = self.steps as i64;
        self.lanes[lane] =
            Lane { row, next, began, looks_at: u64::MAX, wait: 0, busy: true, ended: false, failure: None };
        self.active += 1;
        self.look_in(lane, FIRST_LOOK, FIRST_LOOK);
    }

    /// Has a lane looked at in so many steps, if there is anything to look for.
    #[inline(always)]
    fn look_in(&mut self, lane: usize, wait: u64, steps: u64) {
        if self.leaper.is_some() {
            let looks_at = self.steps + steps;
            (self.lanes[lane].wait, self.lanes[lane].looks_at) = (wait, looks_at);
            self.check = self.check.min(looks_at);
        }
    }

    /// Starts a trajectory in a lane.
    #[inline(always)]
    fn set_out(&mut self, lane: usize, (theta, rng): (&[f64], &Stream), row: usize) -> Result<(), Failure> {
        self.plan.compiled.set_out(theta, &mut self.scratch)?;
        self.registers.iter_mut().zip(&self.scratch).for_each(|(lanes, [value])| lanes[lane] = *value);
        self.occupy(lane, rng, (row, 0), 0.0);
        Ok(())
    }

    /// Starts the next row that can set out in a lane; those that cannot are failures.
    #[inline(always)]
    fn fill(&mut self, lane: usize, rows: &mut Rows<'_>, feed: &mut dyn Feed) {
        while let Some(row) = feed.next() {
            match self.set_out(lane, (rows.jobs.theta(row), &rows.streams.at(row)), row) {
                Ok(()) => return,
                Err(failure) => feed.finish(row, self.summaries_mut(lane), Err(failure)),
            }
        }
    }

    /// Takes every lane to its next event and through it, and says whether a trajectory ended before.
    #[inline(always)]
    fn step(&mut self) -> bool {
        let Compiled { at_events, terms, doubtful, watched, changes, .. } = self.plan.compiled;
        let registers = &mut self.registers[..];
        program::run(at_events, registers);
        for &register in doubtful {
            for value in &mut registers[register as usize] {
                *value = if *value >= 0.0 { *value } else { f64::NAN };
            }
        }
        let mut total = [0.0; L];
        for (term, sums) in terms.iter().zip(&mut self.sums) {
            let (c, i) = (&registers[term.c as usize], &registers[term.i as usize]);
            if term.j == ONE {
                for l in 0..L {
                    total[l] += c[l] * i[l];
                }
            } else {
                let j = &registers[term.j as usize];
                for l in 0..L {
                    total[l] += c[l] * i[l] * (j[l] - term.less);
                }
            }
            *sums = total;
        }
        let waits = minus_ln(&self.rng.uniforms());
        for l in 0..L {
            // Infinite when nothing can happen any more.
            self.now[l] += waits[l] / total[l];
        }
        let ceiling = self.plan.limits.ceiling;
        let mut any = false;
        for l in 0..L {
            any |= !(self.now[l] <= self.due[l]) | !(total[l] <= ceiling);
        }
        for &register in watched {
            for l in 0..L {
                any |= registers[register as usize][l] < 0.0;
            }
        }
        let ended = any && self.look(&total);
        self.react(&total, changes);
        self.steps += 1;
        ended
    }

    /// Applies to each lane the reaction that its mark falls on.
    #[inline(always)]
    fn react(&mut self, total: &[f64; L], changes: &[Vec<Change>]) {
        let Some((last, others)) = changes.split_last() else { return };
        // Whether the mark lies above the sums before the reaction at hand.
        let mut above = [1.0; L];
        if !others.is_empty() {
            let mut marks = self.rng.uniforms();
            for l in 0..L {
                marks[l] *= total[l];
            }
            for (changes, sums) in others.iter().zip(&self.sums) {
                let mut fires = [0.0; L];
                for l in 0..L {
                    let beyond = if marks[l] >= sums[l] { 1.0 } else { 0.0 };
                    fires[l] = above[l] - beyond;
                    above[l] = beyond;
                }
                apply(changes, &fires, &mut self.registers);
            }
        }
        // A uniform variate below 1 keeps the mark below the total: what is above all others is in the last.
        apply(last, &above, &mut self.registers);
    }

    /// Observes the lanes whose observation is due and finds those that cannot go on. Whether any ended.
    #[inline(always)]
    fn look(&mut self, total: &[f64; L]) -> bool {
        let Lanes { compiled, recorder, limits, .. } = self.plan;
        let (times, columns) = (recorder.times(), recorder.columns());
        let mut any = false;
        for l in 0..L {
            let lane = &mut self.lanes[l];
            if !lane.busy {
                continue;
            }
            let below = compiled.watched.iter().any(|&register| self.registers[register as usize][l] < 0.0);
            if !(total[l] <= limits.ceiling) || below {
                let registers: Vec<[f64; 1]> = self.registers.iter().map(|lanes| [lanes[l]]).collect();
                lane.failure = Some(compiled.complaint(registers, limits.ceiling));
            } else {
                let summaries = &mut self.summaries[l * columns..(l + 1) * columns];
                while self.due[l] < self.now[l] {
                    recorder.record(lane.next, (&self.registers, l), summaries);
                    lane.next += 1;
                    self.due[l] = times.get(lane.next).copied().unwrap_or(f64::INFINITY);
                }
            }
            lane.ended = lane.failure.is_some() || lane.next == times.len();
            any |= lane.ended;
        }
        any
    }

    /// Hands on what became of an ended trajectory.
    #[inline(always)]
    fn finish(&mut self, lane: usize, feed: &mut dyn Feed) {
        let Lanes { recorder, limits, .. } = self.plan;
        let ended = &mut self.lanes[lane];
        let columns = recorder.columns();
        let summaries = &mut self.summaries[lane * columns..(lane + 1) * columns];
        // The step in which it ended is not an event of its own.
        let events = (self.steps as i64 - ended.began) as u64 - 1;
        let outcome = match ended.failure.take() {
            Some(failure) => Err(failure),
            None => limits.allow(events).and_then(|()| {
                let value = |register: Register| self.registers[register as usize][lane];
                recorder.measure(value, &mut self.rng.get(lane), summaries)
            }),
        };
        feed.finish(ended.row, summaries, outcome);
        (ended.busy, ended.ended) = (false, false);
        self.due[lane] = f64::INFINITY;
        self.active -= 1;
    }

    /// Sees to all that is not due at every step, and says whether a trajectory ended.
    ///
    /// # Errors
    /// If nobody waits any more.
    #[inline(never)]
    fn look_around(&mut self, feed: &dyn Feed) -> Result<bool, Ended> {
        let mut any = false;
        if self.steps >= self.patience {
            self.patience = self.steps + PATIENCE;
            if feed.is_cut() {
                return Err(Ended::Cut);
            }
            any |= self.give_up();
        }
        self.check = self.patience;
        for lane in 0..L {
            let Lane { busy, ended, looks_at, .. } = self.lanes[lane];
            if busy && !ended {
                if looks_at <= self.steps {
                    any |= self.leap(lane, feed)?;
                }
                self.check = self.check.min(self.lanes[lane].looks_at);
            }
        }
        Ok(any)
    }

    /// Leaps with the trajectory of a lane for as long as that pays, and says whether it ended.
    fn leap(&mut self, l: usize, feed: &dyn Feed) -> Result<bool, Ended> {
        let Some(leaper) = &mut self.leaper else { return Ok(false) };
        let (times, columns) = (self.plan.recorder.times(), self.plan.recorder.columns());
        self.scratch.clear();
        self.scratch.extend(self.registers.iter().map(|lanes| [lanes[l]]));
        let lane = &mut self.lanes[l];
        let exact = (self.steps as i64 - lane.began) as u64;
        let mut place = Place { now: self.now[l], next: lane.next, steps: exact };
        let mut rng = self.rng.get(l);
        let summaries = &mut self.summaries[l * columns..(l + 1) * columns];
        match leaper.leap(&mut place, &mut self.scratch, &mut rng, summaries, &|| feed.is_cut()) {
            Err(Ended::Cut) => return Err(Ended::Cut),
            Err(Ended::Failed(failure)) => lane.failure = Some(failure),
            Ok(()) => {}
        }
        let leaps = place.steps - exact;
        lane.wait = next_look(lane.wait, leaps);
        lane.looks_at = self.steps + lane.wait;
        if leaps > 0 || lane.failure.is_some() {
            self.registers.iter_mut().zip(&self.scratch).for_each(|(lanes, [value])| lanes[l] = *value);
            self.rng.set(l, &rng);
            self.now[l] = place.now;
            lane.next = place.next;
            lane.began -= leaps as i64;
            self.due[l] = times.get(lane.next).copied().unwrap_or(f64::INFINITY);
            lane.ended = lane.failure.is_some() || lane.next == times.len();
            // In `finish` the last step of one that ended is none of its own.
            lane.began -= i64::from(lane.ended);
        }
        Ok(lane.ended)
    }

    /// Ends trajectories that have had too many events, and says whether there are any.
    fn give_up(&mut self) -> bool {
        let (steps, most) = (self.steps as i64, self.plan.limits.max_events);
        let mut any = false;
        for lane in self.lanes.iter_mut().filter(|lane| lane.busy) {
            lane.ended |= (steps - lane.began) as u64 - 1 > most;
            any |= lane.ended;
        }
        any
    }
}

/// Adds a reaction's changes, as many times as it fires.
#[inline(always)]
fn apply<const L: usize>(changes: &[Change], fires: &[f64; L], registers: &mut [[f64; L]]) {
    for change in changes {
        let amounts = &mut registers[change.register as usize];
        for l in 0..L {
            amounts[l] += fires[l] * change.by;
        }
    }
}
