//! Poisson variates with the same bits on every machine.

use rand::distr::Distribution;
use rand::{Rng, RngExt};

/// The Poisson law of some mean: by inversion where the mean is small, otherwise by Hörmann's transformed
/// rejection (PTRS, 1993).
#[derive(Clone, Copy, Debug)]
pub struct Poisson {
    mean: f64,
}

/// Up to this mean the sum of probabilities is followed.
const SMALL: f64 = 10.0;

impl Poisson {
    /// The law with this mean, which must be finite and not negative.
    #[must_use]
    pub fn new(mean: f64) -> Self {
        debug_assert!(mean.is_finite() && mean >= 0.0, "a Poisson law cannot have the mean {mean}");
        Self { mean }
    }

    fn small<R: Rng + ?Sized>(self, rng: &mut R) -> f64 {
        let (mut count, mut probability) = (0.0, libm::exp(-self.mean));
        let mut left = rng.random::<f64>() - probability;
        // Beyond 200 the probabilities of a mean of at most 10 vanish beside the rounding of their sum.
        while left >= 0.0 && count < 200.0 {
            count += 1.0;
            probability *= self.mean / count;
            left -= probability;
        }
        count
    }

    fn large<R: Rng + ?Sized>(self, rng: &mut R) -> f64 {
        let mean = self.mean;
        let b = 0.931 + 2.53 * mean.sqrt();
        let a = -0.059 + 0.02483 * b;
        let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
        let squeeze = 0.9277 - 3.6224 / (b - 2.0);
        loop {
            let u = rng.random::<f64>() - 0.5;
            let v = 1.0 - rng.random::<f64>();
            let edge = 0.5 - u.abs();
            let count = ((2.0 * a / edge + b) * u + mean + 0.43).floor();
            if edge >= 0.07 && v <= squeeze {
                return count;
            }
            if count < 0.0 || (edge < 0.013 && v > edge) {
                continue;
            }
            let ratio = v * inverse_alpha / (a / (edge * edge) + b);
            let accepted = if count < STIRLING {
                libm::log(ratio) <= count * libm::log(mean) - mean - libm::lgamma(count + 1.0)
            } else {
                libm::log(ratio * (std::f64::consts::TAU * count).sqrt()) <= ln_stirling(mean, count)
            };
            if accepted {
                return count;
            }
        }
    }
}

/// From this count on Stirling's series is as good as `lgamma`, and much faster.
const STIRLING: f64 = 16.0;

/// Logarithm of the probability of `count` times the root of 2 pi `count`, by Stirling's series for the factorial.
fn ln_stirling(mean: f64, count: f64) -> f64 {
    let inverse = 1.0 / count;
    let square = inverse * inverse;
    let series = (1.0 / 12.0
        - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))))
        * inverse;
    count * libm::log(mean * inverse) + (count - mean) - series
}

impl Distribution<f64> for Poisson {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        if self.mean < SMALL { self.small(rng) } else { self.large(rng) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Seed, Stage};

    /// The series ends with an error below 691 / 360360 / 16^11 = 1e-16; what is left is the rounding of `lgamma`
    /// and of the logarithm, times the count.
    #[test]
    fn stirling_gives_the_logarithm_of_the_factorial() {
        for count in [16.0, 17.0, 20.0, 33.0, 100.0, 1e3, 12_345.0, 1e6, 1e9] {
            for mean in [0.8 * count, count, 1.1 * count + 3.0] {
                let root = 0.5 * libm::log(std::f64::consts::TAU * count);
                let other = count * libm::log(mean) - mean - libm::lgamma(count + 1.0) + root;
                let error = (ln_stirling(mean, count) - other).abs();
                let scale = count * (1.0 + libm::log(mean));
                assert!(error <= 8.0 * f64::EPSILON * scale, "{count} at {mean}: off by {error}");
            }
        }
    }

    /// Chi-squared over bins of at least 20 expected, within six standard deviations of its mean: the worst of
    /// nine correct samplers fails for fewer than one seed in 10^5.
    #[test]
    fn counts_follow_the_law() {
        let n = 200_000;
        for (stream, mean) in [0.0, 1e-3, 0.3, 2.0, 9.99, 10.0, 12.5, 80.0, 3_000.0].into_iter().enumerate() {
            let mut rng = Seed(6).stream(Stage::Propose, 0, stream as u64);
            let most = (mean + 12.0 * f64::sqrt(mean) + 20.0) as usize;
            let mut seen = vec![0.0; most + 1];
            for _ in 0..n {
                seen[Poisson::new(mean).sample(&mut rng) as usize] += 1.0;
            }
            let expected = |count: usize| {
                let count = count as f64;
                let ln = if mean == 0.0 && count == 0.0 { 0.0 } else { count * libm::log(mean) };
                f64::from(n) * libm::exp(ln - mean - libm::lgamma(count + 1.0))
            };
            let (mut chi, mut bins, mut found, mut wanted, mut used) = (0.0, 0.0, 0.0, 0.0, 0.0);
            for (count, &times) in seen.iter().enumerate() {
                (found, wanted) = (found + times, wanted + expected(count));
                if wanted >= 20.0 && f64::from(n) - used - wanted >= 20.0 {
                    (chi, bins, used) = (chi + (found - wanted).powi(2) / wanted, bins + 1.0, used + wanted);
                    (found, wanted) = (0.0, 0.0);
                }
            }
            let rest = f64::from(n) - used;
            chi += (found - rest).powi(2) / rest;
            let limit = bins + 6.0 * f64::sqrt(2.0 * f64::max(bins, 1.0));
            assert!(chi < limit, "mean {mean}: chi squared {chi} on {bins} degrees of freedom");
        }
    }
}
