//! The simulations nearest to an observation, by how much they are worth together.

use crate::population::{LogWeights, Population};
use crate::select::distances;
use crate::table::Table;
use crate::view::View;

/// Some simulations with their distances, from the nearest.
pub(crate) struct Near<'a> {
    view: &'a View<'a>,
    rows: Vec<(f64, u32)>,
    /// Effective size of the nearest, one more each.
    effective: Vec<f64>,
}

impl<'a> Near<'a> {
    /// The `most` nearest of `among`, all but one.
    pub(crate) fn to(
        view: &'a View<'a>,
        (observed, weights): (&[f64], &[f64]),
        (among, but): (&[u32], Option<u32>),
        most: usize,
    ) -> Self {
        let distances = distances(view.features, observed, weights, among);
        let mut rows: Vec<(f64, u32)> =
            distances.into_iter().zip(among.iter().copied()).filter(|&(_, row)| Some(row) != but).collect();
        let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if most < rows.len() {
            rows.select_nth_unstable_by(most, order);
            rows.truncate(most);
        }
        rows.sort_unstable_by(order);
        let (mut sum, mut squares, mut top) = (0.0, 0.0, f64::NEG_INFINITY);
        let mut effective = |&(_, row): &(f64, u32)| {
            let ln = view.importance.ln(row);
            if ln > top {
                let factor = libm::exp(top - ln);
                (sum, squares, top) = (sum * factor, squares * factor * factor, ln);
            }
            let weight = libm::exp(ln - top);
            sum += weight;
            squares += weight * weight;
            sum * sum / squares
        };
        let effective = rows.iter().map(&mut effective).collect();
        Self { view, rows, effective }
    }

    /// How many of the nearest have an effective size of so many; all where that is not reached.
    pub(crate) fn reaching(&self, effective: f64) -> usize {
        let reached = self.effective.iter().position(|&size| size >= effective * (1.0 - 1e-9));
        reached.map_or(self.rows.len(), |at| at + 1)
    }

    /// The `size` nearest rows, ascending.
    pub(crate) fn rows(&self, size: usize) -> Vec<u32> {
        let mut rows: Vec<u32> = self.rows[..size.min(self.rows.len())].iter().map(|&(_, row)| row).collect();
        rows.sort_unstable();
        rows
    }

    /// The population of every so manieth of the `size` nearest; `thetas` has the parameters on their natural scale.
    pub(crate) fn every(&self, step: usize, size: usize, thetas: &Table) -> Option<Population> {
        let chosen = self.rows[..size.min(self.rows.len())].iter().skip(step / 2).step_by(step);
        let mut chosen: Vec<(f64, u32)> = chosen.copied().collect();
        chosen.sort_unstable_by_key(|&(_, row)| row);
        let rows: Vec<u32> = chosen.iter().map(|&(_, row)| row).collect();
        let ln = rows.iter().map(|&row| self.view.importance.ln(row)).collect();
        Some(Population {
            units: self.view.units.select(&rows),
            thetas: thetas.select(&rows),
            weights: LogWeights::new(ln)?,
            distances: chosen.iter().map(|&(distance, _)| distance).collect(),
            rows,
        })
    }
}
