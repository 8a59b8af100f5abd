//! Where the next parameters come from: the prior first, then a kernel around the last population.

mod adaptive;
mod covariance;
mod densities;
mod gaussian;
mod importance;
mod local;
mod mixture;

pub use adaptive::{Adaptive, draws};
pub use covariance::Covariance;
pub(crate) use covariance::{add_step, factor, weighted_covariance, whiten};
pub use densities::Densities;
pub use gaussian::Gaussian;
pub use importance::{Importance, Part};
pub use local::Local;

use std::fmt::Debug;
use std::ops::Range;

use crate::population::Population;
use crate::problem::Prior;
use crate::stream::{Seed, Stage, Stream};
use crate::table::Table;
use crate::workers::{self, Workers};

/// A plan for proposing; `fit` turns the last population into a density to draw from.
pub trait Proposal: Debug + Send + Sync {
    /// Fits the kernel to `population`, in unit space.
    ///
    /// # Errors
    /// If the population is too degenerate to perturb.
    fn fit(&self, prior: &Prior, population: &Population) -> Result<Box<dyn Kernel>, ProposeError>;
    /// Whether it is fitted to the posterior of the last generation, which an adjustment may have made, and not to
    /// what was accepted.
    fn follows_posterior(&self) -> bool {
        false
    }
    /// Whether the simulations of all generations are used together, each weighted against the mixture of all that
    /// was proposed from. Its kernels have normalised densities.
    fn pools(&self) -> bool {
        false
    }
}

/// A fitted proposal density in unit space, before it is cut to the prior's support.
pub trait Kernel: Send + Sync {
    /// Draws one point, ancestor included.
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]);
    /// Log density at `unit`, up to one constant for all points.
    fn ln_density(&self, unit: &[f64]) -> f64;
    /// The same at many points, with the same bits: some kernels are quicker at many together.
    fn ln_densities(&self, units: &[&[f64]], into: &mut [f64]) {
        units.iter().zip(into).for_each(|(unit, into)| *into = self.ln_density(unit));
    }
}

/// Why a generation could not be proposed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposeError {
    /// The kernel kept leaving the prior's support.
    #[error("row {row}: {tries} draws in a row fell outside the prior's support")]
    OutsideSupport {
        /// Job row.
        row: usize,
        /// Attempts made.
        tries: usize,
    },
    /// The kept particles do not span the parameter space.
    #[error("the {kept} kept particles do not span the {dimension} parameters: their covariance is singular")]
    Degenerate {
        /// Particles.
        kept: usize,
        /// Parameters.
        dimension: usize,
    },
}

const MAX_TRIES: usize = 10_000;
const BLOCK: usize = 2_048;

/// The parameters of a generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposed {
    /// Unit-space points, one row a job.
    pub units: Table,
    /// The same on the natural scale: what the simulator sees.
    pub thetas: Table,
    /// The share of draws that fell inside the prior's support: what the kernel's density is cut to.
    pub inside: f64,
    /// How densely all generations proposed them.
    pub densities: Densities,
}

/// Proposes `count` rows, from the prior when there is no kernel yet.
///
/// # Errors
/// If the kernel keeps leaving the prior's support.
pub fn propose(
    prior: &Prior,
    kernel: Option<&dyn Kernel>,
    count: usize,
    address: (Seed, u32),
    workers: &dyn Workers,
) -> Result<Proposed, ProposeError> {
    propose_rows(prior, kernel, 0..count, address, workers)
}

/// The same for some of the rows: a row depends on its address alone.
///
/// # Errors
/// If the kernel keeps leaving the prior's support.
pub fn propose_rows(
    prior: &Prior,
    kernel: Option<&dyn Kernel>,
    range: Range<usize>,
    (seed, generation): (Seed, u32),
    workers: &dyn Workers,
) -> Result<Proposed, ProposeError> {
    let (width, count) = (prior.dimension(), range.len());
    let blocks = workers::map(workers, count.div_ceil(BLOCK), |block| {
        let rows = range.start + block * BLOCK..range.end.min(range.start + (block + 1) * BLOCK);
        let mut units = Table::filled(rows.len(), width, f64::NAN);
        let mut thetas = units.clone();
        let mut streams = seed.streams(Stage::Propose, generation);
        let mut tries = 0;
        for (slot, row) in rows.enumerate() {
            let mut rng = streams.at(row as u64);
            let unit = units.row_mut(slot);
            tries += draw(prior, kernel, &mut rng, unit)
                .map_err(|tries| ProposeError::OutsideSupport { row, tries })?;
            prior.natural(unit, thetas.row_mut(slot));
        }
        Ok((units, thetas, tries))
    });
    let (mut units, mut thetas) = (Vec::with_capacity(count * width), Vec::with_capacity(count * width));
    let mut tries = 0;
    for block in blocks {
        let (block_units, block_thetas, block_tries) = block?;
        units.extend_from_slice(block_units.values());
        thetas.extend_from_slice(block_thetas.values());
        tries += block_tries;
    }
    let (units, thetas) = (Table::from_rows(width, units), Table::from_rows(width, thetas));
    let inside = count as f64 / tries.max(1) as f64;
    Ok(Proposed { units, thetas, inside, densities: Densities::unknown(count) })
}

/// A point outside the support is drawn anew with a new ancestor, so that the density is the kernel's cut to
/// the support with one constant for all ancestors. Gives the number of draws.
fn draw(
    prior: &Prior,
    kernel: Option<&dyn Kernel>,
    rng: &mut Stream,
    unit: &mut [f64],
) -> Result<usize, usize> {
    let Some(kernel) = kernel else {
        prior.draw(rng, unit);
        return Ok(1);
    };
    for tried in 1..=MAX_TRIES {
        kernel.draw(rng, unit);
        if prior.ln_density(unit) > f64::NEG_INFINITY {
            return Ok(tried);
        }
    }
    Err(MAX_TRIES)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::population::LogWeights;
    use crate::problem::{Marginal, law};
    use rand::RngExt;

    /// Two correlated parameters with uneven importance weights.
    pub(crate) fn population(count: usize, dimension: usize) -> (Prior, Population) {
        let marginals = (0..dimension)
            .map(|i| Marginal::new(format!("p{i}"), Box::new(law::LogUniform::new(1e-3, 1e3).unwrap())));
        let prior = Prior::new(marginals.collect());
        let mut rng = Seed(11).stream(Stage::Propose, 0, 0);
        let mut units = Table::filled(count, dimension, 0.0);
        let mut ln = Vec::new();
        for row in 0..count {
            let shared: f64 = rng.random_range(-0.5..0.5);
            for value in units.row_mut(row) {
                *value = 0.3 + shared + rng.random_range(-0.2..0.2);
            }
            ln.push(rng.random_range(-2.0..0.0));
        }
        let mut thetas = units.clone();
        for row in 0..count {
            prior.natural(units.row(row), thetas.row_mut(row));
        }
        let population = Population {
            rows: (0..count as u32).collect(),
            units,
            thetas,
            weights: LogWeights::new(ln).unwrap(),
            distances: vec![0.0; count],
        };
        (prior, population)
    }

    /// What every proposal must satisfy: its density is that of its draws, up to one constant.
    pub(crate) fn conformance(proposal: &dyn Proposal) {
        let (prior, population) = population(60, 2);
        let kernel = proposal.fit(&prior, &population).unwrap();
        let mut rng = Seed(5).stream(Stage::Propose, 1, 0);
        // A grid of 12 x 12 cells over [-2, 2.4]^2: observed counts against integrated density.
        let (cells, low, width) = (12usize, -2.0, 4.4 / 12.0);
        let mut counts = vec![0.0; cells * cells];
        let mut unit = [0.0; 2];
        for _ in 0..200_000 {
            kernel.draw(&mut rng, &mut unit);
            let [a, b] = unit.map(|value| ((value - low) / width).floor());
            // What lies beyond the grid is none of its cells'.
            if (0.0..cells as f64).contains(&a) && (0.0..cells as f64).contains(&b) {
                counts[a as usize * cells + b as usize] += 1.0;
            }
        }
        let draws: f64 = counts.iter().sum();
        let fine = 24;
        let mut expected = vec![0.0; cells * cells];
        for i in 0..cells * fine {
            for j in 0..cells * fine {
                let at = |k: usize| low + (k as f64 + 0.5) * width / fine as f64;
                expected[i / fine * cells + j / fine] += libm::exp(kernel.ln_density(&[at(i), at(j)]));
            }
        }
        let total: f64 = expected.iter().sum();
        for (cell, (count, weight)) in counts.iter().zip(&expected).enumerate() {
            let expected = weight / total * draws;
            // Five standard errors over 144 cells: a correct kernel fails for one seed in 10^4; and 1 % for the grid.
            let slack = 5.0 * expected.sqrt() + 0.01 * expected + 5.0;
            assert!(
                (count - expected).abs() < slack,
                "{proposal:?}: cell {cell} has {count}, expected {expected}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::Serial;

    #[test]
    fn proposals_stay_inside_the_prior_and_do_not_depend_on_the_blocks() {
        let (prior, population) = testing::population(100, 2);
        let kernel = Gaussian { sd: 5.0 }.fit(&prior, &population).unwrap();
        let proposed = propose(&prior, Some(&*kernel), 3000, (Seed(1), 4), &Serial).unwrap();
        assert!(proposed.thetas.values().iter().all(|&v| (0.001..=1000.0).contains(&v)));
        let some = propose_rows(&prior, Some(&*kernel), 100..2700, (Seed(1), 4), &Serial).unwrap();
        assert_eq!(some.thetas.values(), &proposed.thetas.values()[200..5400]);
        let fewer = propose(&prior, Some(&*kernel), 2500, (Seed(1), 4), &Serial).unwrap();
        assert_eq!(
            fewer.units.values(),
            &proposed.units.values()[..5000],
            "a row depends on its address alone"
        );
    }
}
