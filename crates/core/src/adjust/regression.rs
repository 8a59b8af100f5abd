//! Regression adjustment: local-linear (Beaumont, Zhang & Balding 2002), by ridge, heteroscedastic (Blum & François 2010).

use super::modes::Modes;
use super::nested::{Nested, drawn};
use super::{Accepted, AdjustError, Adjusted, Adjustment, Simulations};
use crate::elementary::{exp_each, ln_each};
use crate::linear::{Gathered, Linear, Sample, spread};
use crate::population::{LogWeights, Population};
use crate::problem::{Marginal, Prior};
use crate::stacked::Stacked;
use crate::table::Table;

/// Fits each parameter as a linear function of the features, near particles counting more (Epanechnikov), and gives
/// every particle the fit at the observation plus its own residual.
///
/// What departs from the papers, and why:
///
/// - Particles count by their importance weights too, which come with generations after the first.
/// - Parameters are regressed in unit space, between bounds by their log odds; the R package abc has both as choices.
/// - Means and sizes of residuals are both linear in the features. Blum & François fit networks, which so few particles do not determine.
/// - The ridge penalty is found by cross-validation; the package takes the median over three that are fixed.
/// - Without a ridge, more than one feature for ten particles is refused: intervals would be too narrow. Features without a distance weight are no regressors.
#[derive(Clone, Debug)]
pub struct Regression {
    /// Shrink the coefficients, as much as predicts best what was left out of the fit.
    pub ridge: bool,
    /// Residuals too depend on the features: scale them by their expected size here and there.
    pub heteroscedastic: bool,
    /// Where parameters with bounds are regressed.
    pub transform: Transform,
}

/// The scale on which a parameter between two bounds is regressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// The log odds of its place between them, so that no particle leaves the prior.
    Logit,
    /// Unit space, as in the first paper; a particle that would leave the prior is put on its bound.
    None,
    /// Unit space; a particle that would leave the prior is left out.
    Within,
}

impl Default for Regression {
    fn default() -> Self {
        Self { ridge: false, heteroscedastic: false, transform: Transform::Logit }
    }
}

/// Particles wanted for each regressor where nothing shrinks the coefficients.
const PARTICLES_A_REGRESSOR: usize = 10;
/// Against collinear features; too small to show.
pub(super) const LEAST_RIDGE: f64 = 1e-9;
/// Penalties that a ridge regression chooses from, in units of the features' variance, and parts of its cross-validation.
const RIDGES: [f64; 9] = [1e-4, 1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 10.0, 1e3];
const PARTS: usize = 5;
/// How near to a bound, as a share of the range, a particle may lie on the scale of log odds.
const EDGE: f64 = 1e-9;

impl Adjustment for Regression {
    fn adjust(&self, accepted: &Accepted<'_>, _: &Simulations<'_>) -> Result<Adjusted, AdjustError> {
        Ok(Adjusted { population: self.correct(accepted, &Modes::default())?, evidence: Vec::new() })
    }
}

/// Particles, wherever they stand in some tables.
pub(crate) struct Points<'a> {
    /// Their rows.
    pub(crate) rows: &'a [u32],
    /// Unit-space points and features by row.
    pub(crate) units: &'a Table,
    /// See `units`.
    pub(crate) features: Stacked<'a>,
    /// What is regressed, by row: the parameters on the scale of the regression.
    pub(crate) targets: &'a Table,
    /// Features that are regressors.
    pub(crate) used: &'a [usize],
    pub(crate) observed: &'a [f64],
    /// How much each particle counts.
    pub(crate) kernel: &'a [f64],
}

impl Regression {
    /// The corrected population, each mode by its own regression.
    pub(super) fn correct(&self, accepted: &Accepted<'_>, modes: &Modes) -> Result<Population, AdjustError> {
        let Accepted { prior, population, features, observed, distance_weights } = *accepted;
        let kernel = kernel(&population.distances, population.weights.normalised());
        let used: Vec<usize> = (0..features.columns()).filter(|&j| distance_weights[j] > 0.0).collect();
        let all: Vec<usize> = (0..population.len()).collect();
        let points = Points {
            rows: &(0..population.len() as u32).collect::<Vec<u32>>(),
            units: &population.units,
            features: features.into(),
            targets: &self.transform.table(prior, &population.units),
            used: &used,
            observed,
            kernel: &kernel,
        };
        let moved = self.move_some(prior, modes, &points, &all)?;
        let left: Vec<usize> = all.into_iter().filter(|&row| !moved.at(row, 0).is_nan()).collect();
        let rows: Vec<u32> = left.iter().map(|&at| at as u32).collect();
        let (units, mut thetas) = (moved.select(&rows), population.thetas.select(&rows));
        for (row, unit) in units.iter().enumerate() {
            prior.natural(unit, thetas.row_mut(row));
        }
        let logs = left.iter().map(|&at| libm::log(kernel[at])).collect();
        Ok(Population {
            units,
            thetas,
            weights: LogWeights::new(logs).ok_or(AdjustError::NoVariation)?,
            distances: left.iter().map(|&at| population.distances[at]).collect(),
            rows: left.iter().map(|&at| population.rows[at]).collect(),
        })
    }

    /// So many equally weighted points, moved to the observation on the scale of the regression, whatever the prior.
    pub(crate) fn towards(&self, points: &Points<'_>, count: usize) -> Result<Table, AdjustError> {
        let mut nested = Nested::new(points.features, points.used, points.observed);
        nested.gather(points.rows, points.targets);
        let picked = drawn(points.kernel, count);
        nested.moved(points.kernel, &picked, self.heteroscedastic).ok_or(AdjustError::NoVariation)
    }

    /// Where the given particles are moved to; NaN for one that is left out.
    fn move_some(
        &self,
        prior: &Prior,
        modes: &Modes,
        points: &Points<'_>,
        moved: &[usize],
    ) -> Result<Table, AdjustError> {
        let needed = self.particles_for(points.used.len());
        let (n, d) = (points.rows.len(), points.units.columns());
        let mode_of = |at: usize| modes.of(points.units.row(points.rows[at] as usize));
        let mut units = Table::filled(moved.len(), d, 0.0);
        for mode in 0..modes.count() {
            let members: Vec<usize> = (0..n).filter(|&at| mode_of(at) == mode).collect();
            let slots: Vec<usize> = (0..moved.len()).filter(|&slot| mode_of(moved[slot]) == mode).collect();
            if slots.is_empty() {
                continue;
            }
            let places: Vec<usize> =
                slots.iter().map(|&slot| members.partition_point(|&at| at < moved[slot])).collect();
            let (regressors, found) = (points.used.len(), members.len());
            let values = if found < needed {
                Err(AdjustError::TooManyRegressors { regressors, needed, found })
            } else {
                self.of_members(points, &members, &places)
            };
            let values = match values {
                Ok(values) => values,
                Err(error) if modes.is_one() => return Err(error),
                // A mode with too few for a regression of its own stays where it is.
                Err(_) => {
                    for &slot in &slots {
                        let own = points.units.row(points.rows[moved[slot]] as usize);
                        units.row_mut(slot).copy_from_slice(own);
                    }
                    continue;
                }
            };
            for (value, &slot) in values.iter().zip(&slots) {
                let unit = units.row_mut(slot);
                (0..d).for_each(|p| unit[p] = self.transform.from(prior, p, value[p]));
                if unit.iter().any(|x| x.is_nan()) {
                    unit.fill(f64::NAN);
                }
            }
        }
        Ok(units)
    }

    /// What the regression of some particles makes of some of these.
    fn of_members(
        &self,
        points: &Points<'_>,
        members: &[usize],
        places: &[usize],
    ) -> Result<Table, AdjustError> {
        let row = |i: usize| points.rows[members[i]] as usize;
        let (first, features) = points.features.around(points.used);
        let used: Vec<(usize, f64)> = points.used.iter().map(|&j| (j - first, points.observed[j])).collect();
        let sample = Sample {
            count: members.len(),
            regressors: points.used.len(),
            targets: points.targets.columns(),
            regress: &|i, into| {
                let features = features.row(row(i));
                into.iter_mut().zip(&used).for_each(|(x, &(j, observed))| *x = features.at(j) - observed);
            },
            target: &|i, into| into.copy_from_slice(points.targets.row(row(i))),
            weight: &|i| points.kernel[members[i]],
        };
        self.at_observed(&sample, places)
    }

    /// What the regression makes of some of the points of a sample.
    fn at_observed(&self, sample: &Sample<'_>, moved: &[usize]) -> Result<Table, AdjustError> {
        let mut gathered = Gathered::of(sample);
        let fit = |gathered: &Gathered, sample: &Sample<'_>| {
            gathered.fit(None, self.penalty(sample)).ok_or(AdjustError::NoVariation)
        };
        let (origin, d) = (vec![0.0; sample.regressors], sample.targets);
        let (mut here, mut there) = (vec![0.0; d], vec![0.0; d]);
        let means = fit(&gathered, sample)?;
        let mut values = Table::filled(moved.len(), d, 0.0);
        for (slot, &at) in moved.iter().enumerate() {
            gathered.left_open(&means, at, values.row_mut(slot));
        }
        if self.heteroscedastic {
            // Each residual is scaled by the expected size of residuals at the observation over that at its particle; sizes
            // are fitted to all of them.
            let mut all = Table::filled(sample.count, d, 0.0);
            (0..sample.count).for_each(|at| gathered.left_open(&means, at, all.row_mut(at)));
            let logs = ln_squares(&all);
            gathered.retarget(&logs);
            let target = |at: usize, into: &mut [f64]| into.copy_from_slice(logs.row(at));
            let sizes = fit(&gathered, &Sample { target: &target, ..*sample })?;
            sizes.predict(&origin, &mut here);
            for (slot, &at) in moved.iter().enumerate() {
                gathered.expected(&sizes, at, &mut there);
                for (value, (here, there)) in values.row_mut(slot).iter_mut().zip(here.iter().zip(&there)) {
                    *value *= libm::exp(0.5 * (here - there));
                }
            }
        }
        means.predict(&origin, &mut here);
        for slot in 0..values.rows() {
            values.row_mut(slot).iter_mut().zip(&here).for_each(|(value, here)| *value += here);
        }
        Ok(values)
    }
}

impl Regression {
    /// Particles without which a regression on so many features is refused.
    #[must_use]
    pub fn particles_for(&self, features: usize) -> usize {
        if self.ridge { 0 } else { PARTICLES_A_REGRESSOR * features }
    }

    fn penalty(&self, sample: &Sample<'_>) -> f64 {
        if self.ridge { best_ridge(sample) } else { LEAST_RIDGE }
    }
}

/// Logarithms of the squares of some residuals.
fn ln_squares(residuals: &Table) -> Table {
    let mut squares: Vec<f64> = residuals.values().iter().map(|r| r * r).collect();
    // A residual of nothing has no logarithm.
    let typical = squares.iter().sum::<f64>() / squares.len() as f64;
    ln_each(&mut squares, (1e-12 * typical).max(f64::MIN_POSITIVE));
    Table::from_rows(residuals.columns(), squares)
}

/// How much each particle counts: its importance weight, times a kernel that falls to nothing at the furthest.
pub(crate) fn kernel(distances: &[f64], importance: &[f64]) -> Vec<f64> {
    let furthest = distances.iter().copied().fold(0.0, f64::max);
    let near = |distance: f64| if furthest > 0.0 { 1.0 - distance / furthest } else { 1.0 };
    let kernel: Vec<f64> =
        distances.iter().zip(importance).map(|(&distance, weight)| weight * near(distance)).collect();
    // All equally far: the kernel has nothing to say.
    if kernel.iter().any(|&weight| weight > 0.0) { kernel } else { importance.to_vec() }
}

/// The penalty with the least squared error on points that the fit has not seen; ties go to the larger.
fn best_ridge(sample: &Sample<'_>) -> f64 {
    let scale = spread(sample);
    let loss = |ridge: f64| -> f64 {
        let (mut sum, mut x) = (0.0, vec![0.0; sample.regressors]);
        let (mut target, mut found) = (vec![0.0; sample.targets], vec![0.0; sample.targets]);
        for part in 0..PARTS {
            let others = |i: usize| if i % PARTS == part { 0.0 } else { (sample.weight)(i) };
            let Some(fit) = Linear::fit(&Sample { weight: &others, ..*sample }, Some(&scale), ridge) else {
                return f64::INFINITY;
            };
            for i in (part..sample.count).step_by(PARTS) {
                (sample.regress)(i, &mut x);
                (sample.target)(i, &mut target);
                fit.predict(&x, &mut found);
                let square = target.iter().zip(&found).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                sum += (sample.weight)(i) * square;
            }
        }
        sum
    };
    let mut best = (f64::INFINITY, LEAST_RIDGE);
    for ridge in RIDGES.into_iter().rev() {
        let loss = loss(ridge);
        if loss < best.0 {
            best = (loss, ridge);
        }
    }
    best.1
}

impl Transform {
    /// Unit-space points on the scale of the regression.
    pub(super) fn table(self, prior: &Prior, units: &Table) -> Table {
        let mut table = units.clone();
        for row in 0..table.rows() {
            let point = table.row_mut(row).iter_mut().enumerate();
            point.for_each(|(p, value)| *value = self.to(prior, p, *value));
        }
        table
    }

    /// Where points on the scale of the regression are in unit space, without those that leave the prior.
    pub(super) fn units(self, prior: &Prior, mut points: Table) -> Table {
        let supports: Vec<(f64, f64)> = prior.marginals().iter().map(Marginal::unit_support).collect();
        let is_bounded = |&(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
        let mut odds = Vec::new();
        if self == Self::Logit && supports.iter().any(is_bounded) {
            odds = points.values().to_vec();
            exp_each(&mut odds, -1.0);
        }
        let d = supports.len();
        for row in 0..points.rows() {
            for (p, (value, support)) in points.row_mut(row).iter_mut().zip(&supports).enumerate() {
                let (low, high) = *support;
                if self == Self::Logit && is_bounded(support) {
                    *value = low + (high - low) / (1.0 + odds[row * d + p]);
                }
                *value = if self == Self::Within && !(low..=high).contains(value) {
                    f64::NAN
                } else {
                    value.clamp(low, high)
                };
            }
        }
        if self != Self::Within {
            return points;
        }
        let is_left = |row: &u32| points.row(*row as usize).iter().all(|value| !value.is_nan());
        let left: Vec<u32> = (0..points.rows() as u32).filter(is_left).collect();
        points.select(&left)
    }

    fn to(self, prior: &Prior, parameter: usize, unit: f64) -> f64 {
        match (self, prior.marginals()[parameter].unit_support()) {
            (Self::Logit, (low, high)) if low.is_finite() && high.is_finite() => {
                let share = ((unit - low) / (high - low)).clamp(EDGE, 1.0 - EDGE);
                libm::log(share / (1.0 - share))
            }
            _ => unit,
        }
    }

    fn from(self, prior: &Prior, parameter: usize, value: f64) -> f64 {
        let (low, high) = prior.marginals()[parameter].unit_support();
        let unit = match self {
            Self::Logit if low.is_finite() && high.is_finite() => {
                low + (high - low) / (1.0 + libm::exp(-value))
            }
            _ => value,
        };
        if self == Self::Within && !(low..=high).contains(&unit) {
            return f64::NAN;
        }
        unit.clamp(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::{gaussian, normal_prior};

    /// Particles of a linear normal model: parameter = 2 s + noise, accepted about the observation 0.3.
    fn accepted(noise: impl Fn(f64, f64) -> f64) -> (Population, Table) {
        let n = 4_000;
        let (s, e) = (gaussian(n, 1, 0.3, 0.5, 1), gaussian(n, 1, 0.0, 1.0, 2));
        let units: Vec<f64> = (0..n).map(|i| 2.0 * s.at(i, 0) + noise(s.at(i, 0), e.at(i, 0))).collect();
        let units = Table::from_rows(1, units);
        let population = Population {
            rows: (0..n as u32).collect(),
            thetas: units.clone(),
            units,
            weights: LogWeights::new(vec![0.0; n]).unwrap(),
            distances: (0..n).map(|i| (s.at(i, 0) - 0.3).powi(2)).collect(),
        };
        (population, s)
    }

    fn adjusted(plan: &Regression, population: &Population, features: &Table) -> (f64, f64) {
        let prior = normal_prior(1);
        let accepted = Accepted {
            prior: &prior,
            population,
            features,
            observed: &vec![0.3; features.columns()],
            distance_weights: &vec![1.0; features.columns()],
        };
        let adjusted = plan.correct(&accepted, &Modes::default()).unwrap();
        let (w, x) = (adjusted.weights.normalised(), adjusted.units.column(0));
        let mean: f64 = w.iter().zip(&x).map(|(w, x)| w * x).sum();
        let variance: f64 = w.iter().zip(&x).map(|(w, x)| w * (x - mean).powi(2)).sum();
        (mean, variance.sqrt())
    }

    #[test]
    fn the_spread_of_the_features_is_taken_out() {
        let (population, features) = accepted(|_, e| 0.1 * e);
        for ridge in [false, true] {
            let (mean, sd) = adjusted(&Regression { ridge, ..Regression::default() }, &population, &features);
            // Unadjusted the mean is right and the sd is about 1; the standard error of the mean is 0.002.
            assert!((mean - 0.6).abs() < 0.01, "ridge {ridge}: {mean}");
            assert!((sd - 0.1).abs() < 0.005, "ridge {ridge}: {sd}");
        }
    }

    #[test]
    fn residuals_are_scaled_to_those_at_the_observation() {
        let noise = |s: f64, e: f64| 0.1 * libm::exp(2.0 * (s - 0.3)) * e;
        let (population, features) = accepted(noise);
        let plain = adjusted(&Regression::default(), &population, &features);
        let plan = Regression { heteroscedastic: true, ..Regression::default() };
        let scaled = adjusted(&plan, &population, &features);
        assert!((scaled.1 - 0.1).abs() < 0.006, "{scaled:?}");
        assert!(plain.1 > 0.12, "{plain:?} shows nothing");
    }

    #[test]
    fn many_regressors_are_refused_and_a_ridge_is_not() {
        let (mut population, _) = accepted(|_, e| e);
        let keep: Vec<u32> = (0..90).collect();
        population = Population {
            rows: keep.clone(),
            units: population.units.select(&keep),
            thetas: population.thetas.select(&keep),
            weights: LogWeights::new(vec![0.0; 90]).unwrap(),
            distances: population.distances[..90].to_vec(),
        };
        let features = gaussian(90, 10, 0.3, 1.0, 3);
        let prior = normal_prior(1);
        let accepted = Accepted {
            prior: &prior,
            population: &population,
            features: &features,
            observed: &[0.3; 10],
            distance_weights: &[1.0; 10],
        };
        let refused = Regression::default().correct(&accepted, &Modes::default()).unwrap_err();
        assert_eq!(refused, AdjustError::TooManyRegressors { regressors: 10, needed: 100, found: 90 });
        // Features that tell nothing: the ridge leaves the particles where they are.
        let ridge = Regression { ridge: true, ..Regression::default() }
            .correct(&accepted, &Modes::default())
            .unwrap();
        let moved = ridge.units.values().iter().zip(population.units.values()).map(|(a, b)| (a - b).abs());
        assert!(moved.fold(0.0, f64::max) < 0.5);
    }

    #[test]
    fn points_are_put_into_unit_space_as_each_is() {
        use crate::problem::{Marginal, law};
        let uniform = Marginal::new("p", Box::new(law::Uniform::new(0.0, 1.0).unwrap()));
        let normal = Marginal::new("q", Box::new(law::Normal::new(0.0, 1.0).unwrap()));
        let prior = Prior::new(vec![uniform, normal]);
        let mut points = gaussian(200, 2, 0.0, 3.0, 1);
        points.row_mut(0).copy_from_slice(&[1e4, 0.0]);
        points.row_mut(1).copy_from_slice(&[-1e4, 0.0]);
        for transform in [Transform::Logit, Transform::None, Transform::Within] {
            let each = points.iter().map(|point| [0, 1].map(|p| transform.from(&prior, p, point[p])));
            let expected: Vec<[f64; 2]> = each.filter(|point| point.iter().all(|x| !x.is_nan())).collect();
            let found = transform.units(&prior, points.clone());
            assert_eq!(found.rows(), expected.len());
            assert_eq!(found.rows() < 150, transform == Transform::Within, "{}", found.rows());
            for (a, b) in found.values().iter().zip(expected.as_flattened()) {
                assert!((a - b).abs() < 1e-14, "{transform:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn nothing_leaves_the_bounds_of_the_prior() {
        use crate::problem::{Marginal, law};
        let uniform = law::Uniform::new(0.0, 1.0).unwrap();
        let prior = Prior::new(vec![Marginal::new("p", Box::new(uniform))]);
        let (population, features) = accepted(|_, e| e);
        let range = prior.marginals()[0].unit_support();
        for transform in [Transform::Logit, Transform::None] {
            let accepted = Accepted {
                prior: &prior,
                population: &population,
                features: &features,
                observed: &[3.0],
                distance_weights: &[1.0],
            };
            let plan = Regression { transform, ..Regression::default() };
            let adjusted = plan.correct(&accepted, &Modes::default()).unwrap();
            assert!(adjusted.units.values().iter().all(|&x| range.0 <= x && x <= range.1));
            assert!(adjusted.thetas.values().iter().all(|&x| (0.0..=1.0).contains(&x)));
        }
    }
}
