//! A population in numbers a person can read: moments, quantiles, mode and histogram of each parameter.

use crate::elementary::exp;
use crate::population::Population;
use crate::problem::law::Scale;
use crate::problem::{Marginal, Prior};
use crate::vectors::{Loop, vectorised};

/// Bars of a histogram.
const BARS: usize = 24;
/// Points on which the density is evaluated to find the mode.
const GRID: usize = 256;
/// Particles so many bandwidths away add nothing to a density that shows: 4e-6 of what a near one does.
const REACH: f64 = 5.0;

/// The marginal posterior of one parameter, on its natural scale.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSummary {
    /// Name.
    pub name: String,
    /// Weighted mean.
    pub mean: f64,
    /// Weighted standard deviation.
    pub sd: f64,
    /// Highest point of a kernel density estimate, found in unit space.
    pub mode: f64,
    /// Weighted quantiles at 5, 25, 50, 75 and 95 %.
    pub quantiles: [f64; 5],
    /// Mean and standard deviation of the decimal logarithm, for positive parameters.
    pub log10: Option<(f64, f64)>,
    /// Probability in equal steps of unit space over [`ParameterSummary::range`].
    pub histogram: Vec<f64>,
    /// Natural values at the ends of the histogram: the prior's range, cut where it is infinite.
    pub range: (f64, f64),
}

/// Summarises each parameter.
#[must_use]
pub fn summarise(prior: &Prior, population: &Population) -> Vec<ParameterSummary> {
    prior.marginals().iter().enumerate().map(|(j, marginal)| one(marginal, population, j)).collect()
}

fn one(marginal: &Marginal, population: &Population, column: usize) -> ParameterSummary {
    let weights = population.weights.normalised();
    let natural = population.thetas.column(column);
    let units = population.units.column(column);
    let (mean, sd) = moments(&natural, weights);
    let positive = natural.iter().all(|&value| value > 0.0);
    let log10 =
        positive.then(|| moments(&natural.iter().map(|&v| libm::log10(v)).collect::<Vec<_>>(), weights));
    let (low, high) = marginal.unit_range();
    let mut histogram = vec![0.0; BARS];
    for (unit, weight) in units.iter().zip(weights) {
        let bar = (unit - low) / (high - low) * BARS as f64;
        histogram[(bar.max(0.0) as usize).min(BARS - 1)] += weight;
    }
    ParameterSummary {
        name: marginal.name().to_owned(),
        mean,
        sd,
        mode: marginal.natural(mode(&units, weights, marginal.scale())),
        quantiles: {
            let sorted = Sorted::new(&natural, weights);
            [0.05, 0.25, 0.5, 0.75, 0.95].map(|p| sorted.quantile(p))
        },
        log10,
        histogram,
        range: (marginal.natural(low), marginal.natural(high)),
    }
}

/// Weighted mean and standard deviation.
#[must_use]
pub fn moments(values: &[f64], weights: &[f64]) -> (f64, f64) {
    let mean: f64 = values.iter().zip(weights).map(|(v, w)| v * w).sum();
    let variance: f64 = values.iter().zip(weights).map(|(v, w)| w * (v - mean) * (v - mean)).sum();
    (mean, variance.sqrt())
}

/// The smallest value at which the cumulative weight reaches `p`. Weights sum to one.
#[must_use]
pub fn quantile(values: &[f64], weights: &[f64], p: f64) -> f64 {
    Sorted::new(values, weights).quantile(p)
}

/// Values with their weights, ascending.
struct Sorted(Vec<(f64, f64)>);

impl Sorted {
    fn new(values: &[f64], weights: &[f64]) -> Self {
        let mut pairs: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self(pairs)
    }

    fn quantile(&self, p: f64) -> f64 {
        let mut total = 0.0;
        let reaches = |pair: &&(f64, f64)| {
            total += pair.1;
            total >= p
        };
        self.0.iter().find(reaches).or(self.0.last()).map_or(f64::NAN, |pair| pair.0)
    }

    /// Those between two values.
    fn between(&self, low: f64, high: f64) -> &[(f64, f64)] {
        let first = self.0.partition_point(|pair| pair.0 < low);
        &self.0[first..first + self.0[first..].partition_point(|pair| pair.0 <= high)]
    }
}

/// Where a Gaussian kernel density with Silverman's bandwidth is highest; for whole numbers the heaviest point.
fn mode(units: &[f64], weights: &[f64], scale: Scale) -> f64 {
    let (mean, sd) = moments(units, weights);
    if sd == 0.0 {
        return mean;
    }
    let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let sorted = Sorted::new(units, weights);
    let spread = (sorted.quantile(0.75) - sorted.quantile(0.25)) / 1.34;
    let narrow = if spread > 0.0 { sd.min(spread) } else { sd };
    let factor = if scale == Scale::Whole { 0.5 } else { 0.9 };
    let bandwidth = factor * narrow * libm::pow(effective, -0.2);
    let (low, high) = (sorted.quantile(0.0), sorted.quantile(f64::INFINITY));
    let reach = REACH * bandwidth;
    let density =
        |at: f64| vectorised(Bumps { points: sorted.between(at - reach, at + reach), at, bandwidth });
    let mut best = (f64::NEG_INFINITY, mean);
    for i in 0..GRID {
        let at = low + (high - low) * i as f64 / (GRID - 1) as f64;
        let height = density(at);
        if height > best.0 {
            best = (height, at);
        }
    }
    best.1
}

/// The height of a density, but for a factor, at one place: of a bump at each of some points with their weights.
struct Bumps<'a> {
    points: &'a [(f64, f64)],
    at: f64,
    bandwidth: f64,
}

impl Loop for Bumps<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        const LANES: usize = 8;
        let bump = |&(unit, weight): &(f64, f64)| {
            let step = (unit - self.at) / self.bandwidth;
            weight * exp(-0.5 * step * step)
        };
        let (eights, rest) = self.points.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for points in eights {
            for lane in 0..LANES {
                sums[lane] += bump(&points[lane]);
            }
        }
        rest.iter().map(bump).sum::<f64>() + sums.iter().sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::LogWeights;
    use crate::problem::law;
    use crate::table::Table;

    fn population(prior: &Prior, naturals: &[f64], ln: Vec<f64>) -> Population {
        let units: Vec<f64> = naturals.iter().map(|&v| prior.marginals()[0].unit(v)).collect();
        Population {
            rows: (0..naturals.len() as u32).collect(),
            units: Table::from_rows(1, units),
            thetas: Table::from_rows(1, naturals.to_vec()),
            weights: LogWeights::new(ln).unwrap(),
            distances: vec![0.0; naturals.len()],
        }
    }

    #[test]
    fn weighted_moments_and_quantiles_by_hand() {
        let prior =
            Prior::new(vec![Marginal::new("k", Box::new(law::LogUniform::new(0.01, 100.0).unwrap()))]);
        let ln = vec![0.0, libm::log(2.0), 0.0];
        let summary = &summarise(&prior, &population(&prior, &[1.0, 10.0, 100.0], ln))[0];
        assert!((summary.mean - 30.25).abs() < 1e-12);
        assert_eq!(summary.quantiles, [1.0, 1.0, 10.0, 10.0, 100.0]);
        let (mean, sd) = summary.log10.unwrap();
        assert!((mean - 1.0).abs() < 1e-12 && (sd - 0.5f64.sqrt()).abs() < 1e-12);
        assert!((summary.histogram.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(summary.histogram[12], 0.25, "1 is the middle of 0.01 .. 100");
        assert!((summary.range.0 - 0.01).abs() < 1e-12 && (summary.range.1 - 100.0).abs() < 1e-9);
    }

    #[test]
    fn the_mode_is_where_the_weight_is() {
        let prior = Prior::new(vec![Marginal::new("x", Box::new(law::Normal::new(0.0, 1.0).unwrap()))]);
        let values: Vec<f64> =
            (0..200).map(|i| if i < 150 { 1.0 + f64::from(i % 10) * 0.01 } else { -2.0 }).collect();
        let summary = &summarise(&prior, &population(&prior, &values, vec![0.0; 200]))[0];
        assert!((summary.mode - 1.045).abs() < 0.05, "{}", summary.mode);
        let points: Vec<(f64, f64)> = (0..29).map(|i| (f64::from(i * i) / 100.0, f64::from(i))).collect();
        let height = vectorised(Bumps { points: &points, at: 1.7, bandwidth: 0.9 });
        let plain = |(x, w): &(f64, f64)| w * libm::exp(-0.5 * ((x - 1.7) / 0.9).powi(2));
        assert!((height - points.iter().map(plain).sum::<f64>()).abs() < 1e-12);
        assert!(summary.log10.is_none());
    }
}
