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
    // Coordinate by coordinate; each begins anew at its end, as far as the longest lag.
    let mut columns = vec![0.0; 2 * n * d];
    for (j, column) in columns.chunks_exact_mut(2 * n).enumerate() {
        let (first, again) = column.split_at_mut(n);
        let step = |row: &[f64]| ((row[j] - truth[j]) / scale[j]) as f32;
        first.iter_mut().zip(units.iter()).for_each(|(slot, row)| *slot = step(row));
        again.copy_from_slice(first);
    }
    let lags: Vec<usize> = lags(n).collect();
    let mut room = Room::new(n);
    vectorised(Steps { columns: &columns, lags: None, room: &mut room });
    let to_truth = total(&room.lengths);
    room = Room::new(n);
    vectorised(Steps { columns: &columns, lags: Some(&lags), room: &mut room });
    let pairs = (n * lags.len()) as f64 - total(&room.still);
    // Copies of one point tell nothing of how far apart two are.
    let apart = if pairs > 0.0 { 0.5 * total(&room.lengths) / pairs } else { 0.0 };
    to_truth / n as f64 - apart * (1.0 - 1.0 / effective.max(1.0))
}

fn total(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value)).sum()
}

/// How far apart in their order the points are that are compared with each other: in all ways where they are few,
/// otherwise in some. A few of all points with each tell less, and cost as much, as all with a few.
fn lags(n: usize) -> impl Iterator<Item = usize> {
    const MOST: usize = 12;
    let all = n.saturating_sub(1) / 2;
    let count = all.min(MOST);
    (0..count).map(move |i| 1 + (2 * i + 1) * all / (2 * count))
}

/// Adds up steps of each of some points, to that so much later in their order or, without lags, from the truth to it.
struct Steps<'a> {
    /// Coordinates of twice as many points.
    columns: &'a [f32],
    lags: Option<&'a [usize]>,
    room: &'a mut Room,
}

/// Of each point.
struct Room {
    /// Sums over steps: of the length and the mean of the coordinates' sizes, both by dimension, and how many lead nowhere.
    lengths: Vec<f32>,
    still: Vec<f32>,
    /// Of one step.
    squares: Vec<f32>,
    sizes: Vec<f32>,
    /// Where all steps from the truth begin.
    nothing: Vec<f32>,
}

impl Room {
    fn new(n: usize) -> Self {
        let room = || vec![0.0; n];
        Self { lengths: room(), still: room(), squares: room(), sizes: room(), nothing: room() }
    }
}

impl Loop for Steps<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Room { lengths, still, squares, sizes, nothing } = self.room;
        let n = lengths.len();
        let d = (self.columns.len() / (2 * n)) as f32;
        let (length, size) = (1.0 / d.sqrt(), 1.0 / d);
        for &lag in self.lags.unwrap_or(&[0]) {
            squares.fill(0.0);
            sizes.fill(0.0);
            for column in self.columns.chunks_exact(2 * n) {
                let from = if self.lags.is_some() { &column[..n] } else { &nothing[..] };
                let slots = squares.iter_mut().zip(sizes.iter_mut());
                for ((square, size), (from, to)) in slots.zip(from.iter().zip(&column[lag..lag + n])) {
                    let step = (to - from).abs();
                    *square += step * step;
                    *size += step;
                }
            }
            // Point by point, and not summed up: the compiler makes vectors of that.
            let slots = lengths.iter_mut().zip(still.iter_mut());
            for ((sum, still), (square, step)) in slots.zip(squares.iter().zip(sizes.iter())) {
                *sum += square.sqrt() * length + step * size;
                *still += if *step == 0.0 { 1.0 } else { 0.0 };
            }
        }
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
