//! The subset whose posterior is least spread out (Nunes & Balding 2010, minimum entropy).

use super::super::{Projection, ReduceError, Reduction};
use super::trials::{Trials, every_choice};
use super::{Columns, candidates};
use crate::divergence::{Divergence, Entropy, Form};
use crate::stream::Stream;
use crate::view::View;
use crate::workers;

/// Tries the subsets of the statistics and takes the one whose accepted parameters have the least entropy, by the
/// distance to the fourth neighbour, as in the paper.
///
/// What departs from it, and why:
///
/// - Entropy is relative to the prior: the same order as that of the paper where the prior is flat, and no different after a change of
///   scale where it is not. Rows and neighbours count by their importance weights.
/// - All subsets are tried where there are no more than `trials`; otherwise all of the sizes that fit, and the best of them
///   is then grown one statistic at a time for as long as that helps. The paper had six statistics, and tried all subsets.
/// - Statistics are compared in units of their standard deviations; the R package of the paper's first author takes the median absolute deviation,
///   which is zero for many counts.
#[derive(Clone, Debug)]
pub struct LeastEntropy {
    /// Subsets to try.
    pub trials: usize,
}

impl Default for LeastEntropy {
    fn default() -> Self {
        Self { trials: 1_100 }
    }
}

const NEIGHBOURS: usize = 4;

impl Reduction for LeastEntropy {
    fn fit(&self, view: &View<'_>, _: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        let candidates = candidates(view)?;
        Ok(Columns::of(self.choose(view, &candidates), view))
    }
}

impl LeastEntropy {
    pub(super) fn choose(&self, view: &View<'_>, candidates: &[usize]) -> Vec<usize> {
        let trials = Trials::new(view, view.rows, view.observed, view.keep);
        let plan = Entropy { neighbours: NEIGHBOURS, form: Form::KullbackLeibler };
        // The further from the prior, the less the entropy.
        let score = |subset: &[usize]| -> f64 {
            plan.gauge(view.space, view.importance).measure(&trials.accepted(subset))
        };
        best_subset(view, candidates, self.trials, &score)
    }
}

/// The subset with the highest score: see [`LeastEntropy`] for which are tried. Ties go to the earlier one.
pub(super) fn best_subset(
    view: &View<'_>,
    candidates: &[usize],
    trials: usize,
    score: &(dyn Fn(&[usize]) -> f64 + Sync),
) -> Vec<usize> {
    let mut subsets = Vec::new();
    let size = every_choice(candidates, trials, &mut |choice| subsets.push(choice.to_vec()));
    if subsets.is_empty() {
        subsets = candidates.iter().map(|&j| vec![j]).collect();
    }
    let mut best = best_of(view, subsets, score);
    while size < candidates.len() {
        let grown = candidates.iter().filter(|j| !best.0.contains(j));
        let grown: Vec<Vec<usize>> = grown.map(|&j| [&best.0[..], &[j]].concat()).collect();
        if grown.is_empty() {
            break;
        }
        let next = best_of(view, grown, score);
        if next.1 <= best.1 {
            break;
        }
        best = next;
    }
    best.0
}

fn best_of(
    view: &View<'_>,
    subsets: Vec<Vec<usize>>,
    score: &(dyn Fn(&[usize]) -> f64 + Sync),
) -> (Vec<usize>, f64) {
    let scores = workers::map(view.workers, subsets.len(), |at| score(&subsets[at]));
    let mut best = 0;
    for at in 1..scores.len() {
        if scores[at] > scores[best] {
            best = at;
        }
    }
    (subsets[best].clone(), scores[best])
}

#[cfg(test)]
mod tests {
    use super::super::testing::chosen;
    use super::*;

    #[test]
    fn finds_the_statistics_that_tell_something() {
        assert_eq!(chosen(&LeastEntropy::default()), ["s1", "s4"]);
        // Single ones only, and then growing.
        assert_eq!(chosen(&LeastEntropy { trials: 6 }), ["s1", "s4"]);
    }
}
