//! Simulations that exist already, in a table: read, and digested as one generation.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use counterpoise_core::digest::{Analysis, Inputs, digest};
use counterpoise_core::problem::law::Scale;
use counterpoise_core::problem::{Failure, Prior};
use counterpoise_core::propose::{Densities, Proposed};
use counterpoise_core::simulate::Simulated;
use counterpoise_core::stop::StopReason;
use counterpoise_core::table::Table;
use counterpoise_core::workers::{self, Workers};
use counterpoise_tables::{Block, TableError, TableFile};

use crate::outcome::{Event, Finished, RunError, Seconds};
use crate::store::{Header, Made, Store};

/// A table of simulations, and which of its columns are what.
#[derive(Debug)]
pub struct Source {
    /// The table.
    pub file: TableFile,
    /// Its column for each parameter, in the prior's order.
    pub parameters: Vec<usize>,
    /// Its column for each statistic, in the problem's order.
    pub statistics: Vec<usize>,
    /// How many rows are taken, the first ones.
    pub rows: usize,
}

/// Simulations with the parameters they were made at.
#[derive(Debug)]
pub struct Given {
    /// Parameters of each row.
    pub proposed: Proposed,
    /// Statistics of each row, and which of them failed.
    pub simulated: Simulated,
}

impl Source {
    /// Reads the table. `observe` is told how many values of all are there, and may break it off.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn read(
        &self,
        prior: &Prior,
        workers: &dyn Workers,
        observe: &mut dyn FnMut(f64) -> ControlFlow<StopReason>,
    ) -> Result<ControlFlow<StopReason, Given>, TableError> {
        let columns = [&self.parameters[..], &self.statistics].concat();
        let split = self.parameters.len();
        let mut thetas = Table::filled(self.rows, split, f64::NAN);
        let mut summaries = Table::filled(self.rows, self.statistics.len(), f64::NAN);
        let (mut done, all) = (0, (self.rows * columns.len()) as f64);
        let mut broken = None;
        self.file.read(&columns, self.rows as u64, workers, &mut |Block { first, columns, values }| {
            let ours = columns.start.min(split)..columns.end.min(split);
            let theirs = columns.start.max(split) - split..columns.end.max(split) - split;
            for (row, values) in (first as usize..).zip(values.chunks_exact(columns.len())) {
                thetas.row_mut(row)[ours.clone()].copy_from_slice(&values[..ours.len()]);
                summaries.row_mut(row)[theirs.clone()].copy_from_slice(&values[ours.len()..]);
            }
            done += values.len();
            broken = observe(done as f64 / all).break_value();
            broken.is_none()
        })?;
        if let Some(reason) = broken {
            return Ok(ControlFlow::Break(reason));
        }
        Ok(ControlFlow::Continue(assemble(prior, thetas, summaries, workers)))
    }
}

/// Rows per piece of parallel work.
const PIECE: usize = 8_192;

/// Finds the unit-space point of every row, and the rows that have none.
fn assemble(prior: &Prior, thetas: Table, summaries: Table, workers: &dyn Workers) -> Given {
    let (rows, width) = (thetas.rows(), thetas.columns());
    let names: Vec<Arc<str>> = prior.marginals().iter().map(|marginal| marginal.name().into()).collect();
    let pieces = workers::map(workers, rows.div_ceil(PIECE), |piece| {
        let range = piece * PIECE..rows.min((piece + 1) * PIECE);
        let mut units = Vec::with_capacity(range.len() * width);
        let mut failures = Vec::new();
        for row in range {
            let outside = place(prior, thetas.row(row), &mut units);
            failures.extend(outside.map(|at| (row, Failure::OutsidePrior(names[at].clone()))));
        }
        (units, failures)
    });
    let (mut units, mut failures) = (Vec::with_capacity(rows * width), BTreeMap::new());
    for (some, failed) in pieces {
        units.extend_from_slice(&some);
        failures.extend(failed);
    }
    let densities = Densities::default();
    let proposed = Proposed { units: Table::from_rows(width, units), thetas, inside: 1.0, densities };
    Given { proposed, simulated: Simulated::complete(summaries, failures) }
}

/// Adds the unit-space point of `theta`; the first parameter that has none, if there is one. Such a row fails and is
/// looked at by nobody, but its point counts when points are scaled: it is put at the prior's mean.
fn place(prior: &Prior, theta: &[f64], units: &mut Vec<f64>) -> Option<usize> {
    let mut outside = None;
    for (at, (marginal, &value)) in prior.marginals().iter().zip(theta).enumerate() {
        let unit = marginal.unit(value);
        let whole = marginal.scale() != Scale::Whole || value.fract() == 0.0;
        let inside = whole && unit.is_finite() && marginal.ln_density(unit) > f64::NEG_INFINITY;
        units.push(if inside { unit } else { 0.0 });
        if !inside {
            outside = outside.or(Some(at));
        }
    }
    outside
}

/// Digests the simulations of a table as one generation whose parameters were drawn from the prior.
///
/// # Errors
/// If the table cannot be read, too few of its rows are usable, or the store breaks.
pub fn run(
    (analysis, header): (&Analysis, &Header),
    source: &Source,
    store: &mut dyn Store,
    workers: &dyn Workers,
    observe: &mut dyn FnMut(Event<'_>) -> ControlFlow<StopReason>,
) -> Result<Finished, RunError> {
    let start = Instant::now();
    let mut seconds = Seconds::default();
    let mut history = store.open(header)?;
    let mut finish = |history, reason| {
        seconds.total = start.elapsed().as_secs_f64();
        Ok(Finished { history, reason, seconds, simulations: 0, failed: 0 })
    };
    let check = |history: &[_]| analysis.method.stop.check(history);
    if let ControlFlow::Break(reason) = observe(Event::Opened(&history)) {
        return finish(history, reason);
    }
    if let Some(reason) = check(&history) {
        return finish(history, reason);
    }
    let mut told = |share: f64| {
        let done = (share * source.rows as f64) as usize;
        observe(Event::Simulated { index: 0, done, failed: 0 })
    };
    let given = match source.read(&analysis.problem.prior, workers, &mut told)? {
        ControlFlow::Continue(given) => given,
        ControlFlow::Break(reason) => return finish(history, reason),
    };
    let read = start.elapsed().as_secs_f64();
    if let ControlFlow::Break(reason) = observe(Event::Weighing { index: 0 }) {
        return finish(history, reason);
    }
    let Given { proposed, simulated } = &given;
    let inputs = Inputs { index: 0, kernel: None, previous: None, proposed, simulated, earlier: &[] };
    let generation =
        digest(analysis, &inputs, workers).map_err(|source| RunError::Digest { index: 0, source })?;
    if let ControlFlow::Break(reason) = observe(Event::Weighed { index: 0 }) {
        return finish(history, reason);
    }
    seconds.simulate = read;
    seconds.weigh = start.elapsed().as_secs_f64() - read;
    let table = Some((&proposed.thetas, simulated));
    store.commit(&Made { generation: &generation, simulations: None, table })?;
    seconds.total = start.elapsed().as_secs_f64();
    seconds.store = seconds.total - seconds.simulate - seconds.weigh;
    history.push(generation);
    let flow = observe(Event::Committed { history: &history, seconds });
    let reason = flow.break_value().or_else(|| check(&history)).unwrap_or(StopReason::Generations);
    Ok(Finished { history, reason, seconds, simulations: 0, failed: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::problem::{Marginal, law};
    use counterpoise_core::workers::Serial;

    #[test]
    fn rows_become_points_and_failures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let text = "s,n,k,t\n1,1,0.1,9\n2,2,,9\n3,1.5,10,9\n4,2,1e4,9\nNA,1,1,9\n6,3,1000,inf\n7,2,1e-3,9\n";
        std::fs::write(&path, text).unwrap();
        let k = Marginal::new("k", Box::new(law::LogUniform::new(1e-3, 1e3).unwrap()));
        let n = Marginal::new("n", Box::new(law::Integer::new(1.0, 3.0).unwrap()));
        let prior = Prior::new(vec![k, n]);
        let file = TableFile::open(&path).unwrap();
        let source = Source { file, parameters: vec![2, 1], statistics: vec![3, 0], rows: 7 };
        let read = source.read(&prior, &Serial, &mut |_| ControlFlow::Continue(())).unwrap();
        let Given { proposed, simulated } = read.continue_value().unwrap();
        assert_eq!(simulated.usable(), [0, 6]);
        assert_eq!(simulated.table().row(0), [9.0, 1.0]);
        assert_eq!(proposed.thetas.row(6), [1e-3, 2.0]);
        assert_eq!(proposed.units.row(6)[0], prior.marginals()[0].unit(1e-3));
        assert!(proposed.units.values().iter().all(|value| value.is_finite()));
        let failures = simulated.failures();
        let outside = |name: &str| Failure::OutsidePrior(name.into());
        assert_eq!(
            (&failures[&1], &failures[&2], &failures[&3]),
            (&outside("k"), &outside("n"), &outside("k"))
        );
        assert_eq!(
            (&failures[&4], &failures[&5]),
            (&Failure::NotFinite { column: 1 }, &Failure::NotFinite { column: 0 })
        );
        let stopped =
            source.read(&prior, &Serial, &mut |_| ControlFlow::Break(StopReason::Interrupt)).unwrap();
        assert!(matches!(stopped, ControlFlow::Break(StopReason::Interrupt)));
    }
}
