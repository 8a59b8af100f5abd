//! The posterior predictive check: observed statistics against those of the accepted simulations.

use counterpoise_core::problem::Problem;
use counterpoise_core::summary::quantile;
use counterpoise_core::table::Table;

/// One statistic, observed and simulated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) place: usize,
    pub(crate) observed: f64,
    /// Quantiles of the accepted simulations at 5, 25, 50, 75 and 95 %.
    pub(crate) quantiles: [f64; 5],
    /// Least and most of the accepted simulations.
    pub(crate) ends: (f64, f64),
    /// Twice the probability of a simulation at least as far on the observation's side of the median; 1 at most.
    pub(crate) tail: f64,
}

impl Check {
    /// Whether the observation lies outside the central 90 %.
    pub(crate) fn is_missed(&self) -> bool {
        self.observed < self.quantiles[0] || self.observed > self.quantiles[4]
    }

    /// How far the observation is from the median, in half-widths of the central 90 %.
    pub(crate) fn distance(&self) -> f64 {
        let [low, _, median, _, high] = self.quantiles;
        let half = if self.observed < median { median - low } else { high - median };
        if self.observed == median { 0.0 } else { (self.observed - median).abs() / half }
    }
}

/// Every statistic, in the order of the problem.
pub(crate) fn checks(problem: &Problem, accepted: &Table, weights: &[f64]) -> Vec<Check> {
    let levels = [0.05, 0.25, 0.5, 0.75, 0.95];
    (0..problem.statistics.len())
        .map(|place| {
            let values = accepted.column(place);
            let observed = problem.observed[place];
            let mass = |keep: &dyn Fn(f64) -> bool| -> f64 {
                values.iter().zip(weights).filter(|(value, _)| keep(**value)).map(|(_, weight)| weight).sum()
            };
            let (below, above) = (mass(&|value| value <= observed), mass(&|value| value >= observed));
            Check {
                name: problem.statistics[place].clone(),
                place,
                observed,
                quantiles: levels.map(|level| quantile(&values, weights, level)),
                ends: values
                    .iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v))),
                tail: (2.0 * below.min(above)).min(1.0),
            }
        })
        .collect()
}

/// The worst first.
pub(crate) fn worst_first(checks: &[Check]) -> Vec<&Check> {
    let mut order: Vec<&Check> = checks.iter().collect();
    order.sort_by(|a, b| {
        (a.tail.total_cmp(&b.tail)).then(b.distance().total_cmp(&a.distance())).then(a.place.cmp(&b.place))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::problem::{Marginal, Prior, law};

    #[test]
    fn tails_and_the_order_of_offenders() {
        let law = Box::new(law::Uniform::new(0.0, 1.0).unwrap());
        let problem = Problem {
            prior: Prior::new(vec![Marginal::new("k", law)]).into(),
            statistics: ["middle", "beyond", "edge", "constant"].map(str::to_owned).to_vec(),
            observed: vec![50.0, 200.0, 2.0, 7.0],
        };
        let rows: Vec<f64> = (1..=99).flat_map(|i| [f64::from(i), f64::from(i), f64::from(i), 7.0]).collect();
        let checks = checks(&problem, &Table::from_rows(4, rows), &[1.0 / 99.0; 99]);
        assert_eq!(checks[0].quantiles[2], 50.0);
        assert!(checks[0].tail > 0.99 && !checks[0].is_missed() && checks[0].distance() == 0.0);
        assert!(checks[1].tail == 0.0 && checks[1].is_missed() && checks[1].distance() > 3.0);
        assert!((checks[2].tail - 4.0 / 99.0).abs() < 1e-12 && checks[2].is_missed());
        assert!(checks[3].tail == 1.0 && !checks[3].is_missed());
        let order: Vec<&str> = worst_first(&checks).iter().map(|check| &*check.name).collect();
        assert_eq!(order, ["beyond", "edge", "middle", "constant"]);
    }
}
