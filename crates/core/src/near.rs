//! The simulations nearest to an observation, by how much they are worth together.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::population::{LogWeights, Population};
use crate::stacked::Stacked;
use crate::table::Table;
use crate::trials::{STAND_INS, systematic};
use crate::vectors::{Loop, vectorised};
use crate::view::View;

/// Simulations laid out for many looks at what is nearest.
pub(crate) struct Field<'a> {
    view: View<'a>,
    /// Which simulations.
    rows: Vec<u32>,
    /// Their features, one after another: none of those without weight, and none at all where one look is all there will be.
    columns: Vec<Vec<f64>>,
    /// Their importance weights, computed for those that are asked for and remembered; and the log weight that is one
    /// here. They depend on the simulation alone, so that the memory never shows.
    worth: Vec<AtomicU64>,
    ln_one: f64,
}

/// Marks a weight that has not been computed.
const UNKNOWN: u64 = u64::MAX;
/// One of so many simulations is looked at for the weight that is one.
const SAMPLED: usize = 61;
/// What is next to nothing beside others still counts where it is alone.
const FURTHEST: f64 = 300.0;

impl<'a> Field<'a> {
    /// Every so manieth of the simulations in a view.
    pub(crate) fn of(view: &View<'a>, step: usize) -> Self {
        Self::compared(view, step, &vec![1.0; view.features.columns()])
    }

    /// The same for distances that weigh no other features than these do.
    pub(crate) fn compared(view: &View<'a>, step: usize, weights: &[f64]) -> Self {
        let mut field = Self::for_one_look(view, step);
        let room = |weight: &f64| Vec::with_capacity(if *weight > 0.0 { field.rows.len() } else { 0 });
        field.columns = weights.iter().map(room).collect();
        let used: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] > 0.0).collect();
        for &row in &field.rows {
            let row = view.features.row(row as usize);
            used.iter().for_each(|&j| field.columns[j].push(row[j]));
        }
        field
    }

    /// The same, not laid out: features are read where they are.
    pub(crate) fn for_one_look(view: &View<'a>, step: usize) -> Self {
        let rows: Vec<u32> = view.rows.iter().copied().step_by(step).collect();
        let some = rows.iter().step_by(SAMPLED).map(|&row| view.importance.ln(row));
        let top = some.fold(f64::NEG_INFINITY, f64::max);
        Self {
            columns: Vec::new(),
            view: *view,
            worth: rows.iter().map(|_| AtomicU64::new(UNKNOWN)).collect(),
            ln_one: if top.is_finite() { top } else { 0.0 },
            rows,
        }
    }

    /// Computes what some are worth, together.
    fn weigh(&self, places: &[(f64, u32)]) {
        let is_open = |at: &u32| self.worth[*at as usize].load(Ordering::Relaxed) == UNKNOWN;
        let open: Vec<u32> = places.iter().map(|&(_, at)| at).filter(is_open).collect();
        let rows: Vec<u32> = open.iter().map(|&at| self.rows[at as usize]).collect();
        self.view.importance.look_up(&rows);
        open.into_iter().for_each(|at| {
            self.worth(at);
        });
    }

    fn worth(&self, at: u32) -> f64 {
        let slot = &self.worth[at as usize];
        let known = slot.load(Ordering::Relaxed);
        if known != UNKNOWN {
            return f64::from_bits(known);
        }
        let ln = self.view.importance.ln(self.rows[at as usize]) - self.ln_one;
        let value = libm::exp(ln.clamp(-FURTHEST, FURTHEST));
        slot.store(value.to_bits(), Ordering::Relaxed);
        value
    }

    /// Distances from an observation under several weights. Simulations are taken some at a time, so that their features
    /// come from memory once for all.
    pub(crate) fn distances(&self, observed: &[f64], weights: &[&[f64]]) -> Vec<Vec<f64>> {
        if self.columns.is_empty() {
            return weights.iter().map(|weights| self.each_from(observed, weights)).collect();
        }
        let mut distances = vec![vec![0.0; self.rows.len()]; weights.len()];
        for first in (0..self.rows.len()).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(self.rows.len());
            for (j, column) in self.columns.iter().enumerate() {
                for (distances, weights) in distances.iter_mut().zip(weights).filter(|(_, w)| w[j] > 0.0) {
                    vectorised(Along {
                        distances: &mut distances[block.clone()],
                        column: &column[block.clone()],
                        observed: observed[j],
                        factor: weights[j] * weights[j],
                    });
                }
            }
        }
        distances
    }

    /// Distances from an observation, of features that are not laid out.
    fn each_from(&self, observed: &[f64], weights: &[f64]) -> Vec<f64> {
        let used: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] > 0.0).collect();
        let distance = |&row: &u32| {
            let row = self.view.features.row(row as usize);
            used.iter().fold(0.0, |distance, &j| {
                let step = row[j] - observed[j];
                distance + weights[j] * weights[j] * step * step
            })
        };
        self.rows.iter().map(distance).collect()
    }

    /// The nearest to an observation under distance weights, all but one, as far as is asked for.
    pub(crate) fn near(
        &self,
        (observed, weights): (&[f64], &[f64]),
        but: Option<u32>,
        extent: Extent,
    ) -> Near<'_> {
        let distances = self.distances(observed, &[weights]).swap_remove(0);
        self.nearest(distances, but, extent)
    }

    /// The same, of the distances of all.
    pub(crate) fn nearest(&self, distances: Vec<f64>, but: Option<u32>, extent: Extent) -> Near<'_> {
        let left_out = but.and_then(|row| self.rows.binary_search(&row).ok());
        let all = distances.len() - usize::from(left_out.is_some());
        let most = extent.most.min(all);
        // Sorting is what a look costs, so no more are sorted than are asked for.
        let wanted = BEYOND * extent.effective;
        let mut next = ((wanted * MORE).min(most as f64) as usize).max(extent.least).min(most);
        loop {
            let mut places = by_distance(&distances, candidates(&distances, left_out, next));
            places.truncate(next);
            self.weigh(&places);
            let (mut sum, mut squares) = (0.0, 0.0);
            let sizes = places.iter().map(|&(_, at)| {
                let weight = self.worth(at);
                sum += weight;
                squares += weight * weight;
                sum * sum / squares
            });
            let effective: Vec<f64> = sizes.collect();
            if next == most || effective.last().is_some_and(|&reached| reached >= wanted) {
                return Near { field: self, places, effective, all };
            }
            next = (2 * next).max(FEWEST).min(most);
        }
    }
}

/// Places, all but one, of which the `count` nearest are some, ascending.
fn candidates(distances: &[f64], left_out: Option<usize>, count: usize) -> Vec<u32> {
    /// A few distances tell about where the nearest end.
    const STEP: usize = 16;
    let up_to = |limit: f64| {
        let (mut places, mut found) = (vec![0; distances.len()], 0);
        for (at, &distance) in distances.iter().enumerate() {
            // Written in any case and kept or not: a guess which would be lost as often as not.
            places[found] = at as u32;
            found += usize::from(distance <= limit && Some(at) != left_out);
        }
        places.truncate(found);
        places
    };
    let mut some: Vec<f64> = distances.iter().copied().step_by(STEP).collect();
    let rank = count / STEP + count / (3 * STEP) + 8;
    if rank < some.len() {
        let limit = *some.select_nth_unstable_by(rank, f64::total_cmp).1;
        let near = up_to(limit);
        if near.len() >= count {
            return near;
        }
    }
    up_to(f64::INFINITY)
}

/// Places, given in ascending order, by their distances, ties to the lower place. By the upper bits of the distances,
/// digit by digit, which for numbers that are not negative is their order; then what differs further down.
fn by_distance(distances: &[f64], places: Vec<u32>) -> Vec<(f64, u32)> {
    const DIGITS: [(u32, u32); 3] = [(32, 11), (43, 11), (54, 10)];
    const LARGEST: usize = 1 << 11;
    let digit = |key: u64, (shift, bits): (u32, u32)| (key >> shift) as usize & ((1 << bits) - 1);
    let key = |&at: &u32| (distances[at as usize].to_bits() >> 32 << 32) | u64::from(at);
    let mut keys: Vec<u64> = places.iter().map(key).collect();
    let mut counts = [[0_u32; LARGEST]; DIGITS.len()];
    for &key in &keys {
        counts.iter_mut().zip(DIGITS).for_each(|(counts, place)| counts[digit(key, place)] += 1);
    }
    let mut other = vec![0; keys.len()];
    for (counts, place) in counts.iter_mut().zip(DIGITS) {
        if keys.first().is_none_or(|&key| counts[digit(key, place)] as usize == keys.len()) {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for &key in &keys {
            let slot = &mut counts[digit(key, place)];
            other[*slot as usize] = key;
            *slot += 1;
        }
        std::mem::swap(&mut keys, &mut other);
    }
    let mut sorted: Vec<(f64, u32)> =
        keys.into_iter().map(|key| (distances[key as u32 as usize], key as u32)).collect();
    for at in 1..sorted.len() {
        let mut slot = at;
        while slot > 0 && sorted[slot - 1].0 > sorted[slot].0 {
            sorted.swap(slot - 1, slot);
            slot -= 1;
        }
    }
    sorted
}

/// A share of so many, no fewer than one.
fn share(count: usize, of: f64) -> usize {
    ((count as f64 * of).ceil() as usize).clamp(1, count)
}

/// A sample that tells how many simulations an effective size takes has so many times that size.
const BEYOND: f64 = 2.0;

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

/// How many simulations are looked at first for each of the effective size that is wanted, and how many at least where
/// that was not enough.
const MORE: f64 = 1.5;
const FEWEST: usize = 256;

/// Adds what one feature gives to the distances.
struct Along<'a> {
    distances: &'a mut [f64],
    column: &'a [f64],
    observed: f64,
    factor: f64,
}

impl Loop for Along<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (distance, value) in self.distances.iter_mut().zip(self.column) {
            let step = value - self.observed;
            *distance += self.factor * step * step;
        }
    }
}

/// Some simulations with their distances, from the nearest.
pub(crate) struct Near<'a> {
    field: &'a Field<'a>,
    /// Distances and places in the field.
    places: Vec<(f64, u32)>,
    /// Effective size of the nearest, one more each.
    effective: Vec<f64>,
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
        self.effective[..size.min(self.effective.len())].last().copied().unwrap_or(0.0)
    }

    /// How many of the nearest have about an effective size of so many; all where that is not reached. Where a sample
    /// ends must not depend on whether a heavy one has come yet, or those that end before it are too narrow: so it is the
    /// evenness of a sample twice as large that tells.
    pub(crate) fn reaching(&self, effective: f64) -> usize {
        let Some(reached) = self.effective.iter().position(|&size| size >= BEYOND * effective * (1.0 - 1e-9))
        else {
            // Those that are there may be enough all the same.
            return match self.effective.last() {
                Some(&last) if last > effective => share(self.places.len(), effective / last),
                _ => self.places.len(),
            };
        };
        share(reached + 1, effective / self.effective[reached])
    }

    /// Every so manieth of the `size` nearest, so that there are no more than `most`.
    pub(crate) fn thinned(&self, size: usize, most: usize) -> Thinned {
        let step = size.div_ceil(most).max(1);
        let chosen = self.places[..size.min(self.places.len())].iter().skip(step / 2).step_by(step);
        let (distances, places): (Vec<f64>, Vec<u32>) = chosen.copied().unzip();
        let weights: Vec<f64> = places.iter().map(|&at| self.field.worth(at)).collect();
        let (sum, squares) = weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        let rows = places.into_iter().map(|at| self.field.rows[at as usize]).collect();
        Thinned { rows, distances, weights, effective: sum * sum / squares * step as f64 }
    }

    /// The population of the `size` nearest; `thetas` has the parameters on their natural scale.
    pub(crate) fn population(&self, size: usize, thetas: Stacked<'_>) -> Option<Population> {
        let mut chosen = self.places[..size.min(self.places.len())].to_vec();
        chosen.sort_unstable_by_key(|&(_, at)| at);
        let rows: Vec<u32> = chosen.iter().map(|&(_, at)| self.field.rows[at as usize]).collect();
        let view = &self.field.view;
        Some(Population {
            units: view.units.select(&rows),
            thetas: thetas.select(&rows),
            weights: LogWeights::new(rows.iter().map(|&row| view.importance.ln(row)).collect())?,
            distances: chosen.iter().map(|&(distance, _)| distance).collect(),
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
            workers: &Serial,
        };
        for step in [1, 3] {
            let field = Field::of(&view, step);
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
                let found: Vec<(f64, u32)> =
                    near.places.iter().map(|&(d, at)| (d, field.rows[at as usize])).collect();
                assert_eq!(found, sorted[..found.len()], "{step} {but:?} {extent:?}");
                // As many as a sample of twice the effective size has for each of that size.
                let (mut sum, mut squares) = (0.0, 0.0);
                let mut sizes = sorted.iter().take(near.places.len()).map(|&(_, row)| {
                    let worth = libm::exp(ln[row as usize]);
                    (sum, squares) = (sum + worth, squares + worth * worth);
                    sum * sum / squares
                });
                let (before, size) = (0..).zip(&mut sizes).find(|(_, size)| *size >= 10.0).unwrap();
                let expected = f64::from(before + 1) * 5.0 / size;
                assert!((near.reaching(5.0) as f64 - expected).abs() <= 1.0, "{expected}");
            }
        }
    }
}
