//! The corrected Algorithm 2: weights that carry the accepted rows furthest from the prior, cross-fitted.

use super::formula::normalised;
use super::{Choice, Fold, Formula, Objective, WeighError, Weighting, baselines};
use crate::divergence::{Divergence, Entropy};
use crate::search::{Best, Search, SparseMutation, Task};
use crate::stream::{Seed, Stage, Stream};
use crate::view::View;
use crate::workers;
use rand::Rng;

/// Maximises a divergence over log weights, starting from the best of the simple rules.
///
/// Weights that maximise the divergence on the very rows they then accept make posteriors that are too
/// narrow. With `cross_fit`, weights learned on one half of the simulations accept in the other half, and the
/// reverse.
#[derive(Debug)]
pub struct Hellinger {
    /// How far the accepted are from the prior.
    pub divergence: Box<dyn Divergence>,
    /// How weights are searched.
    pub search: Box<dyn Search>,
    /// Evaluations of each fold's search, the starts included.
    pub evaluations: usize,
    /// Learn on one half, accept in the other.
    pub cross_fit: bool,
    /// Price of moving a log weight away from its start, on average over the weights.
    pub penalty: f64,
    /// Rules to start from.
    pub starts: Vec<Box<dyn Formula>>,
    /// Start from the weights of the generation before, too.
    pub warm: bool,
}

impl Default for Hellinger {
    fn default() -> Self {
        Self {
            divergence: Box::new(Entropy { neighbours: Self::NEIGHBOURS, ..Entropy::default() }),
            search: Box::new(SparseMutation::default()),
            evaluations: Self::EVALUATIONS,
            cross_fit: true,
            penalty: Self::PENALTY,
            starts: baselines(),
            warm: true,
        }
    }
}

/// How far, in natural logarithms, a weight may be moved beyond all starts.
const REACH: f64 = 7.0;

impl Weighting for Hellinger {
    fn choose(&self, view: &View<'_>, rng: &mut Stream) -> Result<Choice, WeighError> {
        if view.varying().is_empty() {
            return Err(WeighError::NoVariation(view.spread.len()));
        }
        if self.cross_fit {
            let (folds, evaluations) = self.fit(view, halves(view), rng);
            return Ok(Choice {
                folds,
                audit: Vec::new(),
                evaluations,
                evidence: Vec::new(),
                compared: Vec::new(),
            });
        }
        Ok(self.choose_in_sample(view, rng))
    }
}

/// Two folds: even usable rows learn for odd ones, and the reverse.
fn halves(view: &View<'_>) -> Vec<Fold> {
    let part = |parity: usize| view.rows.iter().copied().skip(parity).step_by(2).collect::<Vec<u32>>();
    let (even, odd) = (part(0), part(1));
    let fold = |learned: &Vec<u32>, accepts: &Vec<u32>, keep: usize| Fold {
        weights: Vec::new(),
        learned: learned.clone(),
        accepts: accepts.clone(),
        keep: keep.min(accepts.len()),
    };
    let second = view.keep / 2;
    vec![fold(&odd, &even, view.keep - second), fold(&even, &odd, second)]
}

/// One fold that learns from the rows in which it accepts.
fn whole(view: &View<'_>) -> Fold {
    Fold { weights: Vec::new(), learned: view.rows.to_vec(), accepts: view.rows.to_vec(), keep: view.keep }
}

impl Hellinger {
    /// Neighbours of the default estimator: twice those of a report, for a smoother objective.
    pub const NEIGHBOURS: usize = 10;
    /// Evaluations of the default search.
    pub const EVALUATIONS: usize = 300;
    /// The default penalty.
    pub const PENALTY: f64 = 0.05;

    /// Learns on all rows and accepts in them. The same search on halves audits the optimism; it takes no part in
    /// the posterior.
    pub(super) fn choose_in_sample(&self, view: &View<'_>, rng: &mut Stream) -> Choice {
        let (folds, searched) = self.fit(view, vec![whole(view)], rng);
        let (audit, audited) = self.fit(view, halves(view), rng);
        Choice { folds, audit, evaluations: searched + audited, evidence: Vec::new(), compared: Vec::new() }
    }

    /// Finds the weights of each fold; gives also the evaluations in all.
    fn fit(&self, view: &View<'_>, plan: Vec<Fold>, rng: &mut Stream) -> (Vec<Fold>, usize) {
        let seed = Seed(rng.next_u64());
        let found = workers::map(view.workers, plan.len(), |index| {
            let fold = &plan[index];
            self.search_one(view, fold, &mut seed.stream(Stage::Weigh, 0, index as u64))
        });
        let evaluations = found.iter().map(|(_, count)| count).sum();
        let folds = plan.into_iter().zip(found).map(|(fold, (weights, _))| Fold { weights, ..fold });
        (folds.collect(), evaluations)
    }

    fn search_one(&self, view: &View<'_>, fold: &Fold, rng: &mut Stream) -> (Vec<f64>, usize) {
        let varying = view.varying();
        let starts = self.log_starts(view, fold, &varying);
        let bounds: Vec<(f64, f64)> = (0..varying.len())
            .map(|j| {
                let ends = starts.iter().map(|start| start[j]);
                (
                    ends.clone().fold(f64::INFINITY, f64::min) - REACH,
                    ends.fold(f64::NEG_INFINITY, f64::max) + REACH,
                )
            })
            .collect();
        let gauge = self.divergence.gauge(view.space, view.importance);
        // Where failures left hardly more rows than are kept, one half may be smaller than the other's share.
        let keep = fold.keep.min(fold.learned.len());
        let mut objective = Objective::new(view, &fold.learned, &varying, keep, gauge);
        let mut best = Best { point: starts[0].clone(), value: f64::NEG_INFINITY };
        for start in &starts {
            let value = objective.evaluate(start);
            if value > best.value {
                best = Best { point: start.clone(), value };
                objective.anchor();
            }
        }
        let (origin, mut top) = (best.point.clone(), best.value);
        // A weight of nothing is no price: the fewer statistics, the better.
        let zeros = self.search.floor_is_zero();
        let off = |j: usize, x: f64| zeros && x <= bounds[j].0;
        let mut penalised = |point: &[f64]| {
            let moves = point.iter().zip(&origin).enumerate();
            let moved = moves.map(|(j, (a, b))| if off(j, *a) { 0.0 } else { (a - b).abs() }).sum::<f64>()
                / origin.len() as f64;
            let value = objective.evaluate(point) - self.penalty * moved;
            if value >= top {
                top = value;
                objective.anchor();
            }
            value
        };
        let evaluations = self.evaluations.saturating_sub(starts.len());
        let task = Task { objective: &mut penalised, bounds: &bounds, start: best, evaluations };
        let best = self.search.maximise(task, rng);
        let mut weights = vec![0.0; view.observed.len()];
        for (at, (&j, x)) in varying.iter().zip(&best.point).enumerate() {
            weights[j] = if off(at, *x) { 0.0 } else { libm::exp(*x) / view.spread[j] };
        }
        (normalised(weights, view.spread), objective.evaluations())
    }

    /// The starts as log weights in units of one over the spread, each about zero.
    fn log_starts(&self, view: &View<'_>, fold: &Fold, varying: &[usize]) -> Vec<Vec<f64>> {
        let log = |weights: Vec<f64>| {
            let scaled: Vec<f64> = varying.iter().map(|&j| weights[j] * view.spread[j]).collect();
            let top = scaled.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            // A weight of nothing is a thousandth of the largest: a search can still raise it.
            let logs: Vec<f64> = scaled.iter().map(|w| libm::log((w / top).max(1e-3))).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            logs.into_iter().map(|x| x - mean).collect::<Vec<f64>>()
        };
        let formulas = self.starts.iter().map(|start| start.weights(view, &fold.learned));
        let previous = view.previous.filter(|weights| self.warm && weights.len() == view.observed.len());
        formulas.chain(previous.map(<[f64]>::to_vec)).map(log).collect()
    }
}
