//! A mixture around the posterior so far that wastes the least of what it draws.

mod bells;
mod draws;
mod estimate;
mod gaussians;
mod heavy;

pub use draws::draws;

use super::{Kernel, Proposal, ProposeError};
use crate::elementary::ln_each;
use crate::population::Population;
use crate::problem::Prior;
use crate::stream::Stream;
use crate::table::Table;
use bells::{Bell, Bells};
use estimate::{MOST, NEIGHBOURS, Sample, Shape};
use gaussians::Gaussians;
use heavy::Heavy;
use rand::RngExt;

/// Draws from several density estimates of the last posterior, adjusted where there is an adjustment, mixed so that
/// the importance weights come out as even as they can.
///
/// Of simulations proposed from `q`, those accepted have an effective size in proportion to
/// `1 / E[prior / q]`, the mean taken over the posterior. Each particle plays the posterior for the estimates that the
/// others make, and the shares of these are the ones for which that mean is least: it is convex in them. What is too
/// narrow, or follows too few particles in too many dimensions, gets no share. Beside them, a law with heavy tails has a
/// share that is fixed.
#[derive(Clone, Debug)]
pub struct Adaptive;

/// Widths: of one Gaussian in standard deviations, of others beside the rule of thumb.
const SINGLE: [f64; 3] = [1.0, 1.5, 2.5];
const SHARED: [f64; 3] = [0.7, 1.4, 2.8];
const LOCAL: [f64; 2] = [1.0, 2.0];
/// Simulations of the prior, from the first generation, are as large a share of all in the end.
const FROM_PRIOR: f64 = 0.1;
/// Steps towards the best shares, and the least share that is worth its cost.
const STEPS: usize = 100;
const LEAST: f64 = 0.1;

/// The share of a law with heavy tails, whatever the particles say: these are too few to show the tails of their posterior, and
/// where nothing is proposed one simulation weighs as much as many others, or is missed. In many dimensions more of what
/// it draws is too far away.
fn heavy_share(d: usize) -> f64 {
    0.1 + 0.2 / (d as f64).sqrt()
}

impl Proposal for Adaptive {
    fn follows_posterior(&self) -> bool {
        true
    }

    fn pools(&self) -> bool {
        true
    }

    fn fit(&self, prior: &Prior, population: &Population) -> Result<Box<dyn Kernel>, ProposeError> {
        let (sample, heavy_share) = (Sample::of(population, MOST)?, heavy_share(population.units.columns()));
        let local = NEIGHBOURS.into_iter().filter(|&share| sample.neighbours(share).is_some());
        let local = local.flat_map(|share| LOCAL.map(|width| Shape::Local(share, width)));
        let shapes = SINGLE.map(Shape::Single).into_iter().chain(SHARED.map(Shape::Shared)).chain(local);
        let shapes: Vec<Shape> = shapes.collect();
        let ln_prior: Vec<f64> = sample.units.iter().map(|unit| prior.ln_density(unit)).collect();
        let over_prior = |ln: &Vec<f64>| -> Vec<f64> {
            ln.iter().zip(&ln_prior).map(|(ln, prior)| libm::exp((ln - prior).clamp(-600.0, 600.0))).collect()
        };
        let mut ratios: Vec<Vec<f64>> = sample.left_out(&shapes)?.iter().map(over_prior).collect();
        // Beside each of them there is always some of this.
        let heavy = over_prior(&sample.left_out_heavy());
        for ratios in &mut ratios {
            ratios.iter_mut().zip(&heavy).for_each(|(own, heavy)| *own += heavy_share * (heavy - *own));
        }
        let all = best_shares(&ratios, &sample.weights, (0..ratios.len()).collect());
        let worth = all.iter().filter(|(_, share)| *share >= LEAST).map(|(at, _)| *at).collect();
        let kept = best_shares(&ratios, &sample.weights, worth);
        let mut parts = Vec::with_capacity(kept.len());
        for (at, share) in kept {
            parts.push((share * (1.0 - heavy_share), gaussians(&sample, shapes[at])?));
        }
        let heavy = Heavy::new(sample.middle.clone(), sample.root.clone(), heavy_share);
        Ok(Box::new(Several::new(parts, heavy)))
    }
}

/// The shares of some estimates, whose densities over the prior's are given for each particle, under which the mean
/// of the prior over their mixture is least. A multiplicative step never makes it more (Torsney 1983).
fn best_shares(ratios: &[Vec<f64>], weights: &[f64], among: Vec<usize>) -> Vec<(usize, f64)> {
    let mut shares = vec![1.0 / among.len() as f64; among.len()];
    for _ in 0..STEPS {
        let mut slopes = vec![0.0; among.len()];
        for (particle, weight) in weights.iter().enumerate() {
            let mixed: f64 = among.iter().zip(&shares).map(|(&at, share)| share * ratios[at][particle]).sum();
            let mixed = FROM_PRIOR + (1.0 - FROM_PRIOR) * mixed;
            for (slope, &at) in slopes.iter_mut().zip(&among) {
                *slope += weight * ratios[at][particle] / (mixed * mixed);
            }
        }
        let moved: Vec<f64> = shares.iter().zip(&slopes).map(|(share, slope)| share * slope.sqrt()).collect();
        let total: f64 = moved.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            break;
        }
        shares = moved.into_iter().map(|share| share / total).collect();
    }
    among.into_iter().zip(shares).collect()
}

fn gaussians(sample: &Sample, shape: Shape) -> Result<Gaussians, ProposeError> {
    let around = |roots| Gaussians::new(sample.units.clone(), sample.weights.clone(), roots);
    Ok(match shape {
        Shape::Single(width) => {
            let middle = Table::from_rows(sample.middle.len(), sample.middle.clone());
            Gaussians::new(middle, vec![1.0], vec![&sample.root * width])
        }
        Shape::Shared(width) => around(vec![&sample.root * sample.scale(width, sample.effective())]),
        Shape::Local(share, width) => {
            let count = sample.neighbours(share).ok_or_else(|| sample.degenerate())?;
            let scale = sample.scale(width, count as f64);
            around(sample.local(count)?.into_iter().map(|root| root * scale).collect())
        }
    })
}

/// Several estimates, each with its share, and a law with heavy tails, which has the rest.
struct Several {
    parts: Vec<(f64, Gaussians)>,
    heavy: Heavy,
    /// All of the Gaussians at once.
    bells: Bells,
}

impl Several {
    fn new(parts: Vec<(f64, Gaussians)>, heavy: Heavy) -> Self {
        let all: Vec<Bell<'_>> = parts.iter().flat_map(|(share, part)| part.bells(*share)).collect();
        let bells = Bells::new(heavy.middle().to_vec(), &all);
        Self { parts, heavy, bells }
    }
}

impl Kernel for Several {
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        let mut level = rng.random::<f64>();
        for (share, part) in &self.parts {
            if level < *share {
                return part.draw(rng, unit);
            }
            level -= share;
        }
        self.heavy.draw(rng, unit);
    }

    fn ln_density(&self, unit: &[f64]) -> f64 {
        let mut density = [0.0];
        self.ln_densities(&[unit], &mut density);
        density[0]
    }

    fn ln_densities(&self, units: &[&[f64]], into: &mut [f64]) {
        self.bells.sums(units, None, into);
        // Where nothing is left of the Gaussians, this still is.
        let ln_unit = self.bells.ln_unit();
        self.heavy.add(units, libm::exp(-ln_unit), into);
        ln_each(into, f64::MIN_POSITIVE);
        into.iter_mut().for_each(|ln| *ln += ln_unit);
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
    fn densities_are_the_same_one_by_one_and_far_away() {
        for d in [1, 2, 5] {
            let (prior, population) = super::super::testing::population(90, d);
            let kernel = Adaptive.fit(&prior, &population).unwrap();
            let points = crate::divergence::testing::gaussian(37, d, 0.0, 10.0, 1);
            let units: Vec<&[f64]> = points.iter().collect();
            let mut together = vec![0.0; 37];
            kernel.ln_densities(&units, &mut together);
            for (unit, density) in units.iter().zip(&together) {
                assert_eq!(kernel.ln_density(unit).to_bits(), density.to_bits());
                assert!(density.is_finite() && *density > -100.0, "{density}");
            }
        }
    }

    #[test]
    fn densities_are_normalised() {
        let (prior, population) = super::super::testing::population(60, 2);
        let kernel = Adaptive.fit(&prior, &population).unwrap();
        let (cells, low, width) = (400, -8.0, 16.0 / 400.0);
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
