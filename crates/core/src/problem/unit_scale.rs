//! How a natural value becomes a unit-space coordinate: all that is needed of a law to tell one from the other.

use super::law::Scale;

/// A latent value, shifted and scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitScale {
    /// How latent and natural values correspond.
    pub scale: Scale,
    /// The latent value at nought.
    pub centre: f64,
    /// Latent values that one step covers.
    pub spread: f64,
}

impl UnitScale {
    /// The unit-space coordinate of a natural value.
    #[must_use]
    pub fn unit(&self, natural: f64) -> f64 {
        (self.scale.latent(natural) - self.centre) / self.spread
    }
}
