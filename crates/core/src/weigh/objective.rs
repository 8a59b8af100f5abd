//! The function that a search maximises: the divergence from the prior of the rows that weights accept.
//!
//! This is the inner loop of the whole method. Once warm it does not allocate.

use super::sums::Distances;
use crate::divergence::Gauge;
use crate::view::View;

/// Log weights, in units of one over each feature's spread, to the divergence of the accepted rows.
pub struct Objective<'a> {
    rows: &'a [u32],
    distances: Distances,
    gauge: Box<dyn Gauge + 'a>,
    accepted: Vec<u32>,
    evaluations: usize,
}

impl<'a> Objective<'a> {
    /// The objective over `rows`, accepting `keep` of them. `varying` are the features it may weigh.
    #[must_use]
    pub fn new(
        view: &View<'a>,
        rows: &'a [u32],
        varying: &[usize],
        keep: usize,
        gauge: Box<dyn Gauge + 'a>,
    ) -> Self {
        let distances = Distances::new(view, rows, varying, keep);
        Self { rows, distances, gauge, accepted: Vec::with_capacity(keep), evaluations: 0 }
    }

    /// How often it was evaluated.
    #[must_use]
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The divergence of the rows that `point` accepts.
    pub fn evaluate(&mut self, point: &[f64]) -> f64 {
        self.evaluations += 1;
        self.distances.nearest(point, &mut self.accepted);
        for position in &mut self.accepted {
            *position = self.rows[*position as usize];
        }
        self.gauge.measure(&self.accepted)
    }

    /// Tells that the last point evaluated is the best so far: the next will resemble it.
    pub fn anchor(&mut self) {
        self.distances.anchor();
        self.gauge.anchor();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::{Divergence, Entropy, Space};
    use crate::propose::Importance;
    use crate::reduce::Estimates;
    use crate::select;
    use crate::stream::{Seed, Stage};
    use crate::table::Table;
    use crate::workers::Serial;
    use rand::RngExt;

    /// A walk like a search's, with incremental sums and repaired neighbours, against the plain definition.
    #[test]
    fn evaluation_equals_the_definition_along_a_walk() {
        let (rows, kappa) = (3000usize, 9usize);
        let units = crate::divergence::testing::gaussian(rows, 2, 0.0, 1.0, 5);
        let prior = crate::divergence::testing::normal_prior(2);
        let mut rng = Seed(9).stream(Stage::Weigh, 0, 0);
        let mut features = Table::filled(rows, kappa, 0.0);
        for row in 0..rows {
            for j in 0..kappa {
                features.row_mut(row)[j] = units.at(row, j % 2) * j as f64 + rng.random_range(-1.0..1.0);
            }
        }
        let observed = vec![0.3; kappa];
        let all: Vec<u32> = (0..rows as u32).collect();
        let spread = crate::view::standard_deviations(&features, &all);
        let (importance, space) = (Importance::equal(), Space::new(&prior, &units, Seed(1), 1));
        let view = View {
            units: &units,
            features: (&features).into(),
            observed: &observed,
            rows: &all,
            spread: &spread,
            importance: &importance,
            space: &space,
            learned: Estimates::default(),
            adjusts: false,
            keep: 150,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        let plan = Entropy::default();
        let varying = view.varying();
        let mut objective = Objective::new(&view, &all, &varying, 150, plan.gauge(&space, &importance));
        let mut point = vec![0.0; kappa];
        for step in 0..160 {
            let j = rng.random_range(0..kappa);
            if step < 120 {
                // Small moves stay with the near rows, large ones do not.
                let size: f64 = if step % 2 == 0 { 0.05 } else { 1.5 };
                point[j] = f64::clamp(point[j] + rng.random_range(-size..size), -4.0, 4.0);
            } else {
                // One weight that dominates, falling again and again: what is left must not be rounding errors.
                point[3] = if step == 120 { 9.0 } else { point[3] - 0.5 };
            }
            let value = objective.evaluate(&point);
            if step % 3 == 0 || step >= 120 {
                objective.anchor();
            }
            let weights: Vec<f64> = (0..kappa).map(|j| libm::exp(point[j]) / spread[j]).collect();
            let distances = select::distances(&features, &observed, &weights, &all);
            let kept: Vec<u32> = select::nearest(&distances, 150).into_iter().map(|i| i as u32).collect();
            let threshold = kept.iter().map(|&row| distances[row as usize]).fold(0.0, f64::max);
            // Single precision may swap rows at the threshold that are equal to five digits, and no others.
            let differ = objective.accepted.iter().filter(|row| !kept.contains(row));
            let missed = kept.iter().filter(|row| !objective.accepted.contains(row));
            for &row in differ.chain(missed) {
                let gap = (distances[row as usize] / threshold - 1.0).abs();
                assert!(gap < 1e-5, "step {step}: row {row} is off the threshold by {gap}");
            }
            let plain = plan.gauge(&space, &importance).measure(&objective.accepted);
            assert!((value - plain).abs() < 1e-12, "step {step}: {value}, plain {plain}");
        }
    }
}
