//! The normal law.

use std::f64::consts::{PI, SQRT_2};

use rand::distr::Distribution;

use super::{Law, LawError, finite, invert, positive};
use crate::stream::Stream;
use crate::variates::StandardNormal;

/// Gauss's bell with a mean and a standard deviation.
#[derive(Clone, Debug)]
pub struct Normal {
    mean: f64,
    sd: f64,
}

impl Normal {
    /// # Errors
    /// If `sd` is not above zero or a number is infinite.
    pub fn new(mean: f64, sd: f64) -> Result<Self, LawError> {
        Ok(Self { mean: finite("mean", mean)?, sd: positive("sd", sd)? })
    }
}

impl Law for Normal {
    fn support(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn ln_density(&self, x: f64) -> f64 {
        let z = (x - self.mean) / self.sd;
        -0.5 * z * z - libm::log(self.sd) - 0.5 * libm::log(2.0 * PI)
    }

    fn cdf(&self, x: f64) -> f64 {
        0.5 * libm::erfc((self.mean - x) / (self.sd * SQRT_2))
    }

    fn quantile(&self, p: f64) -> f64 {
        // Beyond 40 deviations there is no probability left that a double can hold.
        let standard = |z: f64| 0.5 * libm::erfc(-z / SQRT_2);
        self.mean + self.sd * invert(standard, p, (-40.0, 40.0), 1.0)
    }

    fn moments(&self) -> (f64, f64) {
        (self.mean, self.sd)
    }

    fn draw(&self, rng: &mut Stream) -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        self.mean + self.sd * z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_itself_and_with_scipy() {
        let law = Normal::new(1.0, 2.0).unwrap();
        super::super::conformance(&law);
        // scipy.stats.norm(1, 2): logpdf(4), cdf(4), ppf(0.05)
        assert!((law.ln_density(4.0) + 2.737085713764618).abs() < 1e-14);
        assert!((law.cdf(4.0) - 0.9331927987311419).abs() < 1e-14);
        assert!((law.quantile(0.05) + 2.289707253902945).abs() < 1e-12);
    }

    #[test]
    fn refuses_a_spread_of_zero() {
        assert_eq!(Normal::new(0.0, 0.0).unwrap_err(), LawError::NotPositive { name: "sd", value: 0.0 });
    }
}
