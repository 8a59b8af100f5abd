//! Judging ways to read simulations by pseudo-observations: simulations near the data play the observation, and what
//! is accepted for them is scored by how well it tells their own parameters.

mod before;
mod race;

pub(crate) use before::Before;
pub(crate) use race::{MARGIN, Scores, contenders};

use crate::energy::energy_score;
use crate::near::{Extent, Field};
use crate::table::Table;
use crate::view::View;

/// What speaks for one of several ways to go.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What was chosen among: `rule` or `adjustment`.
    pub subject: String,
    /// The way, by a name that is the same in every generation.
    pub way: String,
    /// The way, with what it comes to here.
    pub name: String,
    /// Mean energy score over the pseudo-observations, in units of the accepted parameters' spread: less is better. How far it is
    /// from the best is by those of earlier generations too.
    pub score: f64,
    /// Standard error of the difference from the best.
    pub error: f64,
    /// Whether this is the way taken.
    pub chosen: bool,
}

/// Simulations near the data.
pub(crate) struct Trials {
    /// Rows that play the observation, in an order that has nothing to do with where they were simulated.
    pub(crate) rows: Vec<u32>,
    /// How often each was drawn. A heavy one, as those of the tails are, counts as often: were it to count once, narrow
    /// samples would look better than they are.
    counts: Vec<f64>,
    /// Standard deviation of each parameter among the rows they were chosen from.
    scale: Vec<f64>,
}

/// Pseudo-observations are chosen among as many as are kept over this: near the data, or they tell of other places.
pub(crate) const REGION: f64 = 2.0;
/// Pseudo-observations for the cube root of the simulations: what trials cost becomes a smaller share of what simulating does the
/// more there is of it. Fewer than some tell nothing.
const TRIALS: f64 = 3.2;
const FEWEST: usize = 32;
/// The share of these where the generation before has tried the same.
const AGAIN: f64 = 0.5;
/// Particles that stand for a population when it is scored.
pub(crate) const STAND_INS: usize = 192;
/// Particles that a trial fits a regression to, unless it has more regressors than these are enough for.
pub(crate) const FITTED: usize = 1_500;
/// Simulations that trials look among at the most: of more, every second, or third, and so on.
pub(crate) const LOOKED_AMONG: usize = 10_000;

impl Trials {
    /// Some rows among those nearest to the data whose effective size is `near`, each as likely as its importance weight
    /// says.
    pub(crate) fn new(view: &View<'_>, field: &Field<'_>, weights: &[f64], near: f64) -> Self {
        // Directories of before do not say which ways were the same.
        let is_known = view.tried.iter().any(|verdict| !verdict.way.is_empty());
        let share = if is_known { AGAIN } else { 1.0 };
        let count = ((share * TRIALS * libm::cbrt(view.rows.len() as f64)) as usize).max(FEWEST);
        let all = field.near((view.observed, weights), None, Extent::of(near));
        let some = all.thinned(all.reaching(near), usize::MAX);
        let total: f64 = some.weights.iter().sum();
        let mut near: Vec<(u32, f64)> =
            some.rows.into_iter().zip(some.weights.iter().map(|weight| weight / total)).collect();
        near.sort_unstable_by_key(|&(row, _)| row);
        let (near, shares): (Vec<u32>, Vec<f64>) = near.into_iter().unzip();
        let drawn: Vec<u32> = systematic(&shares, count).into_iter().map(|at| near[at]).collect();
        let (rows, counts) =
            shuffled(drawn.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f64)).collect())
                .into_iter()
                .unzip();
        let d = view.units.columns();
        let mean = |j: usize| -> f64 {
            near.iter().zip(&shares).map(|(&row, share)| share * view.units.at(row as usize, j)).sum()
        };
        let scale = |j: usize| {
            let mean = mean(j);
            let square =
                |(&row, share): (&u32, &f64)| share * (view.units.at(row as usize, j) - mean).powi(2);
            let variance: f64 = near.iter().zip(&shares).map(square).sum();
            if variance > 0.0 { variance.sqrt() } else { 1.0 }
        };
        Self { rows, counts, scale: (0..d).map(scale).collect() }
    }

    /// How well equally weighted points tell the parameters that were true, as a sample of `effective` points would in the
    /// mean: few of them tell less than their law does.
    pub(crate) fn score(&self, units: &Table, truth: &[f64], effective: f64) -> f64 {
        energy_score(units, truth, &self.scale, effective)
    }
}

/// Positions drawn by evenly spaced levels of the cumulative weights, ascending.
pub(crate) fn systematic(weights: &[f64], count: usize) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let (mut at, mut reached) = (0, weights.first().copied().unwrap_or(0.0));
    (0..count)
        .map(|i| {
            let level = (i as f64 + 0.5) / count as f64 * total;
            while reached < level && at + 1 < weights.len() {
                at += 1;
                reached += weights[at];
            }
            at
        })
        .collect()
}

/// The same in another order, neighbours far apart, so that any first part of it is a fair sample.
fn shuffled<T: Copy>(items: Vec<T>) -> Vec<T> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let mut order: Vec<(f64, usize)> = (0..items.len()).map(|i| ((i as f64 * GOLDEN).fract(), i)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    order.into_iter().map(|(_, i)| items[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_pick_by_weight() {
        assert_eq!(systematic(&[0.25, 0.0, 0.5, 0.25], 4), [0, 2, 2, 3]);
        assert_eq!(systematic(&[1.0], 3), [0, 0, 0]);
    }

    #[test]
    fn any_first_part_of_what_is_shuffled_is_a_fair_sample() {
        let mut order = shuffled((0..96_u32).collect());
        let early = order[..24].iter().filter(|&&i| i < 48).count();
        assert!((10..=14).contains(&early), "{early}");
        order.sort_unstable();
        assert_eq!(order, (0..96).collect::<Vec<u32>>());
    }
}
