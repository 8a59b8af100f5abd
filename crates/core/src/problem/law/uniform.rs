//! The uniform law on an interval.

use super::{Law, LawError, ordered};

/// Every value between `low` and `high` is as likely as another.
#[derive(Clone, Debug)]
pub struct Uniform {
    low: f64,
    high: f64,
    ln_density: f64,
}

impl Uniform {
    /// # Errors
    /// If the interval is empty, reversed or infinite.
    pub fn new(low: f64, high: f64) -> Result<Self, LawError> {
        ordered(low, high).map(|(low, high)| Self { low, high, ln_density: -libm::log(high - low) })
    }
}

impl Law for Uniform {
    fn support(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    fn ln_density(&self, _: f64) -> f64 {
        self.ln_density
    }

    fn is_flat(&self) -> bool {
        true
    }

    fn cdf(&self, x: f64) -> f64 {
        ((x - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn quantile(&self, p: f64) -> f64 {
        (self.low + p * (self.high - self.low)).clamp(self.low, self.high)
    }

    fn moments(&self) -> (f64, f64) {
        (self.low + (self.high - self.low) / 2.0, (self.high - self.low) / 12f64.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_itself_and_with_scipy() {
        let law = Uniform::new(-2.0, 6.0).unwrap();
        super::super::conformance(&law);
        // scipy.stats.uniform(-2, 8): logpdf(1), cdf(1), std
        assert!((law.ln_density(1.0) + 2.0794415416798357).abs() < 1e-15);
        assert_eq!(law.cdf(1.0), 0.375);
        assert!((law.moments().1 - 2.309401076758503).abs() < 1e-15);
    }

    #[test]
    fn refuses_an_empty_interval() {
        assert_eq!(Uniform::new(1.0, 1.0).unwrap_err(), LawError::Reversed { low: 1.0, high: 1.0 });
        assert!(Uniform::new(f64::NAN, 1.0).is_err());
    }
}
