//! One over the standard deviation.

use super::{Formula, View};
use crate::table::Table;

/// Every statistic in units of its standard deviation (Beaumont, Zhang & Balding 2002).
#[derive(Clone, Copy, Debug)]
pub struct Deviation;

impl Formula for Deviation {
    fn name(&self) -> &'static str {
        "sd"
    }

    fn weights(&self, view: &View<'_>, rows: &[u32]) -> Vec<f64> {
        invert(view.deviations(rows))
    }
}

/// One over each spread; zero where there is none.
pub(super) fn invert(spreads: Vec<f64>) -> Vec<f64> {
    spreads.into_iter().map(|s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect()
}

/// The standard deviation of each feature over `rows`; exactly zero where all values are equal.
#[must_use]
pub(crate) fn standard_deviations(features: &Table, rows: &[u32]) -> Vec<f64> {
    let (width, n) = (features.columns(), rows.len() as f64);
    let Some(&first) = rows.first() else { return vec![0.0; width] };
    // Measured from the first row: no cancellation for large values with a small spread, and exact zeros.
    let origin = features.row(first as usize);
    let (mut sum, mut square) = (vec![0.0; width], vec![0.0; width]);
    for &row in rows {
        for ((value, origin), (sum, square)) in
            features.row(row as usize).iter().zip(origin).zip(sum.iter_mut().zip(&mut square))
        {
            let step = value - origin;
            *sum += step;
            *square += step * step;
        }
    }
    let variance = |(sum, square): (f64, f64)| ((square - sum * sum / n) / (n - 1.0).max(1.0)).max(0.0);
    sum.into_iter().zip(square).map(|pair| variance(pair).sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_exact_for_constants_and_agree_with_numpy() {
        let table = Table::from_rows(3, vec![0.1, 1.0, 1e9, 0.1, 2.0, 1e9 + 1.0, 0.1, 4.0, 1e9 + 2.0]);
        let sd = standard_deviations(&table, &[0, 1, 2]);
        assert_eq!(sd[0], 0.0);
        // numpy.std([1, 2, 4], ddof=1)
        assert!((sd[1] - 1.5275252316519468).abs() < 1e-15);
        assert!((sd[2] - 1.0).abs() < 1e-12);
    }
}
