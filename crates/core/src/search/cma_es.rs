//! CMA-ES: covariance matrix adaptation, for objectives whose coordinates act together.

use nalgebra::{DMatrix, DVector};
use rand::distr::Distribution;

use super::{Best, Search, Task};
use crate::stream::Stream;
use crate::variates::StandardNormal;

/// Hansen's (2016 tutorial) rank-one and rank-mu CMA-ES with default settings; points outside the box are put
/// back onto its wall before they are evaluated and learned from.
#[derive(Clone, Debug)]
pub struct CmaEs {
    /// First step size.
    pub step: f64,
}

impl Default for CmaEs {
    fn default() -> Self {
        Self { step: 1.0 }
    }
}

/// The strategy's constants for `n` coordinates.
struct Constants {
    offspring: usize,
    recombination: Vec<f64>,
    parents_effective: f64,
    sigma_rate: f64,
    sigma_damping: f64,
    path_rate: f64,
    rank_one: f64,
    rank_mu: f64,
    expected_norm: f64,
}

impl Constants {
    fn new(coordinates: usize) -> Self {
        let n = coordinates as f64;
        let offspring = 4 + (3.0 * libm::log(n)).floor() as usize;
        let parents = offspring / 2;
        let raw: Vec<f64> =
            (1..=parents).map(|i| libm::log((offspring as f64 + 1.0) / 2.0) - libm::log(i as f64)).collect();
        let total: f64 = raw.iter().sum();
        let recombination: Vec<f64> = raw.iter().map(|w| w / total).collect();
        let effective = 1.0 / recombination.iter().map(|w| w * w).sum::<f64>();
        let sigma_rate = (effective + 2.0) / (n + effective + 5.0);
        let rank_one = 2.0 / ((n + 1.3) * (n + 1.3) + effective);
        let rank_mu = 2.0 * (effective - 2.0 + 1.0 / effective) / ((n + 2.0) * (n + 2.0) + effective);
        Self {
            offspring,
            recombination,
            parents_effective: effective,
            sigma_rate,
            sigma_damping: 1.0 + 2.0 * (((effective - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + sigma_rate,
            path_rate: (4.0 + effective / n) / (n + 4.0 + 2.0 * effective / n),
            rank_one,
            rank_mu: rank_mu.min(1.0 - rank_one),
            expected_norm: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

/// What is learned from one generation of points to the next.
struct State {
    mean: DVector<f64>,
    sigma: f64,
    covariance: DMatrix<f64>,
    /// Axes of the covariance and the standard deviation along each.
    axes: DMatrix<f64>,
    lengths: DVector<f64>,
    sigma_path: DVector<f64>,
    covariance_path: DVector<f64>,
}

impl State {
    fn new(start: &[f64], sigma: f64) -> Self {
        let n = start.len();
        Self {
            mean: DVector::from_row_slice(start),
            sigma,
            covariance: DMatrix::identity(n, n),
            axes: DMatrix::identity(n, n),
            lengths: DVector::repeat(n, 1.0),
            sigma_path: DVector::zeros(n),
            covariance_path: DVector::zeros(n),
        }
    }

    fn draw(&self, rng: &mut Stream) -> DVector<f64> {
        let n = self.mean.len();
        let scaled = DVector::from_fn(n, |j, _| {
            let z: f64 = StandardNormal.sample(rng);
            z * self.lengths[j]
        });
        &self.mean + &self.axes * scaled * self.sigma
    }

    /// Learns from points sorted best first.
    fn learn(&mut self, points: &[(f64, DVector<f64>)], constants: &Constants) {
        let n = self.mean.len() as f64;
        let c = constants;
        let steps: Vec<DVector<f64>> =
            points[..c.recombination.len()].iter().map(|(_, x)| (x - &self.mean) / self.sigma).collect();
        let mut step = DVector::zeros(self.mean.len());
        for (weight, each) in c.recombination.iter().zip(&steps) {
            step += each * *weight;
        }
        self.mean += &step * self.sigma;
        let mut white = self.axes.transpose() * &step;
        for (value, length) in white.iter_mut().zip(self.lengths.iter()) {
            *value /= length;
        }
        let pull = (c.sigma_rate * (2.0 - c.sigma_rate) * c.parents_effective).sqrt();
        self.sigma_path = &self.sigma_path * (1.0 - c.sigma_rate) + &self.axes * white * pull;
        let norm = self.sigma_path.norm();
        let moving = norm / c.expected_norm < 1.4 + 2.0 / (n + 1.0);
        let pull = (c.path_rate * (2.0 - c.path_rate) * c.parents_effective).sqrt();
        self.covariance_path *= 1.0 - c.path_rate;
        if moving {
            self.covariance_path += &step * pull;
        }
        self.covariance *= 1.0 - c.rank_one - c.rank_mu;
        self.covariance += &self.covariance_path * self.covariance_path.transpose() * c.rank_one;
        for (weight, each) in c.recombination.iter().zip(&steps) {
            self.covariance += each * each.transpose() * (*weight * c.rank_mu);
        }
        let growth = c.sigma_rate / c.sigma_damping * (norm / c.expected_norm - 1.0);
        self.sigma = (self.sigma * libm::exp(growth.min(1.0))).clamp(1e-6, 1e3);
    }

    fn decompose(&mut self) {
        let symmetric = (&self.covariance + self.covariance.transpose()) * 0.5;
        let eigen = symmetric.symmetric_eigen();
        self.lengths = eigen.eigenvalues.map(|value| value.max(1e-14).sqrt());
        self.axes = eigen.eigenvectors;
    }
}

impl Search for CmaEs {
    fn maximise(&self, mut task: Task<'_>, rng: &mut Stream) -> Best {
        let mut best = task.start.clone();
        let n = best.point.len();
        let constants = Constants::new(n);
        let mut state = State::new(&best.point, self.step);
        // An eigendecomposition costs n^3; a generation changes the covariance by little in many coordinates.
        let between = (1.0 / (10.0 * n as f64 * (constants.rank_one + constants.rank_mu))).floor() as usize;
        for generation in 0.. {
            if generation % between.max(1) == 0 && generation > 0 {
                state.decompose();
            }
            let mut points = Vec::with_capacity(constants.offspring);
            for _ in 0..constants.offspring {
                let mut point = state.draw(rng);
                task.clamp(point.as_mut_slice());
                let Some(value) = task.try_point(point.as_slice(), &mut best) else { return best };
                points.push((value, point));
            }
            points.sort_by(|a, b| b.0.total_cmp(&a.0));
            state.learn(&points, &constants);
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conforms() {
        super::super::conformance(&CmaEs::default());
    }

    /// A narrow ridge at 45 degrees, which coordinate-wise searches climb slowly.
    #[test]
    fn climbs_a_tilted_ridge() {
        use crate::stream::{Seed, Stage};
        let ridge = |x: &[f64]| -((x[0] - x[1]).powi(2) * 1e4 + (x[0] + x[1] - 4.0).powi(2));
        let start = Best { point: vec![-1.0, -1.0], value: ridge(&[-1.0, -1.0]) };
        let bounds = [(-5.0, 5.0), (-5.0, 5.0)];
        let mut objective = |x: &[f64]| ridge(x);
        let task = Task { objective: &mut objective, bounds: &bounds, start, evaluations: 1500 };
        let best = CmaEs::default().maximise(task, &mut Seed(1).stream(Stage::Weigh, 0, 0));
        assert!(best.value > -1e-6, "{best:?}");
    }
}
