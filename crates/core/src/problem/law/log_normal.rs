//! The log-normal law: normal in the logarithm.

use super::{LawError, Normal, Scale};

/// The natural logarithm of the parameter is normal with this mean and standard deviation.
#[derive(Clone, Debug)]
pub struct LogNormal(Normal);

impl LogNormal {
    /// # Errors
    /// If `sd` is not above zero or a number is infinite.
    pub fn new(mean: f64, sd: f64) -> Result<Self, LawError> {
        Normal::new(mean, sd).map(Self)
    }
}

in_latent_value!(LogNormal, Scale::Log);

#[cfg(test)]
mod tests {
    use super::super::Law;
    use super::*;

    #[test]
    fn agrees_with_itself_and_with_scipy() {
        let law = LogNormal::new(0.5, 0.25).unwrap();
        super::super::conformance(&law);
        // scipy.stats.lognorm(0.25, scale=exp(0.5)): cdf(2); its logpdf(2) plus ln 2
        assert!((law.cdf(libm::log(2.0)) - 0.7801170895122241).abs() < 1e-14);
        assert!((law.ln_density(libm::log(2.0)) - 0.16890916104916898).abs() < 1e-14);
    }
}
