//! One over the median absolute deviation.

use super::Formula;
use super::deviation::invert;
use crate::stacked::Stacked;
use crate::view::View;

/// Every statistic in units of its median absolute deviation (Prangle 2017), which outliers cannot stretch. All simulations of the generation
/// count, accepted and rejected, as in the paper. Weights are those of each generation, from the first on.
///
/// What departs from the paper, and why:
///
/// - In units of its standard deviation where more than half of a statistic's values are equal: its median deviation is zero.
/// - The paper's sampler also asks of what it accepts that it lies within the thresholds of all generations before, each by its own
///   weights. Ours keeps the nearest by the weights of the present generation, for this rule as for any other.
#[derive(Clone, Copy, Debug)]
pub struct Median {
    /// Rows that a median is taken over, at the most: an even share of them where there are more.
    pub most_rows: usize,
}

/// The rule itself: medians of all rows.
impl Default for Median {
    fn default() -> Self {
        Self { most_rows: usize::MAX }
    }
}

impl Median {
    /// Medians of ten thousand rows, whose error is below a hundredth of a spread: enough to start a search from and to
    /// compare with.
    #[must_use]
    pub fn quick() -> Self {
        Self { most_rows: 10_000 }
    }
}

impl Formula for Median {
    fn name(&self) -> &'static str {
        "mad"
    }

    fn weights(&self, view: &View<'_>, rows: &[u32]) -> Vec<f64> {
        let fallback = view.deviations(rows);
        let step = rows.len().div_ceil(self.most_rows).max(1);
        let fewer: Vec<u32>;
        let rows = if step > 1 {
            fewer = rows.iter().copied().step_by(step).collect();
            &fewer
        } else {
            rows
        };
        let middle = medians(view.features, rows, |_, value| value);
        let mads = medians(view.features, rows, |j, value| (value - middle[j]).abs());
        invert(mads.into_iter().zip(fallback).map(|(mad, sd)| if mad > 0.0 { mad } else { sd }).collect())
    }
}

/// Up to so many rows a column is put into memory and its median selected.
const FEW: usize = 40_000;
/// Values that guess where a median is.
const SAMPLE: usize = 16_384;

/// The lower median of `map(column, value)` in each column, over `rows`.
fn medians(features: Stacked<'_>, rows: &[u32], map: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let of_part = |(first, part)| medians_of_part(part, rows, |j, value| map(first + j, value));
    features.parts().flat_map(of_part).collect()
}

/// A median of many rows is first fenced in by a sample; one pass over the tables then counts what lies below the fence
/// and keeps what lies inside it, a few in a hundred. Where the median turns out to lie outside, it is selected among all.
fn medians_of_part(features: Stacked<'_>, rows: &[u32], map: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let column = |j: usize| {
        let mut values = Vec::with_capacity(rows.len());
        features.column(j, rows, &mut values);
        values.iter_mut().for_each(|value| *value = map(j, *value));
        values
    };
    let width = features.columns();
    if rows.len() <= FEW {
        return (0..width).map(|j| median(&mut column(j))).collect();
    }
    let some = || rows.iter().step_by(rows.len() / SAMPLE);
    let sample = |j: usize| some().map(|&row| map(j, features.at(row as usize, j))).collect::<Vec<f64>>();
    let fences: Vec<(f64, f64)> = (0..width).map(|j| fence(&mut sample(j))).collect();
    let (mut below, mut inside) = (vec![0; width], vec![Vec::new(); width]);
    let mut pass = features.pass(rows);
    while let Some((table, top, rows)) = pass.more() {
        for row in rows {
            let fenced = fences.iter().zip(&mut below).zip(&mut inside);
            for (j, (&value, ((&(low, high), below), inside))) in
                table.row((row - top) as usize).iter().zip(fenced).enumerate()
            {
                let value = map(j, value);
                *below += usize::from(value < low);
                if (value >= low) & (value <= high) {
                    inside.push(value);
                }
            }
        }
    }
    let rank = (rows.len() - 1) / 2;
    let found = below.into_iter().zip(inside).enumerate().map(|(j, (below, mut inside))| {
        match rank.checked_sub(below) {
            Some(rank) if rank < inside.len() => nth(&mut inside, rank),
            _ => median(&mut column(j)),
        }
    });
    found.collect()
}

/// Two values between which the median of all very likely lies: four standard errors of its rank in the sample.
fn fence(sample: &mut [f64]) -> (f64, f64) {
    let (middle, slack) = (sample.len() / 2, 2 * sample.len().isqrt() + 2);
    let high = nth(sample, (middle + slack).min(sample.len() - 1));
    (nth(sample, middle.saturating_sub(slack)), high)
}

fn nth(values: &mut [f64], rank: usize) -> f64 {
    *values.select_nth_unstable_by(rank, f64::total_cmp).1
}

/// The lower median; reorders `values`.
fn median(values: &mut [f64]) -> f64 {
    nth(values, (values.len() - 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Seed, Stage};
    use crate::table::Table;
    use rand::RngExt;

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(&mut [5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.0);
    }

    /// Smooth, with many ties, sorted, of a period that the sample meets, and a step that the sample cannot fence in.
    #[test]
    fn medians_of_many_rows_equal_sorting() {
        let mut rng = Seed(3).stream(Stage::Weigh, 0, 0);
        for count in [FEW + 1, 3 * FEW] {
            let data = (0..count).flat_map(|i| {
                let draw: f64 = rng.random();
                let step = if i < count / 2 { 0.0 } else { 1.0 };
                [draw, (draw * 4.0).floor(), i as f64, (i % SAMPLE) as f64, step]
            });
            let table = Table::from_rows(5, data.collect());
            let rows: Vec<u32> = (0..count as u32).filter(|row| row % 7 != 3).collect();
            let found = medians((&table).into(), &rows, |j, value| (value - j as f64).abs());
            for (j, found) in found.into_iter().enumerate() {
                let mut column: Vec<f64> =
                    rows.iter().map(|&row| (table.at(row as usize, j) - j as f64).abs()).collect();
                column.sort_by(f64::total_cmp);
                assert_eq!(found, column[(rows.len() - 1) / 2], "column {j} of {count}");
            }
        }
    }
}
