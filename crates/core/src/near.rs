//! The simulations nearest to an observation, by how much they are worth together.

use crate::population::{LogWeights, Population};
use crate::table::Table;
use crate::trials::{STAND_INS, systematic};
use crate::vectors::{Loop, vectorised};
use crate::view::View;

/// Simulations laid out for many looks at what is nearest.
pub(crate) struct Field<'a> {
    view: View<'a>,
    /// Which simulations.
    rows: Vec<u32>,
    /// Their features, one after another.
    columns: Vec<Vec<f64>>,
    /// Their importance weights.
    worth: Vec<f64>,
}

impl<'a> Field<'a> {
    /// Every so manieth of the simulations in a view.
    pub(crate) fn of(view: &View<'a>, step: usize) -> Self {
        let rows: Vec<u32> = view.rows.iter().copied().step_by(step).collect();
        let column = |j: usize| rows.iter().map(|&row| view.features.at(row as usize, j)).collect();
        let ln: Vec<f64> = rows.iter().map(|&row| view.importance.ln(row)).collect();
        let top = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // What is next to nothing beside others still counts where it is alone.
        let worth = ln.iter().map(|ln| libm::exp((ln - top).max(-300.0))).collect();
        Self { columns: (0..view.features.columns()).map(column).collect(), view: *view, rows, worth }
    }

    /// The `most` nearest to an observation under distance weights, all but one.
    pub(crate) fn near(
        &self,
        (observed, weights): (&[f64], &[f64]),
        but: Option<u32>,
        most: usize,
    ) -> Near<'_> {
        let mut distances = vec![0.0; self.rows.len()];
        for (j, column) in self.columns.iter().enumerate().filter(|(j, _)| weights[*j] > 0.0) {
            let factor = weights[j] * weights[j];
            vectorised(Along { distances: &mut distances, column, observed: observed[j], factor });
        }
        let all = distances.into_iter().zip(0u32..).filter(|&(_, at)| Some(self.rows[at as usize]) != but);
        let mut places: Vec<(f64, u32)> = all.collect();
        let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if most < places.len() {
            places.select_nth_unstable_by(most, order);
            places.truncate(most);
        }
        places.sort_unstable_by(order);
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut effective = |&(_, at): &(f64, u32)| {
            let weight = self.worth[at as usize];
            sum += weight;
            squares += weight * weight;
            sum * sum / squares
        };
        let effective = places.iter().map(&mut effective).collect();
        Near { field: self, places, effective }
    }
}

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
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many of the nearest have an effective size of so many; all where that is not reached.
    pub(crate) fn reaching(&self, effective: f64) -> usize {
        let reached = self.effective.iter().position(|&size| size >= effective * (1.0 - 1e-9));
        reached.map_or(self.places.len(), |at| at + 1)
    }

    /// Every so manieth of the `size` nearest, so that there are no more than `most`.
    pub(crate) fn thinned(&self, size: usize, most: usize) -> Thinned {
        let step = size.div_ceil(most).max(1);
        let chosen = self.places[..size.min(self.places.len())].iter().skip(step / 2).step_by(step);
        let (distances, places): (Vec<f64>, Vec<u32>) = chosen.copied().unzip();
        let weights: Vec<f64> = places.iter().map(|&at| self.field.worth[at as usize]).collect();
        let (sum, squares) = weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        let rows = places.into_iter().map(|at| self.field.rows[at as usize]).collect();
        Thinned { rows, distances, weights, effective: sum * sum / squares * step as f64 }
    }

    /// The population of the `size` nearest; `thetas` has the parameters on their natural scale.
    pub(crate) fn population(&self, size: usize, thetas: &Table) -> Option<Population> {
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
