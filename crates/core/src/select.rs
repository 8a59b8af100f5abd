//! Distances to the observation and the rows nearest to it.

use crate::stacked::Stacked;

/// `sum_j w_j^2 (s_j - y_j)^2` of the given rows, in their order.
#[must_use]
pub fn distances<'a>(
    features: impl Into<Stacked<'a>>,
    observed: &[f64],
    weights: &[f64],
    rows: &[u32],
) -> Vec<f64> {
    let features = features.into();
    let squares: Vec<f64> = weights.iter().map(|w| w * w).collect();
    let counting: Vec<usize> = (0..squares.len()).filter(|&j| squares[j] != 0.0).collect();
    if 2 * counting.len() <= squares.len() {
        let (first, part) = features.around(&counting);
        let distance = |&row: &u32| {
            let row = part.row(row as usize);
            let step = |&j: &usize| {
                let step = row[j - first] - observed[j];
                squares[j] * step * step
            };
            counting.iter().map(step).sum()
        };
        return rows.iter().map(distance).collect();
    }
    let mut distances = vec![0.0; rows.len()];
    for (first, part) in features.parts() {
        let columns = first..first + part.columns();
        let (observed, squares) = (&observed[columns.clone()], &squares[columns]);
        let mut at = 0;
        for (table, top, rows) in part.runs(rows) {
            let row = |row: u32| table.row((row - top) as usize);
            let (sums, four) = (&mut distances[at..at + rows.len()], rows.chunks_exact(TOGETHER));
            at += rows.len();
            let whole = rows.len() - four.remainder().len();
            for (sums, rows) in sums.chunks_exact_mut(TOGETHER).zip(four) {
                let values: [&[f64]; TOGETHER] = std::array::from_fn(|k| &row(rows[k])[..observed.len()]);
                for (j, (y, w)) in observed.iter().zip(squares).enumerate() {
                    for (sum, values) in sums.iter_mut().zip(&values) {
                        *sum += w * (values[j] - y) * (values[j] - y);
                    }
                }
            }
            for (&at, sum) in rows[whole..].iter().zip(&mut sums[whole..]) {
                let steps = row(at).iter().zip(observed).zip(squares);
                *sum = steps.fold(*sum, |sum, ((s, y), w)| sum + w * (s - y) * (s - y));
            }
        }
    }
    distances
}

/// Rows whose sums are made side by side, since each of them waits for itself.
const TOGETHER: usize = 4;

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
    fn rows_side_by_side_have_the_sums_of_one() {
        let features = crate::divergence::testing::gaussian(23, 5, 0.0, 1.0, 1);
        let (observed, weights) = ([0.1, -0.3, 0.7, 0.0, 2.0], [1.0, 0.5, 2.0, 0.0, 0.3]);
        let rows: Vec<u32> = (0..23).rev().collect();
        let one = |row: &u32| {
            let steps = features.row(*row as usize).iter().zip(&observed).zip(&weights);
            steps.fold(0.0, |sum, ((s, y), w)| sum + w * w * (s - y) * (s - y))
        };
        assert_eq!(
            distances(&features, &observed, &weights, &rows),
            rows.iter().map(one).collect::<Vec<f64>>()
        );
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
