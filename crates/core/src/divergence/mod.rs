//! How far a sample of parameters is from the prior.
//!
//! A [`Divergence`] is a plan; for the rows of one generation it gives a [`Gauge`], which measures any subset
//! of them. All gauges answer "the larger, the further": `1 - integral p^a q^(1-a)` for order `a`.

mod entropy;
mod followed;
mod journal;
mod lists;
mod mass;
mod neighbours;
mod oriented;
mod space;

pub use entropy::Entropy;
pub use oriented::{Exponent, Paper, Reversed};
pub use space::Space;

use std::fmt::Debug;

use crate::problem::Prior;
use crate::propose::Importance;
use crate::stream::Seed;
use crate::table::Table;

/// The information in a weighted sample of unit-space points: its squared Hellinger distance from the prior, by the
/// estimator that every report uses. Points without weight do not count.
#[must_use]
pub fn weighted_information(prior: &Prior, units: &Table, weights: &[f64]) -> f64 {
    let rows: Vec<u32> = (0..units.rows() as u32).filter(|&row| weights[row as usize] > 0.0).collect();
    let space = Space::new(prior, units, Seed(0), 0);
    let first = rows.first().map(|&row| weights[row as usize]);
    let importance = if rows.iter().all(|&row| Some(weights[row as usize]) == first) {
        Importance::equal()
    } else {
        Importance::known(&weights.iter().map(|&weight| libm::log(weight)).collect::<Vec<f64>>())
    };
    Entropy::default().gauge(&space, &importance).measure(&rows)
}

/// Which divergence is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// `1 - integral p^a q^(1-a)` of order `a` in (0, 1); 1/2 is the squared Hellinger distance.
    Order(f64),
    /// Kullback-Leibler from the sample to the prior, in nats.
    KullbackLeibler,
    /// `integral (p - q)^2` in unit space.
    Squared,
}

impl Form {
    /// The squared Hellinger distance.
    pub const HELLINGER: Self = Self::Order(0.5);
}

/// A way to estimate how far accepted parameters are from the prior.
pub trait Divergence: Debug + Send + Sync {
    /// Prepares to measure subsets of the rows of `space`, whose importance weights are `importance`.
    fn gauge<'a>(&'a self, space: &'a Space, importance: &'a Importance<'a>) -> Box<dyn Gauge + 'a>;
}

/// A prepared divergence. What it remembers makes it faster and never shows in what it measures.
pub trait Gauge {
    /// The divergence of `rows` from the prior; negative infinity when it cannot be measured.
    fn measure(&mut self, rows: &[u32]) -> f64;
    /// Tells that the next subsets will resemble the last one measured.
    fn anchor(&mut self) {}
}

/// Volume of the unit ball in `d` dimensions.
fn unit_ball(d: usize) -> f64 {
    let half = d as f64 / 2.0;
    libm::exp(half * libm::log(std::f64::consts::PI) - libm::lgamma(half + 1.0))
}

/// `(rho^2)^(d/2)`.
fn radius_power(square: f64, d: usize) -> f64 {
    let even = (0..d / 2).fold(1.0, |power, _| power * square);
    if d.is_multiple_of(2) { even } else { even * square.sqrt() }
}

/// `x^e`, fast for the square root.
fn power(x: f64, e: f64) -> f64 {
    if e == 0.5 { x.sqrt() } else { libm::pow(x, e) }
}

#[cfg(test)]
mod tests {
    use super::testing::{gaussian, normal_prior};
    use super::*;

    /// N(1, 1) against N(0, 1) is `1 - exp(-1/8)`; half of the points may lie anywhere if they weigh nothing, and
    /// points of N(0, 1) that weigh `exp(x)` are points of N(1, 1).
    #[test]
    fn information_of_weighted_points_is_that_of_the_law_they_stand_for() {
        let (prior, exact) = (normal_prior(1), 1.0 - libm::exp(-0.125));
        let shifted = gaussian(4_000, 1, 1.0, 1.0, 1);
        let plain = weighted_information(&prior, &shifted, &vec![1.0; 4_000]);
        assert!((plain - exact).abs() < 0.02, "{plain}, exact {exact}");
        let both = Table::from_rows(1, [shifted.values(), &vec![9.0; 4_000]].concat());
        let half: Vec<f64> = (0..8_000).map(|row| if row < 4_000 { 1.0 } else { 0.0 }).collect();
        assert!((weighted_information(&prior, &both, &half) - plain).abs() < 1e-6);
        let centred = gaussian(8_000, 1, 0.0, 1.0, 2);
        let tilted: Vec<f64> = centred.values().iter().map(|&x| libm::exp(x)).collect();
        let found = weighted_information(&prior, &centred, &tilted);
        assert!((found - exact).abs() < 0.02, "{found}, exact {exact}");
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::population::{LogWeights, Population};
    use crate::problem::{Marginal, Prior, law};
    use crate::propose::{Covariance, Proposal};
    use crate::stream::{Seed, Stage};
    use crate::table::Table;
    use crate::variates::StandardNormal;
    use rand::distr::Distribution;

    pub(crate) fn normal_prior(d: usize) -> Prior {
        let marginal = |i| Marginal::new(format!("p{i}"), Box::new(law::Normal::new(0.0, 1.0).unwrap()));
        Prior::new((0..d).map(marginal).collect())
    }

    /// `rows` points of `N(shift, sd^2 I)`.
    pub(crate) fn gaussian(rows: usize, d: usize, shift: f64, sd: f64, seed: u64) -> Table {
        let mut rng = Seed(seed).stream(Stage::Reference, 9, 0);
        let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
        Table::from_rows(d, (0..rows * d).map(|_| shift + sd * draw()).collect())
    }

    /// What every gauge must satisfy: measuring a walk of subsets with memory equals measuring each afresh,
    /// the order of rows does not matter, and a sample from the prior is closer than a concentrated one.
    pub(crate) fn conformance(divergence: &dyn Divergence) {
        for d in [1, 2, 3, 5] {
            let prior = normal_prior(d);
            let units = gaussian(900, d, 0.0, 1.0, 4);
            let space = Space::new(&prior, &units, Seed(1), 150);
            conforms(divergence, &space, &Importance::equal(), &units);
            let ancestors = Population {
                rows: (0..40).collect(),
                units: gaussian(40, d, 0.2, 1.3, 5),
                thetas: gaussian(40, d, 0.2, 1.3, 5),
                weights: LogWeights::new(vec![0.0; 40]).unwrap(),
                distances: vec![0.0; 40],
            };
            let kernel = Covariance.fit(&prior, &ancestors).unwrap();
            conforms(divergence, &space, &Importance::new(&prior, &*kernel, &units), &units);
        }
    }

    fn conforms(divergence: &dyn Divergence, space: &Space, importance: &Importance<'_>, units: &Table) {
        let d = space.dimension();
        let mut gauge = divergence.gauge(space, importance);
        let mut rows: Vec<u32> = (0..150).collect();
        for step in 0..60u32 {
            for i in 0..(step % 11) as usize {
                let at = (step as usize * 7 + i * 13) % rows.len();
                rows[at] = 150 + (step * 31 + i as u32 * 17) % 750;
            }
            rows.sort_unstable();
            rows.dedup();
            let warm = gauge.measure(&rows);
            let cold = divergence.gauge(space, importance).measure(&rows);
            assert!((warm - cold).abs() < 1e-12, "{divergence:?}: memory shows at step {step}, d = {d}");
            let reversed: Vec<u32> = rows.iter().rev().copied().collect();
            assert!((gauge.measure(&reversed) - warm).abs() < 1e-12, "{divergence:?}: order shows");
            if step % 3 == 0 {
                gauge.anchor();
            }
        }
        let mut by_norm: Vec<u32> = (0..900).collect();
        let norm = |i: u32| units.row(i as usize).iter().map(|v| v * v).sum::<f64>();
        by_norm.sort_by(|&a, &b| norm(a).total_cmp(&norm(b)));
        if d <= 2 {
            let (near, all) = (gauge.measure(&by_norm[..150]), gauge.measure(&rows));
            assert!(near > all + 0.05, "{divergence:?}, d = {d}: {near} is not above {all}");
        }
    }
}
