//! A mixture around the posterior so far whose width and shape are those that predict its own particles best.

use nalgebra::DMatrix;

use super::covariance::{SharedKernel, add_step, factor, weighted_covariance, whiten, whiten_in_place};
use super::mixture::Ancestors;
use super::{Kernel, Proposal, ProposeError};
use crate::population::Population;
use crate::problem::Prior;
use crate::stream::{Seed, Stage, Stream};
use crate::table::Table;
use crate::trials::systematic;
use rand::RngExt;

/// Draws from a density estimate of the last posterior, adjusted where there is an adjustment. Whether its Gaussians
/// share one covariance or follow the neighbourhood of each particle, and how wide they are, is decided by the
/// density of each particle under the others. Three draws in ten come from a wider mixture, so that no importance
/// weight runs away where the estimate is too narrow.
#[derive(Clone, Debug)]
pub struct Adaptive;

/// Particles of the mixture at the most.
const MOST: usize = 300;
/// Widths tried around the rule of thumb, for one covariance and for local ones.
const SHARED: [f64; 3] = [0.5, 1.0, 1.5];
const LOCAL: [f64; 2] = [0.7, 1.3];
/// Neighbours of a local covariance as shares of the particles.
const NEIGHBOURS: [f64; 2] = [0.05, 0.2];
/// The chosen mixture is widened a little: a tail that is missed costs more than draws that are wasted.
const WIDENED: f64 = 1.4;
/// The share of draws from the wide mixture, and the least log density that counts when mixtures are compared.
const WIDE: f64 = 0.3;
const FLOOR: f64 = -50.0;

impl Proposal for Adaptive {
    fn follows_posterior(&self) -> bool {
        true
    }

    fn pools(&self) -> bool {
        true
    }

    fn fit(&self, _: &Prior, population: &Population) -> Result<Box<dyn Kernel>, ProposeError> {
        let (units, weights) = thinned(population);
        let (root, best) = best_mixture(&units, &weights, population)?;
        let wide = &root * (if units.columns() <= 3 { 1.7 } else { 1.0 });
        let narrow: Box<dyn Kernel> = match best.shape {
            Shape::Shared { .. } => Box::new(Shared::new(&units, &weights, &best.mixture.roots[0] * WIDENED)),
            Shape::Local { .. } => {
                let widened = best.mixture.roots.iter().map(|root| root * WIDENED).collect();
                Box::new(Mixture::new(&units, &weights, widened))
            }
        };
        Ok(Box::new(Both { narrow, wide: Shared::new(&units, &weights, wide) }))
    }
}

/// A density estimate that was chosen.
struct Chosen {
    score: f64,
    shape: Shape,
    mixture: Mixture,
}

/// How the Gaussians of a density estimate look, whatever the number of particles.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// One covariance for all; the width beside the rule of thumb.
    Shared { width: f64 },
    /// That of a share of the particles, the nearest.
    Local { share: f64, width: f64 },
}

/// At most [`MOST`] particles that stand for all.
fn thinned(population: &Population) -> (Table, Vec<f64>) {
    let all = population.weights.normalised();
    if population.len() <= MOST {
        return (population.units.clone(), all.to_vec());
    }
    let picked: Vec<u32> = systematic(all, MOST).into_iter().map(|at| at as u32).collect();
    (population.units.select(&picked), vec![1.0 / MOST as f64; MOST])
}

/// The factor of the covariance, and the mixture under which each particle is likeliest given the others.
fn best_mixture(
    units: &Table,
    weights: &[f64],
    population: &Population,
) -> Result<(DMatrix<f64>, Chosen), ProposeError> {
    let d = units.columns();
    let root = factor(weighted_covariance(units, weights, None), population)?;
    let size = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let mut best: Option<Chosen> = None;
    let mut consider = |shape: Shape, roots: Vec<DMatrix<f64>>| {
        let mixture = Mixture::new(units, weights, roots);
        let score = mixture.own_density();
        if best.as_ref().is_none_or(|best| score > best.score) {
            best = Some(Chosen { score, shape, mixture });
        }
    };
    for width in SHARED {
        let scale = width * rule_of_thumb(d, size);
        consider(Shape::Shared { width }, vec![&root * scale; units.rows()]);
    }
    for share in NEIGHBOURS {
        let count = neighbours(units.rows(), share, d);
        if 2 * count > units.rows() {
            continue;
        }
        let roots = local(units, &root, count, population)?;
        for width in LOCAL {
            let scale = width * rule_of_thumb(d, count as f64);
            consider(Shape::Local { share, width }, roots.iter().map(|root| root * scale).collect());
        }
    }
    let degenerate = ProposeError::Degenerate { kept: population.len(), dimension: d };
    best.map(|best| (root, best)).ok_or(degenerate)
}

/// How many particles a local covariance is of.
fn neighbours(particles: usize, share: f64, d: usize) -> usize {
    ((particles as f64 * share) as usize).max(2 * d + 5)
}

/// Equally weighted draws from a population, no two alike: each particle as often as its weight says, moved by a step
/// of the density estimate that predicts the particles best. One covariance for all widens the whole, so its centres
/// are drawn together by as much (West 1993).
///
/// # Errors
/// If the population is too degenerate to perturb.
pub fn draws(
    prior: &Prior,
    population: &Population,
    count: usize,
    seed: Seed,
) -> Result<Table, ProposeError> {
    const TRIES: usize = 100;
    let (few, equal) = thinned(population);
    let (root, best) = best_mixture(&few, &equal, population)?;
    let (units, weights) = (&population.units, population.weights.normalised());
    let d = units.columns();
    let size = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let middle: Vec<f64> =
        (0..d).map(|j| units.iter().zip(weights).map(|(unit, weight)| weight * unit[j]).sum()).collect();
    let (mut thetas, mut unit) = (Table::filled(count, d, 0.0), vec![0.0; d]);
    let mut streams = seed.streams(Stage::Draw, 0);
    let ancestors = systematic(weights, count);
    let mut last: Option<(usize, DMatrix<f64>)> = None;
    for (slot, &ancestor) in ancestors.iter().enumerate() {
        let (step, together) = match best.shape {
            Shape::Shared { width } => {
                let scale = width * rule_of_thumb(d, size);
                (&root * scale, (1.0 - (scale * scale).min(1.0)).sqrt())
            }
            Shape::Local { share, width } => {
                let known = last.take().filter(|(at, _)| *at == ancestor);
                let own = match known {
                    Some((_, own)) => own,
                    None => {
                        let count = neighbours(units.rows(), share, d).min(units.rows());
                        let scale = width * rule_of_thumb(d, count as f64);
                        around(units, &root, units.row(ancestor), count, population)? * scale
                    }
                };
                last = Some((ancestor, own.clone()));
                (own, 1.0)
            }
        };
        let mut rng = streams.at(slot as u64);
        for tried in 0..=TRIES {
            for (x, (own, middle)) in unit.iter_mut().zip(units.row(ancestor).iter().zip(&middle)) {
                *x = middle + together * (own - middle);
            }
            // What keeps falling outside the prior stays where it is.
            if tried == TRIES {
                unit.copy_from_slice(units.row(ancestor));
                break;
            }
            add_step(&step, &mut rng, &mut unit);
            if prior.ln_density(&unit) > f64::NEG_INFINITY {
                break;
            }
        }
        prior.natural(&unit, thetas.row_mut(slot));
    }
    Ok(thetas)
}

/// The width, in standard deviations, at which a Gaussian density estimate from so many points errs least for
/// Gaussian points (Silverman 1986).
fn rule_of_thumb(d: usize, points: f64) -> f64 {
    let d = d as f64;
    libm::pow(4.0 / ((d + 2.0) * points), 1.0 / (d + 4.0))
}

/// The factors of the covariances of the `count` particles nearest to each.
fn local(
    units: &Table,
    root: &DMatrix<f64>,
    count: usize,
    population: &Population,
) -> Result<Vec<DMatrix<f64>>, ProposeError> {
    units.iter().map(|centre| around(units, root, centre, count, population)).collect()
}

/// The factor of the covariance of the `count` particles nearest to a point, with a trace of the shared one.
fn around(
    units: &Table,
    root: &DMatrix<f64>,
    centre: &[f64],
    count: usize,
    population: &Population,
) -> Result<DMatrix<f64>, ProposeError> {
    let centre = whiten(root, centre);
    let mut white = vec![0.0; centre.len()];
    let mut order: Vec<(f64, usize)> = Vec::with_capacity(units.rows());
    for (at, unit) in units.iter().enumerate() {
        white.copy_from_slice(unit);
        whiten_in_place(root, &mut white);
        order.push((white.iter().zip(&centre).map(|(a, b)| (a - b) * (a - b)).sum(), at));
    }
    if count < order.len() {
        order.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    let mut rows: Vec<usize> = order[..count].iter().map(|&(_, at)| at).collect();
    rows.sort_unstable();
    let equal = vec![1.0; units.rows()];
    factor(weighted_covariance(units, &equal, Some(&rows)) + root * root.transpose() * 1e-4, population)
}

/// Gaussians around particles, each with its own factor.
struct Mixture {
    centres: Table,
    weights: Vec<f64>,
    ancestors: Ancestors,
    roots: Vec<DMatrix<f64>>,
    whitened: Vec<Vec<f64>>,
    /// Log weight less the log determinant of the factor.
    ln_scale: Vec<f64>,
}

impl Mixture {
    fn new(units: &Table, weights: &[f64], roots: Vec<DMatrix<f64>>) -> Self {
        let d = units.columns();
        let ln_scale = roots.iter().zip(weights).map(|(root, weight)| {
            libm::log(weight.max(f64::MIN_POSITIVE)) - (0..d).map(|j| libm::log(root[(j, j)])).sum::<f64>()
        });
        let whitened = units.iter().zip(&roots).map(|(unit, root)| whiten(root, unit));
        Self {
            ln_scale: ln_scale.collect(),
            whitened: whitened.collect(),
            centres: units.clone(),
            ancestors: Ancestors::new(weights),
            weights: weights.to_vec(),
            roots,
        }
    }

    /// Log density, but for powers of 2 pi, of all particles but one.
    fn density_without(&self, unit: &[f64], but: Option<usize>) -> f64 {
        let mut white = unit.to_vec();
        // A running log-sum-exp in row order.
        let (mut top, mut sum) = (f64::NEG_INFINITY, 0.0);
        for (at, root) in self.roots.iter().enumerate().filter(|(at, _)| Some(*at) != but) {
            white.copy_from_slice(unit);
            whiten_in_place(root, &mut white);
            let square: f64 = white.iter().zip(&self.whitened[at]).map(|(a, b)| (a - b) * (a - b)).sum();
            let exponent = self.ln_scale[at] - 0.5 * square;
            if exponent > top {
                sum = sum * libm::exp(top - exponent) + 1.0;
                top = exponent;
            } else if exponent > top - 20.0 {
                sum += libm::exp(exponent - top);
            }
        }
        top + libm::log(sum)
    }

    /// Mean log density of the particles, each under the others.
    fn own_density(&self) -> f64 {
        let one =
            |(at, unit): (usize, &[f64])| self.weights[at] * self.density_without(unit, Some(at)).max(FLOOR);
        self.centres.iter().enumerate().map(one).sum()
    }
}

/// The logarithm of the constant of a Gaussian whose factor is the identity.
fn ln_gaussian(d: usize) -> f64 {
    -0.5 * d as f64 * libm::log(std::f64::consts::TAU)
}

impl Kernel for Mixture {
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        let ancestor = self.ancestors.draw(rng);
        unit.copy_from_slice(self.centres.row(ancestor));
        add_step(&self.roots[ancestor], rng, unit);
    }

    fn ln_density(&self, unit: &[f64]) -> f64 {
        ln_gaussian(unit.len()) + self.density_without(unit, None)
    }
}

/// Gaussians with one covariance, their density normalised.
struct Shared {
    kernel: SharedKernel,
    ln_scale: f64,
}

impl Shared {
    fn new(units: &Table, weights: &[f64], root: DMatrix<f64>) -> Self {
        let d = units.columns();
        let ln_scale = ln_gaussian(d) - (0..d).map(|j| libm::log(root[(j, j)])).sum::<f64>();
        Self { kernel: SharedKernel::new((units, weights), root), ln_scale }
    }
}

impl Kernel for Shared {
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        self.kernel.draw(rng, unit);
    }

    fn ln_density(&self, unit: &[f64]) -> f64 {
        self.ln_scale + self.kernel.ln_density(unit)
    }
}

struct Both {
    narrow: Box<dyn Kernel>,
    wide: Shared,
}

impl Kernel for Both {
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        let kernel: &dyn Kernel = if rng.random::<f64>() < WIDE { &self.wide } else { &*self.narrow };
        kernel.draw(rng, unit);
    }

    fn ln_density(&self, unit: &[f64]) -> f64 {
        let narrow = libm::log(1.0 - WIDE) + self.narrow.ln_density(unit);
        let wide = libm::log(WIDE) + self.wide.ln_density(unit);
        let (most, least) = if narrow > wide { (narrow, wide) } else { (wide, narrow) };
        most + libm::log1p(libm::exp(least - most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_is_that_of_the_draws() {
        super::super::testing::conformance(&Adaptive);
    }

    #[test]
    fn densities_are_normalised() {
        let (prior, population) = super::super::testing::population(60, 2);
        let kernel = Adaptive.fit(&prior, &population).unwrap();
        let (cells, low, width) = (400, -4.0, 8.0 / 400.0);
        let at = |i: usize| low + (i as f64 + 0.5) * width;
        let (mut total, mut of_prior) = (0.0, 0.0);
        for i in 0..cells {
            for j in 0..cells {
                total += libm::exp(kernel.ln_density(&[at(i), at(j)])) * width * width;
                of_prior += libm::exp(prior.ln_density(&[at(i), at(j)])) * width * width;
            }
        }
        assert!((total - 1.0).abs() < 1e-3, "{total}");
        assert!((of_prior - 1.0).abs() < 2e-2, "{of_prior}");
    }
}
