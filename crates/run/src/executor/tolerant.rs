//! An executor that gives up when too many simulations fail.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use counterpoise_core::digest::FailureExample;
use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::{Chunk, Jobs};

use super::{Executor, ExecutorError};

/// How many failed simulations are borne.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// As many as there are.
    Any,
    /// None: the first ends the run.
    None,
    /// A share, between 0 and 1, of the simulations of a generation.
    Share(f64),
}

/// Rows before a share is judged, and by how many of its standard deviations it must be exceeded: a run should not end
/// by chance.
const ENOUGH: usize = 50;
const DEVIATIONS: f64 = 3.0;
/// How unlikely it must be that all of the first rows fail, and how many of them are looked at.
const UNLIKELY: f64 = 1e-3;
const FIRST: (f64, f64) = (10.0, 100.0);

/// Watches the failures of one generation.
#[derive(Debug)]
struct Judge {
    tolerance: Tolerance,
    /// Rows that have arrived before one of those in front of them, and whether they failed.
    ahead: BTreeMap<usize, bool>,
    /// Rows in the order of the list, without a gap, and how many of them failed.
    seen: usize,
    failed: usize,
}

impl Judge {
    fn new(tolerance: Tolerance) -> Self {
        Self { tolerance, ahead: BTreeMap::new(), seen: 0, failed: 0 }
    }

    /// Takes what became of the row at a place in the list; whether there are too many failures among those up to
    /// the first that is still missing. So what is judged does not depend on which row is finished first.
    fn is_too_much(&mut self, place: usize, failed: bool) -> bool {
        let Tolerance::Share(share) = self.tolerance else {
            self.seen += 1;
            self.failed += usize::from(failed);
            return failed && self.tolerance == Tolerance::None;
        };
        self.ahead.insert(place, failed);
        while let Some(failed) = self.ahead.remove(&self.seen) {
            self.seen += 1;
            self.failed += usize::from(failed);
            if self.is_hopeless(share) {
                return true;
            }
        }
        false
    }

    fn is_hopeless(&self, share: f64) -> bool {
        let (seen, failed) = (self.seen as f64, self.failed as f64);
        // As many failures in a row as a tolerable simulator has once in a thousand runs.
        let first =
            if share < 1.0 { (UNLIKELY.ln() / share.ln()).clamp(FIRST.0, FIRST.1).ceil() } else { FIRST.1 };
        if seen == first && failed == seen {
            return true;
        }
        let margin = DEVIATIONS * (share * (1.0 - share) * seen).sqrt();
        self.seen >= ENOUGH && share < 1.0 && failed > share * seen + margin
    }
}

/// An executor that gives up when too many simulations fail.
#[derive(Debug)]
pub struct Tolerant<E> {
    inner: E,
    tolerance: Tolerance,
}

impl<E: Executor> Tolerant<E> {
    /// `inner`, as long as no more simulations fail than this.
    pub fn new(inner: E, tolerance: Tolerance) -> Self {
        Self { inner, tolerance }
    }
}

impl<E: Executor> Executor for Tolerant<E> {
    fn summaries(&self) -> usize {
        self.inner.summaries()
    }

    fn is_dear(&self) -> bool {
        self.inner.is_dear()
    }

    fn run(
        &mut self,
        jobs: Jobs<'_>,
        rows: &[usize],
        sink: &mut dyn FnMut(Chunk) -> ControlFlow<()>,
    ) -> Result<(), ExecutorError> {
        if self.tolerance == Tolerance::Any {
            return self.inner.run(jobs, rows, sink);
        }
        let places: BTreeMap<usize, usize> =
            rows.iter().enumerate().map(|(place, &row)| (row, place)).collect();
        let mut judge = Judge::new(self.tolerance);
        let mut first: Option<(usize, Failure)> = None;
        let (mut ended, mut broken) = (false, false);
        self.inner.run(jobs, rows, &mut |chunk| {
            for (row, outcome) in chunk.rows.iter().zip(&chunk.outcomes) {
                if let Err(failure) = outcome
                    && first.as_ref().is_none_or(|(other, _)| row < other)
                {
                    first = Some((*row, failure.clone()));
                }
                // A run that is being stopped is not judged any more.
                ended = ended || !broken && judge.is_too_much(places[row], outcome.is_err());
            }
            // Failures that end the run are not kept: they are tried again when it goes on.
            let flow = sink(if ended { chunk.without_failures() } else { chunk });
            broken = broken || flow.is_break();
            if ended { ControlFlow::Break(()) } else { flow }
        })?;
        match first.filter(|_| ended) {
            Some((row, failure)) => {
                let first = FailureExample { row, theta: jobs.theta(row).to_vec(), failure };
                let Judge { failed, seen: of, .. } = judge;
                Err(ExecutorError::TooManyFailures { failed, of, first: Box::new(first) })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many rows it ends, if it does.
    fn ends(tolerance: Tolerance, failed: impl Fn(usize) -> bool) -> Option<usize> {
        let mut judge = Judge::new(tolerance);
        (0..1_000).find(|&row| judge.is_too_much(row, failed(row))).map(|row| row + 1)
    }

    #[test]
    fn hopeless_runs_end_early_and_others_never() {
        assert_eq!(ends(Tolerance::Any, |_| true), None);
        assert_eq!(ends(Tolerance::None, |row| row == 7), Some(8));
        let half = Tolerance::Share(0.5);
        assert_eq!(ends(half, |_| true), Some(10), "the very first rows");
        assert_eq!(ends(half, |row| row % 2 == 0), None);
        assert_eq!(ends(half, |row| row > 0), Some(50), "as soon as there are enough");
        // 123 of the first 203 fail, and 203 / 2 + 1.5 sqrt(203) = 122.9.
        assert_eq!(ends(half, |row| row % 5 < 3), Some(203), "60 % fail: once that is no chance");
        assert_eq!(ends(Tolerance::Share(0.9), |_| true), Some(66));
        assert_eq!(ends(Tolerance::Share(1.0), |_| true), Some(100));
        assert_eq!(ends(Tolerance::Share(1.0), |row| row > 0), None);
        assert_eq!(
            ends(Tolerance::Share(0.0), |row| row == 3),
            Some(50),
            "none are borne, but not judged early"
        );
    }

    #[test]
    fn successes_count_where_the_first_failure_ends_it() {
        let mut judge = Judge::new(Tolerance::None);
        assert!(!(0..7).any(|row| judge.is_too_much(row, false)));
        assert!(judge.is_too_much(7, true));
        assert_eq!((judge.failed, judge.seen), (1, 8));
    }

    /// Arrival in another order ends it with the same rows judged.
    #[test]
    fn the_order_of_arrival_does_not_matter() {
        let failed = |row: usize| row % 5 < 3;
        let expected = ends(Tolerance::Share(0.5), failed);
        for width in [2, 3, 7] {
            let mut judge = Judge::new(Tolerance::Share(0.5));
            let turned = (0..1_000).map(|row| row / width * width + (width - 1 - row % width));
            let ended = turned.into_iter().any(|row| judge.is_too_much(row, failed(row)));
            assert!(ended && Some(judge.seen) == expected);
        }
    }
    /// Declines its fourth row.
    struct Declines;

    impl counterpoise_core::problem::Simulator for Declines {
        fn summaries(&self) -> usize {
            1
        }

        fn simulate(
            &self,
            theta: &[f64],
            _: &mut counterpoise_core::stream::Stream,
            summaries: &mut [f64],
        ) -> Result<(), Failure> {
            summaries[0] = theta[0];
            if theta[0] == 3.0 { Err(Failure::Declined("no".into())) } else { Ok(()) }
        }
    }

    #[test]
    fn what_succeeded_beside_the_failure_that_ends_a_run_is_kept() {
        let thetas = counterpoise_core::table::Table::from_rows(1, (0..20).map(f64::from).collect());
        let seed = counterpoise_core::stream::Seed(1);
        let jobs = Jobs { thetas: &thetas, seed, generation: 0, first: 0 };
        let mut executor = Tolerant::new(super::super::Threads::new(Declines, 1, Some(5)), Tolerance::None);
        let mut kept = Vec::new();
        let ended = executor.run(jobs, &(0..20).collect::<Vec<_>>(), &mut |chunk: Chunk| {
            kept.extend(chunk.rows);
            ControlFlow::Continue(())
        });
        assert!(matches!(ended, Err(ExecutorError::TooManyFailures { failed: 1, of: 4, .. })), "{ended:?}");
        assert_eq!(kept[..4], [0, 1, 2, 4]);
    }
}
