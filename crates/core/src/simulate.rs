//! The boundary with the outside: jobs go out, chunks come back, in any order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::packed::Packed;
use crate::problem::{Failure, Simulator};
use crate::stacked::Layer;
use crate::stream::{Seed, Stage, Stream, Streams};
use crate::table::Table;

/// Everything needed to run any row of a generation, on any machine.
#[derive(Clone, Copy, Debug)]
pub struct Jobs<'a> {
    /// Parameters on their natural scale, one row a job.
    pub thetas: &'a Table,
    /// Seed of the run.
    pub seed: Seed,
    /// Generation being simulated.
    pub generation: u32,
    /// Which row of the generation the first of these is.
    pub first: u64,
}

impl<'a> Jobs<'a> {
    /// Parameters of `row`.
    #[must_use]
    pub fn theta(&self, row: usize) -> &'a [f64] {
        self.thetas.row(row)
    }

    /// The random stream of `row`: a function of the address alone, so schedule-free.
    #[must_use]
    pub fn stream(&self, row: usize) -> Stream {
        self.streams().at(row)
    }

    /// The random streams of all rows: cheaper than one by one when rows are asked for in order.
    #[must_use]
    pub fn streams(&self) -> RowStreams {
        RowStreams { streams: self.seed.streams(Stage::Simulate, self.generation), first: self.first }
    }

    /// All rows of the batches that some rows, in ascending order, belong to.
    #[must_use]
    pub fn whole_batches<'r>(&self, rows: &'r [usize], size: usize) -> Cow<'r, [usize]> {
        if size <= 1 {
            return Cow::Borrowed(rows);
        }
        let (size, first) = (size as u64, self.first);
        let batch = |row: usize| (row as u64 + first) / size;
        let place =
            |number: u64| (number * size).saturating_sub(first).min(self.thetas.rows() as u64) as usize;
        let some = rows.chunk_by(|&a, &b| batch(a) == batch(b)).map(|some| batch(some[0]));
        some.flat_map(|number| place(number)..place(number + 1)).collect()
    }

    /// The seed of `row` for a simulator outside this process: see [`Stream::external_seed`].
    #[must_use]
    pub fn external_seed(&self, row: usize) -> u32 {
        self.stream(row).external_seed()
    }
}

/// The random streams of the rows of some [`Jobs`].
#[derive(Clone, Debug)]
pub struct RowStreams {
    streams: Streams,
    first: u64,
}

impl RowStreams {
    /// The stream of `row`.
    #[must_use]
    pub fn at(&mut self, row: usize) -> Stream {
        self.streams.at(self.first + row as u64)
    }
}

/// Where a simulator takes its rows from and leaves what became of them. It may take several before it finishes
/// the first, and finish them in any order: so a slow row holds up no other.
pub trait Feed {
    /// The next row to simulate, until there is none.
    fn next(&mut self) -> Option<usize>;
    /// Takes what became of a row; the summaries count only where the outcome is good.
    fn finish(&mut self, row: usize, summaries: &[f64], outcome: Result<(), Failure>);
    /// Whether nobody waits any more for the rows that are under way: they may be dropped.
    fn is_cut(&self) -> bool {
        false
    }
}

/// Simulates a list of rows; the chunk has them in the order of the list.
pub fn simulate_rows(simulator: &dyn Simulator, jobs: &Jobs<'_>, rows: &[usize]) -> Chunk {
    let mut list = List {
        waiting: rows.iter(),
        slots: rows.iter().enumerate().map(|(slot, &row)| (row, slot)).collect(),
        summaries: Table::filled(rows.len(), simulator.summaries(), f64::NAN),
        outcomes: vec![Ok(()); rows.len()],
    };
    simulator.simulate_rows(jobs, &mut list);
    Chunk::new(rows.to_vec(), list.summaries, list.outcomes)
}

/// A list of rows as a feed.
struct List<'a> {
    waiting: std::slice::Iter<'a, usize>,
    slots: BTreeMap<usize, usize>,
    summaries: Table,
    outcomes: Vec<Result<(), Failure>>,
}

impl Feed for List<'_> {
    fn next(&mut self) -> Option<usize> {
        self.waiting.next().copied()
    }

    fn finish(&mut self, row: usize, summaries: &[f64], outcome: Result<(), Failure>) {
        let slot = self.slots[&row];
        // What a failed simulation left behind is nobody's.
        if outcome.is_ok() {
            self.summaries.row_mut(slot).copy_from_slice(summaries);
        }
        self.outcomes[slot] = outcome;
    }
}

/// A finished piece of a generation.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Job rows, in the order of `summaries`.
    pub rows: Vec<usize>,
    /// One row of summaries a job.
    pub summaries: Table,
    /// What happened to each job.
    pub outcomes: Vec<Result<(), Failure>>,
}

impl Chunk {
    /// Builds a chunk, turning any non-finite summary into a [`Failure`].
    #[must_use]
    pub fn new(rows: Vec<usize>, summaries: Table, mut outcomes: Vec<Result<(), Failure>>) -> Self {
        for (row, outcome) in summaries.iter().zip(&mut outcomes) {
            if let (Ok(()), Some(column)) = (&outcome, row.iter().position(|v| !v.is_finite())) {
                *outcome = Err(Failure::NotFinite { column });
            }
        }
        Self { rows, summaries, outcomes }
    }

    /// The jobs that went well.
    #[must_use]
    pub fn without_failures(self) -> Self {
        self.only(|_, outcome| outcome.is_ok())
    }

    /// The jobs whose row and outcome are wanted.
    #[must_use]
    pub fn only(self, is_wanted: impl Fn(usize, &Result<(), Failure>) -> bool) -> Self {
        let is_wanted = |&slot: &u32| is_wanted(self.rows[slot as usize], &self.outcomes[slot as usize]);
        let wanted: Vec<u32> = (0..self.rows.len() as u32).filter(is_wanted).collect();
        if wanted.len() == self.rows.len() {
            return self;
        }
        let rows = wanted.iter().map(|&slot| self.rows[slot as usize]).collect();
        let outcomes = wanted.iter().map(|&slot| self.outcomes[slot as usize].clone()).collect();
        Self { rows, summaries: self.summaries.select(&wanted), outcomes }
    }
}

/// The simulations of one generation, placed by row so that arrival order cannot matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    summaries: Summaries,
    done: Vec<bool>,
    count: usize,
    failures: BTreeMap<usize, Failure>,
}

/// Summaries, shared by all who look at the same simulations.
#[derive(Clone, Debug, PartialEq)]
enum Summaries {
    Plain(Arc<Table>),
    Packed(Arc<Packed>),
}

impl Simulated {
    /// A generation of `rows` jobs with none finished.
    #[must_use]
    pub fn empty(rows: usize, columns: usize) -> Self {
        Self {
            summaries: Summaries::Plain(Arc::new(Table::filled(rows, columns, f64::NAN))),
            done: vec![false; rows],
            count: 0,
            failures: BTreeMap::new(),
        }
    }

    /// A generation that is finished: the summaries of every row, and those rows that failed. A row with a summary
    /// that is not finite is one of them, whether it is listed or not.
    #[must_use]
    pub fn complete(summaries: Table, mut failures: BTreeMap<usize, Failure>) -> Self {
        for (row, values) in summaries.iter().enumerate() {
            if let Some(column) = values.iter().position(|value| !value.is_finite()) {
                failures.entry(row).or_insert(Failure::NotFinite { column });
            }
        }
        let (done, count) = (vec![true; summaries.rows()], summaries.rows());
        Self { done, count, summaries: Summaries::Plain(Arc::new(summaries)), failures }
    }

    /// The same simulations without one of them, which is put aside as if it had failed; the summaries are shared.
    #[must_use]
    pub fn without(&self, row: usize) -> Self {
        let mut left = self.clone();
        left.failures.insert(row, Failure::Declined("put aside".into()));
        left
    }

    /// Keeps the summaries in less room where they have any to spare, without loss: of counts in a byte each.
    #[must_use]
    pub fn packed(mut self) -> Self {
        if let Summaries::Plain(table) = &self.summaries
            && let Some(packed) = Packed::of(table)
        {
            self.summaries = Summaries::Packed(Arc::new(packed));
        }
        self
    }

    /// Places a finished chunk.
    pub fn place(&mut self, chunk: &Chunk) {
        if let Summaries::Packed(packed) = &self.summaries {
            self.summaries = Summaries::Plain(Arc::new(packed.unpacked()));
        }
        let Summaries::Plain(summaries) = &mut self.summaries else { unreachable!("unpacked just now") };
        let summaries = Arc::make_mut(summaries);
        for (slot, (&row, outcome)) in chunk.rows.iter().zip(&chunk.outcomes).enumerate() {
            self.count += usize::from(!std::mem::replace(&mut self.done[row], true));
            match outcome {
                Ok(()) => summaries.row_mut(row).copy_from_slice(chunk.summaries.row(slot)),
                Err(failure) => drop(self.failures.insert(row, failure.clone())),
            }
        }
    }

    /// How many rows are finished.
    #[must_use]
    pub fn done(&self) -> usize {
        self.count
    }

    /// Rows still to be run.
    #[must_use]
    pub fn pending(&self) -> Vec<usize> {
        (0..self.done.len()).filter(|&row| !self.done[row]).collect()
    }

    /// Rows with usable summaries, ascending.
    #[must_use]
    pub fn usable(&self) -> Vec<u32> {
        let usable = |&row: &u32| self.done[row as usize] && !self.failures.contains_key(&(row as usize));
        (0..self.done.len() as u32).filter(usable).collect()
    }

    /// Failed rows and why.
    #[must_use]
    pub fn failures(&self) -> &BTreeMap<usize, Failure> {
        &self.failures
    }

    /// All summaries as they are kept; rows without any hold NaN.
    #[must_use]
    pub fn summaries(&self) -> Layer<'_> {
        match &self.summaries {
            Summaries::Plain(table) => (&**table).into(),
            Summaries::Packed(packed) => (&**packed).into(),
        }
    }

    /// The same as a table, made for this where they are packed.
    #[must_use]
    pub fn table(&self) -> Cow<'_, Table> {
        match &self.summaries {
            Summaries::Plain(table) => Cow::Borrowed(table),
            Summaries::Packed(packed) => Cow::Owned(packed.unpacked()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_counted_from_the_first_row_of_the_generation() {
        let thetas = Table::filled(10, 1, 0.0);
        let jobs = |first| Jobs { thetas: &thetas, seed: Seed(1), generation: 0, first };
        assert_eq!(*jobs(0).whole_batches(&[0, 5, 6], 4), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(*jobs(0).whole_batches(&[9], 4), [8, 9], "the last may be smaller");
        // Row 3 of these is row 5 of the generation, in the batch of 4 to 7.
        assert_eq!(*jobs(2).whole_batches(&[3], 4), [2, 3, 4, 5]);
        assert_eq!(*jobs(2).whole_batches(&[0], 4), [0, 1], "what comes before them is not here");
        assert_eq!(*jobs(0).whole_batches(&[7, 2], 1), [7, 2]);
        assert!(jobs(0).whole_batches(&[], 4).is_empty());
    }

    #[test]
    fn a_part_of_a_chunk_keeps_rows_values_and_outcomes_together() {
        let summaries = Table::from_rows(1, vec![2.0, 5.0, 7.0]);
        let declined = Err(Failure::Declined("no".into()));
        let chunk = Chunk::new(vec![2, 5, 7], summaries, vec![Ok(()), declined.clone(), Ok(())]);
        let part = chunk.clone().only(|row, _| row > 2);
        assert_eq!(
            (&part.rows[..], part.summaries.values(), &part.outcomes[..]),
            (&[5, 7][..], &[5.0, 7.0][..], &[declined, Ok(())][..])
        );
        assert_eq!(chunk.without_failures().rows, [2, 7]);
    }

    #[test]
    fn a_chunk_with_nan_becomes_a_failure_and_is_never_usable() {
        let summaries = Table::from_rows(2, vec![1.0, 2.0, 3.0, f64::NAN]);
        let chunk = Chunk::new(vec![2, 0], summaries, vec![Ok(()), Ok(())]);
        let mut simulated = Simulated::empty(3, 2);
        simulated.place(&chunk);
        assert_eq!(simulated.pending(), [1]);
        assert_eq!(simulated.usable(), [2]);
        assert_eq!(simulated.failures()[&0], Failure::NotFinite { column: 1 });
        assert_eq!(simulated.table().row(2), [1.0, 2.0]);
    }

    /// Nobody can tell by what is read, placed or put aside.
    #[test]
    fn packed_simulations_are_the_same() {
        let summaries = Table::from_rows(2, (0..40).map(|at| f64::from(at % 7)).collect());
        let outcomes = (0..20).map(|at| if at == 4 { Err(Failure::Declined("no".into())) } else { Ok(()) });
        let mut plain = Simulated::empty(21, 2);
        plain.place(&Chunk::new((0..20).collect(), summaries, outcomes.collect()));
        let mut packed = plain.clone().packed();
        assert!(matches!(packed.summaries, Summaries::Packed(_)), "otherwise this shows nothing");
        let last = Chunk::new(vec![20], Table::filled(1, 2, 0.1), vec![Ok(())]);
        for _ in 0..2 {
            let bits = |of: &Simulated| of.table().values().iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
            assert_eq!(bits(&packed), bits(&plain));
            assert_eq!((packed.usable(), packed.pending()), (plain.usable(), plain.pending()));
            assert_eq!(packed.failures(), plain.failures());
            assert_eq!(packed.without(3).usable(), plain.without(3).usable());
            packed.place(&last);
            plain.place(&last);
        }
    }

    #[test]
    fn a_finished_generation_has_its_failures_found() {
        let summaries = Table::from_rows(2, vec![1.0, 2.0, 3.0, f64::INFINITY, 5.0, 6.0, f64::NAN, 8.0]);
        let declined = Failure::Declined("no".into());
        let listed = BTreeMap::from([(2, declined.clone()), (3, declined.clone())]);
        let simulated = Simulated::complete(summaries, listed);
        assert_eq!((simulated.usable(), simulated.pending()), (vec![0], vec![]));
        assert_eq!(simulated.failures()[&1], Failure::NotFinite { column: 1 });
        assert_eq!((&simulated.failures()[&2], &simulated.failures()[&3]), (&declined, &declined));
        let left = simulated.without(0);
        assert_eq!(
            (left.usable(), simulated.usable()),
            (vec![], vec![0]),
            "one is put aside, and only in the copy"
        );
    }
}
