//! Statistics as the arms of bandits (Singh et al. 2018).

use rand::RngExt;

use super::super::{Projection, ReduceError, Reduction};
use super::{Columns, candidates};
use crate::stream::Stream;
use crate::view::View;

/// Pulling an arm is simulating once and looking at how far its statistic is from the observation, as a share of the furthest:
/// the nearer, the better the arm. By successive halving, half of the arms are given up in each round, those with the
/// worst mean, until `choose` are left.
#[derive(Clone, Debug)]
pub struct Bandit {
    /// Statistics to choose.
    pub choose: usize,
    /// Pulls of all arms in each round.
    pub pulls: usize,
}

impl Default for Bandit {
    fn default() -> Self {
        Self { choose: 5, pulls: 4_000 }
    }
}

impl Reduction for Bandit {
    fn fit(&self, view: &View<'_>, rng: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        let mut arms = candidates(view)?;
        let far = |j: usize, row: u32| (view.features.at(row as usize, j) - view.observed[j]).abs();
        let furthest: Vec<f64> = (0..view.spread.len())
            .map(|j| view.rows.iter().map(|&row| far(j, row)).fold(f64::MIN_POSITIVE, f64::max))
            .collect();
        let (mut sums, mut pulls) = (vec![0.0; furthest.len()], vec![0.0; furthest.len()]);
        while arms.len() > self.choose.max(1) {
            for _ in 0..self.pulls.div_ceil(arms.len()) {
                for &arm in &arms {
                    let row = view.rows[rng.random_range(0..view.rows.len())];
                    // Where a kernel proposed, rows are not simulations at draws from the prior: they count by their weights.
                    let weight = libm::exp(view.importance.ln(row));
                    sums[arm] += weight * far(arm, row) / furthest[arm];
                    pulls[arm] += weight;
                }
            }
            let mean = |arm: usize| sums[arm] / pulls[arm];
            arms.sort_by(|&a, &b| mean(a).total_cmp(&mean(b)).then(a.cmp(&b)));
            arms.truncate((arms.len() / 2).max(self.choose.max(1)));
        }
        Ok(Columns::of(arms, view))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::chosen;
    use super::*;

    #[test]
    fn chooses_as_many_as_asked_and_the_nearest_ones() {
        // A bandit does not look at parameters: the statistic whose observed value is far out is given up first.
        let found = chosen(&Bandit { choose: 4, ..Bandit::default() });
        assert_eq!(found.len(), 4);
        assert_eq!(chosen(&Bandit { choose: 9, ..Bandit::default() }).len(), 6);
    }
}
