//! Noise of measurement.

use crate::Expression;

/// What measuring does to a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// The law of what is measured.
    pub law: NoiseLaw,
    /// The size of the noise: of numbers and parameters, not negative.
    pub size: Expression,
}

/// The law of a measured value, given the true one x and the size s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseLaw {
    /// Normal with mean x and standard deviation s.
    Normal,
    /// x times e to the power of a normal variate with mean 0 and standard deviation s.
    LogNormal,
    /// Poisson with mean s x: s is the share of x that is counted.
    Poisson,
}
