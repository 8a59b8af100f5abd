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

/// The sum of the products of two columns.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    vectorised(Dot(a, b))
}

struct Dot<'a>(&'a [f64], &'a [f64]);

impl Loop for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        // Several sums side by side; the order is the same on every machine.
        const SUMS: usize = 8;
        let mut sums = [0.0; SUMS];
        let (x, y) = (self.0.chunks_exact(SUMS), self.1.chunks_exact(SUMS));
        let rest: f64 = x.remainder().iter().zip(y.remainder()).map(|(a, b)| a * b).sum();
        for (a, b) in x.zip(y) {
            for lane in 0..SUMS {
                sums[lane] += a[lane] * b[lane];
            }
        }
        rest + sums.iter().sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

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
