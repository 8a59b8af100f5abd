//! Choosing some of the statistics and leaving out the others.

mod approximate_sufficiency;
mod bandit;
mod least_entropy;
mod likelihood_ratio;
mod trials;
mod two_stage;

pub use approximate_sufficiency::ApproximateSufficiency;
pub use bandit::{Arms, Bandit};
pub use least_entropy::LeastEntropy;
pub use likelihood_ratio::LikelihoodRatio;
pub use two_stage::TwoStage;

use super::{Features, Projection, ReduceError};
use crate::stacked::Stacked;
use crate::table::Table;
use crate::view::View;

/// Importance weights of rows, the largest one; all one where the prior proposed.
fn masses(view: &View<'_>, rows: &[u32]) -> Vec<f64> {
    if view.importance.is_equal() {
        return vec![1.0; rows.len()];
    }
    let logs: Vec<f64> = rows.iter().map(|&row| view.importance.ln(row)).collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.into_iter().map(|ln| libm::exp(ln - top)).collect()
}

/// The chosen statistics, by number.
struct Columns(Vec<usize>);

impl Columns {
    /// A choice; everything that varies where nothing was chosen.
    fn of(mut chosen: Vec<usize>, view: &View<'_>) -> Box<dyn Projection> {
        chosen.sort_unstable();
        Box::new(Self(if chosen.is_empty() { view.varying() } else { chosen }))
    }
}

impl Projection for Columns {
    fn names(&self, statistics: &[String], _: &[String]) -> Vec<String> {
        self.0.iter().map(|&j| statistics[j].clone()).collect()
    }

    fn features(&self, summaries: Stacked<'_>) -> Features {
        let data = summaries.iter().flat_map(|row| self.0.iter().map(move |&j| row.at(j))).collect();
        Features::Instead(Table::from_rows(self.0.len(), data))
    }
}

/// The statistics that vary.
///
/// # Errors
/// If there are none.
fn candidates(view: &View<'_>) -> Result<Vec<usize>, ReduceError> {
    let varying = view.varying();
    if varying.is_empty() { Err(ReduceError::NoVariation(view.spread.len())) } else { Ok(varying) }
}

#[cfg(test)]
mod testing {
    use super::super::Reduction;
    use crate::divergence::Space;
    use crate::divergence::testing::{gaussian, normal_prior};
    use crate::propose::Importance;
    use crate::stream::{Seed, Stage};
    use crate::table::Table;
    use crate::view::{View, standard_deviations};
    use crate::workers::Serial;

    /// What a rule chooses of six statistics of two parameters: the second and the fifth tell one parameter each, the
    /// others are noise.
    pub(crate) fn chosen(reduction: &dyn Reduction) -> Vec<String> {
        let prior = normal_prior(2);
        let (units, noise) = (gaussian(4000, 2, 0.0, 1.0, 3), gaussian(4000, 6, 0.0, 1.0, 4));
        let mut features = noise;
        for row in 0..4000 {
            features.row_mut(row)[1] = units.at(row, 0) + 0.1 * features.at(row, 1);
            features.row_mut(row)[4] = 100.0 * (units.at(row, 1) + 0.1 * features.at(row, 4));
        }
        let rows: Vec<u32> = (0..4000).collect();
        let spread = standard_deviations(&features, &rows);
        let observed = [0.0, 0.5, 0.0, 0.0, -50.0, 0.0];
        let view = View {
            units: &units,
            features: (&features).into(),
            observed: &observed,
            rows: &rows,
            spread: &spread,
            importance: &Importance::equal(),
            space: &Space::new(&prior, &units, Seed(1), 200),
            learned: crate::reduce::Estimates::default(),
            adjusts: false,
            keep: 200,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        let fitted = reduction.fit(&view, &mut Seed(5).stream(Stage::Reduce, 0, 0)).unwrap();
        let one = Table::from_rows(6, observed.to_vec());
        let names: Vec<String> = (0..6).map(|j| format!("s{j}")).collect();
        let chosen = fitted.names(&names, &["a".into(), "b".into()]);
        assert_eq!(fitted.features((&one).into()).of((&one).into()).columns(), chosen.len());
        chosen
    }
}
