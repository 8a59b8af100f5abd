//! Distances of all rows under weights that a search moves about.
//!
//! Squared residuals are kept column by column in `f32`. Where few weights differ from the best point so far,
//! only their columns are added; where they differ by little, only for the rows near enough to matter.

use super::selection::Selection;
use crate::vectors::{Loop, vectorised};
use crate::view::View;

/// Rows handled at a time, so that partial sums stay in the first cache.
const BLOCK: usize = 1_024;
/// Squared weights may fall, all falls multiplied, to this share before sums are made anew: subtracting a large
/// term from a large sum leaves only rounding errors.
const SAFE_FALL: f64 = 0.05;
/// Columns added onto the same sums before they are made anew.
const SAFE_STEPS: usize = 32;
/// Weights that may differ from the best point before all columns are summed.
const FEW: usize = 4;
/// Rows that count as near, in multiples of those kept.
const NEAR: usize = 4;

/// The distances under the best weights so far and under those on trial.
pub(super) struct Distances {
    keep: usize,
    columns: Vec<f32>,
    best: Sums,
    trial: Sums,
    near: Near,
    selection: Selection,
}

/// Distances under some weights.
#[derive(Default)]
struct Sums {
    /// Squared weights.
    squares: Vec<f64>,
    distances: Vec<f32>,
    /// Columns added since the sums were last made from nothing, and the product of the falls of weights.
    steps: usize,
    fall: f64,
}

/// The rows nearest under the best weights, with room to spare.
#[derive(Default)]
struct Near {
    /// Whether it belongs to the present best.
    known: bool,
    positions: Vec<u32>,
    distances: Vec<f32>,
    /// The same on trial.
    trial: Vec<f32>,
    /// Distance of the last row kept, and one that no row outside is below.
    threshold: f32,
    limit: f32,
    /// Whether the last trial covered these rows only.
    used: bool,
}

impl Distances {
    /// Distances of `rows` to the observation in the `varying` features, of which `keep` matter.
    pub(super) fn new(view: &View<'_>, rows: &[u32], varying: &[usize], keep: usize) -> Self {
        let scale: Vec<f64> = varying.iter().map(|&j| 1.0 / view.spread[j]).collect();
        let mut columns = vec![0.0; rows.len() * varying.len()];
        for (at, &row) in rows.iter().enumerate() {
            let row = view.features.row(row as usize);
            let slots = columns[at..].iter_mut().step_by(rows.len());
            for (slot, (&j, scale)) in slots.zip(varying.iter().zip(&scale)) {
                let residual = (row.at(j) - view.observed[j]) * scale;
                // Bounded so that no sum overflows; such a row is never near.
                *slot = (residual * residual).min(1e25) as f32;
            }
        }
        let blank = || Sums { distances: vec![0.0; rows.len()], ..Sums::default() };
        let (near, selection) = (Near::default(), Selection::default());
        Self { keep, columns, best: blank(), trial: blank(), near, selection }
    }

    /// Writes the positions of the rows that the log weights `point` keep, in no special order.
    pub(super) fn nearest(&mut self, point: &[f64], into: &mut Vec<u32>) {
        self.trial.squares.clear();
        self.trial.squares.extend(point.iter().map(|x| libm::exp(2.0 * x)));
        self.near.used = false;
        match self.change() {
            Some(change) if self.reaches(&change) => {
                self.near.sum(&self.columns, &self.best, &self.trial.squares);
                self.selection.nearest(&self.near.trial, self.keep, into);
                into.iter_mut().for_each(|at| *at = self.near.positions[*at as usize]);
                return;
            }
            Some(_) => self.sum(true),
            None => self.sum(false),
        }
        self.selection.nearest(&self.trial.distances, self.keep, into);
    }

    /// Makes the weights on trial the best.
    pub(super) fn anchor(&mut self) {
        if self.near.used {
            self.sum(true);
        }
        std::mem::swap(&mut self.best, &mut self.trial);
        self.near.known = false;
    }

    fn sum(&mut self, from_best: bool) {
        let best = from_best.then_some(&self.best);
        vectorised(Summing { columns: &self.columns, best, trial: &mut self.trial });
    }

    /// How the trial differs from the best; `None` when the sums had better be made anew.
    fn change(&self) -> Option<Change> {
        let mut change = Change { columns: 0, fall: 1.0, rise: 1.0, loss: 1.0 };
        if self.best.squares.is_empty() {
            return None;
        }
        for (new, old) in self.trial.squares.iter().zip(&self.best.squares) {
            if new != old {
                change.columns += 1;
                change.fall = change.fall.min(new / old);
                change.rise = change.rise.max(new / old);
                change.loss *= (new / old).min(1.0);
            }
        }
        let steps = self.best.steps + change.columns;
        let safe = self.best.fall * change.loss >= SAFE_FALL && steps <= SAFE_STEPS;
        (change.columns <= FEW && safe).then_some(change)
    }

    /// Whether no row outside the near ones can come in: a distance changes by no more than the weights do.
    fn reaches(&mut self, change: &Change) -> bool {
        let count = NEAR * self.keep;
        if 2 * count > self.best.distances.len() {
            return false;
        }
        if !self.near.known {
            self.near.find(&self.best.distances, self.keep, count, &mut self.selection);
        }
        // A little less than the bound, for rounding.
        self.near.used =
            f64::from(self.near.limit) * change.fall * 0.999 > f64::from(self.near.threshold) * change.rise;
        self.near.used
    }
}

/// How weights on trial differ from the best.
struct Change {
    columns: usize,
    /// Smallest and largest ratio of squares.
    fall: f64,
    rise: f64,
    /// Product of the ratios that are below one: what rounding errors may grow by.
    loss: f64,
}

impl Near {
    fn find(&mut self, distances: &[f32], keep: usize, count: usize, selection: &mut Selection) {
        selection.nearest(distances, count, &mut self.positions);
        // In order, so that columns are read forwards.
        self.positions.sort_unstable();
        self.distances.clear();
        self.distances.extend(self.positions.iter().map(|&at| distances[at as usize]));
        self.limit = self.distances.iter().copied().fold(0.0, f32::max);
        self.trial.clone_from(&self.distances);
        self.threshold = *self.trial.select_nth_unstable_by(keep - 1, f32::total_cmp).1;
        self.known = true;
    }

    fn sum(&mut self, columns: &[f32], best: &Sums, squares: &[f64]) {
        let n = best.distances.len();
        self.trial.clone_from(&self.distances);
        for (j, (&new, &old)) in squares.iter().zip(&best.squares).enumerate() {
            if new != old {
                let (column, weight) = (&columns[j * n..(j + 1) * n], (new - old) as f32);
                for (sum, &at) in self.trial.iter_mut().zip(&self.positions) {
                    *sum = (*sum + weight * column[at as usize]).max(0.0);
                }
            }
        }
    }
}

/// Makes the distances of `trial`, from those of `best` where it is given.
struct Summing<'a> {
    columns: &'a [f32],
    best: Option<&'a Sums>,
    trial: &'a mut Sums,
}

impl Loop for Summing<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { columns, best, trial } = self;
        let n = trial.distances.len();
        let Some(best) = best else {
            weighted_sums(columns, &trial.squares, &mut trial.distances);
            (trial.steps, trial.fall) = (0, 1.0);
            return;
        };
        (trial.steps, trial.fall) = (best.steps, best.fall);
        let mut from = Some(&best.distances);
        for (j, (&new, &old)) in trial.squares.iter().zip(&best.squares).enumerate() {
            if new != old {
                let (column, weight) = (&columns[j * n..(j + 1) * n], (new - old) as f32);
                match from.take() {
                    Some(start) => sum_column(&mut trial.distances, start, column, weight),
                    None => add_column(&mut trial.distances, column, weight),
                }
                trial.steps += 1;
                trial.fall *= (new / old).min(1.0);
            }
        }
        if let Some(start) = from {
            trial.distances.copy_from_slice(start);
        }
    }
}

#[inline(always)]
fn sum_column(sums: &mut [f32], start: &[f32], column: &[f32], weight: f32) {
    for ((sum, start), value) in sums.iter_mut().zip(start).zip(column) {
        *sum = (start + weight * value).max(0.0);
    }
}

#[inline(always)]
fn add_column(sums: &mut [f32], column: &[f32], weight: f32) {
    for (sum, value) in sums.iter_mut().zip(column) {
        *sum = (*sum + weight * value).max(0.0);
    }
}

#[inline(always)]
fn weighted_sums(columns: &[f32], squares: &[f64], sums: &mut [f32]) {
    let n = sums.len();
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        let block = &mut sums[start..end];
        block.fill(0.0);
        let column = |j: usize| &columns[j * n + start..j * n + end];
        let mut j = 0;
        while j + 4 <= squares.len() {
            let (a, b, c, d) = (column(j), column(j + 1), column(j + 2), column(j + 3));
            let w = [squares[j] as f32, squares[j + 1] as f32, squares[j + 2] as f32, squares[j + 3] as f32];
            for (i, sum) in block.iter_mut().enumerate() {
                *sum += (w[0] * a[i] + w[1] * b[i]) + (w[2] * c[i] + w[3] * d[i]);
            }
            j += 4;
        }
        for (j, &square) in squares.iter().enumerate().skip(j) {
            let w = square as f32;
            for (sum, value) in block.iter_mut().zip(column(j)) {
                *sum += w * value;
            }
        }
    }
}
