//! The posterior of the toy problem, in closed form.

use std::f64::consts::LN_10;

use super::Density;

/// Given r draws from Uniform(0, theta), theta is at least their maximum, and under a log-uniform prior the density of its
/// logarithm falls as `theta^-r`.
pub(super) fn posterior(prior: (f64, f64), observed: &[f64]) -> Density {
    let most = libm::log10(observed.iter().copied().fold(0.0, f64::max));
    let draws = observed.len() as f64;
    Density::new(
        prior,
        |log10| if log10 < most { f64::NEG_INFINITY } else { -draws * LN_10 * (log10 - most) },
    )
}
