//! The direct method for networks of few reactions, many trajectories side by side.
//!
//! A single trajectory waits for its own last event: the processor idles between dependent operations. In lanes,
//! plain arrays that the compiler turns into vector instructions, an event takes a fraction of the time. All
//! propensities are computed anew at each event, so no error builds up. A trajectory has the same bits in any
//! lane and any width, since a lane's operations and their order are those of a single one.
//!
//! The compiler's vectors are easily torn to pieces, at twice the time. What keeps them whole: arrays of four;
//! values copied out of memory, computed, and stored, never changed in place or carried from one turn of a loop to
//! the next.

use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::{Feed, Jobs, RowStreams};
use counterpoise_core::stream::{self, Stream};
use counterpoise_core::vectors::{Loop, vectorised};

use super::logarithm::minus_ln;
use super::{Ended, Limits, PATIENCE};
use crate::compile::{Change, Compiled, Term};
use crate::expression::program::{self, ONE, Register};
use crate::leap::{FIRST_LOOK, Leap, Leaper, Place, next_look};
use crate::observe::Recorder;

/// Fours of trajectories side by side when few are left.
const NARROW: usize = 1;
/// Reactions from which four fours are faster than three; measured on the models of `bench simulators`.
const MANY: usize = 10;

/// A number of every lane.
type Wide<const Q: usize> = [[f64; 4]; Q];

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
        if let Some(block) = vectorised(Drain { block, rows: None, feed: &mut single, fewest: 0 }) {
            // Whoever draws more from the stream must not draw the same again.
            *rng = block.drawn;
        }
        single.outcome
    }

    /// All the rows of a feed.
    pub(crate) fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        if self.compiled.terms.len() < MANY {
            self.simulate_in::<3>(jobs, feed);
        } else {
            self.simulate_in::<4>(jobs, feed);
        }
    }

    /// All the rows of a feed, so many fours at a time.
    fn simulate_in<const WIDE: usize>(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let mut rows = Rows { jobs, streams: jobs.streams() };
        let mut block = Block::<WIDE>::new(self);
        (0..4 * WIDE).for_each(|lane| block.fill(lane, &mut rows, feed));
        let wide = Drain { block, rows: Some(rows), feed, fewest: 4 * NARROW };
        if let Some(mut left) = vectorised(wide) {
            let mut block = Block::<NARROW>::new(self);
            block.take_over(&mut left);
            vectorised(Drain { block, rows: None, feed, fewest: 0 });
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

impl<'a, const Q: usize> Loop for Drain<'a, '_, Q> {
    type Output = Option<Block<'a, Q>>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { mut block, mut rows, feed, fewest } = self;
        while block.active > fewest {
            let mut ended = block.step();
            if block.steps >= block.check {
                ended |= block.look_around(feed).ok()?;
            }
            if !ended {
                continue;
            }
            for lane in 0..4 * Q {
                if block.lanes[lane / 4][lane % 4].ended {
                    block.finish(lane, feed);
                    if let Some(rows) = &mut rows {
                        block.fill(lane, rows, feed);
                    }
                }
            }
        }
        Some(block)
    }
}

/// What a lane is about, apart from its numbers.
#[derive(Clone, Debug, Default)]
struct Lane {
    row: usize,
    /// Number of the next observation time.
    next: usize,
    /// The block's count of steps when the trajectory had made none; it may be below 0 for one that came from elsewhere.
    began: i64,
    /// The block's count of steps at which to look whether leaping pays, and the steps since the last look.
    looks_at: i64,
    wait: i64,
    busy: bool,
    ended: bool,
    failure: Option<Failure>,
}

/// The lanes' numbers, each quantity in an array of its own. A lane without a trajectory goes on with its last one,
/// whose next observation is never due.
struct Block<'a, const Q: usize> {
    plan: &'a Lanes<'a>,
    registers: Vec<Wide<Q>>,
    /// Sums of the propensities of the reactions up to each.
    sums: Vec<Wide<Q>>,
    now: Wide<Q>,
    /// The next observation time.
    due: Wide<Q>,
    rng: stream::Lanes<Q>,
    lanes: [[Lane; 4]; Q],
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
            registers: values.iter().map(|&value| [[value; 4]; Q]).collect(),
            sums: vec![[[0.0; 4]; Q]; plan.compiled.terms.len()],
            now: [[0.0; 4]; Q],
            due: [[f64::INFINITY; 4]; Q],
            rng: stream::Lanes::default(),
            lanes: std::array::from_fn(|_| std::array::from_fn(|_| Lane::default())),
            active: 0,
            steps: 0,
            check: PATIENCE as i64,
            patience: PATIENCE as i64,
            summaries: vec![f64::NAN; 4 * Q * plan.recorder.columns()],
            scratch: Vec::with_capacity(values.len()),
            drawn: stream::Lanes::<1>::default().get(0),
            leaper: plan.leap.map(|leap| Leaper::new(leap, plan.compiled, plan.recorder, plan.limits)),
        }
    }

    /// Takes over the trajectories of another block, of which there are no more than lanes.
    fn take_over<const P: usize>(&mut self, other: &mut Block<'a, P>) {
        let busy: Vec<usize> = (0..4 * P).filter(|&from| other.lanes[from / 4][from % 4].busy).collect();
        for (to, from) in busy.into_iter().enumerate() {
            let ((p, m), (q, k)) = ((from / 4, from % 4), (to / 4, to % 4));
            for (registers, others) in self.registers.iter_mut().zip(&other.registers) {
                registers[q][k] = others[p][m];
            }
            self.summaries_of(to).copy_from_slice(other.summaries_of(from));
            self.rng.set(to, &other.rng.get(from));
            (self.now[q][k], self.due[q][k]) = (other.now[p][m], other.due[p][m]);
            self.lanes[q][k] = other.lanes[p][m].clone();
            let lane = &mut self.lanes[q][k];
            lane.began += self.steps - other.steps;
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

    /// Starts a trajectory in a lane.
    #[inline(always)]
    fn set_out(&mut self, lane: usize, (theta, rng): (&[f64], &Stream), row: usize) -> Result<(), Failure> {
        self.plan.compiled.set_out(theta, &mut self.scratch)?;
        let (q, k) = (lane / 4, lane % 4);
        self.registers.iter_mut().zip(&self.scratch).for_each(|(lanes, [value])| lanes[q][k] = *value);
        self.summaries_of(lane).fill(f64::NAN);
        self.rng.set(lane, rng);
        (self.now[q][k], self.due[q][k]) = (0.0, self.plan.recorder.times()[0]);
        let wait = if self.leaper.is_some() { FIRST_LOOK as i64 } else { i64::MAX };
        let looks_at = self.steps.saturating_add(wait);
        self.check = self.check.min(looks_at);
        self.lanes[q][k] = Lane { row, began: self.steps, looks_at, wait, busy: true, ..Lane::default() };
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

    /// Takes every lane to its next event and through it, and says whether a trajectory ended before.
    #[inline(always)]
    fn step(&mut self) -> bool {
        let Compiled { at_events, terms, doubtful, watched, .. } = self.plan.compiled;
        program::run(at_events, &mut self.registers);
        for &register in doubtful {
            for value in self.registers[register as usize].as_flattened_mut() {
                *value = if *value >= 0.0 { *value } else { f64::NAN };
            }
        }
        let total = propensities(terms, &self.registers, &mut self.sums);
        let uniforms = self.rng.uniforms();
        let ceiling = self.plan.limits.ceiling;
        let (mut now, due, mut loud) = (self.now, self.due, [[0_u64; 4]; Q]);
        for q in 0..Q {
            let waits = minus_ln(uniforms[q]);
            for k in 0..4 {
                // Infinite when nothing can happen any more.
                now[q][k] += waits[k] / total[q][k];
                let early = if now[q][k] <= due[q][k] { 0 } else { u64::MAX };
                let slow = if total[q][k] <= ceiling { 0 } else { u64::MAX };
                loud[q][k] = early | slow;
            }
        }
        self.now = now;
        for &register in watched {
            let amounts = self.registers[register as usize];
            for q in 0..Q {
                for k in 0..4 {
                    loud[q][k] |= if amounts[q][k] < 0.0 { u64::MAX } else { 0 };
                }
            }
        }
        let mut any = [0; 4];
        for q in 0..Q {
            for k in 0..4 {
                any[k] |= loud[q][k];
            }
        }
        let ended = any != [0; 4] && self.look(total, &loud);
        self.react(total);
        self.steps += 1;
        ended
    }

    /// Applies to each lane the reaction that its mark falls on.
    #[inline(always)]
    fn react(&mut self, total: Wide<Q>) {
        let Some((last, others)) = self.plan.compiled.changes.split_last() else { return };
        if others.is_empty() {
            return apply(last, &[[1.0; 4]; Q], &mut self.registers);
        }
        let mut marks = self.rng.uniforms();
        for q in 0..Q {
            for k in 0..4 {
                marks[q][k] *= total[q][k];
            }
        }
        // Whether the mark lies above the sums before the reaction at hand.
        let mut above = [[1.0; 4]; Q];
        for (changes, sums) in others.iter().zip(&self.sums) {
            let mut fires = [[0.0; 4]; Q];
            for q in 0..Q {
                for k in 0..4 {
                    let beyond = if marks[q][k] >= sums[q][k] { 1.0 } else { 0.0 };
                    fires[q][k] = above[q][k] - beyond;
                    above[q][k] = beyond;
                }
            }
            apply(changes, &fires, &mut self.registers);
        }
        // A uniform variate below 1 keeps the mark below the total: what is above all others is in the last.
        apply(last, &above, &mut self.registers);
    }

    /// Observes the lanes whose observation is due and finds those that cannot go on; the others are quiet. Whether
    /// any ended.
    #[inline(always)]
    fn look(&mut self, total: Wide<Q>, loud: &[[u64; 4]; Q]) -> bool {
        let mut any = false;
        for q in 0..Q {
            if loud[q] != [0; 4] {
                for k in 0..4 {
                    any |= loud[q][k] != 0 && self.lanes[q][k].busy && self.look_at(q, k, total[q][k]);
                }
            }
        }
        any
    }

    /// Observes a lane, or finds why it cannot go on. Whether it ended.
    #[inline(always)]
    fn look_at(&mut self, q: usize, k: usize, total: f64) -> bool {
        let Lanes { compiled, recorder, limits, .. } = self.plan;
        let (times, columns, l) = (recorder.times(), recorder.columns(), 4 * q + k);
        let lane = &mut self.lanes[q][k];
        let value = |register: Register| self.registers[register as usize][q][k];
        let below = compiled.watched.iter().any(|&register| value(register) < 0.0);
        if !(total <= limits.ceiling) || below {
            let registers: Vec<[f64; 1]> = self.registers.iter().map(|lanes| [lanes[q][k]]).collect();
            lane.failure = Some(compiled.complaint(registers, limits.ceiling));
            lane.ended = true;
        } else {
            let summaries = &mut self.summaries[l * columns..(l + 1) * columns];
            let next = recorder.passed(lane.next, self.now[q][k]);
            recorder.record(lane.next..next, value, self.registers.len(), summaries);
            lane.next = next;
            self.due[q][k] = times.get(next).copied().unwrap_or(f64::INFINITY);
            lane.ended |= next == times.len();
        }
        lane.ended
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
        let failure = ended.failure.take();
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
        feed.finish(ended.row, summaries, outcome);
        (ended.busy, ended.ended) = (false, false);
        self.due[q][k] = f64::INFINITY;
        self.active -= 1;
        // One that failed must not go on failing.
        if failed {
            let values = self.plan.compiled.compiler.values();
            self.registers.iter_mut().zip(values).for_each(|(lanes, value)| lanes[q][k] = *value);
            self.now[q][k] = 0.0;
        }
    }

    /// Sees to all that is not due at every step, and says whether a trajectory ended.
    ///
    /// # Errors
    /// If nobody waits any more.
    #[inline(never)]
    fn look_around(&mut self, feed: &dyn Feed) -> Result<bool, Ended> {
        let mut any = false;
        if self.steps >= self.patience {
            self.patience = self.steps + PATIENCE as i64;
            if feed.is_cut() {
                return Err(Ended::Cut);
            }
            any |= self.give_up();
        }
        self.check = self.patience;
        for lane in 0..4 * Q {
            let Lane { busy, ended, looks_at, .. } = self.lanes[lane / 4][lane % 4];
            if busy && !ended {
                if looks_at <= self.steps {
                    any |= self.leap(lane, feed)?;
                }
                self.check = self.check.min(self.lanes[lane / 4][lane % 4].looks_at);
            }
        }
        Ok(any)
    }

    /// Leaps with the trajectory of a lane for as long as that pays, and says whether it ended.
    fn leap(&mut self, lane: usize, feed: &dyn Feed) -> Result<bool, Ended> {
        let Some(leaper) = &mut self.leaper else { return Ok(false) };
        let (times, columns) = (self.plan.recorder.times(), self.plan.recorder.columns());
        let (q, k) = (lane / 4, lane % 4);
        self.scratch.clear();
        self.scratch.extend(self.registers.iter().map(|lanes| [lanes[q][k]]));
        let about = &mut self.lanes[q][k];
        let exact = (self.steps - about.began) as u64;
        let mut place = Place { now: self.now[q][k], next: about.next, steps: exact };
        let mut rng = self.rng.get(lane);
        let summaries = &mut self.summaries[lane * columns..(lane + 1) * columns];
        match leaper.leap(&mut place, &mut self.scratch, &mut rng, summaries, &|| feed.is_cut()) {
            Err(Ended::Cut) => return Err(Ended::Cut),
            Err(Ended::Failed(failure)) => about.failure = Some(failure),
            Ok(()) => {}
        }
        let leaps = place.steps - exact;
        about.wait = next_look(about.wait as u64, leaps) as i64;
        about.looks_at = self.steps + about.wait;
        if leaps > 0 || about.failure.is_some() {
            self.registers.iter_mut().zip(&self.scratch).for_each(|(lanes, [value])| lanes[q][k] = *value);
            self.rng.set(lane, &rng);
            self.now[q][k] = place.now;
            about.next = place.next;
            about.began -= leaps as i64;
            self.due[q][k] = times.get(about.next).copied().unwrap_or(f64::INFINITY);
            about.ended = about.failure.is_some() || about.next == times.len();
            // In `finish` the last step of one that ended is none of its own.
            about.began -= i64::from(about.ended);
        }
        Ok(about.ended)
    }

    /// Ends trajectories that have had too many events, and says whether there are any.
    fn give_up(&mut self) -> bool {
        let most = self.plan.limits.max_events;
        let mut any = false;
        for lane in self.lanes.as_flattened_mut().iter_mut().filter(|lane| lane.busy) {
            lane.ended |= (self.steps - lane.began - 1).max(0) as u64 > most;
            any |= lane.ended;
        }
        any
    }
}

/// The sums of the propensities up to each reaction, and the last of them.
#[inline(always)]
fn propensities<const Q: usize>(terms: &[Term], registers: &[Wide<Q>], sums: &mut [Wide<Q>]) -> Wide<Q> {
    for (at, term) in terms.iter().enumerate() {
        let before = if at == 0 { [[0.0; 4]; Q] } else { sums[at - 1] };
        let (c, i) = (registers[term.c as usize], registers[term.i as usize]);
        let mut here = [[0.0; 4]; Q];
        if term.j == ONE {
            for q in 0..Q {
                for k in 0..4 {
                    here[q][k] = before[q][k] + c[q][k] * i[q][k];
                }
            }
        } else {
            let j = registers[term.j as usize];
            for q in 0..Q {
                for k in 0..4 {
                    here[q][k] = before[q][k] + c[q][k] * i[q][k] * (j[q][k] - term.less);
                }
            }
        }
        sums[at] = here;
    }
    sums.last().copied().unwrap_or([[0.0; 4]; Q])
}

/// Adds a reaction's changes, as many times as it fires.
#[inline(always)]
fn apply<const Q: usize>(changes: &[Change], fires: &Wide<Q>, registers: &mut [Wide<Q>]) {
    for change in changes {
        let mut amounts = registers[change.register as usize];
        for q in 0..Q {
            for k in 0..4 {
                amounts[q][k] += fires[q][k] * change.by;
            }
        }
        registers[change.register as usize] = amounts;
    }
}
