//! The uniform law on whole numbers.

use super::{LawError, Scale, Uniform, ordered};

/// Every whole number from `low` to `high`, both included, is as likely as another.
///
/// The latent value is uniform on `[low - 1/2, high + 1/2]` and is rounded for the simulator: the kernel
/// and the importance weights then work on a continuous parameter and stay exact.
#[derive(Clone, Debug)]
pub struct Integer(Uniform);

impl Integer {
    /// # Errors
    /// If a bound is not a whole number or the interval holds fewer than two numbers.
    pub fn new(low: f64, high: f64) -> Result<Self, LawError> {
        ordered(low, high)?;
        for (name, value) in [("low", low), ("high", high)] {
            if value.fract() != 0.0 {
                return Err(LawError::NotWhole { name, value });
            }
        }
        Uniform::new(low - 0.5, high + 0.5).map(Self)
    }
}

in_latent_value!(Integer, Scale::Whole);

#[cfg(test)]
mod tests {
    use super::super::Law;
    use super::*;

    #[test]
    fn agrees_with_itself_and_with_counting() {
        let law = Integer::new(3.0, 7.0).unwrap();
        super::super::conformance(&law);
        assert!((libm::exp(law.ln_density(4.0)) - 0.2).abs() < 1e-15, "five numbers, each 1/5");
        assert!((law.cdf(4.5) - 0.4).abs() < 1e-15);
    }

    #[test]
    fn refuses_half_numbers() {
        assert_eq!(Integer::new(0.5, 3.0).unwrap_err(), LawError::NotWhole { name: "low", value: 0.5 });
    }
}
