//! Weighted particles that survived a generation.

use crate::digits;
use crate::problem::Prior;
use crate::problem::law::Scale;
use crate::table::Table;

/// Importance weights kept as logs. Immutable; derived quantities are computed on construction.
#[derive(Clone, Debug, PartialEq)]
pub struct LogWeights {
    ln: Vec<f64>,
    normalised: Vec<f64>,
}

impl LogWeights {
    /// Normalises `ln`; `None` when no weight is positive and finite.
    #[must_use]
    pub fn new(ln: Vec<f64>) -> Option<Self> {
        let top = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return None;
        }
        let raw: Vec<f64> = ln.iter().map(|w| libm::exp(w - top)).collect();
        let total: f64 = raw.iter().sum();
        Some(Self { ln, normalised: raw.iter().map(|w| w / total).collect() })
    }

    /// Unnormalised logs.
    #[must_use]
    pub fn ln(&self) -> &[f64] {
        &self.ln
    }

    /// Weights that sum to one.
    #[must_use]
    pub fn normalised(&self) -> &[f64] {
        &self.normalised
    }

    /// Kish's effective sample size.
    #[must_use]
    pub fn effective_sample_size(&self) -> f64 {
        1.0 / self.normalised.iter().map(|w| w * w).sum::<f64>()
    }
}

/// The kept particles of one generation, in the order of their rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// Job rows the particles came from, ascending; an adjustment may make several of one.
    pub rows: Vec<u32>,
    /// Unit-space points.
    pub units: Table,
    /// Parameters on their natural scale.
    pub thetas: Table,
    /// Importance weights.
    pub weights: LogWeights,
    /// Distances to the observation, each under the distance weights that accepted it.
    pub distances: Vec<f64>,
}

impl Population {
    /// Number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Kish's effective sample size, of simulations: particles made of the same one count as one.
    #[must_use]
    pub fn effective_sample_size(&self) -> f64 {
        let mut at = 0;
        let squares = self.rows.chunk_by(|a, b| a == b).map(|same| {
            let own: f64 = self.weights.normalised()[at..at + same.len()].iter().sum();
            at += same.len();
            own * own
        });
        1.0 / squares.sum::<f64>()
    }

    /// The same to the digits that mean something: points of unit space follow from the natural parameters (and so lie inside the
    /// prior), but for whole numbers, which do not tell them; weights and distances are in single precision.
    #[must_use]
    pub fn settled(mut self, prior: &Prior) -> Self {
        for (j, marginal) in prior.marginals().iter().enumerate() {
            if marginal.scale() != Scale::Whole {
                (0..self.len())
                    .for_each(|at| self.units.row_mut(at)[j] = marginal.unit(self.thetas.at(at, j)));
            }
        }
        let ln = self.weights.ln().iter().map(|&ln| digits::single(ln)).collect();
        // What had a weight still has.
        self.weights = LogWeights::new(ln).unwrap_or(self.weights);
        self.distances.iter_mut().for_each(|distance| *distance = digits::single(*distance));
        self
    }

    /// Whether these particles lie elsewhere than others that were simulated as the same rows, which ascend there.
    #[must_use]
    pub fn is_elsewhere(&self, others: &Self) -> bool {
        let place = |row: &u32| others.rows.binary_search(row).ok();
        let mut both = self
            .rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| place(row).map(|other| (at, other)))
            .peekable();
        both.peek().is_none() || both.any(|(at, other)| self.units.row(at) != others.units.row(other))
    }

    /// Whether there is no particle.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Marginal;
    use crate::problem::law::{Integer, Law, LogUniform};

    #[test]
    fn weights_survive_logs_that_would_underflow() {
        let weights = LogWeights::new(vec![-2000.0, -2000.0 - libm::log(3.0), f64::NEG_INFINITY]).unwrap();
        assert!((weights.normalised()[0] - 0.75).abs() < 1e-12);
        assert_eq!(weights.normalised()[2], 0.0);
        assert!((weights.effective_sample_size() - 1.6).abs() < 1e-12);
        assert_eq!(LogWeights::new(vec![f64::NEG_INFINITY]), None);
    }

    #[test]
    fn settled_particles_follow_from_their_parameters_and_stay_so() {
        let laws: [(&str, Box<dyn Law>); 2] = [
            ("k", Box::new(LogUniform::new(1e-3, 1e3).unwrap())),
            ("n", Box::new(Integer::new(1.0, 9.0).unwrap())),
        ];
        let prior = Prior::new(laws.into_iter().map(|(name, law)| Marginal::new(name, law)).collect());
        let units = Table::from_rows(2, vec![0.123_456_789, 0.1, -1.5, -0.7, 9.0, 0.2]);
        let mut thetas = Table::filled(3, 2, 0.0);
        (0..3).for_each(|row| prior.natural(units.row(row), thetas.row_mut(row)));
        let weights = LogWeights::new(vec![-0.1, f64::NEG_INFINITY, 1.0 / 3.0]).unwrap();
        let distances = vec![0.1, 1e300 / 3.0, 0.0];
        let made = Population {
            rows: vec![0, 4, 7],
            units: units.clone(),
            thetas: thetas.clone(),
            weights,
            distances,
        };
        let settled = made.clone().settled(&prior);
        assert_eq!(settled.thetas, thetas);
        for row in 0..3 {
            assert_eq!(settled.units.at(row, 0), prior.marginals()[0].unit(thetas.at(row, 0)));
            assert_eq!(settled.units.at(row, 1), units.at(row, 1), "whole numbers do not tell");
        }
        assert!((settled.units.at(0, 0) - units.at(0, 0)).abs() < 1e-10);
        // The last lay beyond the prior.
        assert!((settled.units.at(2, 0) - 3.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(settled.weights.ln(), [f64::from(-0.1_f32), f64::NEG_INFINITY, f64::from(1.0_f32 / 3.0)]);
        assert_eq!(settled.distances[0], f64::from(0.1_f32));
        assert!((settled.distances[1] / made.distances[1] - 1.0).abs() < 6e-8);
        assert_eq!(settled.clone().settled(&prior), settled);
    }

    #[test]
    fn more_or_fewer_particles_lie_where_they_lay() {
        let at = |rows: &[u32], step: f64| Population {
            rows: rows.to_vec(),
            units: Table::from_rows(1, rows.iter().map(|&row| f64::from(row) + step).collect()),
            thetas: Table::filled(rows.len(), 1, 0.0),
            weights: LogWeights::new(vec![0.0; rows.len()]).unwrap(),
            distances: vec![0.0; rows.len()],
        };
        let accepted = at(&[2, 5, 9], 0.0);
        assert!(!at(&[2, 3, 5, 7, 9, 11], 0.0).is_elsewhere(&accepted));
        assert!(!at(&[5], 0.0).is_elsewhere(&accepted));
        assert!(at(&[1, 5], 0.1).is_elsewhere(&accepted));
        assert!(at(&[1, 3], 0.0).is_elsewhere(&accepted), "none of them was accepted");
    }

    #[test]
    fn particles_of_one_simulation_count_as_one() {
        let points = Table::filled(4, 1, 0.0);
        let weights = LogWeights::new([1.0, 1.0, 2.0, 4.0].map(libm::log).to_vec()).unwrap();
        let (units, thetas, distances) = (points.clone(), points, vec![0.0; 4]);
        let population = Population { rows: vec![2, 2, 5, 9], units, thetas, weights, distances };
        assert!((population.effective_sample_size() - 64.0 / 24.0).abs() < 1e-12);
    }
}
