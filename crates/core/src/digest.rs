//! From simulations to a population: reduce, weigh, select. One generation as a pure function.

use crate::adjust::{Accepted, AdjustError, Adjustment, Simulations};
use crate::divergence::{Divergence, Entropy, Space};
use crate::influence::{Influence, Measure};
use crate::pool::Pool;
use crate::population::{LogWeights, Population};
use crate::problem::{Failure, Prior, Problem};
use crate::propose::{Kernel, Proposal, ProposeError, Proposed};
use crate::reduce::{Estimates, Features, ReduceError, Reduction};
use crate::select::{distances, distances_each, nearest};
use crate::simulate::Simulated;
use crate::stacked::Stacked;
use crate::stop::Stop;
use crate::stream::{Seed, Stage};
use crate::table::Table;
use crate::trials::Verdict;
use crate::view::{View, standard_deviations};
use crate::weigh::{Choice, Fold, WeighError, Weighting, baselines};
use crate::workers::Workers;

/// How to answer a [`Problem`]: one choice a stage.
#[derive(Debug)]
pub struct Method {
    /// Simulations a generation.
    pub simulations: usize,
    /// Particles kept a generation.
    pub keep: usize,
    /// Where the next parameters come from.
    pub proposal: Box<dyn Proposal>,
    /// What the distance compares.
    pub reduction: Box<dyn Reduction>,
    /// How much each feature counts.
    pub weighting: Box<dyn Weighting>,
    /// How the accepted are corrected, if they are.
    pub adjustment: Option<Box<dyn Adjustment>>,
    /// When to stop.
    pub stop: Box<dyn Stop>,
}

/// Everything that determines the answer except the simulator, which the executor owns.
#[derive(Debug)]
pub struct Analysis {
    /// What is asked.
    pub problem: Problem,
    /// How it is answered.
    pub method: Method,
    /// Root of all randomness.
    pub seed: Seed,
}

impl Analysis {
    /// How many generations before are looked at beside a new one. Weights against a mixture with the prior need its
    /// density with the constant.
    #[must_use]
    pub fn remembers(&self) -> usize {
        let pools = self.method.proposal.pools() && self.problem.prior.is_normalised();
        if pools { (crate::pool::MOST / self.method.simulations.max(1)).saturating_sub(1) } else { 0 }
    }
}

/// Squared Hellinger distance of accepted parameters from the prior, by the entropy estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct Information {
    /// On the simulations that the weights were learned from.
    pub in_sample: f64,
    /// On simulations that the weights have not seen.
    pub held_out: f64,
    /// The simple rules, each on the same simulations as `held_out`.
    pub baselines: Vec<(String, f64)>,
}

/// One failed simulation, with what is needed to repeat it.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureExample {
    /// Job row.
    pub row: usize,
    /// Parameters on their natural scale.
    pub theta: Vec<f64>,
    /// What happened.
    pub failure: Failure,
}

/// How many distances tie at the threshold of acceptance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ties {
    /// Accepted rows whose distance equals that of a rejected one.
    pub at_threshold: usize,
    /// Accepted rows that share their parameters with another.
    pub parameters: usize,
}

/// One finished generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// Index from zero.
    pub index: u32,
    /// Simulations made.
    pub simulations: usize,
    /// Survivors, from which the next generation proposes.
    pub population: Population,
    /// The survivors as an adjustment corrected them, where there is one.
    pub adjusted: Option<Population>,
    /// Names of the features the distance compares.
    pub features: Vec<String>,
    /// Distance weights of each fold.
    pub weights: Vec<Vec<f64>>,
    /// Whether weights were learned on the rows they accept, so that other folds had to judge them.
    pub in_sample: bool,
    /// Evaluations of the search's objective.
    pub evaluations: usize,
    /// What spoke for the rule and the adjustment, where several were tried.
    pub evidence: Vec<Verdict>,
    /// How informative the weights are.
    pub information: Information,
    /// Standard deviation of each feature over the usable simulations: the unit in which weights compare.
    pub spread: Vec<f64>,
    /// How much each statistic counts for the posterior, be it compared as it is or within features, as a share: by the distance, or
    /// by the regression that moved what was accepted. Empty in generations of versions that did not tell.
    pub influence: Vec<f64>,
    /// Features dropped because they never vary.
    pub constant: Vec<usize>,
    /// Features whose observed value no usable simulation of this generation reaches from both sides.
    pub unreached: Vec<usize>,
    /// Ties among the accepted.
    pub ties: Ties,
    /// Simulations that failed.
    pub failed: usize,
    /// The first of them.
    pub failure: Option<FailureExample>,
}

impl Generation {
    /// What the generation says about the parameters.
    #[must_use]
    pub fn posterior(&self) -> &Population {
        self.adjusted.as_ref().unwrap_or(&self.population)
    }

    /// Whether a regression moved what was accepted: an adjustment may take more or fewer and leave them where they are.
    #[must_use]
    pub fn is_moved(&self) -> bool {
        self.adjusted.as_ref().is_some_and(|adjusted| adjusted.is_elsewhere(&self.population))
    }

    /// Where a row of its populations was simulated: in which generation, and which row of that. Beyond the generation's
    /// own simulations come those of the ones before, the newest first.
    #[must_use]
    pub fn origin(&self, row: u32) -> (u32, u32) {
        let each = self.simulations.max(1) as u32;
        (self.index.saturating_sub(row / each), row % each)
    }

    /// What the next generation proposes from.
    ///
    /// # Errors
    /// If the population is too degenerate to perturb.
    pub fn kernel(&self, prior: &Prior, proposal: &dyn Proposal) -> Result<Box<dyn Kernel>, ProposeError> {
        proposal.fit(prior, if proposal.follows_posterior() { self.posterior() } else { &self.population })
    }

    /// Distance weights averaged over folds: what a report shows.
    #[must_use]
    pub fn mean_weights(&self) -> Vec<f64> {
        mean_weights(self.weights.iter().map(|fold| &fold[..]))
    }
}

pub(crate) fn mean_weights<'a>(folds: impl ExactSizeIterator<Item = &'a [f64]> + Clone) -> Vec<f64> {
    let (count, features) = (folds.len() as f64, folds.clone().next().map_or(0, <[f64]>::len));
    (0..features).map(|j| folds.clone().map(|fold| fold[j]).sum::<f64>() / count).collect()
}

/// Why a generation could not be digested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DigestError {
    /// Not enough usable simulations.
    #[error("{failed} of {total} simulations failed: {usable} are usable but {keep} must be kept{}", example(.first))]
    TooFewUsable {
        /// Usable.
        usable: usize,
        /// Failed.
        failed: usize,
        /// Attempted.
        total: usize,
        /// Required.
        keep: usize,
        /// An example.
        first: Option<FailureExample>,
    },
    /// All importance weights vanished.
    #[error("the importance weight of every kept particle is zero")]
    NoWeight,
    /// Reduction failed.
    #[error("reducing the summaries")]
    Reduce(#[from] ReduceError),
    /// Adjustment failed.
    #[error("adjusting the accepted parameters")]
    Adjust(#[from] AdjustError),
    /// Weighting failed.
    #[error("choosing distance weights")]
    Weigh(#[from] WeighError),
}

fn example(first: &Option<FailureExample>) -> String {
    first.as_ref().map_or_else(String::new, |example| {
        format!("; for example row {} at theta = {:?}: {}", example.row, example.theta, example.failure)
    })
}

/// The simulations of a generation before.
pub struct Earlier {
    /// The kernel that proposed; `None` when the prior did.
    pub kernel: Option<Box<dyn Kernel>>,
    /// The parameters.
    pub proposed: Proposed,
    /// Their summaries.
    pub simulated: Simulated,
}

/// What one generation is made from.
pub struct Inputs<'a> {
    /// Index from zero.
    pub index: u32,
    /// The kernel that proposed; `None` when the prior did.
    pub kernel: Option<&'a dyn Kernel>,
    /// The generation before.
    pub previous: Option<&'a Generation>,
    /// The parameters.
    pub proposed: &'a Proposed,
    /// Their summaries.
    pub simulated: &'a Simulated,
    /// The generations before, in order: those whose simulations are used again.
    pub earlier: &'a [Earlier],
}

/// Reduces, weighs and selects. Pure: equal inputs give equal generations, whatever the workers.
///
/// # Errors
/// If too few simulations are usable or no statistic varies.
pub fn digest(
    analysis: &Analysis,
    inputs: &Inputs<'_>,
    workers: &dyn Workers,
) -> Result<Generation, DigestError> {
    let Analysis { problem, method, seed } = analysis;
    let pool = Pool::of(inputs);
    let rows = pool.usable(inputs, method.keep)?;
    let units = &*pool.units;
    let importance = pool.importance(inputs, &problem.prior);
    let space = Space::new(&problem.prior, units, *seed, method.keep);
    let summaries = pool.summaries();
    let spread = standard_deviations(summaries, &rows);
    let raw = View {
        units,
        features: summaries,
        observed: &problem.observed,
        rows: &rows,
        spread: &spread,
        importance: &importance,
        space: &space,
        learned: Estimates::default(),
        adjusts: method.adjustment.is_some(),
        keep: method.keep,
        previous: None,
        tried: inputs.previous.map_or(&[], |previous| &previous.evidence),
        workers,
    };
    let projection = method.reduction.fit(&raw, &mut seed.stream(Stage::Reduce, inputs.index, 0))?;
    let made = projection.features(summaries);
    let features = made.of(summaries);
    let is_known = |row: &u32| projection.knows(units.row(*row as usize));
    let is_part = !rows.iter().all(is_known);
    let known: Option<Vec<u32>> = is_part.then(|| rows.iter().copied().filter(is_known).collect());
    // A region that holds fewer than are kept was found from too few.
    let rows = known.as_ref().filter(|known| known.len() >= method.keep).unwrap_or(&rows);
    let spread = match &made {
        Features::Summaries if rows.len() == raw.rows.len() => spread.clone(),
        Features::Beside(made) if rows.len() == raw.rows.len() => {
            [&spread[..], &standard_deviations(made, rows)].concat()
        }
        _ => standard_deviations(features, rows),
    };
    let observed = Table::from_rows(problem.observed.len(), problem.observed.clone());
    let observed = projection.features((&observed).into()).of((&observed).into()).row(0).to_vec();
    let names = projection.names(&problem.statistics, &problem.prior.names());
    // Weights of other features are of no use here.
    let previous = inputs.previous.filter(|previous| previous.features == names);
    let previous = previous.map(Generation::mean_weights);
    let view = View {
        features,
        observed: &observed,
        rows,
        spread: &spread,
        learned: projection.learned(),
        previous: previous.as_deref(),
        ..raw
    };
    let choice = method.weighting.choose(&view, &mut seed.stream(Stage::Weigh, inputs.index, 0))?;
    let selected: Vec<Selected> =
        choice.folds.iter().map(|fold| accept(&view, fold, &fold.accepts)).collect();
    let population = populate(&view, pool.thetas(), &selected)?;
    let weights = mean_weights(choice.folds.iter().map(|fold| &fold.weights[..]));
    let adjust = |adjustment: &dyn Adjustment| {
        let accepted = Accepted {
            prior: &problem.prior,
            population: &population,
            features: &features.select(&population.rows),
            observed: view.observed,
            distance_weights: &weights,
        };
        adjustment.adjust(&accepted, &Simulations { view: &view, thetas: pool.thetas() })
    };
    let adjusted = method.adjustment.as_deref().map(adjust).transpose()?;
    let (adjusted, judged) =
        adjusted.map_or((None, Vec::new()), |made| (Some(made.population), made.evidence));
    // What was left as accepted stays the same.
    let is_left = adjusted.as_ref() == Some(&population);
    let moved = adjusted.as_ref().filter(|adjusted| adjusted.is_elsewhere(&population));
    let regression = moved.and_then(|moved| Measure::regression((units, features), &weights, moved));
    let measure = regression.unwrap_or(Measure::Distance(&weights));
    // By the newest simulations, which are like the data.
    let newest = rows.partition_point(|&row| (row as usize) < summaries.each());
    let influence = Influence::new(&*projection, &made, problem.observed.len(), view.observed, measure)
        .shares(&problem.observed, summaries, if newest > 0 { &rows[..newest] } else { rows }, workers);
    let population = population.settled(&problem.prior);
    let adjusted =
        if is_left { Some(population.clone()) } else { adjusted.map(|made| made.settled(&problem.prior)) };
    Ok(Generation {
        index: inputs.index,
        simulations: inputs.proposed.units.rows(),
        ties: Ties {
            at_threshold: selected.iter().map(|fold| fold.ties).sum(),
            parameters: repeated(&population.units),
        },
        information: inform(&view, &choice, &selected),
        constant: (0..spread.len()).filter(|&j| spread[j] == 0.0).collect(),
        unreached: unreached(features, view.observed, rows),
        features: names,
        failed: inputs.simulated.failures().len(),
        failure: first_failure(inputs),
        in_sample: !choice.audit.is_empty(),
        evaluations: choice.evaluations,
        evidence: choice.evidence.iter().cloned().chain(judged).collect(),
        weights: choice.folds.into_iter().map(|fold| fold.weights).collect(),
        spread,
        influence,
        population,
        adjusted,
    })
}

/// The particles that the folds accepted, in the order of their rows.
fn populate(view: &View<'_>, thetas: Stacked<'_>, selected: &[Selected]) -> Result<Population, DigestError> {
    let mut accepted: Vec<(u32, f64)> = selected.iter().flat_map(|fold| fold.rows.iter().copied()).collect();
    accepted.sort_unstable_by_key(|&(row, _)| row);
    let rows: Vec<u32> = accepted.iter().map(|(row, _)| *row).collect();
    let ln = crate::workers::map_slice(view.workers, &rows, |&row| view.importance.ln(row));
    Ok(Population {
        units: view.units.select(&rows),
        thetas: thetas.select(&rows),
        weights: LogWeights::new(ln).ok_or(DigestError::NoWeight)?,
        distances: accepted.iter().map(|(_, distance)| *distance).collect(),
        rows,
    })
}

pub(crate) fn first_failure(inputs: &Inputs<'_>) -> Option<FailureExample> {
    let (&row, failure) = inputs.simulated.failures().iter().next()?;
    Some(FailureExample { row, theta: inputs.proposed.thetas.row(row).to_vec(), failure: failure.clone() })
}

/// What one fold accepted.
struct Selected {
    /// Rows with their distances, ascending by row.
    rows: Vec<(u32, f64)>,
    /// Accepted rows whose distance equals that of a rejected one: which of them came in is a matter of order.
    ties: usize,
}

fn accept(view: &View<'_>, fold: &Fold, among: &[u32]) -> Selected {
    select(&distances(view.features, view.observed, &fold.weights, among), fold.keep, among)
}

/// The nearest of some rows.
fn select(distances: &[f64], keep: usize, among: &[u32]) -> Selected {
    let kept = nearest(distances, keep.min(among.len()));
    let threshold = kept.iter().map(|&at| distances[at]).fold(f64::NEG_INFINITY, f64::max);
    let tied = distances.iter().filter(|&&distance| distance == threshold).count();
    let accepted = kept.iter().filter(|&&at| distances[at] == threshold).count();
    let ties = if tied > accepted { accepted } else { 0 };
    Selected { rows: kept.into_iter().map(|at| (among[at], distances[at])).collect(), ties }
}

/// How informative the folds are on rows they have seen and on rows they have not, beside the simple rules.
fn inform(view: &View<'_>, choice: &Choice, selected: &[Selected]) -> Information {
    let audited = !choice.audit.is_empty();
    let folds = if audited { &choice.audit } else { &choice.folds };
    let gauge = Entropy::default();
    let measure = |selected: &Selected| {
        let rows: Vec<u32> = selected.rows.iter().map(|(row, _)| *row).collect();
        gauge.gauge(view.space, view.importance).measure(&rows)
    };
    let mean = |value: &dyn Fn(usize) -> f64| (0..folds.len()).map(value).sum::<f64>() / folds.len() as f64;
    let held_out = mean(&|i| {
        if audited { measure(&accept(view, &folds[i], &folds[i].accepts)) } else { measure(&selected[i]) }
    });
    let seen = folds.iter().all(|fold| fold.learned == fold.accepts);
    let in_sample =
        if seen { held_out } else { mean(&|i| measure(&accept(view, &folds[i], &folds[i].learned))) };
    let baselines = if choice.compared.is_empty() {
        let formulas = baselines();
        let accepted = |i: usize, weights: Vec<f64>| {
            measure(&accept(view, &Fold { weights, ..folds[i].clone() }, &folds[i].accepts))
        };
        crate::workers::map(view.workers, formulas.len(), |which| {
            let formula = &formulas[which];
            (formula.name().to_owned(), mean(&|i| accepted(i, formula.weights(view, &folds[i].learned))))
        })
    } else {
        let weights: Vec<&[f64]> = choice.compared.iter().map(|(_, weights)| &weights[..]).collect();
        let each = |fold: &Fold| distances_each(view.features, view.observed, &weights, &fold.accepts);
        let distances: Vec<Vec<Vec<f64>>> = folds.iter().map(each).collect();
        crate::workers::map(view.workers, weights.len(), |which| {
            let accepted = |i: usize| select(&distances[i][which], folds[i].keep, &folds[i].accepts);
            (choice.compared[which].0.to_owned(), mean(&|i| measure(&accepted(i))))
        })
    };
    Information { in_sample, held_out, baselines }
}

/// Features whose observed value lies outside the range of the simulations. Most are reached by the first few of them; only
/// those that are not are looked for among all.
fn unreached(features: Stacked<'_>, observed: &[f64], rows: &[u32]) -> Vec<usize> {
    let (mut left, mut values) = (Vec::new(), Vec::new());
    for (first, part) in features.parts() {
        let of = |j: usize| Reached { column: j, observed: observed[first + j], below: false, above: false };
        let mut open: Vec<Reached> = (0..part.columns()).map(of).collect();
        for rows in rows.chunks(ROWS) {
            for feature in &mut open {
                values.clear();
                part.column(feature.column, rows, &mut values);
                values.iter().for_each(|&value| feature.look(value));
            }
            open.retain(|feature| !(feature.below && feature.above));
            if open.is_empty() {
                break;
            }
        }
        left.extend(open.iter().map(|feature| first + feature.column));
    }
    left
}

/// Simulations that are looked at for all features that are left before it is asked which are left.
const ROWS: usize = 256;

/// Whether simulations lie on both sides of what was observed of a feature, or on it.
struct Reached {
    column: usize,
    observed: f64,
    below: bool,
    above: bool,
}

impl Reached {
    fn look(&mut self, value: f64) {
        self.below |= value <= self.observed;
        self.above |= value >= self.observed;
    }
}

/// Points that equal another one.
fn repeated(units: &Table) -> usize {
    let mut order: Vec<&[f64]> = units.iter().collect();
    order.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    order.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    #[test]
    fn what_is_not_reached_lies_outside_the_range_of_all() {
        let (upper, lower) = (gaussian(500, 9, 0.0, 1.0, 1), gaussian(500, 9, 0.5, 1.0, 2));
        let mut beside = gaussian(1_000, 2, 0.0, 1.0, 3);
        // One that is reached by the last row only, and one whose observed value is the largest of all.
        beside.row_mut(999)[0] = 40.0;
        let (tables, rows) =
            ([(&upper).into(), (&lower).into()], Vec::from_iter((0..1_000).filter(|row| row % 7 != 2)));
        let features = Stacked::new(&tables).with(&beside);
        let largest = rows.iter().map(|&row| features.at(row as usize, 3)).fold(f64::NEG_INFINITY, f64::max);
        let data: [[f64; 11]; 3] = [
            [0.0, 9.0, -9.0, largest, 0.1, 0.2, f64::NAN, 2.5, -2.5, 30.0, -9.0],
            [0.0; 11],
            std::array::from_fn(|j| 0.7 * j as f64),
        ];
        for observed in data {
            let outside = |&j: &usize| {
                let values = || rows.iter().map(|&row| features.at(row as usize, j));
                let (low, high) =
                    (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
                !(low..=high).contains(&observed[j])
            };
            let plain: Vec<usize> = (0..11).filter(outside).collect();
            assert_eq!(unreached(features, &observed, &rows), plain);
        }
        assert!(unreached(features, &data[0], &rows).starts_with(&[1, 2, 6]), "otherwise this shows nothing");
    }
}
