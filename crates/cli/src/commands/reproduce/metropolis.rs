//! A random walk over one density, as the paper had it for the true posterior of its toy problem.

use counterpoise_core::stream::Stream;
use counterpoise_core::variates::StandardNormal;
use rand::RngExt;
use rand::distr::Distribution;

/// `count` states of a Metropolis walk with normal steps of size `step`, after a tenth as many that are thrown away.
pub(super) fn walk(
    ln_density: impl Fn(f64) -> f64,
    (start, step): (f64, f64),
    count: usize,
    rng: &mut Stream,
) -> Vec<f64> {
    let (mut at, mut here) = (start, ln_density(start));
    let mut states = Vec::with_capacity(count);
    let lost = count / 10;
    for index in 0..lost + count {
        let move_by: f64 = StandardNormal.sample(rng);
        let (to, there) = (at + step * move_by, ln_density(at + step * move_by));
        if libm::log(rng.random::<f64>()) < there - here {
            (at, here) = (to, there);
        }
        if index >= lost {
            states.push(at);
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::stream::{Seed, Stage};

    /// An exponential law of mean 1: mean and deviation within five standard errors, taking a tenth of the states as
    /// independent.
    #[test]
    fn a_walk_has_the_moments_of_its_law() {
        let ln = |x: f64| if x < 0.0 { f64::NEG_INFINITY } else { -x };
        let states = walk(ln, (1.0, 2.0), 200_000, &mut Seed(1).stream(Stage::Reference, 0, 0));
        let mean = states.iter().sum::<f64>() / states.len() as f64;
        let square = states.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / states.len() as f64;
        assert!((mean - 1.0).abs() < 5.0 / 20_000f64.sqrt(), "{mean}");
        assert!((square - 1.0).abs() < 5.0 * (8.0 / 20_000f64).sqrt(), "{square}");
    }
}
