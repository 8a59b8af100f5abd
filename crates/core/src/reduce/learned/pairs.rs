//! Which products of two statistics tell what the statistics by themselves leave open.

use std::ops::Range;

use crate::products::{BLOCK, add_block};
use crate::table::Table;

/// Statistics that are paired at the most, fewer for many targets: those that go with some target most.
const MOST_STATISTICS: usize = 96;
/// Points that are looked at: as many as this many products of two numbers allow, between two limits.
const PRODUCTS: f64 = 6e7;
const ROWS: (usize, usize) = (1_000, 4_000);
/// Pairs that are taken at the most.
const MOST: usize = 60;
/// Pairs of noise are many, and the best of them goes with a target well. One is taken whose squared correlation is
/// beyond what that has, in units of what one by itself has on average.
const BEYOND: f64 = 4.0;

/// How many of so many statistics are paired for so many targets.
fn paired(statistics: usize, targets: usize) -> usize {
    let affordable = (2.0 * PRODUCTS / ((targets + 2) * ROWS.0) as f64).sqrt() as usize;
    statistics.min(MOST_STATISTICS).min(affordable)
}

/// Points on which pairs of `statistics` are tried for `targets`.
pub(super) fn rows_for(statistics: usize, targets: usize) -> usize {
    let k = paired(statistics, targets);
    ((PRODUCTS / (k * k / 2 * (targets + 2)).max(1) as f64) as usize).clamp(ROWS.0, ROWS.1)
}

/// Writes some statistics of up to a block of points, standardised, a block each; what lies beyond the last may be anything.
pub(super) type Standard<'a> = &'a mut dyn FnMut(Range<usize>, &[usize], &mut [f64]);

/// Pairs of statistics whose products go most with some column of `open`: what is left of the targets when all that one
/// statistic tells is taken away. `telling` says how much each statistic tells by itself.
pub(super) fn telling_pairs(standard: Standard<'_>, open: &Table, telling: &[f64]) -> Vec<(usize, usize)> {
    let mut columns: Vec<usize> = (0..telling.len()).filter(|&j| telling[j] > 0.0).collect();
    columns.sort_by(|&a, &b| telling[b].total_cmp(&telling[a]).then(a.cmp(&b)));
    columns.truncate(paired(telling.len(), open.columns()));
    columns.sort_unstable();
    let (k, t, n) = (columns.len(), open.columns(), open.rows() as f64);
    if k < 2 {
        return Vec::new();
    }
    // Means of the products, by themselves and weighted by what is open of each target in turn; and of their squares.
    let (mut means, mut squared) = (vec![0.0; k * k], vec![0.0; k * k]);
    let mut open_means = vec![vec![0.0; k * k]; t];
    let left: Vec<Vec<f64>> = (0..t).map(|p| open.column(p)).collect();
    let (mut plain, mut weighted) = (vec![0.0; k * BLOCK], vec![0.0; k * BLOCK]);
    for first in (0..open.rows()).step_by(BLOCK) {
        let rows = first..(first + BLOCK).min(open.rows());
        standard(rows.clone(), &columns, &mut plain);
        plain.chunks_exact_mut(BLOCK).for_each(|block| block[rows.len()..].fill(0.0));
        add_block(&mut means, &plain, &plain);
        for (means, left) in open_means.iter_mut().zip(&left) {
            for (weighted, plain) in weighted.chunks_exact_mut(BLOCK).zip(plain.chunks_exact(BLOCK)) {
                let products = plain.iter().zip(&left[rows.clone()]).map(|(z, open)| z * open);
                weighted.iter_mut().zip(products).for_each(|(slot, product)| *slot = product);
            }
            add_block(means, &weighted, &plain);
        }
        plain.iter_mut().for_each(|z| *z *= *z);
        add_block(&mut squared, &plain, &plain);
    }
    for sums in [&mut means, &mut squared].into_iter().chain(&mut open_means) {
        sums.iter_mut().for_each(|sum| *sum /= n);
    }
    let mut scores = vec![0.0_f64; k * k];
    for (with, left) in open_means.iter().zip(&left) {
        let middle = left.iter().sum::<f64>() / n;
        let variance = left.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / n;
        for (at, score) in scores.iter_mut().enumerate() {
            let spread = squared[at] - means[at] * means[at];
            let together = with[at] - means[at] * middle;
            if spread > 1e-12 && variance > 0.0 {
                *score = score.max(together * together / (spread * variance));
            }
        }
    }
    let tried = (k * (k - 1) / 2 * t) as f64;
    let least = (2.0 * libm::log(tried) + BEYOND) / n;
    let pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
    let mut pairs: Vec<(usize, usize)> = pairs.filter(|&(a, b)| scores[a * k + b] > least).collect();
    pairs.sort_by(|&(a, b), &(c, d)| {
        scores[c * k + d].total_cmp(&scores[a * k + b]).then((a, b).cmp(&(c, d)))
    });
    pairs.truncate(MOST);
    pairs.into_iter().map(|(a, b)| (columns[a], columns[b])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    #[test]
    fn the_product_that_tells_is_found_and_noise_is_not() {
        let (x, e) = (gaussian(3_000, 20, 0.0, 1.0, 1), gaussian(3_000, 2, 0.0, 1.0, 2));
        let open = (0..3_000).flat_map(|i| [x.at(i, 3) * x.at(i, 11) + 3.0 * e.at(i, 0), e.at(i, 1)]);
        let open = Table::from_rows(2, open.collect());
        let mut standard = |rows: Range<usize>, columns: &[usize], into: &mut [f64]| {
            for (into, &j) in into.chunks_exact_mut(BLOCK).zip(columns) {
                into.iter_mut().zip(rows.clone()).for_each(|(slot, row)| *slot = x.at(row, j));
            }
        };
        assert_eq!(telling_pairs(&mut standard, &open, &[1.0; 20]), [(3, 11)]);
        // Noise passes in some one of a hundred cases.
        assert_eq!(telling_pairs(&mut standard, &e, &[1.0; 20]), []);
        let mut without = [1.0; 20];
        without[3] = 0.0;
        assert_eq!(telling_pairs(&mut standard, &open, &without), [], "one that is left out");
    }
}
