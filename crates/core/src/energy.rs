//! The energy score: how well points tell a value that turned out to be true (Gneiting & Raftery 2007).

use crate::table::Table;
use crate::vectors::{Loop, vectorised};

/// The mean distance of equally weighted points from the truth, less half of their mean distance from each other: of all
/// coordinates together and of each, in units of `scale`. The second part as a sample of `effective` points has it in the
/// mean. Infinite where there are no points.
pub(crate) fn energy_score(units: &Table, truth: &[f64], scale: &[f64], effective: f64) -> f64 {
    let (n, d) = (units.rows(), truth.len());
    if n == 0 {
        return f64::INFINITY;
    }
    // Steps from the truth, coordinate by coordinate; each begins anew at its end, as far as the longest lag.
    let stride = 2 * n;
    let mut columns = vec![0.0; stride * d];
    for (j, column) in columns.chunks_exact_mut(stride).enumerate() {
        let (first, again) = column.split_at_mut(n);
        first.iter_mut().zip(units.iter()).for_each(|(slot, row)| *slot = (row[j] - truth[j]) / scale[j]);
        again.copy_from_slice(first);
    }
    let to_truth = vectorised(Steps { columns: &columns, n, lag: None }).0;
    let (mut among, mut pairs, mut same) = (0.0, 0.0, 0.0);
    for lag in lags(n) {
        let (sum, copies) = vectorised(Steps { columns: &columns, n, lag: Some(lag) });
        (among, pairs, same) = (among + sum, pairs + n as f64, same + copies);
    }
    // Copies of one point tell nothing of how far apart two are.
    let apart = if same < pairs { 0.5 * among / (pairs - same) } else { 0.0 };
    to_truth / n as f64 - apart * (1.0 - 1.0 / effective.max(1.0))
}

/// How far apart in their order the points are that are compared with each other: in all ways where they are few,
/// otherwise in some. A few of all points with each tell less, and cost as much, as all with a few.
fn lags(n: usize) -> impl Iterator<Item = usize> {
    const MOST: usize = 12;
    let all = n.saturating_sub(1) / 2;
    let count = all.min(MOST);
    (0..count).map(move |i| 1 + (2 * i + 1) * all / (2 * count))
}

/// Sums of steps, from nothing or from one of `n` points to that so much later: of each its length and the mean of its
/// coordinates' sizes, both by dimension; and how many steps lead nowhere.
struct Steps<'a> {
    /// Coordinates of twice as many points.
    columns: &'a [f64],
    n: usize,
    lag: Option<usize>,
}

/// Steps that are added side by side, in the same order on every machine.
const LANES: usize = 8;

impl Loop for Steps<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let Self { columns, n, lag } = self;
        let d = columns.len() / (2 * n);
        let (length, size) = (1.0 / (d as f64).sqrt(), 1.0 / d as f64);
        let (mut sums, mut still) = ([0.0; LANES], [0.0; LANES]);
        for first in (0..n).step_by(LANES) {
            let (mut squares, mut sizes) = ([0.0; LANES], [0.0; LANES]);
            let count = LANES.min(n - first);
            for column in columns.chunks_exact(2 * n) {
                let mut steps = [0.0; LANES];
                if count == LANES {
                    steps.copy_from_slice(&column[first..first + LANES]);
                    if let Some(lag) = lag {
                        let to = &column[first + lag..][..LANES];
                        (0..LANES).for_each(|lane| steps[lane] = to[lane] - steps[lane]);
                    }
                } else {
                    let step = |at: usize| lag.map_or(column[at], |lag| column[at + lag] - column[at]);
                    (0..count).for_each(|lane| steps[lane] = step(first + lane));
                }
                for lane in 0..LANES {
                    squares[lane] += steps[lane] * steps[lane];
                    sizes[lane] += steps[lane].abs();
                }
            }
            for lane in 0..LANES {
                sums[lane] += squares[lane].sqrt() * length + sizes[lane] * size;
                still[lane] += if sizes[lane] == 0.0 { 1.0 } else { 0.0 };
            }
        }
        // Lanes beyond the last point did not move.
        let beyond = n.next_multiple_of(LANES) - n;
        (sums.iter().sum(), still.iter().sum::<f64>() - beyond as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    /// By the definition, all points with each other but for copies.
    fn plain(units: &Table, truth: &[f64]) -> f64 {
        let d = truth.len() as f64;
        let step = |a: &[f64], b: &[f64]| {
            let sizes = || a.iter().zip(b).map(|(a, b)| (a - b).abs());
            sizes().map(|x| x * x).sum::<f64>().sqrt() / d.sqrt() + sizes().sum::<f64>() / d
        };
        let (mut sum, mut pairs) = (0.0, 0.0);
        for a in units.iter() {
            for b in units.iter().filter(|b| *b != a) {
                (sum, pairs) = (sum + step(a, b), pairs + 1.0);
            }
        }
        units.iter().map(|unit| step(unit, truth)).sum::<f64>() / units.rows() as f64 - 0.5 * sum / pairs
    }

    #[test]
    fn few_points_are_all_compared_and_of_many_some() {
        let truth = [0.3, -0.2, 1.0];
        let score = |units: &Table| energy_score(units, &truth, &[1.0; 3], f64::INFINITY);
        // Odd, so that each two are as far apart in one way as in the other.
        let mut few = gaussian(25, 3, 0.0, 1.0, 1);
        assert!((score(&few) - plain(&few, &truth)).abs() < 1e-12);
        let copy = few.row(3).to_vec();
        few.row_mut(4).copy_from_slice(&copy);
        assert!((score(&few) - plain(&few, &truth)).abs() < 1e-12, "copies");
        let many = gaussian(192, 3, 0.0, 1.0, 2);
        // Twelve others for each of 192: a standard error of about 0.01.
        assert!((score(&many) - plain(&many, &truth)).abs() < 0.04);
        assert_eq!(score(&Table::from_rows(3, Vec::new())), f64::INFINITY);
    }

    #[test]
    fn the_score_is_least_for_the_law_of_the_truth() {
        let truths = gaussian(400, 1, 0.0, 1.0, 1);
        let mean = |centre: f64, sd: f64| {
            let sample = gaussian(200, 1, centre, sd, 2);
            truths.iter().map(|truth| energy_score(&sample, truth, &[1.0], f64::INFINITY)).sum::<f64>()
                / 400.0
        };
        let right = mean(0.0, 1.0);
        for (centre, sd) in [(0.0, 0.5), (0.0, 2.0), (0.6, 1.0)] {
            assert!(right < mean(centre, sd), "{centre} {sd}");
        }
    }
}
