//! All that a stage may see of a generation: reductions see its summaries, weighting rules its features.

use crate::divergence::Space;
use crate::propose::Importance;
use crate::reduce::Estimates;
use crate::stacked::Stacked;
use crate::table::Table;
use crate::trials::Verdict;
use crate::vectors::{Loop, vectorised};
use crate::workers::Workers;

/// The simulations of one generation, with what is known about them.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Unit-space points, a row each.
    pub units: &'a Table,
    /// Features of the same rows; before the reduction, the summaries.
    pub features: Stacked<'a>,
    /// Observed features.
    pub observed: &'a [f64],
    /// Rows that may be accepted, ascending.
    pub rows: &'a [u32],
    /// Standard deviation of each feature over those rows; zero where it is constant.
    pub spread: &'a [f64],
    /// Importance weights.
    pub importance: &'a Importance<'a>,
    /// The points, prepared for neighbour searches.
    pub space: &'a Space,
    /// Which of the features, the last ones, are estimates, each in units of its error.
    pub learned: Estimates,
    /// Whether what is accepted may be adjusted afterwards.
    pub adjusts: bool,
    /// How many rows are kept.
    pub keep: usize,
    /// Weights of the generation before, averaged over its folds.
    pub previous: Option<&'a [f64]>,
    /// What was tried in the generation before, and how it did.
    pub tried: &'a [Verdict],
    /// Who does parallel work.
    pub workers: &'a dyn Workers,
}

impl View<'_> {
    /// Standard deviation of each feature over `rows`.
    pub(crate) fn deviations(&self, rows: &[u32]) -> Vec<f64> {
        if rows == self.rows { self.spread.to_vec() } else { standard_deviations(self.features, rows) }
    }

    /// Features that vary.
    #[must_use]
    pub fn varying(&self) -> Vec<usize> {
        (0..self.spread.len()).filter(|&j| self.spread[j] > 0.0).collect()
    }
}

/// The standard deviation of each feature over `rows`; exactly zero where all values are equal.
#[must_use]
pub fn standard_deviations<'a>(features: impl Into<Stacked<'a>>, rows: &[u32]) -> Vec<f64> {
    let features = features.into();
    let (width, n) = (features.columns(), rows.len() as f64);
    let Some(&origin) = rows.first() else { return vec![0.0; width] };
    let (mut sum, mut square) = (vec![0.0; width], vec![0.0; width]);
    for (first, part) in features.parts() {
        let (sum, square) = (&mut sum[first..], &mut square[first..]);
        // Measured from the first row: no cancellation for large values with a small spread, and exact zeros.
        let origin = part.row(origin as usize).to_vec();
        let mut pass = part.pass(rows);
        while let Some((table, top, rows)) = pass.more() {
            vectorised(Steps { table, top, rows, origin: &origin, sum, square });
        }
    }
    let variance = |(sum, square): (f64, f64)| ((square - sum * sum / n) / (n - 1.0).max(1.0)).max(0.0);
    sum.into_iter().zip(square).map(|pair| variance(pair).sqrt()).collect()
}

/// Adds up steps of the values in some rows, and their squares.
struct Steps<'a> {
    table: &'a Table,
    /// Which row is the first of the table.
    top: u32,
    rows: &'a [u32],
    origin: &'a [f64],
    sum: &'a mut [f64],
    square: &'a mut [f64],
}

/// Columns whose sums stay in the processor while some rows are passed, and these rows.
const COLUMNS: usize = 8;
const ROWS: usize = 64;

impl Loop for Steps<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let width = self.origin.len();
        let whole = width - width % COLUMNS;
        for rows in self.rows.chunks(ROWS) {
            let row = |row: u32| &self.table.row((row - self.top) as usize)[..width];
            for j in (0..whole).step_by(COLUMNS) {
                let part = |of: &[f64]| -> [f64; COLUMNS] { std::array::from_fn(|lane| of[j + lane]) };
                let (origin, mut sum, mut square) = (part(self.origin), part(self.sum), part(self.square));
                for &at in rows {
                    let values = &row(at)[j..j + COLUMNS];
                    for lane in 0..COLUMNS {
                        let step = values[lane] - origin[lane];
                        sum[lane] += step;
                        square[lane] += step * step;
                    }
                }
                self.sum[j..j + COLUMNS].copy_from_slice(&sum);
                self.square[j..j + COLUMNS].copy_from_slice(&square);
            }
            for &at in rows {
                let steps = row(at)[whole..].iter().zip(&self.origin[whole..]);
                let sums = self.sum[whole..].iter_mut().zip(&mut self.square[whole..]);
                for ((value, origin), (sum, square)) in steps.zip(sums) {
                    let step = value - origin;
                    *sum += step;
                    *square += step * step;
                }
            }
        }
    }
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
