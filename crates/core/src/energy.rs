//! The energy score: how well points tell a value that turned out to be true (Gneiting & Raftery 2007).

use crate::table::Table;
use crate::vectors::{Loop, vectorised};

/// The mean distance of equally weighted points from the truth, less half of their mean distance from each other: of all
/// coordinates together and of each, in units of `scale`. The second part as a sample of `effective` points has it in the
/// mean. Infinite where there are no points.
///
/// Distances are in single precision, which is some 1e-7 of each and less of their mean; scores of which it matters which is
/// the smaller differ by 1e-4 and more. Points are measured from the truth first, so that narrow samples lose nothing.
pub(crate) fn energy_score(units: &Table, truth: &[f64], scale: &[f64], effective: f64) -> f64 {
    let (n, d) = (units.rows(), truth.len());
    if n == 0 {
        return f64::INFINITY;
    }
    // Coordinate by coordinate; each begins anew at its end.
    let stride = 2 * n + LANES;
    let mut columns = vec![0.0; stride * d];
    for (j, column) in columns.chunks_exact_mut(stride).enumerate() {
        let (first, again) = column.split_at_mut(n);
        let step = |row: &[f64]| ((row[j] - truth[j]) / scale[j]) as f32;
        first.iter_mut().zip(units.iter()).for_each(|(slot, row)| *slot = step(row));
        again[..n].copy_from_slice(first);
    }
    let lags: Vec<usize> = lags(n).collect();
    let (to_truth, _) = vectorised(Steps { columns: &columns, stride, count: n, lags: None });
    let (between, still) = vectorised(Steps { columns: &columns, stride, count: n, lags: Some(&lags) });
    let pairs = (n * lags.len()) as f64 - still;
    // Copies of one point tell nothing of how far apart two are.
    let apart = if pairs > 0.0 { 0.5 * between / pairs } else { 0.0 };
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

/// Points that are taken side by side.
const LANES: usize = 16;

/// Adds up steps of all points, each to that so much later in their order or, without lags, from the truth to it: lengths and
/// means of the coordinates' sizes, both by dimension, and how many lead nowhere.
struct Steps<'a> {
    /// Coordinates of twice as many points, and then anything.
    columns: &'a [f32],
    stride: usize,
    count: usize,
    lags: Option<&'a [usize]>,
}

impl Loop for Steps<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let d = (self.columns.len() / self.stride) as f32;
        let (length, size) = (1.0 / d.sqrt(), 1.0 / d);
        let lanes = |column: &[f32], at: usize| -> [f32; LANES] {
            *column[at..].first_chunk().expect("columns that are long enough")
        };
        let (mut total, mut nowhere) = (0.0, 0.0);
        for first in (0..self.count).step_by(LANES) {
            let (mut lengths, mut still) = ([0.0_f32; LANES], [0.0_f32; LANES]);
            for &lag in self.lags.unwrap_or(&[0]) {
                let (mut squares, mut sizes) = ([0.0_f32; LANES], [0.0_f32; LANES]);
                for column in self.columns.chunks_exact(self.stride) {
                    let from = if self.lags.is_some() { lanes(column, first) } else { [0.0; LANES] };
                    let to = lanes(column, first + lag);
                    for lane in 0..LANES {
                        let step = (to[lane] - from[lane]).abs();
                        squares[lane] += step * step;
                        sizes[lane] += step;
                    }
                }
                for lane in 0..LANES {
                    lengths[lane] += squares[lane].sqrt() * length + sizes[lane] * size;
                    still[lane] += if sizes[lane] == 0.0 { 1.0 } else { 0.0 };
                }
            }
            let there = LANES.min(self.count - first);
            total += lengths[..there].iter().map(|&length| f64::from(length)).sum::<f64>();
            nowhere += still[..there].iter().map(|&still| f64::from(still)).sum::<f64>();
        }
        (total, nowhere)
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
        // By single precision some 1e-7 of two distances of two.
        assert!((score(&few) - plain(&few, &truth)).abs() < 5e-7);
        let copy = few.row(3).to_vec();
        few.row_mut(4).copy_from_slice(&copy);
        assert!((score(&few) - plain(&few, &truth)).abs() < 5e-7, "copies");
        let fewer = gaussian(7, 3, 0.0, 1.0, 3);
        assert!((score(&fewer) - plain(&fewer, &truth)).abs() < 5e-7);
        let one = gaussian(1, 3, 0.0, 1.0, 4);
        let steps: Vec<f64> = one.row(0).iter().zip(&truth).map(|(a, b)| (a - b).abs()).collect();
        let length = steps.iter().map(|x| x * x).sum::<f64>().sqrt() / 3_f64.sqrt();
        assert!((score(&one) - length - steps.iter().sum::<f64>() / 3.0).abs() < 5e-7, "one point");
        let many = gaussian(192, 3, 0.0, 1.0, 2);
        // Twelve others for each of 192: a standard error of about 0.01.
        assert!((score(&many) - plain(&many, &truth)).abs() < 0.04);
        assert_eq!(score(&Table::from_rows(3, Vec::new())), f64::INFINITY);
    }

    #[test]
    fn narrow_samples_far_from_nothing_are_scored_as_wide_ones() {
        let wide = gaussian(25, 2, 0.0, 1.0, 1);
        let narrow =
            Table::from_rows(2, wide.values().iter().map(|x| 1_000.0 + x * 1e-4).collect::<Vec<f64>>());
        let near = energy_score(&wide, &[0.0; 2], &[1.0; 2], f64::INFINITY);
        let far = energy_score(&narrow, &[1_000.0; 2], &[1e-4; 2], f64::INFINITY);
        // Numbers about 1,000 are 1e-13 apart, which is 1e-9 here.
        assert!((near - far).abs() < 5e-7, "{near} {far}");
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
