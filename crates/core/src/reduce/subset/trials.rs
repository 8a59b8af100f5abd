//! What would be accepted if the distance compared some of the statistics only.

use crate::select;
use crate::view::View;

/// Squared differences from an observation, a column a statistic, each in units of its spread.
pub(super) struct Trials<'a> {
    rows: &'a [u32],
    keep: usize,
    columns: Vec<Vec<f64>>,
}

impl<'a> Trials<'a> {
    /// Trials among `rows` that keep so many.
    pub(super) fn new(view: &View<'a>, rows: &'a [u32], observed: &[f64], keep: usize) -> Self {
        let column = |j: usize| -> Vec<f64> {
            if view.spread[j] == 0.0 {
                return Vec::new();
            }
            let differs = |&row: &u32| (view.features.at(row as usize, j) - observed[j]) / view.spread[j];
            rows.iter().map(differs).map(|difference| difference * difference).collect()
        };
        Self { rows, keep: keep.min(rows.len()), columns: (0..view.spread.len()).map(column).collect() }
    }

    /// The rows that are nearest by these statistics, ascending. By none of them all are equally near, and an even
    /// sample stands for all.
    pub(super) fn accepted(&self, statistics: &[usize]) -> Vec<u32> {
        if statistics.is_empty() {
            let step = (self.rows.len() / self.keep.max(1)).max(1);
            return self.rows.iter().copied().step_by(step).take(self.keep).collect();
        }
        let mut distances = vec![0.0; self.rows.len()];
        for &j in statistics {
            distances.iter_mut().zip(&self.columns[j]).for_each(|(distance, square)| *distance += square);
        }
        select::nearest(&distances, self.keep).into_iter().map(|at| self.rows[at]).collect()
    }
}

/// Calls `visit` with every choice of at least one of `from`, by size, as long as all of a size fit into what is left of
/// `most`; gives the largest size for which they did.
pub(super) fn every_choice(from: &[usize], most: usize, visit: &mut dyn FnMut(&[usize])) -> usize {
    let (mut left, mut count) = (most, 1_u128);
    for size in 1..=from.len() {
        count = count * (from.len() - size + 1) as u128 / size as u128;
        if count > left as u128 {
            return size - 1;
        }
        left -= count as usize;
        let mut at: Vec<usize> = (0..size).collect();
        loop {
            visit(&at.iter().map(|&i| from[i]).collect::<Vec<_>>());
            let Some(turn) = (0..size).rev().find(|&i| at[i] < from.len() - size + i) else { break };
            at[turn] += 1;
            (turn + 1..size).for_each(|i| at[i] = at[i - 1] + 1);
        }
    }
    from.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_all_there_and_no_size_is_begun_that_does_not_fit() {
        let mut seen = Vec::new();
        assert_eq!(every_choice(&[2, 5, 7, 9], 10, &mut |choice| seen.push(choice.to_vec())), 2);
        assert_eq!(seen.len(), 10);
        assert_eq!(seen[4], [2, 5]);
        assert_eq!(seen[9], [7, 9]);
        let mut count = 0;
        assert_eq!(every_choice(&(0..12).collect::<Vec<_>>(), 5000, &mut |_| count += 1), 12);
        assert_eq!(count, (1 << 12) - 1);
        assert_eq!(every_choice(&(0..1000).collect::<Vec<_>>(), 10, &mut |_| panic!("too many")), 0);
    }
}
