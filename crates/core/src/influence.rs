//! How much each statistic counts, whatever the distance compares: distance weights tell it of statistics that are compared as they
//! are, not of features that are made of many.

use crate::reduce::{Features, Projection};
use crate::select::distances;
use crate::stacked::Stacked;
use crate::table::Table;
use crate::workers::{self, Workers};

/// Simulations that lend their values: so many for all statistics together, and at least and at most for one.
const LENDERS: usize = 16_384;
const FEWEST: usize = 16;
const MOST: usize = 256;

/// A distance from what was observed.
pub(crate) struct Distance<'a> {
    projection: &'a dyn Projection,
    /// Of how many statistics the features begin with: all or none.
    own: usize,
    /// Observed features.
    observed: &'a [f64],
    weights: &'a [f64],
}

impl<'a> Distance<'a> {
    /// By features of a projection, `made` being those of the simulations.
    pub(crate) fn new(
        projection: &'a dyn Projection,
        made: &Features,
        statistics: usize,
        observed: &'a [f64],
        weights: &'a [f64],
    ) -> Self {
        let own = if matches!(made, Features::Instead(_)) { 0 } else { statistics };
        Self { projection, own, observed, weights }
    }

    /// The share of each statistic in what moves data away from those observed: how far, in the mean, they would lie from these if the
    /// statistic alone were that of a simulation, over the sum of all. Where statistics are compared as they are, it is the distance
    /// weight times the mean size of a difference.
    pub(crate) fn influence(
        &self,
        observed: &[f64],
        summaries: Stacked<'_>,
        rows: &[u32],
        workers: &dyn Workers,
    ) -> Vec<f64> {
        let statistics = observed.len();
        let count = (LENDERS / statistics.max(1)).clamp(FEWEST, MOST);
        let lenders: Vec<u32> = rows.iter().copied().step_by(rows.len().div_ceil(count).max(1)).collect();
        let lent = summaries.select(&lenders);
        let moved = workers::map(workers, statistics, |j| {
            let mut data = Table::from_rows(statistics, observed.repeat(lenders.len()));
            (0..lenders.len()).for_each(|at| data.row_mut(at)[j] = lent.at(at, j));
            let steps = self.squares(&data, j).into_iter().map(f64::sqrt);
            steps.filter(|step| step.is_finite()).sum::<f64>()
        });
        let total: f64 = moved.iter().sum();
        moved.into_iter().map(|moved| if total > 0.0 { moved / total } else { 0.0 }).collect()
    }

    /// Squared distances of data that differ from what was observed in one statistic.
    fn squares(&self, data: &Table, differing: usize) -> Vec<f64> {
        let (own, made) = (self.own, &self.weights[self.own..]);
        let rows: Vec<u32> = (0..data.rows() as u32).collect();
        let mut squares = if made.iter().any(|&weight| weight > 0.0) {
            let features = self.projection.features(data.into());
            let (Features::Instead(features) | Features::Beside(features)) = features else { return vec![] };
            distances(&features, &self.observed[own..], made, &rows)
        } else {
            vec![0.0; data.rows()]
        };
        if own > 0 {
            let (weight, observed) = (self.weights[differing], self.observed[differing]);
            for (square, row) in squares.iter_mut().zip(data.iter()) {
                *square += (weight * (row[differing] - observed)).powi(2);
            }
        }
        squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;
    use crate::reduce::Identity;
    use crate::workers::Serial;

    /// The first statistic and twice the second as one feature, the square of the third as another: instead of the statistics, or
    /// beside them.
    struct Made {
        beside: bool,
    }

    impl Projection for Made {
        fn names(&self, _: &[String], _: &[String]) -> Vec<String> {
            unreachable!("nobody asks")
        }

        fn features(&self, summaries: Stacked<'_>) -> Features {
            let made = |row: usize| {
                let at = |j: usize| summaries.at(row, j);
                [at(0) + 2.0 * at(1), at(2) * at(2)]
            };
            let made = Table::from_rows(2, (0..summaries.rows()).flat_map(made).collect());
            if self.beside { Features::Beside(made) } else { Features::Instead(made) }
        }
    }

    const OBSERVED: [f64; 4] = [0.5, -1.0, 3.0, 0.0];

    fn of(projection: &dyn Projection, weights: &[f64]) -> Vec<f64> {
        let summaries = gaussian(200, 4, 0.0, 1.0, 1);
        let made = projection.features((&summaries).into());
        let observed = Table::from_rows(4, OBSERVED.to_vec());
        let features = projection.features((&observed).into());
        let features = features.of((&observed).into()).row(0).to_vec();
        let distance = Distance::new(projection, &made, 4, &features, weights);
        distance.influence(&OBSERVED, (&summaries).into(), &(0..200).collect::<Vec<u32>>(), &Serial)
    }

    /// Shares of the mean sizes of what `step` says of a statistic's values.
    fn shares(step: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let summaries = gaussian(200, 4, 0.0, 1.0, 1);
        let moved = |j: usize| summaries.column(j).into_iter().map(|value| step(j, value).abs()).sum::<f64>();
        let total: f64 = (0..4).map(moved).sum();
        (0..4).map(|j| moved(j) / total).collect()
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(found.len() == expected.len() && apart < 1e-12, "{found:?} {expected:?}");
    }

    #[test]
    fn statistics_as_they_are_count_by_weight_and_difference() {
        let weights = [1.0, 0.5, 2.0, 0.0];
        let expected = shares(|j, value| weights[j] * (value - OBSERVED[j]));
        assert_near(&of(&Identity, &weights), &expected);
        // Beside features that nobody compares they count the same.
        assert_near(&of(&Made { beside: true }, &[1.0, 0.5, 2.0, 0.0, 0.0, 0.0]), &expected);
    }

    #[test]
    fn features_hand_their_weight_on_to_what_they_are_made_of() {
        let step = |j: usize, value: f64| match j {
            0 => 3.0 * (value - 0.5),
            1 => 3.0 * 2.0 * (value + 1.0),
            2 => 0.2 * (value * value - 9.0),
            _ => 0.0,
        };
        assert_near(&of(&Made { beside: false }, &[3.0, 0.2]), &shares(step));
        assert_near(&of(&Made { beside: true }, &[0.0, 0.0, 0.0, 0.0, 3.0, 0.2]), &shares(step));
        let both = shares(|j, value| libm::hypot(step(j, value), if j == 0 { value - 0.5 } else { 0.0 }));
        assert_near(&of(&Made { beside: true }, &[1.0, 0.0, 0.0, 0.0, 3.0, 0.2]), &both);
    }

    #[test]
    fn nothing_counts_where_nothing_is_compared() {
        assert_eq!(of(&Identity, &[0.0; 4]), [0.0; 4]);
    }
}
