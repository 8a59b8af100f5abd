//! Sums of products of the columns of many points, from which regressions are made.

use crate::vectors::{Loop, vectorised};

/// Adds the weighted products of each of the first columns with itself and those after it, over points of `width`
/// values that stand one after another. `products` has a row of `width` for each of these columns, of which the part
/// before the diagonal is left alone. Every sum is added in the order of the points.
pub(crate) fn add_products(products: &mut [f64], points: &[f64], weights: &[f64], width: usize) {
    vectorised(Products { products, points, weights, width });
}

/// Points and columns that are taken together: their sums stay in the processor meanwhile.
const POINTS: usize = 8;
const COLUMNS: usize = 8;

struct Products<'a> {
    products: &'a mut [f64],
    points: &'a [f64],
    weights: &'a [f64],
    width: usize,
}

impl Loop for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { products, points, weights, width } = self;
        for (points, weights) in points.chunks(POINTS * width.max(1)).zip(weights.chunks(POINTS)) {
            for (a, row) in products.chunks_exact_mut(width.max(1)).enumerate() {
                // A block that is not full has points that count nothing.
                let mut factors = [0.0; POINTS];
                for ((factor, point), weight) in
                    factors.iter_mut().zip(points.chunks_exact(width)).zip(weights)
                {
                    *factor = weight * point[a];
                }
                let point = |p: usize| &points[(p * width).min(points.len() - width)..][..width];
                let of: [&[f64]; POINTS] = std::array::from_fn(point);
                let whole = a + (width - a) / COLUMNS * COLUMNS;
                for j in (a..whole).step_by(COLUMNS) {
                    let mut sums: [f64; COLUMNS] = std::array::from_fn(|lane| row[j + lane]);
                    for (factor, of) in factors.iter().zip(&of) {
                        let of = &of[j..j + COLUMNS];
                        for lane in 0..COLUMNS {
                            sums[lane] += factor * of[lane];
                        }
                    }
                    row[j..j + COLUMNS].copy_from_slice(&sums);
                }
                for j in whole..width {
                    for (factor, of) in factors.iter().zip(&of) {
                        row[j] += factor * of[j];
                    }
                }
            }
        }
    }
}

/// Points whose values stand side by side, a block a column.
pub(crate) const BLOCK: usize = 64;

/// Adds the products of each column with itself and those after it over a block of points, in which each column is a
/// [`BLOCK`] of values. The first of two is taken from `factors`, which are the columns themselves or these times the weight
/// of each point. `products` has a row for each column; of the part before the diagonal nobody knows what it has.
pub(crate) fn add_block(products: &mut [f64], factors: &[f64], columns: &[f64]) {
    vectorised(Block { products, factors, columns });
}

/// Rows of products that are made together, with as many columns as above: each value that is loaded is used several times, and
/// all sums fit into sixteen vectors of four.
const ROWS: usize = 4;

/// Some columns, a point at a time.
pub(crate) type Panel = [[f64; COLUMNS]; BLOCK];

/// How many columns a [`Panel`] has.
pub(crate) const ACROSS: usize = COLUMNS;

struct Block<'a> {
    products: &'a mut [f64],
    factors: &'a [f64],
    columns: &'a [f64],
}

impl Loop for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (columns, factors) = (self.columns.as_chunks().0, self.factors.as_chunks().0);
        let width = columns.len();
        let mut panel: Panel = [[0.0; COLUMNS]; BLOCK];
        for j in (0..width).step_by(COLUMNS) {
            let across = COLUMNS.min(width - j);
            // What lies beyond the last column is made of the last, and left out.
            let of: [&[f64; BLOCK]; COLUMNS] = std::array::from_fn(|c| &columns[(j + c).min(width - 1)]);
            for (p, point) in panel.iter_mut().enumerate() {
                *point = std::array::from_fn(|c| of[c][p]);
            }
            for a in (0..j + across).step_by(ROWS) {
                let sums = tile(factors, a, &panel);
                for (row, sums) in (a..width).zip(&sums) {
                    let row = &mut self.products[row * width + j..][..across];
                    row.iter_mut().zip(sums).for_each(|(product, sum)| *product += sum);
                }
            }
        }
    }
}

/// Sums of the products of some columns, from one on, with those of a panel. What lies beyond the last column is made of the last.
#[inline(always)]
fn tile(columns: &[[f64; BLOCK]], first: usize, panel: &Panel) -> [[f64; COLUMNS]; ROWS] {
    let last = columns.len() - 1;
    let of: [&[f64; BLOCK]; ROWS] = std::array::from_fn(|r| &columns[(first + r).min(last)]);
    let mut sums = [[0.0; COLUMNS]; ROWS];
    for p in 0..BLOCK {
        for r in 0..ROWS {
            let factor = of[r][p];
            for c in 0..COLUMNS {
                sums[r][c] += factor * panel[p][c];
            }
        }
    }
    sums
}

/// Adds the sums of the products of columns with those of a panel, a row for each of the former.
#[inline(always)]
pub(crate) fn add_across(products: &mut [[f64; COLUMNS]], columns: &[[f64; BLOCK]], panel: &Panel) {
    for first in (0..columns.len()).step_by(ROWS) {
        for (row, sums) in products[first..].iter_mut().zip(tile(columns, first, panel)) {
            (0..COLUMNS).for_each(|c| row[c] += sums[c]);
        }
    }
}

/// Adds to each point of a panel what slopes make of its values in some columns.
#[inline(always)]
pub(crate) fn add_told(panel: &mut Panel, columns: &[[f64; BLOCK]], slopes: &[[f64; COLUMNS]]) {
    // Few columns at a time, so that they stay near the processor.
    for (columns, slopes) in columns.chunks(NEARBY).zip(slopes.chunks(NEARBY)) {
        for (at, points) in panel.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
            let mut sums = *points;
            for (column, slopes) in columns.iter().zip(slopes) {
                for r in 0..ROWS {
                    let value = column[at * ROWS + r];
                    for c in 0..COLUMNS {
                        sums[r][c] += value * slopes[c];
                    }
                }
            }
            *points = sums;
        }
    }
}

/// Columns of a block that stay near the processor.
pub(crate) const NEARBY: usize = 32;

/// The sum of the products of two columns.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    vectorised(Dot(a, b))
}

struct Dot<'a>(&'a [f64], &'a [f64]);

impl Loop for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        dot_inline(self.0, self.1)
    }
}

/// The same as [`dot`], inside of a [`Loop`].
#[inline(always)]
pub(crate) fn dot_inline(a: &[f64], b: &[f64]) -> f64 {
    // Several sums side by side; the order is the same on every machine.
    const SUMS: usize = 8;
    let mut sums = [0.0; SUMS];
    let (x, y) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let rest: f64 = x.remainder().iter().zip(y.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in x.zip(y) {
        for lane in 0..SUMS {
            sums[lane] += a[lane] * b[lane];
        }
    }
    rest + sums.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    #[test]
    fn products_of_a_block_are_those_of_the_definition() {
        for width in [1, 3, 8, 19, 33] {
            let columns = gaussian(width, BLOCK, 0.3, 1.0, 1);
            let mut found = vec![0.5; width * width];
            let factors: Vec<f64> = columns.values().iter().map(|x| 2.0 * x).collect();
            add_block(&mut found, &factors, columns.values());
            for a in 0..width {
                for j in a..width {
                    let products = columns.row(a).iter().zip(columns.row(j)).map(|(x, y)| 2.0 * x * y);
                    let sum = 0.5 + products.fold(0.0, |sum, product| sum + product);
                    assert_eq!(found[a * width + j].to_bits(), sum.to_bits(), "{width}: {a} {j}");
                }
            }
        }
    }

    #[test]
    fn what_is_told_and_multiplied_across_is_that_of_the_definition() {
        for width in [1, 5, 33, 70] {
            let (columns, slopes) =
                (gaussian(width, BLOCK, 0.3, 1.0, 1), gaussian(width, ACROSS, 0.0, 1.0, 2));
            let (columns, slopes) = (columns.values().as_chunks().0, slopes.values().as_chunks().0);
            let mut panel: Panel = [[0.25; ACROSS]; BLOCK];
            add_told(&mut panel, columns, slopes);
            for (lane, point) in panel.iter().enumerate() {
                for (c, told) in point.iter().enumerate() {
                    let each = columns.iter().zip(slopes).map(|(column, slopes)| column[lane] * slopes[c]);
                    assert_eq!(told.to_bits(), each.fold(0.25, |sum, x| sum + x).to_bits(), "{width}");
                }
            }
            let mut products = vec![[0.5; ACROSS]; width];
            add_across(&mut products, columns, &panel);
            for (row, column) in products.iter().zip(columns) {
                for (c, product) in row.iter().enumerate() {
                    let each = column.iter().zip(&panel).map(|(x, point)| x * point[c]);
                    let sum = 0.5 + each.fold(0.0, |sum, x| sum + x);
                    assert_eq!(product.to_bits(), sum.to_bits(), "{width}");
                }
            }
        }
    }

    #[test]
    fn products_are_those_of_the_definition() {
        for (count, width, rows) in [(1, 1, 1), (7, 3, 2), (8, 8, 8), (21, 19, 17), (64, 33, 30)] {
            let points = gaussian(count, width, 0.3, 1.0, 1);
            let weights: Vec<f64> = (0..count).map(|i| 0.5 + i as f64).collect();
            let mut found = vec![0.0; rows * width];
            add_products(&mut found, points.values(), &weights, width);
            for a in 0..rows {
                for j in a..width {
                    let mut sum = 0.0;
                    for (point, weight) in points.iter().zip(&weights) {
                        sum += weight * point[a] * point[j];
                    }
                    assert_eq!(found[a * width + j].to_bits(), sum.to_bits(), "{count} {width}: {a} {j}");
                }
            }
        }
    }
}
