//! One over the median absolute deviation.

use super::Formula;
use super::deviation::invert;
use crate::view::View;

/// Every statistic in units of its median absolute deviation (Prangle 2017), which outliers cannot stretch;
/// in units of its standard deviation where more than half of its values are equal.
#[derive(Clone, Copy, Debug)]
pub struct Median;

impl Formula for Median {
    fn name(&self) -> &'static str {
        "mad"
    }

    fn weights(&self, view: &View<'_>, rows: &[u32]) -> Vec<f64> {
        let fallback = view.deviations(rows);
        // Beyond so many rows the error of a median is below a hundredth of a spread.
        let rows: Vec<u32> = rows.iter().copied().step_by(rows.len().div_ceil(MOST_ROWS).max(1)).collect();
        let mut column = Vec::with_capacity(rows.len());
        let mut spread = |j: usize| {
            column.clear();
            column.extend(rows.iter().map(|&row| view.features.at(row as usize, j)));
            let middle = median(&mut column);
            column.iter_mut().for_each(|value| *value = (*value - middle).abs());
            let mad = median(&mut column);
            if mad > 0.0 { mad } else { fallback[j] }
        };
        invert((0..view.observed.len()).map(&mut spread).collect())
    }
}

/// Rows that a median is taken over, at the most.
const MOST_ROWS: usize = 10_000;

/// The lower median; reorders `values`.
fn median(values: &mut [f64]) -> f64 {
    let middle = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(&mut [5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.0);
    }
}
