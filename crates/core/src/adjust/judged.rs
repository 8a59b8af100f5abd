//! An adjustment that proves itself on pseudo-observations, or is left alone.

use super::{Accepted, AdjustError, Adjusted, Adjustment, Regression, Simulations};
use crate::population::{LogWeights, Population};
use crate::select::{distances, nearest};
use crate::table::Table;
use crate::trials::{STAND_INS, Trials, systematic, verdicts};
use crate::workers;

/// Chooses how many of the nearest simulations to take and how to adjust them, by what tells the parameters of
/// pseudo-observations near the data best. Where no adjustment does better than the accepted as they are, these stay.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Pseudo-observations.
    pub trials: usize,
}

impl Default for Judged {
    fn default() -> Self {
        Self { trials: 80 }
    }
}

/// Simulations that are taken: as many times as are kept.
const SHARES: [f64; 4] = [1.0, 2.5, 6.0, 60.0];
/// And at the most.
const MOST: usize = 6_000;
/// Neighbours of pseudo-observations are looked for among so many times as many simulations nearest to the data.
const REGION: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    Linear,
    Heteroscedastic,
}

impl Adjustment for Judged {
    fn adjust(&self, accepted: &Accepted<'_>, all: &Simulations<'_>) -> Result<Adjusted, AdjustError> {
        let view = all.view;
        let most = MOST.max(view.keep).min(view.rows.len() - 1);
        let mut sizes: Vec<usize> =
            SHARES.iter().map(|share| ((view.keep as f64 * share) as usize).clamp(2, most)).collect();
        sizes.dedup();
        let regressors = accepted.distance_weights.iter().filter(|weight| **weight > 0.0).count();
        let fits = |size: &&usize| Regression::default().particles_for(regressors) <= **size;
        let mut ways: Vec<(usize, Kind)> = vec![(view.keep, Kind::None)];
        // A larger sample is preferred to a smaller one.
        let larger = sizes.iter().rev().filter(|&&size| size <= 3 * view.keep && size != view.keep);
        ways.extend(larger.map(|&size| (size, Kind::None)));
        ways.extend(sizes.iter().rev().filter(fits).map(|&size| (size, Kind::Linear)));
        let trials = Trials::new(view, accepted.distance_weights, view.keep, self.trials);
        let region = Near::new(all, accepted.distance_weights, accepted.observed, REGION * most);
        let near =
            workers::map(view.workers, trials.rows.len(), |at| region.about(accepted, trials.rows[at], most));
        let score = |at: usize, &(size, kind): &(usize, Kind)| {
            let (row, near) = (trials.rows[at] as usize, &near[at]);
            let (observed, truth) = (view.features.row(row), view.units.row(row));
            near.stand_ins(accepted, observed, size, kind)
                .map_or(f64::INFINITY, |units| trials.score(&units, &[1.0; STAND_INS], truth))
        };
        let mut scores = workers::map(view.workers, near.len(), |at| {
            ways.iter().map(|way| score(at, way)).collect::<Vec<f64>>()
        });
        let total = |way: usize| scores.iter().map(|trial| trial[way]).sum::<f64>();
        let linear = (0..ways.len()).filter(|&way| ways[way].1 == Kind::Linear);
        if let Some(best) = linear.min_by(|&a, &b| total(a).total_cmp(&total(b))) {
            // Sizes of residuals are looked at where the regression is best.
            let way = (ways[best].0, Kind::Heteroscedastic);
            let more = workers::map(view.workers, near.len(), |at| score(at, &way));
            scores.iter_mut().zip(more).for_each(|(trial, score)| trial.push(score));
            ways.push(way);
        }
        let name = |&(size, kind): &(usize, Kind)| {
            let how = match kind {
                Kind::None => "as accepted",
                Kind::Linear => "linear",
                Kind::Heteroscedastic => "linear, heteroscedastic",
            };
            format!("{how}, {size} nearest")
        };
        let (taken, evidence) = verdicts("adjustment", ways.iter().map(name).collect(), &scores);
        let (size, kind) = ways[taken];
        if (size, kind) == (view.keep, Kind::None) {
            return Ok(Adjusted { population: accepted.population.clone(), evidence });
        }
        let population = region.take(size).ok_or(AdjustError::NoVariation)?;
        let population = match plan(kind) {
            None => population,
            Some(plan) => {
                let features = view.features.select(&population.rows);
                plan.correct(&Accepted { population: &population, features: &features, ..*accepted })?
            }
        };
        Ok(Adjusted { population, evidence })
    }
}

fn plan(kind: Kind) -> Option<Regression> {
    let heteroscedastic = kind == Kind::Heteroscedastic;
    (kind != Kind::None).then(|| Regression { heteroscedastic, ..Regression::default() })
}

/// Some simulations with their distances, from the nearest.
struct Near<'a> {
    all: &'a Simulations<'a>,
    rows: Vec<(f64, u32)>,
}

impl<'a> Near<'a> {
    /// Those nearest to the data.
    fn new(all: &'a Simulations<'a>, weights: &[f64], observed: &[f64], most: usize) -> Self {
        let view = all.view;
        let distances = distances(view.features, observed, weights, view.rows);
        let kept = nearest(&distances, most.min(view.rows.len()));
        Self::sorted(all, kept.into_iter().map(|at| (distances[at], view.rows[at])).collect())
    }

    /// Of these, the ones nearest to one of them, without itself.
    fn about(&self, accepted: &Accepted<'_>, row: u32, most: usize) -> Self {
        let mut others: Vec<u32> =
            self.rows.iter().map(|&(_, row)| row).filter(|&other| other != row).collect();
        others.sort_unstable();
        let observed = self.all.view.features.row(row as usize);
        let distances = distances(self.all.view.features, observed, accepted.distance_weights, &others);
        let kept = nearest(&distances, most.min(others.len()));
        Self::sorted(self.all, kept.into_iter().map(|at| (distances[at], others[at])).collect())
    }

    fn sorted(all: &'a Simulations<'a>, mut rows: Vec<(f64, u32)>) -> Self {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Self { all, rows }
    }

    /// The population of the `size` nearest.
    fn take(&self, size: usize) -> Option<Population> {
        let mut chosen = self.rows[..size.min(self.rows.len())].to_vec();
        chosen.sort_unstable_by_key(|&(_, row)| row);
        let rows: Vec<u32> = chosen.iter().map(|&(_, row)| row).collect();
        let ln = rows.iter().map(|&row| self.all.view.importance.ln(row)).collect();
        Some(Population {
            units: self.all.view.units.select(&rows),
            thetas: self.all.thetas.select(&rows),
            weights: LogWeights::new(ln)?,
            distances: chosen.iter().map(|&(distance, _)| distance).collect(),
            rows,
        })
    }

    /// Equally weighted points that stand for the `size` nearest, adjusted to an observation.
    fn stand_ins(&self, accepted: &Accepted<'_>, observed: &[f64], size: usize, kind: Kind) -> Option<Table> {
        let population = self.take(size)?;
        let Some(plan) = plan(kind) else {
            let picked = systematic(population.weights.normalised(), STAND_INS);
            let picked: Vec<u32> = picked.into_iter().map(|at| at as u32).collect();
            return Some(population.units.select(&picked));
        };
        let features = self.all.view.features.select(&population.rows);
        let nearby = Accepted { population: &population, features: &features, observed, ..*accepted };
        plan.stand_ins(&nearby, STAND_INS).ok()
    }
}
