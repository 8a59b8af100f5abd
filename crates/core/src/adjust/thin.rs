//! Some of many simulations, laid together for trials.

use crate::propose::Importance;
use crate::table::Table;
use crate::view::View;

/// Some simulations by themselves, with the features that the distance compares: trials look at them again and again, and find them
/// together.
pub(super) struct Thin<'a> {
    /// Which simulations, and their places.
    rows: Vec<u32>,
    places: Vec<u32>,
    units: Table,
    features: Table,
    importance: Importance<'a>,
    /// Of the features.
    pub(super) observed: Vec<f64>,
    spread: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) used: Vec<usize>,
}

/// Simulations that are laid together at a time: their neighbours in memory are fetched once.
const BLOCK: usize = 256;

impl<'a> Thin<'a> {
    /// Every so manieth of those in a view.
    pub(super) fn of(view: &View<'a>, step: usize, weights: &[f64], used: &[usize]) -> Self {
        let rows: Vec<u32> = view.rows.iter().copied().step_by(step).collect();
        let (first, part) = view.features.around(used);
        let mut features = Table::filled(rows.len(), used.len(), 0.0);
        let mut values = Vec::new();
        for (block, rows) in rows.chunks(BLOCK).enumerate() {
            for (slot, &j) in used.iter().enumerate() {
                values.clear();
                part.column(j - first, rows, &mut values);
                let places = block * BLOCK..;
                values.iter().zip(places).for_each(|(&value, at)| features.row_mut(at)[slot] = value);
            }
        }
        let of_used = |of: &[f64]| used.iter().map(|&j| of[j]).collect();
        Self {
            places: (0..rows.len() as u32).collect(),
            units: view.units.select(&rows),
            features,
            importance: view.importance.of(&rows, view.workers),
            observed: of_used(view.observed),
            spread: of_used(view.spread),
            weights: of_used(weights),
            used: (0..used.len()).collect(),
            rows,
        }
    }

    /// What there is to see of them.
    pub(super) fn view<'b>(&'b self, of: &View<'b>) -> View<'b>
    where
        'a: 'b,
    {
        View {
            units: &self.units,
            features: (&self.features).into(),
            observed: &self.observed,
            rows: &self.places,
            spread: &self.spread,
            importance: &self.importance,
            ..*of
        }
    }

    /// Where a simulation is among them, if it is.
    pub(super) fn place(&self, row: u32) -> Option<u32> {
        self.rows.binary_search(&row).ok().map(|at| at as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::Space;
    use crate::divergence::testing::{gaussian, normal_prior};
    use crate::near::{Extent, Field};
    use crate::reduce::Estimates;
    use crate::stream::Seed;
    use crate::view::standard_deviations;
    use crate::workers::Serial;

    #[test]
    fn what_is_near_is_the_same_as_among_all() {
        let (units, features, prior) =
            (gaussian(900, 2, 0.0, 1.0, 1), gaussian(900, 5, 0.0, 1.0, 2), normal_prior(2));
        // Some failed.
        let rows: Vec<u32> = (0..900).filter(|row| row % 11 != 3).collect();
        let ln: Vec<f64> = units.column(0);
        let (observed, weights) = ([0.3, 0.1, -0.2, 0.0, 0.5], [0.0, 2.0, 0.0, 0.5, 0.0]);
        let view = View {
            units: &units,
            features: (&features).into(),
            observed: &observed,
            rows: &rows,
            spread: &standard_deviations(&features, &rows),
            importance: &Importance::known(&ln),
            space: &Space::new(&prior, &units, Seed(1), 100),
            learned: Estimates::default(),
            adjusts: false,
            keep: 50,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        let thin = Thin::of(&view, 3, &weights, &[1, 3]);
        let (among, here) = (thin.view(&view), [observed[1], observed[3]]);
        let (all, some) = (Field::compared(&view, 3, &weights), Field::compared(&among, 1, &thin.weights));
        for but in [rows[3 * 17], rows[3 * 17 + 1]] {
            let whole = all.near((&observed, &weights), Some(but), Extent::of(60.0));
            let part = some.near((&here, &thin.weights), thin.place(but), Extent::of(60.0));
            assert_eq!((whole.all(), whole.reaching(30.0)), (part.all(), part.reaching(30.0)));
            let (whole, part) = (whole.thinned(200, 100), part.thinned(200, 100));
            let back: Vec<u32> = part.rows.iter().map(|&at| thin.rows[at as usize]).collect();
            assert_eq!(
                (&whole.rows, &whole.weights, &whole.distances),
                (&back, &part.weights, &part.distances)
            );
            assert_eq!(units.select(&whole.rows), among.units.select(&part.rows));
        }
        assert_eq!((thin.place(rows[6]), thin.place(rows[7])), (Some(2), None));
    }
}
