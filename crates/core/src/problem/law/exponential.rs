//! The exponential law.

use super::{Law, LawError, positive};

/// Waiting time of a process with this rate; its mean is one over the rate.
#[derive(Clone, Debug)]
pub struct Exponential {
    rate: f64,
}

impl Exponential {
    /// # Errors
    /// If `rate` is not above zero.
    pub fn new(rate: f64) -> Result<Self, LawError> {
        Ok(Self { rate: positive("rate", rate)? })
    }
}

impl Law for Exponential {
    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn ln_density(&self, x: f64) -> f64 {
        libm::log(self.rate) - self.rate * x
    }

    fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 { 0.0 } else { -libm::expm1(-self.rate * x) }
    }

    fn quantile(&self, p: f64) -> f64 {
        -libm::log1p(-p) / self.rate
    }

    fn has_natural_ends(&self) -> bool {
        true
    }

    fn moments(&self) -> (f64, f64) {
        (1.0 / self.rate, 1.0 / self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_itself_and_with_scipy() {
        let law = Exponential::new(0.25).unwrap();
        super::super::conformance(&law);
        // scipy.stats.expon(scale=4): logpdf(3), cdf(3)
        assert!((law.ln_density(3.0) + 2.136_294_361_119_89).abs() < 1e-14);
        assert!((law.cdf(3.0) - 0.5276334472589853).abs() < 1e-14);
    }
}
