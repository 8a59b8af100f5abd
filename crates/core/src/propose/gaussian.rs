//! The paper's kernel: an independent Gaussian step of fixed size.

use super::covariance::SharedKernel;
use super::{Kernel, Proposal, ProposeError};
use crate::population::Population;
use crate::problem::Prior;
use crate::problem::law::Scale;

/// Resamples a particle, then moves each parameter by a Gaussian step.
#[derive(Clone, Debug)]
pub struct Gaussian {
    /// Standard deviation of the step: in log10 for parameters with a logarithmic law (the paper's 0.25), in
    /// prior standard deviations for the others.
    pub sd: f64,
}

impl Proposal for Gaussian {
    fn fit(&self, prior: &Prior, population: &Population) -> Result<Box<dyn Kernel>, ProposeError> {
        let d = prior.dimension();
        let mut factor = nalgebra::DMatrix::zeros(d, d);
        for (j, marginal) in prior.marginals().iter().enumerate() {
            factor[(j, j)] = match marginal.scale() {
                Scale::Log => self.sd * std::f64::consts::LN_10 * marginal.unit_of_latent(),
                Scale::Linear | Scale::Whole => self.sd,
            };
        }
        Ok(Box::new(SharedKernel::new((&population.units, population.weights.normalised()), factor)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn density_is_that_of_the_draws() {
        super::super::testing::conformance(&Gaussian { sd: 0.25 });
    }

    #[test]
    fn the_step_is_a_quarter_decade() {
        use crate::stream::{Seed, Stage};
        let (prior, mut population) = super::super::testing::population(1, 1);
        population.units.row_mut(0)[0] = prior.marginals()[0].unit(1.0);
        let kernel = Gaussian { sd: 0.25 }.fit(&prior, &population).unwrap();
        let mut rng = Seed(1).stream(Stage::Propose, 1, 0);
        let (n, mut square) = (20_000, 0.0);
        for _ in 0..n {
            let mut unit = [0.0];
            kernel.draw(&mut rng, &mut unit);
            square += libm::log10(prior.marginals()[0].natural(unit[0])).powi(2);
        }
        // The sd of 20,000 normal draws is known to 0.5 %; five of those.
        assert!(((square / f64::from(n)).sqrt() / 0.25 - 1.0).abs() < 0.025);
    }
}
