//! Learned statistics: what a penalised regression on many transforms of the statistics knows of the parameters.

mod block;
mod dictionary;
mod groups;
mod pairs;
mod terms;

use super::{Estimates, Features, Projection, ReduceError, Reduction};
use crate::products::BLOCK;
use crate::ridge::{Points, Ridge};
use crate::stacked::Stacked;
use crate::stream::Stream;
use crate::table::Table;
use crate::view::View;
use block::Room;
use dictionary::Dictionary;

/// Regresses the parameters, their squares and, where they are few, their products on a dictionary of transforms of
/// the statistics. What is predicted of each is a feature, in units of what the prediction leaves open. Posterior
/// means are the statistics of least loss (Fearnhead & Prangle 2012); squares tell what a mean cannot, such as the
/// size of a parameter whose sign is unknown.
#[derive(Clone, Debug)]
pub struct Learned {
    /// Regressors at the most: those that go with some target most.
    pub terms: usize,
    /// Simulations that are learned from, at the most.
    pub rows: usize,
}

impl Default for Learned {
    fn default() -> Self {
        Self { terms: 200, rows: 10_000 }
    }
}

/// Simulations without which nothing is learned.
const FEWEST: usize = 40;
/// The least share of a target's variance that a prediction must explain on new simulations to be a feature.
const EXPLAINED: f64 = 0.01;
/// Products of parameters are targets up to so many parameters.
const MOST_FOR_PRODUCTS: usize = 3;

impl Reduction for Learned {
    fn fit(&self, view: &View<'_>, _: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        let varying = view.varying();
        if varying.is_empty() {
            return Err(ReduceError::NoVariation(view.spread.len()));
        }
        if view.rows.len() < FEWEST {
            return Err(ReduceError::TooFewRows { needed: FEWEST, found: view.rows.len() });
        }
        let step = view.rows.len().div_ceil(self.rows.max(FEWEST));
        let rows: Vec<u32> = view.rows.iter().copied().step_by(step).collect();
        let summaries = Sample { summaries: view.features, rows: &rows };
        let units = view.units.select(&rows);
        let moments = Moments::of(&units);
        let targets = moments.table(&units);
        let dictionary = Dictionary::new(summaries, &varying, &targets, self.terms);
        let points = Points {
            count: rows.len(),
            regressors: dictionary.len(),
            targets: targets.columns(),
            writer: &|| dictionary.writer(summaries, &targets),
        };
        let ridge = Ridge::fit(&points, view.workers);
        let ridge = ridge.ok_or(ReduceError::NoVariation(view.spread.len()))?;
        let told = |p: &usize| ridge.explained[*p] > EXPLAINED && ridge.residual[*p] > 0.0;
        let mut used: Vec<usize> = (0..targets.columns()).filter(told).collect();
        if used.is_empty() {
            let more = |a: usize, b: usize| if ridge.explained[b] > ridge.explained[a] { b } else { a };
            used.push((1..targets.columns()).fold(0, more));
        }
        Ok(Box::new(Fitted { dictionary, ridge, moments, used }))
    }
}

/// The simulations that are learned from.
#[derive(Clone, Copy)]
struct Sample<'a> {
    summaries: Stacked<'a>,
    rows: &'a [u32],
}

impl<'a> Sample<'a> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn columns(&self) -> usize {
        self.summaries.columns()
    }

    /// Some of them, unpacked into `room` where they are packed.
    fn read<'b>(&self, some: &[usize], room: &'b mut Vec<f64>) -> Vec<&'b [f64]>
    where
        'a: 'b,
    {
        self.summaries.read(&some.iter().map(|&i| self.rows[i]).collect::<Vec<u32>>(), room)
    }
}

/// What is predicted of the parameters: themselves, squares and products about their means, in standard units.
#[derive(Clone, Debug)]
struct Moments {
    mean: Vec<f64>,
    spread: Vec<f64>,
    kinds: Vec<Kind>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Mean(usize),
    Product(usize, usize),
}

impl Moments {
    fn of(units: &Table) -> Self {
        let (n, d) = (units.rows() as f64, units.columns());
        let rows: Vec<u32> = (0..units.rows() as u32).collect();
        let spread = crate::view::standard_deviations(units, &rows);
        let mean = (0..d).map(|j| units.column(j).iter().sum::<f64>() / n).collect();
        let mut kinds: Vec<Kind> = (0..d).map(Kind::Mean).collect();
        kinds.extend((0..d).map(|j| Kind::Product(j, j)));
        if d <= MOST_FOR_PRODUCTS {
            kinds.extend((0..d).flat_map(|a| (a + 1..d).map(move |b| Kind::Product(a, b))));
        }
        Self { mean, spread: spread.into_iter().map(|s| if s > 0.0 { s } else { 1.0 }).collect(), kinds }
    }

    fn table(&self, units: &Table) -> Table {
        let z = |unit: &[f64], j: usize| (unit[j] - self.mean[j]) / self.spread[j];
        let value = |unit: &[f64], kind: &Kind| match *kind {
            Kind::Mean(j) => z(unit, j),
            Kind::Product(a, b) => z(unit, a) * z(unit, b),
        };
        let rows = units.iter().flat_map(|unit| self.kinds.iter().map(move |kind| value(unit, kind)));
        Table::from_rows(self.kinds.len(), rows.collect())
    }
}

struct Fitted {
    dictionary: Dictionary,
    ridge: Ridge,
    moments: Moments,
    /// Targets that are features.
    used: Vec<usize>,
}

impl Projection for Fitted {
    fn names(&self, _: &[String], parameters: &[String]) -> Vec<String> {
        let name = |&p: &usize| match self.moments.kinds[p] {
            Kind::Mean(j) => format!("mean({})", parameters[j]),
            Kind::Product(a, b) if a == b => format!("mean({}^2)", parameters[a]),
            Kind::Product(a, b) => format!("mean({} {})", parameters[a], parameters[b]),
        };
        self.used.iter().map(name).collect()
    }

    fn learned(&self) -> Estimates {
        let means = self.used.iter().filter(|&&p| matches!(self.moments.kinds[p], Kind::Mean(_))).count();
        Estimates { means, products: self.used.len() - means }
    }

    fn features(&self, summaries: Stacked<'_>) -> Features {
        let mut features = Table::filled(summaries.rows(), self.used.len(), f64::NAN);
        let floor = |p: usize| self.ridge.residual[p].max(1e-6);
        let lines: Vec<(f64, &[f64])> = self.used.iter().map(|&p| self.ridge.line(p)).collect();
        let (mut room, mut told) = (Room::default(), vec![[0.0; BLOCK]; lines.len()]);
        let mut unpacked = Vec::new();
        for first in (0..summaries.rows()).step_by(BLOCK) {
            let mut rows: Vec<u32> = (first as u32..summaries.rows().min(first + BLOCK) as u32).collect();
            let mut statistics = summaries.read(&rows, &mut unpacked);
            // Rows without summaries have no features; nobody looks at them. All of a row is looked at, side by side.
            let is_there = |row: &&[f64]| row.iter().fold(true, |all, value| all & value.is_finite());
            if !statistics.iter().all(is_there) {
                rows.retain(|&row| is_there(&statistics[row as usize - first]));
                statistics.retain(is_there);
            }
            if rows.is_empty() {
                continue;
            }
            self.dictionary.tell(&statistics, &mut room, &lines, &mut told);
            for (at, (&p, told)) in self.used.iter().zip(&told).enumerate() {
                rows.iter()
                    .zip(told)
                    .for_each(|(&row, told)| features.row_mut(row as usize)[at] = told / floor(p));
            }
        }
        Features::Instead(features)
    }
}
