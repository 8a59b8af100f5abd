//! The log-uniform law: uniform in the logarithm.

use super::{LawError, Scale, Uniform, ordered, positive};

/// Every factor between `low` and `high` is as likely as another.
#[derive(Clone, Debug)]
pub struct LogUniform(Uniform);

impl LogUniform {
    /// # Errors
    /// If `low` is not above zero, or the interval is empty, reversed or infinite.
    pub fn new(low: f64, high: f64) -> Result<Self, LawError> {
        positive("low", low)?;
        ordered(low, high)?;
        Uniform::new(libm::log(low), libm::log(high)).map(Self)
    }
}

in_latent_value!(LogUniform, Scale::Log);

#[cfg(test)]
mod tests {
    use super::super::Law;
    use super::*;

    #[test]
    fn agrees_with_itself_and_with_scipy() {
        let law = LogUniform::new(1e-3, 1e3).unwrap();
        super::super::conformance(&law);
        // scipy.stats.loguniform(1e-3, 1e3): cdf(0.1); its logpdf(0.1) plus ln 0.1, the density of the log
        assert!((law.cdf(libm::log(0.1)) - 1.0 / 3.0).abs() < 1e-15);
        assert!((law.ln_density(libm::log(0.1)) - (-0.32320682148196545 + libm::log(0.1))).abs() < 1e-14);
    }

    #[test]
    fn refuses_zero() {
        assert_eq!(LogUniform::new(0.0, 1.0).unwrap_err(), LawError::NotPositive { name: "low", value: 0.0 });
    }
}
