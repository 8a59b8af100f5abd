//! Linear equations with a positive definite matrix, for several right-hand sides at once.

use crate::products::dot_inline;
use crate::vectors::{Loop, vectorised};

/// A positive definite matrix with its right-hand sides, a row for each unknown, of which nobody looks at what lies
/// before the diagonal. Filled up with unknowns that are nothing, so that vectors are whole.
#[derive(Clone, Debug)]
pub(crate) struct Equations {
    unknowns: usize,
    sides: usize,
    rows: Vec<f64>,
}

/// Rows that are eliminated together, and rows and columns from which they are taken together: their sums stay in the
/// processor meanwhile. The first and the last are equal, so that a panel begins with a whole vector.
const PANEL: usize = 8;
const ROWS: usize = 4;
const COLUMNS: usize = 8;

impl Equations {
    /// Those with the given matrix, asked for from the diagonal on, and right-hand sides.
    pub(crate) fn new(
        (unknowns, sides): (usize, usize),
        matrix: impl Fn(usize, usize) -> f64,
        side: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let (filled, width) = shape(unknowns, sides);
        let mut rows = vec![0.0; filled * width];
        for (a, row) in rows.chunks_exact_mut(width.max(1)).enumerate() {
            row[a] = 1.0;
            if a < unknowns {
                row[a..unknowns].iter_mut().zip(a..).for_each(|(slot, b)| *slot = matrix(a, b));
                row[filled..].iter_mut().zip(0..sides).for_each(|(slot, p)| *slot = side(a, p));
            }
        }
        Self { unknowns, sides, rows }
    }

    /// The same matrix with other right-hand sides.
    pub(crate) fn with_sides(&self, side: impl Fn(usize, usize) -> f64) -> Self {
        let (filled, width) = shape(self.unknowns, self.sides);
        let mut same = self.clone();
        for (a, row) in same.rows.chunks_exact_mut(width.max(1)).take(self.unknowns).enumerate() {
            row[filled..].iter_mut().zip(0..self.sides).for_each(|(slot, p)| *slot = side(a, p));
        }
        same
    }

    /// What stands on the diagonal.
    pub(crate) fn on_diagonal(&self, at: usize) -> f64 {
        let (_, width) = shape(self.unknowns, self.sides);
        self.rows[at * width + at]
    }

    /// Changes the diagonal.
    pub(crate) fn each_on_diagonal(&mut self, change: impl Fn(f64) -> f64) {
        let (_, width) = shape(self.unknowns, self.sides);
        for j in 0..self.unknowns {
            let slot = &mut self.rows[j * width + j];
            *slot = change(*slot);
        }
    }

    /// The unknowns for each right-hand side; `None` where the matrix is not positive definite.
    pub(crate) fn solve(mut self) -> Option<Vec<Vec<f64>>> {
        let (filled, width) = shape(self.unknowns, self.sides);
        if !vectorised(Eliminate { rows: &mut self.rows, filled, width }) {
            return None;
        }
        Some((0..self.sides).map(|p| vectorised(Back { of: &self, side: p })).collect())
    }
}

/// Unknowns and width of rows when filled up.
fn shape(unknowns: usize, sides: usize) -> (usize, usize) {
    let filled = unknowns.next_multiple_of(PANEL);
    (filled, filled + sides.next_multiple_of(COLUMNS))
}

/// Cholesky's: the matrix becomes its upper triangle, and the sides what is left for that.
struct Eliminate<'a> {
    rows: &'a mut [f64],
    filled: usize,
    width: usize,
}

impl Loop for Eliminate<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let width = self.width;
        for first in (0..self.filled).step_by(PANEL) {
            let (above, below) = self.rows.split_at_mut((first + PANEL) * width);
            let panel = &mut above[first * width..];
            for k in 0..PANEL {
                let (done, rest) = panel.split_at_mut(k * width);
                let row = &mut rest[first..width];
                for done in done.chunks_exact(width) {
                    let factor = done[first + k];
                    row.iter_mut().zip(&done[first..]).for_each(|(x, done)| *x -= factor * done);
                }
                let pivot = row[k];
                if !(pivot > 0.0 && pivot.is_finite()) {
                    return false;
                }
                let inverse = 1.0 / pivot.sqrt();
                row.iter_mut().for_each(|x| *x *= inverse);
            }
            for (at, rows) in below.chunks_exact_mut(ROWS * width).enumerate() {
                take_away(panel, rows, first + PANEL + at * ROWS, width);
            }
        }
        true
    }
}

/// Takes what a panel says of some rows away from them, from the diagonal of the first on.
#[inline(always)]
fn take_away(panel: &[f64], rows: &mut [f64], first: usize, width: usize) {
    let mut factors = [[0.0; ROWS]; PANEL];
    for (factors, of) in factors.iter_mut().zip(panel.chunks_exact(width)) {
        factors.copy_from_slice(&of[first..first + ROWS]);
    }
    for j in (first / COLUMNS * COLUMNS..width).step_by(COLUMNS) {
        let mut sums = [[0.0; COLUMNS]; ROWS];
        for (factors, of) in factors.iter().zip(panel.chunks_exact(width)) {
            let of: &[f64; COLUMNS] = of[j..j + COLUMNS].try_into().expect("whole");
            for r in 0..ROWS {
                for c in 0..COLUMNS {
                    sums[r][c] += factors[r] * of[c];
                }
            }
        }
        for (sums, row) in sums.iter().zip(rows.chunks_exact_mut(width)) {
            row[j..j + COLUMNS].iter_mut().zip(sums).for_each(|(value, sum)| *value -= sum);
        }
    }
}

/// The unknowns from an upper triangle, the last first.
struct Back<'a> {
    of: &'a Equations,
    side: usize,
}

impl Loop for Back<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Vec<f64> {
        let (filled, width) = shape(self.of.unknowns, self.of.sides);
        let mut found = vec![0.0; self.of.unknowns];
        for a in (0..found.len()).rev() {
            let row = &self.of.rows[a * width..(a + 1) * width];
            let known = dot_inline(&row[a + 1..found.len()], &found[a + 1..]);
            found[a] = (row[filled + self.side] - known) / row[a];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    #[test]
    fn unknowns_solve_the_equations() {
        for (unknowns, sides) in [(1, 1), (3, 2), (8, 8), (21, 5), (40, 9)] {
            let x = gaussian(2 * unknowns, unknowns, 0.2, 1.0, 1);
            let matrix = |a: usize, b: usize| x.iter().map(|row| row[a] * row[b]).sum::<f64>();
            let side = |a: usize, p: usize| (1 + a * p) as f64;
            let found = Equations::new((unknowns, sides), matrix, side).solve().unwrap();
            for (p, found) in found.iter().enumerate() {
                for a in 0..unknowns {
                    let left: f64 = (0..unknowns).map(|b| matrix(a, b) * found[b]).sum();
                    assert!((left - side(a, p)).abs() < 1e-9 * side(a, p), "{unknowns} {sides}: {a} {p}");
                }
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_told() {
        let of =
            |last: f64| Equations::new((2, 1), move |a, b| if a + b == 2 { last } else { 1.0 }, |_, _| 1.0);
        assert!(of(1.0).solve().is_none());
        assert!(of(f64::NAN).solve().is_none());
        let mut shifted = of(1.0);
        shifted.each_on_diagonal(|x| x + 1.0);
        let found = shifted.solve().unwrap();
        // Two equal unknowns of 2 x + x = 1.
        assert!(found[0].iter().all(|x| (x - 1.0 / 3.0).abs() < 1e-15));
    }
}
