//! Regressions for trials: of points that are gathered once, column by column, and fitted in samples of which one is the
//! beginning of another. What [`super::Regression`] makes of the same points, to rounding, in a fraction of the time.

use super::regression::LEAST_RIDGE;
use crate::elementary::{exp_each, ln_each};
use crate::products::dot;
use crate::stacked::Stacked;
use crate::table::Table;
use crate::vectors::{Loop, vectorised};

/// Points near one observation. Room is kept from one fit to the next.
pub(crate) struct Nested<'a> {
    features: Stacked<'a>,
    /// Regressors: features, and what was observed of them.
    used: Vec<(usize, f64)>,
    /// Where targets come from, and which rows are gathered.
    targets: Option<&'a Table>,
    rows: Vec<u32>,
    /// Regressors less what was observed, targets, and room for sizes of residuals, in columns of `stride` places. A
    /// column ends with numbers that count nothing.
    values: Vec<f64>,
    stride: usize,
    width: usize,
    /// How much the points of a sample count, summing to one and then nothing up to a whole number of blocks.
    weights: Vec<f64>,
    means: Vec<f64>,
    /// Mean products of each regressor with all columns, a row each; before the diagonal there are none.
    products: Vec<f64>,
    /// A block of each column without its mean.
    centred: Vec<f64>,
    solver: Solver,
}

/// Numbers that are added side by side, in the same order on every machine.
const LANES: usize = 8;
/// Points that are taken together, so that they stay near the processor, and columns that share what is read.
const BLOCK: usize = 32 * LANES;
const TOGETHER: usize = 4;

impl<'a> Nested<'a> {
    /// No points yet, for an observation and those of its features that are regressors.
    pub(crate) fn new(features: Stacked<'a>, used: &[usize], observed: &[f64]) -> Self {
        let (first, features) = features.around(used);
        Self {
            features,
            used: used.iter().map(|&j| (j - first, observed[j])).collect(),
            targets: None,
            rows: Vec::new(),
            values: Vec::new(),
            stride: 0,
            width: 0,
            weights: Vec::new(),
            means: Vec::new(),
            products: Vec::new(),
            centred: Vec::new(),
            solver: Solver::default(),
        }
    }

    /// Gathers the points of some rows, unless these are the first of those that are there.
    pub(crate) fn gather(&mut self, rows: &[u32], targets: &'a Table) {
        let is_same = self.targets.is_some_and(|there| std::ptr::eq(there, targets));
        if !self.rows.starts_with(rows) {
            self.rows.clear();
            self.rows.extend_from_slice(rows);
            self.width = self.used.len() + 2 * targets.columns();
            self.stride = rows.len().next_multiple_of(LANES);
            // What was there before is as good as nothing where it is not overwritten.
            self.values.resize(self.stride * self.width, 0.0);
            self.gather_regressors();
        } else if is_same {
            return;
        }
        self.targets = Some(targets);
        let (stride, columns) = (self.stride, &mut self.values[self.used.len() * self.stride..]);
        let all: Vec<(usize, f64)> = (0..targets.columns()).map(|j| (j, 0.0)).collect();
        transpose(&self.rows, targets, &all, columns, stride);
    }

    fn gather_regressors(&mut self) {
        let Self { features, rows, used, values, stride, .. } = self;
        if let Some(table) = features.as_table() {
            transpose(rows, table, used, values, *stride);
            return;
        }
        for (at, &row) in rows.iter().enumerate() {
            let row = features.row(row as usize);
            let slots = values[at..].iter_mut().step_by(*stride);
            slots.zip(&*used).for_each(|(slot, &(j, observed))| *slot = row.at(j) - observed);
        }
    }

    /// Where a regression moves some points on its scale, and with `heteroscedastic` scales their residuals; `kernel` is how
    /// much the first points count, of which it is a regression. `None` where they do not determine it.
    pub(crate) fn moved(&mut self, kernel: &[f64], picked: &[usize], heteroscedastic: bool) -> Option<Table> {
        let (k, d) = (self.used.len(), self.targets?.columns());
        self.weights.clear();
        self.weights.extend_from_slice(kernel);
        self.weights.resize(kernel.len().next_multiple_of(LANES), 0.0);
        vectorised(ToOne(&mut self.weights));
        self.sum(0..k + d);
        if !self.solver.factor(&self.means, &self.products, k) {
            return None;
        }
        let slopes: Vec<Vec<f64>> =
            (0..d).map(|p| self.solver.slopes(&self.products, k + p)).collect::<Option<_>>()?;
        let mut moved: Vec<Vec<f64>> = (0..d).map(|p| self.less(Some(k + p), &slopes[p], picked)).collect();
        if heteroscedastic {
            self.write_sizes(&slopes, kernel.len());
            self.sum(k + d..k + 2 * d);
            for (p, moved) in moved.iter_mut().enumerate() {
                // What is expected where the observation is stays, and the rest is scaled.
                let steps = slopes[p].iter().zip(&self.means).map(|(slope, mean)| slope * mean);
                let here = self.means[k + p] - steps.sum::<f64>();
                let mut scales = self.less(None, &self.solver.slopes(&self.products, k + d + p)?, picked);
                exp_each(&mut scales, 0.5);
                moved
                    .iter_mut()
                    .zip(&scales)
                    .for_each(|(value, scale)| *value = here + (*value - here) * scale);
            }
        }
        let mut table = Table::filled(picked.len(), d, 0.0);
        for slot in 0..picked.len() {
            table.row_mut(slot).iter_mut().zip(&moved).for_each(|(value, column)| *value = column[slot]);
        }
        Some(table)
    }

    fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.stride..][..self.stride]
    }

    /// Means and products of the weighted points, those of some of the columns.
    fn sum(&mut self, columns: std::ops::Range<usize>) {
        let (k, n) = (self.used.len(), self.weights.len());
        self.means.resize(self.width, 0.0);
        self.products.resize(k * self.width, 0.0);
        self.centred.resize(self.width * BLOCK, 0.0);
        for column in columns.clone() {
            self.means[column] = dot(&self.weights, &self.column(column)[..n]);
        }
        vectorised(Products {
            products: &mut self.products,
            width: self.width,
            regressors: k,
            columns,
            values: &self.values,
            stride: self.stride,
            weights: &self.weights,
            means: &self.means,
            centred: &mut self.centred,
        });
    }

    /// Of some points: a column, or nothing, less what slopes make of the regressors.
    fn less(&self, column: Option<usize>, slopes: &[f64], picked: &[usize]) -> Vec<f64> {
        let mut values = match column.map(|column| self.column(column)) {
            Some(column) => picked.iter().map(|&at| column[at]).collect(),
            None => vec![0.0; picked.len()],
        };
        for (j, slope) in slopes.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
            let column = self.column(j);
            values.iter_mut().zip(picked).for_each(|(value, &at)| *value -= slope * column[at]);
        }
        values
    }

    /// Writes the logarithms of the squares of what slopes leave open of the targets, of the first points.
    fn write_sizes(&mut self, slopes: &[Vec<f64>], count: usize) {
        let (k, d, n) = (self.used.len(), slopes.len(), self.weights.len());
        let (known, room) = self.values.split_at_mut((k + d) * self.stride);
        let mut total = 0.0;
        for (p, (room, slopes)) in room.chunks_exact_mut(self.stride).zip(slopes).enumerate() {
            let squares = &mut room[..n];
            vectorised(Squares {
                squares,
                columns: known,
                stride: self.stride,
                target: k + p,
                slopes,
                means: &self.means,
            });
            total += squares[..count].iter().sum::<f64>();
        }
        // A residual of nothing has no logarithm.
        let floor = (1e-12 * total / (count * d) as f64).max(f64::MIN_POSITIVE);
        for room in room.chunks_exact_mut(self.stride).take(d) {
            ln_each(&mut room[..n], floor);
        }
    }
}

/// Positions drawn by evenly spaced levels of the cumulative weights, ascending: what [`crate::trials::systematic`] draws, but
/// for rounding. How many levels each point reaches is found without a branch, of which every other would be a wrong guess.
pub(super) fn drawn(weights: &[f64], count: usize) -> Vec<usize> {
    let mut reached = 0.0;
    let cumulative = weights.iter().map(|weight| {
        reached += weight;
        reached
    });
    let cumulative: Vec<f64> = cumulative.collect();
    // The first position that reaches beyond so many levels.
    let mut beyond = vec![0; count + 1];
    let factor = count as f64 / reached;
    for (at, sum) in cumulative.iter().enumerate() {
        beyond[((sum * factor + 0.5) as usize).min(count)] = at + 1;
    }
    beyond.pop();
    let last = weights.len().saturating_sub(1);
    let mut first = 0;
    for position in &mut beyond {
        first = first.max(*position);
        *position = first.min(last);
    }
    beyond
}

/// Writes some columns of rows, less a number each, in columns of `stride` places.
fn transpose(rows: &[u32], table: &Table, used: &[(usize, f64)], columns: &mut [f64], stride: usize) {
    let mut some: Vec<&[f64]> = Vec::with_capacity(BLOCK);
    for (block, rows) in rows.chunks(BLOCK).enumerate() {
        some.clear();
        some.extend(rows.iter().map(|&row| table.row(row as usize)));
        for (column, &(j, less)) in columns.chunks_exact_mut(stride).zip(used) {
            let slots = column[block * BLOCK..].iter_mut();
            slots.zip(&some).for_each(|(slot, row)| *slot = row[j] - less);
        }
    }
}

/// Sums of products of what is left of columns without their means.
struct Products<'a> {
    products: &'a mut [f64],
    width: usize,
    regressors: usize,
    /// Columns that regressors are multiplied with, but for regressors before them.
    columns: std::ops::Range<usize>,
    values: &'a [f64],
    stride: usize,
    weights: &'a [f64],
    means: &'a [f64],
    centred: &'a mut [f64],
}

impl Loop for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { products, width, regressors, columns, values, stride, weights, means, centred } = self;
        let mut weighed = [0.0; BLOCK];
        for a in 0..regressors {
            products[a * width..][columns.clone()].fill(0.0);
        }
        for (block, weights) in weights.chunks(BLOCK).enumerate() {
            let length = weights.len();
            for j in (0..regressors).chain(columns.start.max(regressors)..columns.end) {
                let from = &values[j * stride + block * BLOCK..][..length];
                let to = &mut centred[j * BLOCK..][..length];
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from - means[j]);
            }
            for a in 0..regressors {
                let weighed = &mut weighed[..length];
                let of_a = &centred[a * BLOCK..][..length];
                weighed.iter_mut().zip(of_a.iter().zip(weights)).for_each(|(slot, (x, w))| *slot = x * w);
                let row = &mut products[a * width..][..width];
                let mut j = columns.start.max(a);
                while j < columns.end {
                    // A column that is not there is the last one again.
                    let column = |lane: usize| &centred[(j + lane).min(columns.end - 1) * BLOCK..][..length];
                    let sums = dots(weighed, [column(0), column(1), column(2), column(3)]);
                    let slots = &mut row[j..(j + TOGETHER).min(columns.end)];
                    slots.iter_mut().zip(sums).for_each(|(slot, sum)| *slot += sum);
                    j += TOGETHER;
                }
            }
        }
    }
}

/// The sums of the products of one column with each of some others, of a whole number of lanes.
#[inline(always)]
fn dots(one: &[f64], others: [&[f64]; TOGETHER]) -> [f64; TOGETHER] {
    let mut sums = [[0.0; LANES]; TOGETHER];
    for (at, one) in one.chunks_exact(LANES).enumerate() {
        for (sums, other) in sums.iter_mut().zip(&others) {
            let other = &other[at * LANES..][..LANES];
            for lane in 0..LANES {
                sums[lane] += one[lane] * other[lane];
            }
        }
    }
    sums.map(|s| ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])))
}

/// Divides numbers, of a whole number of lanes, by their sum.
struct ToOne<'a>(&'a mut [f64]);

impl Loop for ToOne<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut sums = [0.0; LANES];
        for some in self.0.chunks_exact(LANES) {
            sums.iter_mut().zip(some).for_each(|(sum, value)| *sum += value);
        }
        let total: f64 = sums.iter().sum();
        self.0.iter_mut().for_each(|value| *value /= total);
    }
}

/// Squares of what slopes leave open of a target.
struct Squares<'a> {
    squares: &'a mut [f64],
    columns: &'a [f64],
    stride: usize,
    target: usize,
    slopes: &'a [f64],
    means: &'a [f64],
}

impl Loop for Squares<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { squares, columns, stride, target, slopes, means } = self;
        let column = |j: usize| &columns[j * stride..][..squares.len()];
        let of_target = column(target);
        let of: Vec<(&[f64], f64, f64)> =
            slopes.iter().enumerate().map(|(j, &slope)| (column(j), means[j], slope)).collect();
        squares.iter_mut().zip(of_target).for_each(|(square, value)| *square = value - means[target]);
        for (column, mean, slope) in of {
            squares.iter_mut().zip(column).for_each(|(square, x)| *square -= slope * (x - mean));
        }
        squares.iter_mut().for_each(|square| *square *= *square);
    }
}

/// Solves for the slopes, in units in which regressors have variance one.
#[derive(Default)]
struct Solver {
    /// Regressors that vary, and all their standard deviations.
    varying: Vec<usize>,
    scale: Vec<f64>,
    width: usize,
    /// The Cholesky factor of their correlations, a row after another.
    factor: Vec<f64>,
}

impl Solver {
    /// Whether products of so many regressors with themselves, a row each, determine slopes.
    fn factor(&mut self, means: &[f64], products: &[f64], regressors: usize) -> bool {
        let width = products.len() / regressors;
        self.width = width;
        // Below this a difference from the mean is rounding.
        let noise = |j: usize| 1e-12 * means[j].abs();
        self.scale.clear();
        self.scale.extend((0..regressors).map(|j| products[j * width + j].sqrt()));
        self.varying.clear();
        self.varying.extend((0..regressors).filter(|&j| self.scale[j] > noise(j)));
        let n = self.varying.len();
        self.factor.resize(n * n, 0.0);
        for a in 0..n {
            for b in 0..=a {
                let (row, column) = (self.varying[a], self.varying[b]);
                let product = products[column * width + row] / (self.scale[row] * self.scale[column]);
                let (above, below) = self.factor.split_at(a * n);
                let of_b = if a == b { below } else { &above[b * n..] };
                let known: f64 = of_b[..b].iter().zip(&below[..b]).map(|(x, y)| x * y).sum();
                self.factor[a * n + b] = if a == b {
                    (product + LEAST_RIDGE - known).sqrt()
                } else {
                    (product - known) / self.factor[b * n + b]
                };
            }
            // Not so where it is not a number.
            let is_positive = self.factor[a * n + a] > 0.0;
            if !is_positive {
                return false;
            }
        }
        n > 0
    }

    /// The slopes of one column on all regressors, nothing on those that do not vary.
    fn slopes(&self, products: &[f64], column: usize) -> Option<Vec<f64>> {
        let n = self.varying.len();
        let mut found: Vec<f64> =
            self.varying.iter().map(|&j| products[j * self.width + column] / self.scale[j]).collect();
        for a in 0..n {
            let known: f64 = self.factor[a * n..a * n + a].iter().zip(&found).map(|(f, x)| f * x).sum();
            found[a] = (found[a] - known) / self.factor[a * n + a];
        }
        for a in (0..n).rev() {
            let known: f64 = (a + 1..n).map(|b| self.factor[b * n + a] * found[b]).sum();
            found[a] = (found[a] - known) / self.factor[a * n + a];
        }
        let mut slopes = vec![0.0; self.scale.len()];
        self.varying.iter().zip(&found).for_each(|(&j, slope)| slopes[j] = slope / self.scale[j]);
        slopes.iter().all(|slope| slope.is_finite()).then_some(slopes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::modes::Modes;
    use super::super::{Accepted, Regression, kernel};
    use super::*;
    use crate::divergence::testing::{gaussian, normal_prior};
    use crate::population::{LogWeights, Population};
    use crate::trials::systematic;

    /// What the plain regression makes of the first points.
    fn plainly(
        plan: &Regression,
        (units, features): (&Table, &Table),
        observed: &[f64],
        (distances, weights): (&[f64], &LogWeights),
    ) -> Table {
        let rows: Vec<u32> = (0..distances.len() as u32).collect();
        let population = Population {
            units: units.select(&rows),
            thetas: units.select(&rows),
            weights: weights.clone(),
            distances: distances.to_vec(),
            rows: rows.clone(),
        };
        let accepted = Accepted {
            prior: &normal_prior(units.columns()),
            population: &population,
            features: &features.select(&rows),
            observed,
            distance_weights: &vec![1.0; observed.len()],
        };
        plan.correct(&accepted, &Modes::default()).unwrap().units
    }

    /// Features of all scales, among them a constant and two that are one.
    fn features_of(scatter: &[f64]) -> Vec<f64> {
        let scaled = scatter.iter().enumerate().map(|(j, x)| x * libm::exp(2.0 * j as f64 - 9.0));
        let mut features: Vec<f64> = scaled.collect();
        if features.len() > 2 {
            (features[1], features[2]) = (7.3, 3.0 * features[0]);
        }
        features
    }

    #[test]
    fn nested_samples_are_fitted_as_each_by_itself() {
        let n = 1_003;
        let distances: Vec<f64> = (1..=n).map(|i| i as f64).collect();
        let rows: Vec<u32> = (0..n as u32).collect();
        for (k, d) in [(1, 1), (3, 2), (9, 1), (14, 3)] {
            let (scatter, mut units) = (gaussian(n, k, 0.0, 1.0, 1), gaussian(n, d, 5.0, 1.0, 2));
            for (row, scatter) in scatter.iter().enumerate() {
                let sum: f64 = scatter.iter().sum();
                units.row_mut(row).iter_mut().for_each(|unit| *unit = sum + *unit * (1.0 + 0.1 * sum));
            }
            let features = Table::from_rows(k, scatter.iter().flat_map(features_of).collect());
            let observed = features_of(&vec![0.2; k]);
            let mut nested = Nested::new((&features).into(), &(0..k).collect::<Vec<usize>>(), &observed);
            for (count, heteroscedastic) in [(n, false), (n, true), (512, true), (207, false), (640, false)] {
                let plan = Regression { heteroscedastic, ..Regression::default() };
                let weights = LogWeights::new((0..count).map(|i| (i % 7) as f64).collect()).unwrap();
                let sample = (&distances[..count], &weights);
                let expected = plainly(&plan, (&units, &features), &observed, sample);
                nested.gather(&rows[..count], &units);
                let kernel = kernel(&distances[..count], weights.normalised());
                let found =
                    nested.moved(&kernel, &(0..count).collect::<Vec<usize>>(), heteroscedastic).unwrap();
                for (a, b) in found.values().iter().zip(expected.values()) {
                    assert!((a - b).abs() < 1e-10 * b.abs().max(1.0), "{k} {count}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn positions_are_drawn_as_by_walking_along() {
        let even = vec![1.0; 77];
        let falling: Vec<f64> = (0..1_003).map(|i| 1.0 - f64::from(i) / 1_002.0).collect();
        let scattered: Vec<f64> =
            gaussian(611, 1, 0.0, 4.0, 3).values().iter().map(|x| libm::exp(*x)).collect();
        let gaps: Vec<f64> = (0..50).map(|i| if i % 10 == 4 { 1.0 } else { 0.0 }).collect();
        for weights in [&even[..], &falling, &scattered, &gaps, &[2.0]] {
            for count in [1, 7, 192] {
                assert_eq!(drawn(weights, count), systematic(weights, count), "{count} of {}", weights.len());
            }
        }
    }

    #[test]
    fn what_does_not_vary_is_not_fitted() {
        let (units, features) = (gaussian(100, 2, 0.0, 1.0, 1), Table::filled(100, 2, 7.3));
        let mut nested = Nested::new((&features).into(), &[0, 1], &[0.1, 0.2]);
        nested.gather(&(0..100).collect::<Vec<u32>>(), &units);
        assert!(nested.moved(&[1.0; 100], &[0, 1], false).is_none());
    }
}
