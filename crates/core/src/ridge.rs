//! Linear regression of several targets with the penalty that predicts best what was left out of the fit. All from
//! sums of products, so that neither penalties nor parts cost another pass over the points.

use nalgebra::DMatrix;

use crate::products::{add_products, dot};
use crate::table::Table;
use crate::workers::{self, Workers};

/// What a regression sees.
pub(crate) struct Points<'a> {
    pub(crate) count: usize,
    pub(crate) regressors: usize,
    pub(crate) targets: usize,
    /// Makes what writes points.
    pub(crate) writer: &'a (dyn Fn() -> Writer<'a> + Sync),
}

/// Writes some points, each its regressors and then its targets, one after another. They are asked for a few at a time,
/// so that all of them never stand in memory.
pub(crate) type Writer<'a> = Box<dyn FnMut(&[usize], &mut [f64]) + 'a>;

/// Points that are asked for at a time.
const BLOCK: usize = 64;

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
    /// Fits the targets on the regressors; `None` where no penalty makes the regression solvable.
    pub(crate) fn fit(points: &Points<'_>, workers: &dyn Workers) -> Option<Self> {
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
            coefficients.push(fit.coefficients.column(p).iter().copied().collect());
            intercepts.push(fit.intercepts[p]);
            let variance = whole.variances[p] * all.count();
            explained.push(if variance > 0.0 && loss.is_finite() { 1.0 - loss / variance } else { 0.0 });
            residual.push((loss.min(variance) / all.count()).sqrt());
        }
        Some(Self { coefficients, intercepts, explained, residual })
    }

    /// What a target is where all regressors are nothing, and what each of these adds.
    pub(crate) fn line(&self, target: usize) -> (f64, &[f64]) {
        (self.intercepts[target], &self.coefficients[target])
    }
}

/// What a regression with a given penalty leaves open of each target; `None` where it is not solvable.
pub(crate) fn left_open(points: &Points<'_>, penalty: f64) -> Option<Table> {
    let (f, t) = (points.regressors, points.targets);
    let fit = Moments::of(&Sums::of(points, (0, 1)), f, t).solve(penalty)?;
    let mut left = Table::filled(points.count, t, 0.0);
    points.each_block((0, 1), |rows, values| {
        for (&row, point) in rows.iter().zip(values.chunks_exact(f + t)) {
            let (x, y) = point.split_at(f);
            for (p, value) in left.row_mut(row).iter_mut().enumerate() {
                let told = fit.coefficients.column(p).iter().zip(x).map(|(b, x)| b * x).sum::<f64>();
                *value = y[p] - fit.intercepts[p] - told;
            }
        }
    });
    Some(left)
}

impl Points<'_> {
    /// Those of one of several parts, a block at a time.
    fn each_block(&self, (part, parts): (usize, usize), mut see: impl FnMut(&[usize], &[f64])) {
        let width = self.regressors + self.targets;
        let (mut write, mut values) = ((self.writer)(), vec![0.0; BLOCK * width]);
        let rows: Vec<usize> = (part..self.count).step_by(parts).collect();
        for rows in rows.chunks(BLOCK) {
            let values = &mut values[..rows.len() * width];
            write(rows, values);
            see(rows, values);
        }
    }
}

/// Sums of products of `(1, regressors, targets)` over some points.
#[derive(Clone, Debug)]
struct Sums {
    width: usize,
    regressors: usize,
    products: Vec<f64>,
}

impl Sums {
    /// Over one of several parts of the points.
    fn of(points: &Points<'_>, part: (usize, usize)) -> Self {
        let (f, t) = (points.regressors, points.targets);
        let width = 1 + f + t;
        let mut products = vec![0.0; width * width];
        let mut whole = vec![1.0; BLOCK * width];
        points.each_block(part, |rows, values| {
            for (point, values) in whole.chunks_exact_mut(width).zip(values.chunks_exact(f + t)) {
                point[1..].copy_from_slice(values);
            }
            add_products(&mut products, &whole[..rows.len() * width], &[1.0; BLOCK][..rows.len()], width);
        });
        for a in 0..width {
            (0..a).for_each(|b| products[a * width + b] = products[b * width + a]);
        }
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
        for (slot, b) in error[1..].iter_mut().zip(fit.coefficients.column(target).iter()) {
            *slot = -b;
        }
        let own = 1 + self.regressors + target;
        error[own] = 1.0;
        let mut sum = 0.0;
        for (a, x) in error.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let row = &self.products[a * self.width..(a + 1) * self.width];
            sum += x * dot(row, &error);
        }
        sum.max(0.0)
    }
}

/// Means and covariances.
struct Moments {
    gram: DMatrix<f64>,
    cross: DMatrix<f64>,
    means: Vec<f64>,
    middles: Vec<f64>,
    variances: Vec<f64>,
}

struct Solution {
    coefficients: DMatrix<f64>,
    intercepts: Vec<f64>,
}

impl Moments {
    fn of(sums: &Sums, f: usize, t: usize) -> Self {
        let n = sums.count();
        let means: Vec<f64> = (0..f).map(|j| sums.at(0, 1 + j) / n).collect();
        let middles: Vec<f64> = (0..t).map(|p| sums.at(0, 1 + f + p) / n).collect();
        let gram = DMatrix::from_fn(f, f, |a, b| sums.at(1 + a, 1 + b) / n - means[a] * means[b]);
        let cross = DMatrix::from_fn(f, t, |a, p| sums.at(1 + a, 1 + f + p) / n - means[a] * middles[p]);
        let variance = |p: usize| (sums.at(1 + f + p, 1 + f + p) / n - middles[p] * middles[p]).max(0.0);
        Self { gram, cross, variances: (0..t).map(variance).collect(), means, middles }
    }

    fn solve(&self, penalty: f64) -> Option<Solution> {
        let mut gram = self.gram.clone();
        for j in 0..gram.nrows() {
            // One that hardly varies in these points is left out.
            gram[(j, j)] = gram[(j, j)].max(0.0) * (1.0 + penalty) + 1e-9;
        }
        let coefficients = gram.cholesky()?.solve(&self.cross);
        if coefficients.iter().any(|b| !b.is_finite()) {
            return None;
        }
        let intercept = |p: usize| {
            let terms = self.means.iter().enumerate();
            self.middles[p] - terms.map(|(j, mean)| mean * coefficients[(j, p)]).sum::<f64>()
        };
        let intercepts = (0..self.middles.len()).map(intercept).collect();
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
                    for (point, &row) in into.chunks_exact_mut(8).zip(rows) {
                        point.copy_from_slice(&[x.row(row), y.row(row)].concat());
                    }
                })
            },
        };
        let fit = Ridge::fit(&points, &Serial).unwrap();
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
}
