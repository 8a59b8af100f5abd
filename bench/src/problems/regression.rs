//! Logistic regression: five coefficients, eighty outcomes of yes and no as raw statistics.

use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::{Seed, Stage, Stream};

use super::algebra::{backward, cholesky, solve};
use super::normal::variate;
use super::{Known, normal, prior};

const D: usize = 5;
const CASES: usize = 80;
const SD: f64 = 1.5;
/// Proposals of the importance sampling, and the effective number that must come of them.
const PROPOSALS: usize = 20_000;
const EFFECTIVE: f64 = 2_000.0;
/// Degrees of freedom of the proposal, whose tails must not be lighter than the posterior's.
const FREEDOM: f64 = 8.0;

/// The covariates, an intercept first.
pub struct Regression {
    cases: Vec<[f64; D]>,
}

impl Regression {
    pub fn new() -> Self {
        let mut rng = Seed(80).stream(Stage::Observe, 0, 0);
        let mut case = || std::array::from_fn(|j| if j == 0 { 1.0 } else { variate(&mut rng) });
        Self { cases: (0..CASES).map(|_| case()).collect() }
    }

    fn ln_density(&self, observed: &[f64], theta: &[f64]) -> f64 {
        let own: f64 = theta.iter().map(|t| -0.5 * (t / SD).powi(2)).sum();
        let outcomes = self.cases.iter().zip(observed).map(|(case, &yes)| {
            let score = dot(case, theta);
            let signed = if yes > 0.5 { score } else { -score };
            signed.min(0.0) - (-signed.abs()).exp().ln_1p()
        });
        own + outcomes.sum::<f64>()
    }

    /// The highest point, by Newton's method, and Cholesky's factor of the curvature there.
    fn peak(&self, observed: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut theta = vec![0.0; D];
        loop {
            let mut slope: Vec<f64> = theta.iter().map(|t| -t / (SD * SD)).collect();
            let mut curvature: Vec<Vec<f64>> = (0..D)
                .map(|i| (0..D).map(|j| if i == j { 1.0 / (SD * SD) } else { 0.0 }).collect())
                .collect();
            for (case, yes) in self.cases.iter().zip(observed) {
                let chance = logistic(dot(case, &theta));
                for i in 0..D {
                    slope[i] += (yes - chance) * case[i];
                    for j in 0..D {
                        curvature[i][j] += chance * (1.0 - chance) * case[i] * case[j];
                    }
                }
            }
            let lower = cholesky(&curvature);
            let step = solve(&lower, slope);
            // Half a step where a whole one overshoots by more than rounding; the density is log-concave.
            let here = self.ln_density(observed, &theta) - 1e-9;
            let moved =
                |share: f64| -> Vec<f64> { theta.iter().zip(&step).map(|(t, s)| t + share * s).collect() };
            let mut share = 1.0;
            while self.ln_density(observed, &moved(share)) < here {
                share /= 2.0;
            }
            theta = moved(share);
            if step.iter().all(|s| s.abs() < 1e-6) {
                return (theta, lower);
            }
        }
    }

    /// Weighted draws of Student's law around the peak.
    fn weighted(&self, observed: &[f64], rng: &mut Stream) -> (Vec<Vec<f64>>, Vec<f64>) {
        let (peak, lower) = self.peak(observed);
        let (mut draws, mut lns) = (Vec::new(), Vec::new());
        for _ in 0..PROPOSALS {
            let squares: f64 = (0..FREEDOM as usize).map(|_| variate(rng).powi(2)).sum();
            let wide = (FREEDOM / squares).sqrt();
            let z: Vec<f64> = (0..D).map(|_| wide * variate(rng)).collect();
            let length: f64 = z.iter().map(|z| z * z).sum();
            let theta: Vec<f64> = backward(&lower, z).iter().zip(&peak).map(|(step, p)| p + step).collect();
            let proposed = -0.5 * (FREEDOM + D as f64) * (length / FREEDOM).ln_1p();
            lns.push(self.ln_density(observed, &theta) - proposed);
            draws.push(theta);
        }
        let most = lns.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (draws, lns.iter().map(|ln| (ln - most).exp()).collect())
    }
}

fn dot(case: &[f64; D], theta: &[f64]) -> f64 {
    case.iter().zip(theta).map(|(x, t)| x * t).sum()
}

fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

fn effective(weights: &[f64]) -> f64 {
    weights.iter().sum::<f64>().powi(2) / weights.iter().map(|w| w * w).sum::<f64>()
}

impl Simulator for Regression {
    fn summaries(&self) -> usize {
        CASES
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        for (slot, case) in summaries.iter_mut().zip(&self.cases) {
            *slot = f64::from(rng.uniform() < logistic(dot(case, theta)));
        }
        Ok(())
    }
}

impl Known for Regression {
    fn prior(&self) -> Prior {
        prior((0..D).map(|_| normal(SD)).collect())
    }

    /// Importance sampling around the peak, then draws by weight, at equal steps of the sum from a random start.
    fn exact(&self, observed: &[f64], count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let (draws, weights) = self.weighted(observed, rng);
        let effective = effective(&weights);
        assert!(effective > EFFECTIVE, "an effective sample of {effective:.0}");
        let step = weights.iter().sum::<f64>() / count as f64;
        let (start, mut at, mut sum) = (rng.uniform(), 0, weights[0]);
        let place = |k: usize| {
            while sum < (k as f64 + start) * step && at + 1 < weights.len() {
                at += 1;
                sum += weights[at];
            }
            draws[at].clone()
        };
        (0..count).map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest effective sample of a hundred datasets is far above what is asked for.
    #[test]
    fn importance_sampling_is_efficient() {
        let model = Regression::new();
        let mut least = f64::INFINITY;
        for dataset in 0..100 {
            let mut rng = Seed(dataset).stream(Stage::Observe, 2, 0);
            let theta: Vec<f64> = (0..D).map(|_| SD * variate(&mut rng)).collect();
            let mut observed = vec![0.0; CASES];
            model.simulate(&theta, &mut rng, &mut observed).unwrap();
            least = least.min(effective(&model.weighted(&observed, &mut rng).1));
        }
        assert!(least > 2.0 * EFFECTIVE, "{least}");
    }
}
