//! An adjustment that proves itself on pseudo-observations, or is left alone.

use super::modes::Modes;
use super::{Accepted, AdjustError, Adjusted, Adjustment, Regression, Simulations, Transform};
use crate::near::Near;
use crate::table::Table;
use crate::trials::{STAND_INS, Trials, best, race, systematic, verdicts};
use crate::view::View;
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
        Self { trials: 120 }
    }
}

/// Effective sizes of the samples that are tried: as many times as are kept; beside them all that there are.
const SIZES: [f64; 5] = [0.4, 1.0, 2.5, 6.0, 15.0];
/// Pseudo-observations are chosen among as many as are kept over this: near the data, or they tell of other places.
const REGION: usize = 2;
/// A sample without adjustment is no larger.
const MOST_AS_ACCEPTED: f64 = 2.5;
/// Simulations that trials look among at the most: of more, every second, or third, and so on.
const LOOKED_AMONG: usize = 50_000;
/// Particles that a trial fits a regression to, unless it has more regressors than these are enough for.
const FITTED: usize = 2_000;

/// A way to go.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Way {
    /// Effective size of the sample as a multiple of what is kept; infinite for all.
    size: f64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    Linear,
    /// In unit space, without those that leave the prior.
    Within,
    Heteroscedastic,
    /// A regression for each mode.
    ByMode,
}

impl Kind {
    fn regression(self) -> Option<Regression> {
        let plain = Regression::default();
        match self {
            Self::None => None,
            Self::Linear => Some(plain),
            Self::Within | Self::ByMode => Some(Regression { transform: Transform::Within, ..plain }),
            Self::Heteroscedastic => Some(Regression { heteroscedastic: true, ..plain }),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "as accepted",
            Self::Linear => "linear",
            Self::Within => "linear, unbounded",
            Self::Heteroscedastic => "linear, heteroscedastic",
            Self::ByMode => "linear, by mode",
        }
    }
}

impl Adjustment for Judged {
    fn adjust(&self, accepted: &Accepted<'_>, all: &Simulations<'_>) -> Result<Adjusted, AdjustError> {
        // Only features with a weight matter here, and often they are few of many.
        let used: Vec<usize> =
            (0..accepted.distance_weights.len()).filter(|&j| accepted.distance_weights[j] > 0.0).collect();
        let some = |values: &[f64]| -> Vec<f64> { used.iter().map(|&j| values[j]).collect() };
        let columns = |table: &Table| {
            Table::from_rows(
                used.len().max(1),
                table.iter().flat_map(|row| used.iter().map(|&j| row[j])).collect(),
            )
        };
        if used.is_empty() {
            return Err(AdjustError::NoVariation);
        }
        let (observed, spread) = (some(accepted.observed), some(all.view.spread));
        let features = columns(all.view.features);
        let view = View {
            features: &features,
            observed: &observed,
            spread: &spread,
            learned: 0,
            previous: None,
            ..*all.view
        };
        let accepted = Accepted {
            features: &columns(accepted.features),
            observed: &observed,
            distance_weights: &some(accepted.distance_weights),
            ..*accepted
        };
        self.among(&accepted, &Simulations { view: &view, ..*all })
    }
}

impl Judged {
    fn among(&self, accepted: &Accepted<'_>, all: &Simulations<'_>) -> Result<Adjusted, AdjustError> {
        let view = all.view;
        let regressors = accepted.distance_weights.len();
        let needed = Regression::default().particles_for(regressors);
        let keep = view.keep as f64;
        let step = view.rows.len().div_ceil(LOOKED_AMONG);
        let some: Vec<u32> = view.rows.iter().copied().step_by(step).collect();
        let possible = |&size: &f64| size <= 1.0 || 2.0 * size * keep < view.rows.len() as f64;
        let here =
            Near::to(view, (accepted.observed, accepted.distance_weights), (view.rows, None), usize::MAX);
        let mut sizes: Vec<f64> = SIZES.into_iter().filter(possible).collect();
        sizes.push(f64::INFINITY);
        sizes.dedup_by_key(|size| here.reaching(*size * keep));
        // Of what is as good, the larger sample is preferred.
        let fits = |size: &&f64| **size * keep / step as f64 >= needed as f64;
        let linear = sizes.iter().rev().filter(fits).map(|&size| (size, Kind::Linear));
        let none = sizes.iter().rev().filter(|size| **size <= MOST_AS_ACCEPTED);
        let mut ways: Vec<Way> = linear
            .chain(none.map(|&size| (size, Kind::None)))
            .map(|(size, kind)| Way { size, kind })
            .collect();
        let trials = Trials::new(view, accepted.distance_weights, view.keep.div_ceil(REGION), self.trials);
        let modes = Modes::find(&accepted.population.units, accepted.population.weights.normalised());
        if !modes.is_one() {
            // Regressions by mode may be good where one for all is not.
            let enough = |size: &&f64| **size * keep / step as f64 >= (needed * modes.count()) as f64;
            let by_mode = sizes.iter().rev().filter(enough);
            ways.extend(by_mode.map(|&size| Way { size, kind: Kind::ByMode }));
        }
        let score = |at: usize, ways: &[Way]| -> Vec<f64> {
            let row = trials.rows[at];
            let (observed, truth) = (view.features.row(row as usize), view.units.row(row as usize));
            let near = Near::to(view, (observed, accepted.distance_weights), (&some, Some(row)), usize::MAX);
            let one = |way: &Way| {
                let size = near.reaching(way.size * keep / step as f64);
                stand_ins(&near, &Accepted { observed, ..*accepted }, view, size, way.kind, &modes)
                    .filter(|(units, _)| units.rows() >= STAND_INS / 4)
                    .map_or(f64::INFINITY, |(units, effective)| {
                        // In the end there are so many times as many.
                        trials.score(&units, &vec![1.0; units.rows()], truth, effective * step as f64)
                    })
            };
            ways.iter().map(one).collect()
        };
        let mut scores = race(view.workers, trials.rows.len(), ways.len(), |at, left| {
            score(at, &left.iter().map(|&way| ways[way]).collect::<Vec<Way>>())
        });
        let stayed = |way: &usize| scores.iter().all(|trial| !trial[*way].is_nan());
        let linear: Vec<usize> =
            (0..ways.len()).filter(|&way| ways[way].kind == Kind::Linear).filter(stayed).collect();
        if !linear.is_empty() {
            // What else a regression may do is looked at where it is best.
            let size = ways[best(&scores, &linear)].size;
            let is_bounded = |marginal: &crate::problem::Marginal| {
                let (low, high) = marginal.unit_support();
                low.is_finite() && high.is_finite()
            };
            let mut more = vec![Way { size, kind: Kind::Heteroscedastic }];
            if accepted.prior.marginals().iter().any(is_bounded) {
                more.push(Way { size, kind: Kind::Within });
            }
            let scored = workers::map(view.workers, scores.len(), |at| score(at, &more));
            scores.iter_mut().zip(scored).for_each(|(trial, scored)| trial.extend(scored));
            ways.extend(more);
        }
        let sizes: Vec<usize> = ways.iter().map(|way| here.reaching(way.size * keep)).collect();
        let names = ways
            .iter()
            .zip(&sizes)
            .map(|(way, size)| format!("{}, {size} nearest", way.kind.name()))
            .collect();
        let (taken, evidence) = verdicts("adjustment", names, &scores);
        let population = here.every(1, sizes[taken], all.thetas).ok_or(AdjustError::NoVariation)?;
        let population = match ways[taken].kind.regression() {
            None => population,
            Some(plan) => {
                let features = view.features.select(&population.rows);
                let nearby = Accepted { population: &population, features: &features, ..*accepted };
                let one = Modes::default();
                plan.correct(&nearby, if ways[taken].kind == Kind::ByMode { &modes } else { &one })?
            }
        };
        Ok(Adjusted { population, evidence })
    }
}

/// Equally weighted points that stand for the `size` nearest, adjusted to an observation, and the effective size of
/// these.
fn stand_ins(
    near: &Near<'_>,
    accepted: &Accepted<'_>,
    view: &View<'_>,
    size: usize,
    kind: Kind,
    modes: &Modes,
) -> Option<(Table, f64)> {
    let Some(plan) = kind.regression() else {
        let population = near.every(1, size, view.units)?;
        let picked = systematic(population.weights.normalised(), STAND_INS);
        let picked: Vec<u32> = picked.into_iter().map(|at| at as u32).collect();
        return Some((population.units.select(&picked), population.weights.effective_sample_size()));
    };
    let wanted = FITTED.max(2 * plan.particles_for(accepted.observed.len()) * modes.count());
    let step = size.div_ceil(wanted).max(1);
    let population = near.every(step, size, view.units)?;
    let features = view.features.select(&population.rows);
    let nearby = Accepted { population: &population, features: &features, ..*accepted };
    let one = Modes::default();
    let modes = if kind == Kind::ByMode { modes } else { &one };
    let units = plan.stand_ins(&nearby, modes, STAND_INS).ok()?;
    Some((units, population.weights.effective_sample_size() * step as f64))
}
