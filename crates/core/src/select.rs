//! Distances to the observation and the rows nearest to it.

use crate::stacked::Stacked;
use crate::table::Table;
use crate::vectors::{Loop, vectorised};

/// `sum_j w_j^2 (s_j - y_j)^2` of the given rows, in their order.
#[must_use]
pub fn distances<'a>(
    features: impl Into<Stacked<'a>>,
    observed: &[f64],
    weights: &[f64],
    rows: &[u32],
) -> Vec<f64> {
    distances_each(features, observed, &[weights], rows).swap_remove(0)
}

/// The same under several weights. Rows come from memory once for all of them: of many simulations that is what it costs.
#[must_use]
pub(crate) fn distances_each<'a>(
    features: impl Into<Stacked<'a>>,
    observed: &[f64],
    weights: &[&[f64]],
    rows: &[u32],
) -> Vec<Vec<f64>> {
    let features = features.into();
    let squares: Vec<Vec<f64>> = weights.iter().map(|w| w.iter().map(|w| w * w).collect()).collect();
    let mut distances = vec![vec![0.0; rows.len()]; weights.len()];
    for (first, part) in features.parts() {
        let columns = first..first + part.columns();
        let observed = &observed[columns.clone()];
        let mut each: Vec<(&[f64], Vec<usize>, &mut Vec<f64>)> = squares
            .iter()
            .zip(&mut distances)
            .map(|(squares, distances)| (&squares[columns.clone()], distances))
            .map(|(squares, distances)| {
                (squares, (0..squares.len()).filter(|&j| squares[j] != 0.0).collect(), distances)
            })
            .collect();
        each.retain(|(_, counting, _)| !counting.is_empty());
        if each.is_empty() {
            continue;
        }
        let mut at = 0;
        let mut pass = part.pass(rows);
        while let Some((table, top, rows)) = pass.more() {
            for rows in rows.chunks(BLOCK) {
                for (squares, counting, distances) in &mut each {
                    let sums = &mut distances[at..at + rows.len()];
                    if FEW * counting.len() > squares.len() {
                        vectorised(Sums { table, top, rows, observed, squares, sums });
                        continue;
                    }
                    for (&row, sum) in rows.iter().zip(sums) {
                        let row = table.row((row - top) as usize);
                        let step = |&j: &usize| squares[j] * (row[j] - observed[j]) * (row[j] - observed[j]);
                        *sum += counting.iter().map(step).sum::<f64>();
                    }
                }
                at += rows.len();
            }
        }
    }
    distances
}

/// Rows that stay in the processor for several weights.
const BLOCK: usize = 256;
/// Weights of which no more than one in so many counts are taken one by one.
const FEW: usize = 4;

/// Adds the weighted squares of the steps of some rows from what was observed.
struct Sums<'a> {
    table: &'a Table,
    /// Which row is the first of the table.
    top: u32,
    rows: &'a [u32],
    observed: &'a [f64],
    squares: &'a [f64],
    sums: &'a mut [f64],
}

/// Columns that are summed side by side.
const LANES: usize = 8;

impl Loop for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ((y, y_rest), (w, w_rest)) =
            (self.observed.as_chunks::<LANES>(), self.squares.as_chunks::<LANES>());
        for (&row, sum) in self.rows.iter().zip(self.sums) {
            let values = &self.table.row((row - self.top) as usize)[..self.observed.len()];
            let (s, s_rest) = values.as_chunks::<LANES>();
            let mut lanes = [0.0; LANES];
            for ((s, y), w) in s.iter().zip(y).zip(w) {
                for lane in 0..LANES {
                    let step: f64 = s[lane] - y[lane];
                    lanes[lane] += w[lane] * step * step;
                }
            }
            let rest = s_rest.iter().zip(y_rest).zip(w_rest);
            let rest = rest.fold(*sum, |sum, ((s, y), w)| sum + w * (s - y) * (s - y));
            *sum = lanes.iter().fold(rest, |sum, lane| sum + lane);
        }
    }
}

/// Positions of the `keep` smallest distances, ascending by position; ties go to the lower position.
///
/// # Panics
/// If there are fewer than `keep` distances.
#[must_use]
pub fn nearest(distances: &[f64], keep: usize) -> Vec<usize> {
    assert!(keep <= distances.len(), "cannot keep {keep} of {}", distances.len());
    let threshold = guess(distances, keep);
    let below = |threshold: f64| -> Vec<(f64, u32)> {
        let pairs = distances.iter().zip(0u32..).filter(|(distance, _)| **distance <= threshold);
        pairs.map(|(distance, position)| (*distance, position)).collect()
    };
    let mut near = below(threshold);
    if near.len() < keep {
        near = (0u32..).zip(distances).map(|(position, distance)| (*distance, position)).collect();
    }
    if keep < near.len() {
        near.select_nth_unstable_by(keep, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.truncate(keep);
    }
    let mut positions: Vec<usize> = near.into_iter().map(|(_, position)| position as usize).collect();
    positions.sort_unstable();
    positions
}

/// A distance that at least `keep` others are very likely below.
fn guess(distances: &[f64], keep: usize) -> f64 {
    let mut sample: Vec<f64> = distances.iter().step_by(SAMPLE_STEP).copied().collect();
    let rank = sample_rank(sample.len(), keep, distances.len());
    rank.map_or(f64::INFINITY, |rank| *sample.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// Every so many values are looked at to guess a threshold.
pub(crate) const SAMPLE_STEP: usize = 37;

/// The rank in an even sample of a value that `keep` of all `count` values are below, with a margin of four
/// standard errors; `None` where that is beyond the sample.
pub(crate) fn sample_rank(sample: usize, keep: usize, count: usize) -> Option<usize> {
    let (size, share) = (sample as f64, keep as f64 / count as f64);
    let rank = (share * size + 4.0 * (share * (1.0 - share) * size).sqrt() + 1.0) as usize;
    (rank < sample).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    #[test]
    fn weights_enter_squared() {
        let features = Table::from_rows(2, vec![1.0, 1.0, 3.0, 0.0]);
        assert_eq!(distances(&features, &[0.0, 0.0], &[2.0, 1.0], &[1, 0]), [36.0, 5.0]);
    }

    #[test]
    fn several_weights_at_once_have_the_sums_of_one_by_one() {
        let normal =
            |rows, columns, seed| crate::divergence::testing::gaussian(rows, columns, 0.0, 1.0, seed);
        let (upper, lower, beside) = (normal(300, 21, 1), normal(300, 21, 2), normal(600, 3, 3));
        let tables = [(&upper).into(), (&lower).into()];
        let features = Stacked::new(&tables).with(&beside);
        let observed: Vec<f64> = (0..24).map(|j| 0.1 * f64::from(j) - 1.0).collect();
        let all: Vec<f64> = (0..24).map(|j| f64::from(j % 5) * 0.3).collect();
        let few: Vec<f64> = (0..24).map(|j| if j == 7 || j == 22 { 2.0 } else { 0.0 }).collect();
        let one: Vec<f64> = (0..24).map(|j| f64::from(u8::from(j == 23))).collect();
        let (weights, rows) = ([&all[..], &few, &one], Vec::from_iter((0..600).rev().chain([7, 7, 301])));
        let found = distances_each(features, &observed, &weights, &rows);
        for (weights, found) in weights.iter().zip(&found) {
            assert_eq!(&distances(features, &observed, weights, &rows), found);
            for (&row, found) in rows.iter().zip(found) {
                let row = features.row(row as usize).to_vec();
                let steps = row.iter().zip(&observed).zip(*weights);
                let sum: f64 = steps.map(|((s, y), w)| w * w * (s - y) * (s - y)).sum();
                assert!((found - sum).abs() <= 1e-13 * sum, "{found} {sum}");
            }
        }
    }

    #[test]
    fn nearest_equals_sorting() {
        let distances: Vec<f64> =
            (0..5000u32).map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 22)).collect();
        for keep in [1, 20, 250, 4999, 5000] {
            let mut order: Vec<usize> = (0..5000).collect();
            order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(a.cmp(&b)));
            order.truncate(keep);
            order.sort_unstable();
            assert_eq!(nearest(&distances, keep), order);
        }
    }

    #[test]
    fn ties_go_to_the_lower_row() {
        assert_eq!(nearest(&[2.0, 1.0, 1.0, 0.5, 1.0], 3), [1, 2, 3]);
        assert_eq!(nearest(&[1.0, 1.0], 2), [0, 1]);
    }
}
