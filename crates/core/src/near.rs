//! The simulations nearest to an observation, by how much they are worth together.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::drawers::{Distance, Distances, first_places};
use crate::elementary::{exp, exp_each};
use crate::population::{LogWeights, Population};
use crate::select::distances;
use crate::stacked::Stacked;
use crate::table::Table;
use crate::trials::{STAND_INS, systematic};
use crate::vectors::{Loop, vectorised};
use crate::view::View;
use crate::workers;

/// Simulations among which what is nearest is looked for.
pub(crate) struct Field<'a> {
    view: View<'a>,
    /// Which simulations.
    rows: Vec<u32>,
    /// The log weight that is one here.
    ln_one: f64,
    /// What many looks need, where there will be many.
    laid_out: Option<LaidOut>,
}

/// Simulations laid out for many looks.
struct LaidOut {
    /// Steps of their features from the data in standard deviations, one feature after another; none of those without
    /// weight. Single precision is enough to tell which lie near.
    columns: Vec<Vec<f32>>,
    /// What each is worth.
    worth: Vec<f64>,
    /// How many were needed for each of the effective size that was wanted, when somebody last looked. It says how many to
    /// sort at first, and never shows in what is found.
    needed: AtomicU64,
}

/// One of so many simulations is looked at for the weight that is one.
const SAMPLED: usize = 61;
/// What is next to nothing beside others still counts where it is alone.
const FURTHEST: f64 = 300.0;
/// Simulations that are laid out at a time, and weighed.
const LAID_OUT: usize = 64;
const WEIGHED: usize = 512;

impl<'a> Field<'a> {
    /// Every so manieth of the simulations in a view, for many looks.
    #[cfg(test)]
    pub(crate) fn of(view: &View<'a>, step: usize) -> Self {
        Self::compared(view, step, &vec![1.0; view.features.columns()])
    }

    /// Every so manieth of the simulations in a view, for many looks at distances that weigh no other features than these do.
    pub(crate) fn compared(view: &View<'a>, step: usize, weights: &[f64]) -> Self {
        let mut field = Self::for_one_look(view, step);
        let used: Vec<usize> =
            (0..weights.len()).filter(|&j| weights[j] > 0.0 && view.spread[j] > 0.0).collect();
        let mut columns: Vec<Vec<f32>> = vec![Vec::new(); weights.len()];
        used.iter().for_each(|&j| columns[j].reserve_exact(field.rows.len()));
        // Some at a time, so that neighbours in a row are read together.
        for (first, part) in view.features.parts() {
            let used = || used.iter().filter(|&&j| j >= first && j < first + part.columns());
            let mut pass = part.pass(if used().count() > 0 { &field.rows } else { &[] });
            while let Some((table, top, rows)) = pass.more() {
                for rows in rows.chunks(LAID_OUT) {
                    for &j in used() {
                        let values = rows.iter().map(|row| table.at((row - top) as usize, j - first));
                        columns[j].extend(values.map(|value| step_of(view, j, value)));
                    }
                }
            }
        }
        let parts = workers::map(view.workers, field.rows.len().div_ceil(WEIGHED), |part| {
            let rows = field.rows.chunks(WEIGHED).nth(part).unwrap_or(&[]);
            view.importance.look_up(rows);
            let mut worth: Vec<f64> = rows.iter().map(|&row| field.ln_worth(row)).collect();
            exp_each(&mut worth, 1.0);
            worth
        });
        let needed = AtomicU64::new(MORE.to_bits());
        field.laid_out = Some(LaidOut { columns, worth: parts.concat(), needed });
        field
    }

    /// The same for one look: features are read where they are, and only what is near is weighed.
    pub(crate) fn for_one_look(view: &View<'a>, step: usize) -> Self {
        let rows: Vec<u32> = view.rows.iter().copied().step_by(step).collect();
        let some: Vec<u32> = rows.iter().copied().step_by(SAMPLED).collect();
        view.importance.look_up(&some);
        let top = some.iter().map(|&row| view.importance.ln(row)).fold(f64::NEG_INFINITY, f64::max);
        Self { view: *view, rows, ln_one: if top.is_finite() { top } else { 0.0 }, laid_out: None }
    }

    fn worth(&self, at: u32) -> f64 {
        match &self.laid_out {
            Some(laid_out) => laid_out.worth[at as usize],
            None => exp(self.ln_worth(self.rows[at as usize])),
        }
    }

    fn ln_worth(&self, row: u32) -> f64 {
        (self.view.importance.ln(row) - self.ln_one).clamp(-FURTHEST, FURTHEST)
    }

    /// The nearest to an observation under distance weights, all but one, as far as is asked for.
    pub(crate) fn near(
        &self,
        (observed, weights): (&[f64], &[f64]),
        but: Option<u32>,
        extent: Extent,
    ) -> Near<'_> {
        self.near_each(observed, &[(weights, extent)], but).swap_remove(0)
    }

    /// The same under several weights, each as far as it asks for.
    pub(crate) fn near_each(
        &self,
        observed: &[f64],
        looks: &[(&[f64], Extent)],
        but: Option<u32>,
    ) -> Vec<Near<'_>> {
        let weights: Vec<&[f64]> = looks.iter().map(|(weights, _)| *weights).collect();
        match &self.laid_out {
            Some(laid_out) => {
                let distances = laid_out.distances(&self.view, observed, &weights);
                let each = distances.into_iter().zip(looks);
                each.map(|(distances, (_, extent))| self.nearest(distances, but, *extent)).collect()
            }
            None => looks
                .iter()
                .map(|(weights, extent)| {
                    let distances = distances(self.view.features, observed, weights, &self.rows);
                    self.nearest(distances, but, *extent)
                })
                .collect(),
        }
    }

    /// The nearest, all but one, of the distances of all.
    fn nearest<D: Distance>(&self, distances: Vec<D>, but: Option<u32>, extent: Extent) -> Near<'_> {
        let left_out = but.and_then(|row| self.rows.binary_search(&row).ok());
        let all = distances.len() - usize::from(left_out.is_some());
        let most = extent.most.min(all);
        // Sorting is what a look costs, so not many more are sorted than are asked for.
        let wanted = BEYOND * extent.effective;
        let needed = self.laid_out.as_ref().map(|laid_out| &laid_out.needed);
        let a_unit = needed.map_or(MORE, |needed| f64::from_bits(needed.load(Ordering::Relaxed)));
        let whole = |count: usize| count.next_multiple_of(STRIDE).min(most);
        let mut next = whole(((wanted * a_unit).min(most as f64) as usize).max(extent.least));
        loop {
            let places = first_places(&distances, left_out, next);
            if self.laid_out.is_none() {
                let rows: Vec<u32> = places.iter().map(|&at| self.rows[at as usize]).collect();
                self.view.importance.look_up(&rows);
            }
            let sums = self.sums(&places);
            if next == most || sums.last().is_some_and(|sums| sums.reach(wanted)) {
                if let Some(needed) = needed.filter(|_| wanted > 0.0) {
                    let count = STRIDE * sums.partition_point(|sums| !sums.reach(wanted));
                    let a_unit = (ROOM * count as f64 / wanted).max(1.0);
                    needed.store(a_unit.to_bits(), Ordering::Relaxed);
                }
                return Near { field: self, distances: D::told(distances), places, sums, all };
            }
            next = whole((2 * next).max(FEWEST));
        }
    }

    /// What the first [`STRIDE`] are worth, the first two, and so on, and what all are.
    fn sums(&self, places: &[u32]) -> Vec<Sums> {
        let mut sums = Sums::default();
        // Asked once for a stride whether worth is laid out, and not once for each.
        let strides = places.chunks(STRIDE).map(|places| match &self.laid_out {
            Some(LaidOut { worth, .. }) => Sums::of(places.iter().map(|&at| worth[at as usize])),
            None => Sums::of(places.iter().map(|&at| self.worth(at))),
        });
        let all = strides.map(|stride| {
            sums = sums.and(stride);
            sums
        });
        all.collect()
    }
}

/// What some simulations are worth, and the squares of that.
#[derive(Clone, Copy, Default)]
struct Sums {
    worth: f64,
    squares: f64,
}

impl Sums {
    fn of(each: impl Iterator<Item = f64>) -> Self {
        each.fold(Self::default(), |sums, worth| sums.and(Self { worth, squares: worth * worth }))
    }

    fn and(self, more: Self) -> Self {
        Self { worth: self.worth + more.worth, squares: self.squares + more.squares }
    }

    fn effective(self) -> f64 {
        self.worth * self.worth / self.squares
    }

    /// Whether that is no less than a size.
    fn reach(self, size: f64) -> bool {
        self.worth * self.worth >= size * self.squares
    }
}

/// How far from the data a feature lies, in its standard deviations.
fn step_of(view: &View<'_>, j: usize, value: f64) -> f32 {
    ((value - view.observed[j]) / view.spread[j]) as f32
}

impl LaidOut {
    /// Distances from an observation under several weights. Simulations are taken some at a time, so that
    /// their features come from memory once for all.
    fn distances(&self, view: &View<'_>, observed: &[f64], weights: &[&[f64]]) -> Vec<Vec<f32>> {
        let count = self.worth.len();
        let mut distances = vec![vec![0.0; count]; weights.len()];
        let used: Vec<usize> = (0..observed.len()).filter(|&j| !self.columns[j].is_empty()).collect();
        let here: Vec<f32> = used.iter().map(|&j| step_of(view, j, observed[j])).collect();
        let factor = |weights: &[f64], j: usize| ((weights[j] * view.spread[j]).powi(2)) as f32;
        for first in (0..count).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(count);
            for (&j, &here) in used.iter().zip(&here) {
                let column = &self.columns[j][block.clone()];
                for (weights, distances) in weights.iter().zip(&mut distances) {
                    let factor = factor(weights, j);
                    if factor > 0.0 {
                        vectorised(Along { distances: &mut distances[block.clone()], column, here, factor });
                    }
                }
            }
        }
        distances
    }
}

/// A share of so many, no fewer than one.
fn share(count: usize, of: f64) -> usize {
    ((count as f64 * of).ceil() as usize).clamp(1, count)
}

/// A sample that tells how many simulations an effective size takes has so many times that size.
const BEYOND: f64 = 2.0;

/// How many are summed at a time.
const STRIDE: usize = 16;

/// Simulations whose distances are computed together.
const BLOCK: usize = 1_024;

/// How far a look reaches: as many of the nearest as have an effective size, but no fewer and no more than so many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) effective: f64,
    pub(crate) least: usize,
    pub(crate) most: usize,
}

impl Extent {
    /// As many as have this effective size; all where that is not reached.
    pub(crate) fn of(effective: f64) -> Self {
        Self { effective, least: 0, most: usize::MAX }
    }
}

/// How many simulations are looked at first for each of the effective size that is wanted, how many more than were needed the
/// last time, and how many at least where that was not enough.
const MORE: f64 = 1.5;
const ROOM: f64 = 1.2;
const FEWEST: usize = 256;

/// Adds what one feature gives to the distances.
struct Along<'a> {
    distances: &'a mut [f32],
    column: &'a [f32],
    here: f32,
    factor: f32,
}

impl Loop for Along<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (distance, value) in self.distances.iter_mut().zip(self.column) {
            let step = value - self.here;
            *distance += self.factor * step * step;
        }
    }
}

/// Some simulations with their distances, from the nearest; of many looks, to nine binary digits of these.
pub(crate) struct Near<'a> {
    field: &'a Field<'a>,
    /// Distances of all in the field, and the places of these in it.
    distances: Distances,
    places: Vec<u32>,
    /// What the nearest are worth, [`STRIDE`] more each, and all.
    sums: Vec<Sums>,
    /// How many these are the nearest of.
    all: usize,
}

/// Some of the nearest, with what each counts.
pub(crate) struct Thinned {
    pub(crate) rows: Vec<u32>,
    pub(crate) distances: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    /// The effective size of all that these stand for.
    pub(crate) effective: f64,
}

impl Thinned {
    /// So many of their parameters, equally weighted, that stand for them when they are scored.
    pub(crate) fn stand_ins(&self, units: &Table) -> Table {
        let picked = systematic(&self.weights, STAND_INS).into_iter().map(|at| self.rows[at]);
        units.select(&picked.collect::<Vec<u32>>())
    }
}

impl Near<'_> {
    /// How many there are in all, near or far.
    pub(crate) fn all(&self) -> usize {
        self.all
    }

    /// The effective size of the `size` nearest.
    pub(crate) fn effective(&self, size: usize) -> f64 {
        match size.min(self.places.len()) {
            0 => 0.0,
            size => self.sums_of(size).effective(),
        }
    }

    /// What the `size` nearest are worth.
    fn sums_of(&self, size: usize) -> Sums {
        let (strides, first) = (size / STRIDE, size / STRIDE * STRIDE);
        let before = strides.checked_sub(1).map_or(Sums::default(), |last| self.sums[last]);
        before.and(Sums::of(self.places[first..size].iter().map(|&at| self.field.worth(at))))
    }

    /// How many of the nearest have about an effective size of so many; all where that is not reached. Where a sample
    /// ends must not depend on whether a heavy one has come yet, or those that end before it are too narrow: so it is the
    /// evenness of a sample twice as large that tells. That one ends in the first [`STRIDE`] after which its size is reached.
    pub(crate) fn reaching(&self, effective: f64) -> usize {
        let beyond = BEYOND * effective * (1.0 - 1e-9);
        let stride = self.sums.iter().position(|sums| sums.reach(beyond));
        // Where none do, those that are there may be enough all the same.
        let reached = stride.map_or(self.places.len(), |stride| {
            let mut within = STRIDE * stride + 1..self.places.len().min(STRIDE * (stride + 1));
            within.find(|&size| self.sums_of(size).reach(beyond)).unwrap_or(within.end)
        });
        match self.effective(reached) {
            there if there > effective => share(reached, effective / there),
            _ => self.places.len(),
        }
    }

    /// Every so manieth of the `size` nearest, so that there are no more than `most`.
    pub(crate) fn thinned(&self, size: usize, most: usize) -> Thinned {
        let step = size.div_ceil(most).max(1);
        let chosen = self.places[..size.min(self.places.len())].iter().skip(step / 2).step_by(step);
        let places: Vec<u32> = chosen.copied().collect();
        let distances = places.iter().map(|&at| self.distances.at(at)).collect();
        let weights: Vec<f64> = places.iter().map(|&at| self.field.worth(at)).collect();
        let (sum, squares) = weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        let rows = places.into_iter().map(|at| self.field.rows[at as usize]).collect();
        Thinned { rows, distances, weights, effective: sum * sum / squares * step as f64 }
    }

    /// The population of the `size` nearest; `thetas` has the parameters on their natural scale.
    pub(crate) fn population(&self, size: usize, thetas: Stacked<'_>) -> Option<Population> {
        let mut chosen = self.places[..size.min(self.places.len())].to_vec();
        chosen.sort_unstable();
        let rows: Vec<u32> = chosen.iter().map(|&at| self.field.rows[at as usize]).collect();
        let view = &self.field.view;
        Some(Population {
            units: view.units.select(&rows),
            thetas: thetas.select(&rows),
            weights: LogWeights::new(rows.iter().map(|&row| view.importance.ln(row)).collect())?,
            distances: chosen.iter().map(|&at| self.distances.at(at)).collect(),
            rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::Space;
    use crate::divergence::testing::{gaussian, normal_prior};
    use crate::propose::Importance;
    use crate::reduce::Estimates;
    use crate::stream::Seed;
    use crate::workers::Serial;

    #[test]
    fn the_nearest_are_those_of_sorting_all() {
        let (count, prior) = (3_000, normal_prior(1));
        let (units, mut features) = (gaussian(count, 1, 0.0, 1.0, 1), gaussian(count, 3, 0.0, 1.0, 2));
        // Distances that tie.
        (0..count).for_each(|row| features.row_mut(row).iter_mut().for_each(|x| *x = (4.0 * *x).round()));
        let ln: Vec<f64> = (0..count).map(|row| 3.0 * units.at(row, 0)).collect();
        let (observed, weights, spread) = ([0.0; 3], [1.0, 0.0, 0.5], [1.0; 3]);
        let rows: Vec<u32> = (0..count as u32).filter(|row| row % 7 != 3).collect();
        let view = View {
            units: &units,
            features: (&features).into(),
            observed: &observed,
            rows: &rows,
            spread: &spread,
            importance: &Importance::known(&ln),
            space: &Space::new(&prior, &units, Seed(1), 100),
            learned: Estimates::default(),
            adjusts: false,
            keep: 100,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        for step in [1, 3] {
            let (field, once) = (Field::of(&view, step), Field::for_one_look(&view, step));
            for (but, extent) in [
                (None, Extent::of(f64::INFINITY)),
                (Some(14), Extent::of(20.0)),
                (Some(16), Extent { effective: 5.0, least: 700, most: usize::MAX }),
                (Some(3), Extent { effective: 1e9, least: 0, most: 500 }),
            ] {
                let mut sorted: Vec<(f64, u32)> = rows
                    .iter()
                    .step_by(step)
                    .map(|&row| {
                        let s = features.row(row as usize);
                        (s[0] * s[0] + 0.25 * s[2] * s[2], row)
                    })
                    .filter(|&(_, row)| Some(row) != but)
                    .collect();
                sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
                let near = field.near((&observed, &weights), but, extent);
                assert_eq!(near.all(), sorted.len());
                assert!(
                    near.places.len() >= extent.least.min(sorted.len()) && near.places.len() <= extent.most
                );
                let told = |near: &Near<'_>| -> Vec<(f64, u32)> {
                    near.places.iter().map(|&at| (near.distances.at(at), field.rows[at as usize])).collect()
                };
                let found = told(&near);
                let exact = once.near((&observed, &weights), but, extent);
                assert_eq!(told(&exact), sorted[..exact.places.len()], "{step} {but:?} {extent:?}");
                // Those for many looks are in order to nine binary digits.
                let level = |&(distance, row): &(f64, u32)| ((distance as f32).to_bits() >> 15, row);
                let mut roughly = sorted.clone();
                roughly.sort_by_key(level);
                assert_eq!(found, roughly[..found.len()], "{step} {but:?} {extent:?}");
                // As many as a sample of twice the effective size has for each of that size.
                let (mut sum, mut squares) = (0.0, 0.0);
                let mut sizes = sorted.iter().take(near.places.len()).map(|&(_, row)| {
                    let worth = libm::exp(ln[row as usize]);
                    (sum, squares) = (sum + worth, squares + worth * worth);
                    sum * sum / squares
                });
                let (before, size) = (0..).zip(&mut sizes).find(|(_, size)| *size >= 10.0).unwrap();
                let expected = f64::from(before + 1) * 5.0 / size;
                assert!((exact.reaching(5.0) as f64 - expected).abs() <= 1.0, "{expected}");
                assert!(near.reaching(5.0).abs_diff(exact.reaching(5.0)) <= 1);
            }
        }
    }

    #[test]
    fn what_was_looked_at_before_never_shows() {
        let (count, prior) = (2_000, normal_prior(1));
        let (units, features) = (gaussian(count, 1, 0.0, 1.0, 1), gaussian(count, 3, 0.0, 1.0, 2));
        let ln: Vec<f64> = (0..count).map(|row| 2.0 * units.at(row, 0)).collect();
        let rows: Vec<u32> = (0..count as u32).collect();
        let (observed, weights) = ([0.1, 0.2, -0.3], [1.0, 0.3, 0.5]);
        let view = View {
            units: &units,
            features: (&features).into(),
            observed: &observed,
            rows: &rows,
            spread: &[1.0; 3],
            importance: &Importance::known(&ln),
            space: &Space::new(&prior, &units, Seed(1), 100),
            learned: Estimates::default(),
            adjusts: false,
            keep: 100,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        let field = Field::of(&view, 1);
        let look = |extent: Extent| field.near((&observed, &weights), Some(5), extent);
        let alone = look(Extent::of(20.0));
        let all = look(Extent::of(f64::INFINITY));
        let again = look(Extent::of(20.0));
        assert_ne!(all.places.len(), alone.places.len(), "otherwise this shows nothing");
        for near in [&all, &again] {
            let both = near.places.len().min(alone.places.len());
            assert_eq!(near.places[..both], alone.places[..both]);
            assert_eq!(near.reaching(20.0), alone.reaching(20.0));
        }
    }
}
