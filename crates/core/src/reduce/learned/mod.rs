//! Learned statistics: what a penalised regression on many transforms of the statistics knows of the parameters.

mod block;
mod dictionary;
mod groups;
mod pairs;
mod terms;

use super::region::Region;
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
    /// Simulations in which terms are looked for and compared with each other, at the most: what they make of the parameters is
    /// then corrected by all that are learned from.
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
/// Where the older generations are not learned from, the share of the newer simulations, those furthest out, beyond which nothing
/// is known. They were proposed from a law that is wider than the posterior.
const OUTSIDE: f64 = 0.01;

impl Reduction for Learned {
    fn fit(&self, view: &View<'_>, _: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        let varying = view.varying();
        if varying.is_empty() {
            return Err(ReduceError::NoVariation(view.spread.len()));
        }
        if view.rows.len() < FEWEST {
            return Err(ReduceError::TooFewRows { needed: FEWEST, found: view.rows.len() });
        }
        let newer = self.newer(view);
        let step = newer.len().div_ceil(self.rows.max(FEWEST));
        let rows: Vec<u32> = newer.iter().copied().step_by(step).collect();
        let summaries = Sample { summaries: view.features, rows: &rows };
        let units = view.units.select(&rows);
        let moments = Moments::of(&units);
        let targets = moments.table(&units);
        let dictionary = Dictionary::new(summaries, &varying, &targets, self.terms);
        let points = Points {
            count: rows.len(),
            regressors: dictionary.len(),
            targets: targets.columns(),
            writer: &|| dictionary.writer(summaries, |row, p| targets.at(row, p)),
        };
        let all = Sample { rows: newer, ..summaries };
        let target = |row: usize, p: usize| moments.value(view.units.row(all.rows[row] as usize), p);
        let more = Points { count: all.len(), writer: &|| dictionary.writer(all, target), ..points };
        let ridge = Ridge::fit(&points, (step > 1).then_some(&more), view.workers);
        let ridge = ridge.ok_or(ReduceError::NoVariation(view.spread.len()))?;
        let told = |p: &usize| ridge.explained[*p] > EXPLAINED && ridge.residual[*p] > 0.0;
        let mut used: Vec<usize> = (0..targets.columns()).filter(told).collect();
        if used.is_empty() {
            let more = |a: usize, b: usize| if ridge.explained[b] > ridge.explained[a] { b } else { a };
            used.push((1..targets.columns()).fold(0, more));
        }
        let region = (newer.len() < view.rows.len()).then(|| Region::of_most(&units, OUTSIDE));
        Ok(Box::new(Fitted { dictionary, ridge, moments, used, region }))
    }
}

impl Learned {
    /// The simulations that are learned from: those of the newer half of the generations, which lie nearer to the data, but as
    /// many as it takes.
    fn newer<'a>(&self, view: &View<'a>) -> &'a [u32] {
        let (all, each) = (view.features.rows(), view.features.each().max(1));
        let half = (all / each).div_ceil(2) * each;
        let newer = view.rows.partition_point(|&row| (row as usize) < half);
        &view.rows[..newer.max(self.rows).min(view.rows.len())]
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

    /// One of them.
    fn value(&self, unit: &[f64], which: usize) -> f64 {
        let z = |j: usize| (unit[j] - self.mean[j]) / self.spread[j];
        match self.kinds[which] {
            Kind::Mean(j) => z(j),
            Kind::Product(a, b) => z(a) * z(b),
        }
    }

    fn table(&self, units: &Table) -> Table {
        let count = self.kinds.len();
        let rows = units.iter().flat_map(|unit| (0..count).map(move |which| self.value(unit, which)));
        Table::from_rows(count, rows.collect())
    }
}

struct Fitted {
    dictionary: Dictionary,
    ridge: Ridge,
    moments: Moments,
    /// Targets that are features.
    used: Vec<usize>,
    /// Where they are, if not everywhere: what a regression says of simulations unlike all that it was learned from is nonsense,
    /// and may by chance be what it says of the data.
    region: Option<Region>,
}

impl Projection for Fitted {
    fn knows(&self, unit: &[f64]) -> bool {
        self.region.as_ref().is_none_or(|region| region.holds(unit))
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::Space;
    use crate::divergence::testing::{gaussian, normal_prior};
    use crate::propose::Importance;
    use crate::stacked::Layer;
    use crate::stream::{Seed, Stage};
    use crate::view::standard_deviations;
    use crate::workers::Serial;

    /// Sees simulations of one normal parameter, in generations of so many, the newest first, with two statistics: one that
    /// tells in the newer half and one that tells in the older.
    fn seeing<T>(each: usize, generations: usize, failed: usize, see: impl FnOnce(&View<'_>) -> T) -> T {
        let count = each * generations;
        let (units, noise, prior) =
            (gaussian(count, 1, 0.0, 1.0, 1), gaussian(count, 2, 0.0, 1.0, 2), normal_prior(1));
        let of = |generation: usize| {
            let rows = generation * each..(generation + 1) * each;
            let is_newer = generation < generations.div_ceil(2);
            let told = |row: usize| {
                let own = units.at(row, 0) + 0.1 * noise.at(row, 0);
                if is_newer { [own, noise.at(row, 1)] } else { [noise.at(row, 1), own] }
            };
            Table::from_rows(2, rows.flat_map(told).collect())
        };
        let tables: Vec<Table> = (0..generations).map(of).collect();
        let tables: Vec<Layer<'_>> = tables.iter().map(Layer::from).collect();
        let (features, rows): (_, Vec<u32>) =
            (Stacked::new(&tables), (failed as u32..count as u32).collect());
        see(&View {
            units: &units,
            features,
            observed: &[0.0; 2],
            rows: &rows,
            spread: &standard_deviations(features, &rows),
            importance: &Importance::equal(),
            space: &Space::new(&prior, &units, Seed(1), 10),
            learned: Estimates::default(),
            adjusts: false,
            keep: 10,
            previous: None,
            tried: &[],
            workers: &Serial,
        })
    }

    #[test]
    fn many_simulations_are_learned_from_in_their_newer_half() {
        let plan = Learned { terms: 50, rows: 300 };
        let rows = |failed: usize| seeing(200, 5, failed, |view| plan.newer(view).to_vec());
        assert_eq!(rows(0), (0..600).collect::<Vec<u32>>());
        // As many as it takes, where many failed; and all where there are no more.
        assert_eq!(rows(500), (500..800).collect::<Vec<u32>>());
        assert_eq!(rows(950), (950..1_000).collect::<Vec<u32>>());
        seeing(200, 1, 0, |view| assert_eq!(plan.newer(view).len(), 200, "one generation is not halved"));
        seeing(200, 5, 0, |view| {
            let fitted = plan.fit(view, &mut Seed(1).stream(Stage::Reduce, 0, 0)).unwrap();
            let probe = Table::from_rows(2, vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
            let told = fitted.features((&probe).into());
            let told = told.of((&probe).into());
            let step = |row: usize| (told.at(row, 0) - told.at(2, 0)).abs();
            assert!(step(0) > 10.0 * step(1), "{} {}", step(0), step(1));
        });
    }
}
