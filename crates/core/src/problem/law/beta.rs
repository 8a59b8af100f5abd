//! The beta law.

use rand_distr::Distribution;
use statrs::function::beta::beta_reg;

use super::{Law, LawError, invert, positive};
use crate::stream::Stream;

/// Beta on the unit interval with its two exponents.
#[derive(Clone, Debug)]
pub struct Beta {
    alpha: f64,
    beta: f64,
    sampler: rand_distr::Beta<f64>,
}

impl Beta {
    /// # Errors
    /// If either number is not above zero.
    pub fn new(alpha: f64, beta: f64) -> Result<Self, LawError> {
        let (alpha, beta) = (positive("alpha", alpha)?, positive("beta", beta)?);
        let refused = LawError::NotFinite { name: "alpha", value: alpha };
        Ok(Self { alpha, beta, sampler: rand_distr::Beta::new(alpha, beta).map_err(|_| refused)? })
    }
}

impl Law for Beta {
    fn support(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn ln_density(&self, x: f64) -> f64 {
        (self.alpha - 1.0) * libm::log(x)
            + (self.beta - 1.0) * libm::log1p(-x)
            + libm::lgamma(self.alpha + self.beta)
            - libm::lgamma(self.alpha)
            - libm::lgamma(self.beta)
    }

    fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 {
            0.0
        } else if x >= 1.0 {
            1.0
        } else {
            beta_reg(self.alpha, self.beta, x)
        }
    }

    fn quantile(&self, p: f64) -> f64 {
        invert(|x| self.cdf(x), p, self.support(), 0.5)
    }

    fn has_natural_ends(&self) -> bool {
        true
    }

    fn moments(&self) -> (f64, f64) {
        let total = self.alpha + self.beta;
        (self.alpha / total, (self.alpha * self.beta / (total + 1.0)).sqrt() / total)
    }

    fn draw(&self, rng: &mut Stream) -> f64 {
        self.sampler.sample(rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_itself_and_with_scipy() {
        let law = Beta::new(2.0, 5.0).unwrap();
        super::super::conformance(&law);
        // scipy.stats.beta(2, 5): logpdf(0.3), cdf(0.3)
        assert!((law.ln_density(0.3) - 0.7705248015812898).abs() < 1e-12);
        assert!((law.cdf(0.3) - 0.5798250000000003).abs() < 1e-12);
    }
}
