//! The gamma law.

use rand_distr::Distribution;
use statrs::function::gamma::gamma_lr;

use super::{Law, LawError, invert, positive};
use crate::stream::Stream;

/// Gamma with a shape and a scale; its mean is their product.
#[derive(Clone, Debug)]
pub struct Gamma {
    shape: f64,
    scale: f64,
    sampler: rand_distr::Gamma<f64>,
}

impl Gamma {
    /// # Errors
    /// If either number is not above zero.
    pub fn new(shape: f64, scale: f64) -> Result<Self, LawError> {
        let (shape, scale) = (positive("shape", shape)?, positive("scale", scale)?);
        let refused = LawError::NotFinite { name: "scale", value: scale };
        Ok(Self { shape, scale, sampler: rand_distr::Gamma::new(shape, scale).map_err(|_| refused)? })
    }
}

impl Law for Gamma {
    fn support(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn ln_density(&self, x: f64) -> f64 {
        let z = x / self.scale;
        (self.shape - 1.0) * libm::log(z) - z - libm::lgamma(self.shape) - libm::log(self.scale)
    }

    fn cdf(&self, x: f64) -> f64 {
        let z = x / self.scale;
        if z <= 0.0 {
            0.0
        } else if z.is_infinite() {
            1.0
        } else {
            gamma_lr(self.shape, z)
        }
    }

    fn quantile(&self, p: f64) -> f64 {
        invert(|x| self.cdf(x), p, self.support(), self.shape * self.scale)
    }

    fn has_natural_ends(&self) -> bool {
        true
    }

    fn moments(&self) -> (f64, f64) {
        (self.shape * self.scale, self.shape.sqrt() * self.scale)
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
        let law = Gamma::new(2.5, 3.0).unwrap();
        super::super::conformance(&law);
        super::super::conformance(&Gamma::new(0.7, 0.1).unwrap());
        assert_eq!(Gamma::new(2.0, 1e-300).unwrap().cdf(1e300), 1.0);
        // scipy.stats.gamma(2.5, scale=3): logpdf(4), cdf(4)
        assert!((law.ln_density(4.0) + 2.285105383796691).abs() < 1e-12);
        assert!((law.cdf(4.0) - 0.2487882896338786).abs() < 1e-12);
    }
}
