//! The posterior of the death process: rate and deviation know nothing of each other.

use std::f64::consts::LN_10;

use super::Density;

/// `A(t + dt) | A(t)` is Binomial(A(t), exp(-k dt)): survivors and deaths over all steps are sufficient for k.
pub(super) fn rate(prior: (f64, f64), step: f64, counts: &[f64]) -> Density {
    let survivors: f64 = counts.iter().skip(1).sum();
    let deaths = counts.first().unwrap_or(&0.0) - counts.last().unwrap_or(&0.0);
    Density::new(prior, |log10| {
        let passed = libm::exp(LN_10 * log10) * step;
        let dying = if deaths > 0.0 { deaths * libm::log(-libm::expm1(-passed)) } else { 0.0 };
        dying - passed * survivors
    })
}

/// One normal variate of mean 0.
pub(super) fn deviation(prior: (f64, f64), z: f64) -> Density {
    Density::new(prior, |log10| {
        let scaled = z * libm::exp(-LN_10 * log10);
        -LN_10 * log10 - 0.5 * scaled * scaled
    })
}
