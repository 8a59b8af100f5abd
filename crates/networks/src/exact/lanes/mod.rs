//! The direct method for networks of few reactions, many trajectories side by side.
//!
//! A single trajectory waits for its own last event: the processor idles between dependent operations. In lanes, four to
//! a vector ([`Fours`]), an event takes a fraction of the time. All propensities are computed anew at each event, so no
//! error builds up. A trajectory has the same bits in any lane and any width, since a lane's operations and their order
//! are those of a single one.

mod step;

use counterpoise_core::fours::{Fours, Work, in_fours};
use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::{Feed, Jobs, RowStreams};
use counterpoise_core::stream::{self, Stream};

use super::log::{self, Log};
use super::wide::Wide;
use super::{Ended, Limits, PATIENCE};
use crate::compile::Compiled;
use crate::expression::program::Register;
use crate::leap::{FIRST_LOOK, Leap, Leaper, Place, next_look};
use crate::observe::Recorder;

/// Fours of trajectories side by side, and when few are left.
const WIDE: usize = 4;
const NARROW: usize = 1;
/// Steps a lane and observation time that it passes up to which the steps are logged.
const DENSE: u64 = 8;

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
        let mut block = Block::<NARROW>::new(self);
        block.set_out(0, (theta, rng), 0)?;
        if let Some(block) = in_fours(Drain { block, rows: None, feed: &mut single, fewest: 0 }) {
            // Whoever draws more from the stream must not draw the same again.
            *rng = block.drawn;
        }
        single.outcome
    }

    /// All the rows of a feed.
    pub(crate) fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let mut rows = Rows { jobs, streams: jobs.streams() };
        let mut block = Block::<WIDE>::new(self);
        (0..4 * WIDE).for_each(|lane| block.fill(lane, &mut rows, feed));
        let wide = Drain { block, rows: Some(rows), feed, fewest: 4 * NARROW };
        if let Some(mut left) = in_fours(wide) {
            let mut block = Block::<NARROW>::new(self);
            block.take_over(&mut left);
            in_fours(Drain { block, rows: None, feed, fewest: 0 });
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

/// Simulates what is in a block, and rows of the feed where there are any, until no more than `fewest` are left:
/// gives those back, unless nobody waits for them.
struct Drain<'a, 'f, const Q: usize> {
    block: Block<'a, Q>,
    rows: Option<Rows<'f>>,
    feed: &'f mut dyn Feed,
    fewest: usize,
}

impl<'a, const Q: usize> Work for Drain<'a, '_, Q> {
    type Output = Option<Block<'a, Q>>;

    #[inline(always)]
    fn run<F: Fours>(self, fours: F) -> Self::Output {
        let Self { mut block, mut rows, feed, fewest } = self;
        while block.active > fewest {
            let mut ended = block.step(fours);
            if block.steps >= block.check {
                ended |= block.look_around(feed, ended).ok()?;
            }
            for lane in Bits(ended) {
                block.finish(lane, feed);
                if let Some(rows) = &mut rows {
                    block.fill(lane, rows, feed);
                }
            }
        }
        Some(block)
    }
}

/// Some of the lanes, as a bit each: going through them takes no guess at each lane.
struct Bits(u32);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let lane = (self.0 != 0).then(|| self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(lane)
    }
}

/// What a lane is about, apart from its numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    row: usize,
    /// Number of the next observation time, and the block's count of steps up to which the log was read.
    next: usize,
    read: i64,
    /// The block's count of steps when the trajectory had made none; it may be below 0 for one that came from elsewhere.
    began: i64,
    /// The block's count of steps at which to look whether leaping pays, and the steps since the last look.
    looks_at: i64,
    wait: i64,
    busy: bool,
}

/// The lanes' numbers, each quantity in an array of its own. A lane without a trajectory goes on with its last one,
/// whose next observation is never due.
struct Block<'a, const Q: usize> {
    plan: &'a Lanes<'a>,
    registers: Vec<Wide<Q>>,
    /// Sums of the propensities of the reactions up to each; once a reaction is chosen, whether it is each.
    sums: Vec<Wide<Q>>,
    now: Wide<Q>,
    /// The next observation time.
    due: Wide<Q>,
    rng: stream::Lanes<Q>,
    lanes: [[Lane; 4]; Q],
    /// Why the trajectories of rows ended before their time.
    failures: Vec<(usize, Failure)>,
    /// What happened since a lane's observations were last written down, where most events pass an observation time: how
    /// many do is counted in turns of so many steps.
    log: Log<Q>,
    dense: bool,
    late: u64,
    turn: i64,
    active: usize,
    steps: i64,
    /// Count of steps at which to look around, and at which to see whether anyone still waits.
    check: i64,
    patience: i64,
    /// Summaries of one lane after another.
    summaries: Vec<f64>,
    scratch: Vec<[f64; 1]>,
    /// The stream of the trajectory that ended last, as far as it came.
    drawn: Stream,
    leaper: Option<Leaper<'a>>,
}

impl<'a, const Q: usize> Block<'a, Q> {
    fn new(plan: &'a Lanes<'a>) -> Self {
        let values = plan.compiled.compiler.values();
        Self {
            plan,
            registers: values.iter().map(|&value| Wide::splat(value)).collect(),
            sums: vec![Wide::splat(0.0); plan.compiled.terms.len()],
            now: Wide::splat(0.0),
            due: Wide::splat(f64::INFINITY),
            rng: stream::Lanes::default(),
            lanes: [[Lane::default(); 4]; Q],
            failures: Vec::new(),
            log: Log::new(plan.recorder),
            dense: false,
            late: 0,
            turn: log::STEPS as i64,
            active: 0,
            steps: 0,
            check: log::STEPS as i64,
            patience: PATIENCE as i64,
            summaries: vec![f64::NAN; 4 * Q * plan.recorder.columns()],
            scratch: Vec::with_capacity(values.len()),
            drawn: stream::Lanes::<1>::default().get(0),
            leaper: plan.leap.map(|leap| Leaper::new(leap, plan.compiled, plan.recorder, plan.limits)),
        }
    }

    /// Takes over the trajectories of another block, of which there are no more than lanes.
    fn take_over<const P: usize>(&mut self, other: &mut Block<'a, P>) {
        other.go_on(false);
        let busy: Vec<usize> = (0..4 * P).filter(|&from| other.lanes[from / 4][from % 4].busy).collect();
        for (to, from) in busy.into_iter().enumerate() {
            let ((p, m), (q, k)) = ((from / 4, from % 4), (to / 4, to % 4));
            for (registers, others) in self.registers.iter_mut().zip(&other.registers) {
                registers[q][k] = others[p][m];
            }
            self.summaries_of(to).copy_from_slice(other.summaries_of(from));
            self.rng.set(to, &other.rng.get(from));
            (self.now[q][k], self.due[q][k]) = (other.now[p][m], other.due[p][m]);
            self.lanes[q][k] = other.lanes[p][m];
            let lane = &mut self.lanes[q][k];
            lane.began += self.steps - other.steps;
            lane.read = self.steps;
            lane.looks_at = lane.looks_at.saturating_add(self.steps - other.steps);
            self.check = self.check.min(lane.looks_at);
            self.active += 1;
        }
    }

    #[inline(always)]
    fn summaries_of(&mut self, lane: usize) -> &mut [f64] {
        let columns = self.plan.recorder.columns();
        &mut self.summaries[lane * columns..(lane + 1) * columns]
    }

    /// When to look at a lane whose next observation time has the number `next`.
    #[inline(always)]
    fn due(&self, next: usize) -> f64 {
        let recorder = self.plan.recorder;
        if self.dense { recorder.end() } else { recorder.finder().due(next) }
    }

    /// Starts a trajectory in a lane.
    #[inline(always)]
    fn set_out(&mut self, lane: usize, (theta, rng): (&[f64], &Stream), row: usize) -> Result<(), Failure> {
        self.plan.compiled.set_out(theta, &mut self.scratch)?;
        let (q, k) = (lane / 4, lane % 4);
        self.registers.iter_mut().zip(&self.scratch).for_each(|(lanes, [value])| lanes[q][k] = *value);
        self.summaries_of(lane).fill(f64::NAN);
        self.rng.set(lane, rng);
        (self.now[q][k], self.due[q][k]) = (0.0, self.due(0));
        let wait = if self.leaper.is_some() { FIRST_LOOK as i64 } else { i64::MAX };
        let looks_at = self.steps.saturating_add(wait);
        self.check = self.check.min(looks_at);
        self.lanes[q][k] =
            Lane { row, next: 0, read: self.steps, began: self.steps, looks_at, wait, busy: true };
        self.active += 1;
        Ok(())
    }

    /// Starts the next row that can set out in a lane; those that cannot are failures.
    #[inline(always)]
    fn fill(&mut self, lane: usize, rows: &mut Rows<'_>, feed: &mut dyn Feed) {
        while let Some(row) = feed.next() {
            match self.set_out(lane, (rows.jobs.theta(row), &rows.streams.at(row)), row) {
                Ok(()) => return,
                Err(failure) => feed.finish(row, self.summaries_of(lane), Err(failure)),
            }
        }
    }

    /// Ends the trajectories that fail a check, and observes those that are no longer early. Which ended. A function of
    /// its own, for which vectors are put into memory: inlined, they would be taken apart in any case.
    #[inline(never)]
    fn look(&mut self, fit: &[[u64; 4]; Q], checks: u64, early: &[[u64; 4]; Q]) -> u32 {
        let (mut late, mut unfit) = (0, 0);
        for lane in 0..4 * Q {
            late |= u32::from(early[lane / 4][lane % 4] == 0) << lane;
            unfit |= u32::from(fit[lane / 4][lane % 4] != checks) << lane;
        }
        let mut ended = if unfit == 0 { 0 } else { self.look_for_trouble(unfit) };
        for lane in Bits(late & !ended) {
            let (q, k) = (lane / 4, lane % 4);
            ended |= u32::from(self.lanes[q][k].busy && self.observe(q, k)) << lane;
        }
        self.late += u64::from(late.count_ones());
        ended
    }

    /// Ends those of some trajectories that cannot go on, and says which.
    #[inline(never)]
    fn look_for_trouble(&mut self, unfit: u32) -> u32 {
        let Lanes { compiled, limits, .. } = self.plan;
        let mut ended = 0;
        for lane in Bits(unfit) {
            let (q, k) = (lane / 4, lane % 4);
            let about = &self.lanes[q][k];
            if about.busy {
                let registers = self.registers.iter().map(|lanes| [lanes[q][k]]).collect();
                self.failures.push((about.row, compiled.complaint(registers, limits.ceiling)));
                ended |= 1 << lane;
            }
        }
        ended
    }

    /// Writes down what a lane passed up to this very step. Whether it ended.
    #[inline(always)]
    fn observe(&mut self, q: usize, k: usize) -> bool {
        let recorder = self.plan.recorder;
        if self.dense {
            self.read_log(q, k, self.steps + 1);
        }
        let (columns, l) = (recorder.columns(), 4 * q + k);
        let lane = &mut self.lanes[q][k];
        let value = |register: Register| self.registers[register as usize][q][k];
        let summaries = &mut self.summaries[l * columns..(l + 1) * columns];
        if self.dense {
            recorder.write_once(value, summaries);
        } else {
            let next = recorder.finder().passed(lane.next, self.now[q][k]);
            recorder.record(lane.next..next, value, self.registers.len(), summaries);
            lane.next = next;
            self.due[q][k] = recorder.finder().due(next);
        }
        lane.next == recorder.times().len()
    }

    /// Writes down what a lane passed before the count of steps was `until`, as the log has it.
    #[inline(always)]
    fn read_log(&mut self, q: usize, k: usize, until: i64) {
        let (columns, l) = (self.plan.recorder.columns(), 4 * q + k);
        let lane = &mut self.lanes[q][k];
        let summaries = &mut self.summaries[l * columns..(l + 1) * columns];
        let next = self.log.replay((q, k), lane.read..until, lane.next, self.plan.recorder, summaries);
        // As many steps as passed an observation time, or somewhat more.
        self.late += (until - lane.read).min((next - lane.next) as i64) as u64;
        (lane.next, lane.read) = (next, until);
    }

    /// Decides whether to log the steps to come.
    #[inline(never)]
    fn take_turn(&mut self) {
        let often = self.late * DENSE > (4 * Q * log::STEPS) as u64;
        self.go_on(often && self.plan.recorder.is_plain() && self.leaper.is_none());
    }

    /// Reads what is in the log, and goes on with it or without.
    fn go_on(&mut self, dense: bool) {
        let was = std::mem::replace(&mut self.dense, dense);
        for (q, k) in (0..4 * Q).map(|lane| (lane / 4, lane % 4)) {
            if self.lanes[q][k].busy {
                if was {
                    self.read_log(q, k, self.steps);
                }
                self.lanes[q][k].read = self.steps;
                self.due[q][k] = self.due(self.lanes[q][k].next);
            }
        }
        (self.late, self.turn) = (0, self.steps + log::STEPS as i64);
    }

    /// Hands on what became of an ended trajectory.
    #[inline(always)]
    fn finish(&mut self, lane: usize, feed: &mut dyn Feed) {
        let Lanes { recorder, limits, .. } = self.plan;
        let (q, k) = (lane / 4, lane % 4);
        let ended = &mut self.lanes[q][k];
        let columns = recorder.columns();
        let summaries = &mut self.summaries[lane * columns..(lane + 1) * columns];
        // The step in which it ended is not an event of its own.
        let events = (self.steps - ended.began - 1) as u64;
        let row = ended.row;
        let failure =
            self.failures.iter().position(|(of, _)| *of == row).map(|at| self.failures.swap_remove(at).1);
        let mut rng = self.rng.get(lane);
        let outcome = limits.allow(events).and_then(|()| match failure {
            Some(failure) => Err(failure),
            None => {
                let value = |register: Register| self.registers[register as usize][q][k];
                recorder.measure(value, &mut rng, summaries)
            }
        });
        self.drawn = rng;
        let failed = outcome.is_err();
        feed.finish(row, summaries, outcome);
        ended.busy = false;
        self.due[q][k] = f64::INFINITY;
        self.active -= 1;
        // One that failed must not go on failing.
        if failed {
            let values = self.plan.compiled.compiler.values();
            self.registers.iter_mut().zip(values).for_each(|(lanes, value)| lanes[q][k] = *value);
            self.now[q][k] = 0.0;
        }
    }

    /// Sees to all that is not due at every step, and says which trajectories ended; some did already.
    ///
    /// # Errors
    /// If nobody waits any more.
    #[inline(never)]
    fn look_around(&mut self, feed: &dyn Feed, mut ended: u32) -> Result<u32, Ended> {
        if self.steps >= self.patience {
            self.patience = self.steps + PATIENCE as i64;
            if feed.is_cut() {
                return Err(Ended::Cut);
            }
            ended |= self.give_up();
        }
        if self.steps >= self.turn {
            self.take_turn();
        }
        self.check = self.patience.min(self.turn);
        for lane in 0..4 * Q {
            let Lane { busy, looks_at, .. } = self.lanes[lane / 4][lane % 4];
            if busy && ended & 1 << lane == 0 {
                if looks_at <= self.steps {
                    ended |= u32::from(self.leap(lane, feed)?) << lane;
                }
                self.check = self.check.min(self.lanes[lane / 4][lane % 4].looks_at);
            }
        }
        Ok(ended)
    }

    /// Leaps with the trajectory of a lane for as long as that pays, and says whether it ended.
    fn leap(&mut self, lane: usize, feed: &dyn Feed) -> Result<bool, Ended> {
        let Some(leaper) = &mut self.leaper else { return Ok(false) };
        let recorder = self.plan.recorder;
        let (times, columns) = (recorder.times(), recorder.columns());
        let (q, k) = (lane / 4, lane % 4);
        self.scratch.clear();
        self.scratch.extend(self.registers.iter().map(|lanes| [lanes[q][k]]));
        let about = &mut self.lanes[q][k];
        let exact = (self.steps - about.began) as u64;
        let mut place = Place { now: self.now[q][k], next: about.next, steps: exact };
        let mut rng = self.rng.get(lane);
        let summaries = &mut self.summaries[lane * columns..(lane + 1) * columns];
        let (mut failed, mut ended) = (false, false);
        match leaper.leap(&mut place, &mut self.scratch, &mut rng, summaries, &|| feed.is_cut()) {
            Err(Ended::Cut) => return Err(Ended::Cut),
            Err(Ended::Failed(failure)) => {
                self.failures.push((about.row, failure));
                failed = true;
            }
            Ok(()) => {}
        }
        let leaps = place.steps - exact;
        about.wait = next_look(about.wait as u64, leaps) as i64;
        about.looks_at = self.steps + about.wait;
        if leaps > 0 || failed {
            self.registers.iter_mut().zip(&self.scratch).for_each(|(lanes, [value])| lanes[q][k] = *value);
            self.rng.set(lane, &rng);
            self.now[q][k] = place.now;
            about.next = place.next;
            about.began -= leaps as i64;
            self.due[q][k] = recorder.finder().due(about.next);
            ended = failed || about.next == times.len();
            // In `finish` the last step of one that ended is none of its own.
            about.began -= i64::from(ended);
        }
        Ok(ended)
    }

    /// Trajectories that have had too many events.
    fn give_up(&self) -> u32 {
        let most = self.plan.limits.max_events;
        let too_many = |lane: &Lane| lane.busy && (self.steps - lane.began - 1).max(0) as u64 > most;
        self.lanes.as_flattened().iter().rev().fold(0, |bits, lane| bits << 1 | u32::from(too_many(lane)))
    }
}
