//! Linear regression of several targets with the penalty that predicts best what was left out of the fit. All from
//! sums of products, so that neither penalties nor parts cost another pass over the points.

use crate::positive::Equations;
use crate::products::{ACROSS, BLOCK, Panel, add_across, add_block, add_told, dot};
use crate::table::Table;
use crate::vectors::{Loop, vectorised};
use crate::workers::{self, Workers};

/// What a regression sees.
pub(crate) struct Points<'a> {
    pub(crate) count: usize,
    pub(crate) regressors: usize,
    pub(crate) targets: usize,
    /// Makes what writes points.
    pub(crate) writer: &'a (dyn Fn() -> Writer<'a> + Sync),
}

/// Writes up to a [`BLOCK`] of points: a block of values for each regressor and then for each target, in which what lies
/// beyond the last point may be anything. They are asked for a block at a time, so that all of them never stand in memory.
pub(crate) type Writer<'a> = Box<dyn FnMut(&[usize], &mut [f64]) + 'a>;

/// A fitted regression of each target on all regressors.
#[derive(Clone, Debug)]
pub(crate) struct Ridge {
    /// Those of each target, one a regressor.
    coefficients: Vec<Vec<f64>>,
    intercepts: Vec<f64>,
    /// The share of each target's variance that is explained on points which the fit has not seen.
    pub(crate) explained: Vec<f64>,
    /// Standard deviation of what is left of each target on such points.
    pub(crate) residual: Vec<f64>,
}

/// Parts of the cross-validation.
const PARTS: usize = 4;
/// Penalties in units of each regressor's variance, from the weakest: ties go to the stronger.
const PENALTIES: [f64; 8] = [1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0, 10.0];

impl Ridge {
    /// Fits the targets on the regressors; `None` where no penalty makes the regression solvable. Where there are `more` points of
    /// the same kind, of which these are some, it goes one step from the fit of these towards that of all.
    pub(crate) fn fit(points: &Points<'_>, more: Option<&Points<'_>>, workers: &dyn Workers) -> Option<Self> {
        let (f, t) = (points.regressors, points.targets);
        let sums = workers::map(workers, PARTS, |part| Sums::of(points, (part, PARTS)));
        let all = sums.iter().skip(1).fold(sums[0].clone(), |all, sum| all.plus(sum, 1.0));
        // From the weakest on, until all targets are predicted worse and worse: stronger ones would be worse still.
        let mut losses: Vec<Vec<f64>> = Vec::new();
        let parts: Vec<Moments> = sums.iter().map(|part| Moments::of(&all.plus(part, -1.0), f, t)).collect();
        for penalty in PENALTIES {
            let runs = workers::map(workers, PARTS, |part| {
                let fit = parts[part].solve(penalty)?;
                Some((0..t).map(|p| sums[part].loss(&fit, p)).collect::<Vec<f64>>())
            });
            let loss = |p: usize| -> f64 {
                runs.iter().map(|part| part.as_ref().map_or(f64::INFINITY, |loss| loss[p])).sum()
            };
            losses.push((0..t).map(loss).collect());
            let worse =
                |p: usize| losses.windows(2).rev().take(2).filter(|two| two[1][p] > two[0][p]).count();
            if losses.len() > 2 && (0..t).all(|p| worse(p) == 2) {
                break;
            }
        }
        let best = |p: usize| {
            let choices = losses.iter().map(|loss| loss[p]).zip(0..);
            choices.fold((f64::INFINITY, 0), |best, next| if next.0 <= best.0 { next } else { best })
        };
        let whole = Moments::of(&all, f, t);
        let mut chosen: Vec<usize> = (0..t).map(|p| best(p).1).collect();
        chosen.sort_unstable();
        chosen.dedup();
        let fits = workers::map(workers, chosen.len(), |at| whole.solve(PENALTIES[chosen[at]]));
        let (mut coefficients, mut intercepts) = (Vec::with_capacity(t), Vec::with_capacity(t));
        let (mut explained, mut residual) = (Vec::with_capacity(t), Vec::with_capacity(t));
        for p in 0..t {
            let (loss, at) = best(p);
            let fit = fits[chosen.partition_point(|&other| other < at)].as_ref()?;
            coefficients.push(fit.coefficients[p].clone());
            intercepts.push(fit.intercepts[p]);
            let variance = whole.variances[p] * all.count();
            explained.push(if variance > 0.0 && loss.is_finite() { 1.0 - loss / variance } else { 0.0 });
            residual.push((loss.min(variance) / all.count()).sqrt());
        }
        let mut ridge = Self { coefficients, intercepts, explained, residual };
        if let Some(more) = more {
            let penalties: Vec<f64> = (0..t).map(|p| PENALTIES[best(p).1]).collect();
            ridge.step(&whole, &penalties, more, workers)?;
        }
        Some(ridge)
    }

    /// Goes from the fit of some points towards that of all: what it leaves open of all of them says where to, and the products of
    /// some how far. A pass over all points costs little where their products, of each regressor with each, cost much (Pilanci &
    /// Wainwright 2016).
    fn step(
        &mut self,
        some: &Moments,
        penalties: &[f64],
        all: &Points<'_>,
        workers: &dyn Workers,
    ) -> Option<()> {
        let f = all.regressors;
        let parts = workers::map(workers, all.count.div_ceil(PASSED), |part| {
            Open::of(self, all, part * PASSED..all.count.min((part + 1) * PASSED))
        });
        let open = parts.into_iter().reduce(Open::and)?;
        let n = all.count as f64;
        let means: Vec<f64> = (0..f).map(|a| open.product(Some(a), all.targets) / n).collect();
        let mut chosen = penalties.to_vec();
        chosen.sort_unstable_by(f64::total_cmp);
        chosen.dedup();
        // The inverse of the products of some is too large by a little, as that of any estimate is.
        let part = (1.0 - f as f64 / some.count).max(0.0);
        for penalty in chosen {
            let held =
                |a: usize, p: usize| held(some.equations.on_diagonal(a), penalty, self.coefficients[p][a]);
            let side = |a: usize, p: usize| {
                let open = |regressor: Option<usize>| open.product(regressor, p) / n;
                open(Some(a)) - means[a] * open(None) - held(a, p)
            };
            let mut equations = some.equations.with_sides(side);
            equations.each_on_diagonal(|variance| penalised(variance, penalty));
            let steps = equations.solve()?;
            for (p, steps) in steps.iter().enumerate().filter(|&(p, _)| penalties[p] == penalty) {
                if steps.iter().any(|step| !step.is_finite()) {
                    continue;
                }
                self.intercepts[p] += open.product(None, p) / n - part * dot(&means, steps);
                self.coefficients[p].iter_mut().zip(steps).for_each(|(slope, step)| *slope += part * step);
            }
        }
        Some(())
    }

    /// What a target is where all regressors are nothing, and what each of these adds.
    pub(crate) fn line(&self, target: usize) -> (f64, &[f64]) {
        (self.intercepts[target], &self.coefficients[target])
    }
}

/// A variance with a penalty. One that hardly varies in these points is left out.
fn penalised(variance: f64, penalty: f64) -> f64 {
    variance.max(0.0) * (1.0 + penalty) + LEAST
}

/// How a penalty holds a slope back.
fn held(variance: f64, penalty: f64, slope: f64) -> f64 {
    (variance.max(0.0) * penalty + LEAST) * slope
}

/// The least penalty, in units of one.
const LEAST: f64 = 1e-9;

/// Points of one pass that are put together.
const PASSED: usize = 4_096;

/// What a fit leaves open of some points, and ones, times each regressor, summed up.
struct Open {
    /// Of as many targets at a time as are taken across, ones being the last: a row a regressor.
    products: Vec<Vec<[f64; ACROSS]>>,
    /// The same by themselves.
    left: Vec<[f64; ACROSS]>,
}

impl Open {
    fn of(fit: &Ridge, points: &Points<'_>, rows: std::ops::Range<usize>) -> Self {
        let (f, t) = (points.regressors, points.targets);
        let groups = (t + 1).div_ceil(ACROSS);
        let mut open =
            Self { products: vec![vec![[0.0; ACROSS]; f]; groups], left: vec![[0.0; ACROSS]; groups] };
        // What a regression tells, a group of targets after another.
        let of_group = |group: usize, of: &dyn Fn(usize) -> f64| -> [f64; ACROSS] {
            std::array::from_fn(|c| Some(group * ACROSS + c).filter(|&p| p < t).map_or(0.0, of))
        };
        let slopes = |group: usize| (0..f).map(|a| of_group(group, &|p| fit.coefficients[p][a])).collect();
        let slopes: Vec<Vec<[f64; ACROSS]>> = (0..groups).map(slopes).collect();
        let at_nothing: Vec<[f64; ACROSS]> =
            (0..groups).map(|group| of_group(group, &|p| fit.intercepts[p])).collect();
        points.each_block(rows, |_, columns| {
            let lines = (&at_nothing[..], &slopes[..]);
            vectorised(AddOpen { lines, columns: columns.as_chunks().0, targets: t, open: &mut open });
        });
        open
    }

    fn and(mut self, more: Self) -> Self {
        let own = self.products.iter_mut().flatten().chain(&mut self.left);
        for (sums, more) in own.zip(more.products.iter().flatten().chain(&more.left)) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        self
    }

    /// What is open of a target times a regressor, or times one.
    fn product(&self, regressor: Option<usize>, target: usize) -> f64 {
        let (group, column) = (target / ACROSS, target % ACROSS);
        regressor.map_or(&self.left[group], |a| &self.products[group][a])[column]
    }
}

/// Adds a block of points.
struct AddOpen<'a> {
    /// Intercepts and slopes, a group of targets after another.
    lines: (&'a [[f64; ACROSS]], &'a [Vec<[f64; ACROSS]>]),
    /// Ones, regressors and targets.
    columns: &'a [[f64; BLOCK]],
    targets: usize,
    open: &'a mut Open,
}

impl Loop for AddOpen<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { lines, columns, targets: t, open } = self;
        let (ones, columns) = columns.split_first().expect("a column of ones");
        let (regressors, targets) = columns.split_at(columns.len() - t);
        for (group, (at_nothing, slopes)) in lines.0.iter().zip(lines.1).enumerate() {
            let mut panel: Panel = [*at_nothing; BLOCK];
            add_told(&mut panel, regressors, slopes);
            for (lane, told) in panel.iter_mut().enumerate() {
                for (c, told) in told.iter_mut().enumerate() {
                    let target = group * ACROSS + c;
                    // Beyond the targets stand ones, of which nothing is told; beyond the last point there is nothing.
                    let there = if target < t { targets[target][lane] } else { 1.0 };
                    *told = (there - *told) * ones[lane];
                }
            }
            add_across(&mut open.products[group], regressors, &panel);
            for point in &panel {
                (0..ACROSS).for_each(|c| open.left[group][c] += point[c]);
            }
        }
    }
}

/// Points a regressor of which half are enough to see what is left open.
const ENOUGH: usize = 20;

/// What a regression with a given penalty leaves open of each target; `None` where it is not solvable.
pub(crate) fn left_open(points: &Points<'_>, penalty: f64) -> Option<Table> {
    let (f, t) = (points.regressors, points.targets);
    // Where there are many more points than regressors, half of them tell the same.
    let parts = if points.count >= ENOUGH * f { 2 } else { 1 };
    let fit = Moments::of(&Sums::of(points, (0, parts)), f, t).solve(penalty)?;
    let mut left = Table::filled(points.count, t, 0.0);
    points.each_block(0..points.count, |rows, columns| {
        let (x, y) = columns.split_at((1 + f) * BLOCK);
        for (p, y) in y.chunks_exact(BLOCK).enumerate() {
            let told =
                vectorised(Told { line: (fit.intercepts[p], &fit.coefficients[p]), terms: &x[BLOCK..] });
            rows.iter().zip(y.iter().zip(told)).for_each(|(&row, (y, told))| left.row_mut(row)[p] = y - told);
        }
    });
    Some(left)
}

/// What a regression tells of a target, for a block of points.
struct Told<'a> {
    line: (f64, &'a [f64]),
    terms: &'a [f64],
}

impl Loop for Told<'_> {
    type Output = [f64; BLOCK];

    #[inline(always)]
    fn run(self) -> [f64; BLOCK] {
        let (at_nothing, slopes) = self.line;
        let mut told = [at_nothing; BLOCK];
        for (slope, terms) in slopes.iter().zip(self.terms.chunks_exact(BLOCK)) {
            for (told, term) in told.iter_mut().zip(terms) {
                *told += slope * term;
            }
        }
        told
    }
}

impl Points<'_> {
    /// Some of them, a block at a time: columns of ones, regressors and targets, in which what lies
    /// beyond the last point is nothing.
    fn each_block(&self, points: impl Iterator<Item = usize>, mut see: impl FnMut(&[usize], &[f64])) {
        let width = 1 + self.regressors + self.targets;
        let (mut write, mut columns) = ((self.writer)(), vec![1.0; BLOCK * width]);
        let rows: Vec<usize> = points.collect();
        for rows in rows.chunks(BLOCK) {
            write(rows, &mut columns[BLOCK..]);
            columns.chunks_exact_mut(BLOCK).for_each(|column| column[rows.len()..].fill(0.0));
            see(rows, &columns);
        }
    }
}

/// Sums of products of `(1, regressors, targets)` over some points: of each with itself and those after it.
#[derive(Clone, Debug)]
struct Sums {
    width: usize,
    regressors: usize,
    products: Vec<f64>,
}

impl Sums {
    /// Over one of several parts of the points.
    fn of(points: &Points<'_>, (part, parts): (usize, usize)) -> Self {
        let (f, t) = (points.regressors, points.targets);
        let width = 1 + f + t;
        let mut products = vec![0.0; width * width];
        points.each_block((part..points.count).step_by(parts), |_, columns| {
            add_block(&mut products, columns, columns);
        });
        Self { width, regressors: f, products }
    }

    fn at(&self, a: usize, b: usize) -> f64 {
        self.products[a * self.width + b]
    }

    fn count(&self) -> f64 {
        self.products[0]
    }

    fn plus(&self, other: &Self, sign: f64) -> Self {
        let products = self.products.iter().zip(&other.products).map(|(a, b)| a + sign * b).collect();
        Self { products, ..*self }
    }

    /// Squared errors of a fit of one target over these points.
    fn loss(&self, fit: &Solution, target: usize) -> f64 {
        // The error is the point times this vector.
        let mut error = vec![0.0; self.width];
        error[0] = -fit.intercepts[target];
        error[1..].iter_mut().zip(&fit.coefficients[target]).for_each(|(slot, b)| *slot = -b);
        let own = 1 + self.regressors + target;
        error[own] = 1.0;
        let mut sum = 0.0;
        for (a, x) in error.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let row = &self.products[a * self.width..(a + 1) * self.width];
            sum += x * (x * row[a] + 2.0 * dot(&row[a + 1..], &error[a + 1..]));
        }
        sum.max(0.0)
    }
}

/// Means, covariances as equations for the coefficients, and the targets' variances.
struct Moments {
    count: f64,
    equations: Equations,
    means: Vec<f64>,
    middles: Vec<f64>,
    variances: Vec<f64>,
}

struct Solution {
    /// Those of each target, one a regressor.
    coefficients: Vec<Vec<f64>>,
    intercepts: Vec<f64>,
}

impl Moments {
    fn of(sums: &Sums, f: usize, t: usize) -> Self {
        let n = sums.count();
        let means: Vec<f64> = (0..f).map(|j| sums.at(0, 1 + j) / n).collect();
        let middles: Vec<f64> = (0..t).map(|p| sums.at(0, 1 + f + p) / n).collect();
        let equations = Equations::new(
            (f, t),
            |a, b| sums.at(1 + a, 1 + b) / n - means[a] * means[b],
            |a, p| sums.at(1 + a, 1 + f + p) / n - means[a] * middles[p],
        );
        let variance = |p: usize| (sums.at(1 + f + p, 1 + f + p) / n - middles[p] * middles[p]).max(0.0);
        Self { count: n, equations, variances: (0..t).map(variance).collect(), means, middles }
    }

    fn solve(&self, penalty: f64) -> Option<Solution> {
        let mut equations = self.equations.clone();
        equations.each_on_diagonal(|variance| penalised(variance, penalty));
        let coefficients = equations.solve()?;
        if coefficients.iter().flatten().any(|b| !b.is_finite()) {
            return None;
        }
        let intercept = |(middle, slopes): (&f64, &Vec<f64>)| middle - dot(&self.means, slopes);
        let intercepts = self.middles.iter().zip(&coefficients).map(intercept).collect();
        Some(Solution { coefficients, intercepts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;
    use crate::workers::Serial;

    #[test]
    fn a_linear_law_is_found_and_noise_is_not() {
        let (x, e) = (gaussian(800, 6, 0.5, 1.0, 1), gaussian(800, 2, 0.0, 1.0, 2));
        let rows =
            (0..800).flat_map(|i| [1.0 + 2.0 * x.at(i, 0) - x.at(i, 3) + 0.5 * e.at(i, 0), e.at(i, 1)]);
        let y = Table::from_rows(2, rows.collect());
        let points = Points {
            count: 800,
            regressors: 6,
            targets: 2,
            writer: &|| {
                Box::new(|rows, into| {
                    for (lane, &row) in rows.iter().enumerate() {
                        let point = x.row(row).iter().chain(y.row(row));
                        point.enumerate().for_each(|(j, value)| into[j * BLOCK + lane] = *value);
                    }
                })
            },
        };
        let fit = Ridge::fit(&points, None, &Serial).unwrap();
        // Variances 5 and 0.25: 0.952 is explained; the standard error of the share is below 0.005.
        assert!((fit.explained[0] - 0.952).abs() < 0.015, "{:?}", fit.explained);
        assert!((fit.residual[0] - 0.5).abs() < 0.05, "{:?}", fit.residual);
        assert!(fit.explained[1] < 0.02, "{:?}", fit.explained);
        let (at_nothing, slopes) = fit.line(0);
        assert!((at_nothing + slopes[0] + 2.0 * slopes[3] - 1.0).abs() < 0.15);
        let open = left_open(&points, 1e-6).unwrap();
        let square = open.column(0).iter().map(|x| x * x).sum::<f64>() / 800.0;
        assert!((square - 0.25).abs() < 0.05, "{square}");
    }

    #[test]
    fn a_step_goes_most_of_the_way_from_the_fit_of_some_points_to_that_of_all() {
        // Nine targets, one more than are taken across at a time.
        let (count, f, t) = (5_000, 20, 9);
        let (x, e) = (gaussian(count, f, 0.5, 1.0, 1), gaussian(count, t, 0.0, 1.0, 2));
        let y = |i: usize, p: usize| x.at(i, p) - 0.5 * x.at(i, p + 1) * x.at(i, p + 2) + e.at(i, p);
        let writer = || -> Writer<'_> {
            Box::new(|rows, into| {
                for (lane, &row) in rows.iter().enumerate() {
                    (0..f).for_each(|j| into[j * BLOCK + lane] = x.at(row, j));
                    (0..t).for_each(|p| into[(f + p) * BLOCK + lane] = y(row, p));
                }
            })
        };
        let all = Points { count, regressors: f, targets: t, writer: &writer };
        let some = Points { count: 700, ..all };
        let fit = |points: &Points<'_>, more: Option<&Points<'_>>| Ridge::fit(points, more, &Serial).unwrap();
        let whole = fit(&all, None);
        let off = |fit: &Ridge| -> f64 {
            let squares = (0..t).map(|p| {
                let ((a, slopes), (b, of_all)) = (fit.line(p), whole.line(p));
                (a - b).powi(2) + slopes.iter().zip(of_all).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
            });
            squares.sum::<f64>().sqrt()
        };
        let (before, after) = (off(&fit(&some, None)), off(&fit(&some, Some(&all))));
        // Eigenvalues of the products of 700 points are within a third of those of all.
        assert!(before > 0.2 && after < 0.25 * before, "{before} {after}");
    }
}
