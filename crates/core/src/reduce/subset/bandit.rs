//! Statistics as the arms of a bandit, chosen anew for every few simulations (Singh & Hellander 2018).

use rand::{Rng, RngExt};

use super::super::{Features, Projection, ReduceError, Reduction};
use super::{candidates, masses};
use crate::stacked::Stacked;
use crate::stream::{Seed, Stage, Stream};
use crate::table::Table;
use crate::view::View;
use crate::workers;

/// Multi-statistic ABC with multi-armed bandits. An arm is a statistic. Pulling it is drawing parameters from the prior, simulating, and
/// looking at how far the statistic is from the observed one, as a share of the furthest that was seen: the reward is that
/// distance, negated. For every batch of simulations the `choose` arms of greatest expected reward are identified anew, and the simulations of
/// the batch are compared by the norm of these distances. So what is accepted stems from a distribution over
/// statistics that do well, and not from one fixed set of them.
///
/// What this follows is what the paper's abstract says, and what the authors' own program does (sciope, whose variants, constants, normalisation and norm
/// these are). Our reading, where a generation is not their rejection sampler or the program contradicts itself:
///
/// - As everywhere, a number is kept and not what lies within a tolerance; all simulations are compared by equally many statistics of
///   the same scale, so that the two agree.
/// - All simulations of the generation are there at once: distances are shares of the furthest of all, not of those so far.
/// - A pull takes one of the generation's simulations, with the probability that makes it a draw from the prior. The program says that a pull is such a draw, but
///   looks at the last simulation of the batch each time.
/// - Halving keeps half of the arms, or as many as are to be chosen if that is more, as its authors have it; the program takes the fewer.
///
/// Nobody looks at parameters: statistics that hardly vary, or whose observed value is ordinary, do well whether or not they tell anything.
#[derive(Clone, Debug)]
pub struct Bandit {
    /// Statistics to choose.
    pub choose: usize,
    /// How the best arms are identified.
    pub arms: Arms,
    /// Simulations that are compared by the same statistics.
    pub batch: usize,
}

impl Default for Bandit {
    fn default() -> Self {
        Self { choose: 5, arms: Arms::default(), batch: 50 }
    }
}

/// How the best of many arms are identified (Kalyanakrishnan & Stone 2010): with probability `1 - DELTA` none that is taken is
/// worse by more than `EPSILON` than the last of those that should have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arms {
    /// In rounds: half of the arms are given up in each, and the others pulled more often in the next.
    #[default]
    Halving,
    /// Every arm is pulled equally often.
    Direct,
}

/// The constants of the authors' program. Rewards lie between -1 and 0, so that this epsilon alone promises nothing for `Direct`, which
/// pulls an arm a few times only: its choice is a lottery in which good arms have more tickets.
const EPSILON: f64 = 1.0;
const DELTA: f64 = 0.4;
/// Simulations that are pulled, at the most: means of rewards are wanted to a few hundredths.
const MOST_ROWS: usize = 4_000;
/// Batches, at the most: larger ones where there are more simulations.
const MOST_BATCHES: usize = 1_000;

impl Reduction for Bandit {
    fn fit(&self, view: &View<'_>, rng: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        let columns = candidates(view)?;
        let far = |j: usize, row: u32| (view.features.at(row as usize, j) - view.observed[j]).abs();
        let furthest: Vec<f64> = columns
            .iter()
            .map(|&j| view.rows.iter().map(|&row| far(j, row)).fold(f64::MIN_POSITIVE, f64::max))
            .collect();
        let urn = Urn::new(view);
        let rewards: Vec<Vec<f64>> = columns
            .iter()
            .zip(&furthest)
            .map(|(&j, furthest)| urn.rows.iter().map(|&row| -far(j, row) / furthest).collect())
            .collect();
        let batches = view.rows.len().div_ceil(self.batch.max(1)).clamp(1, MOST_BATCHES);
        let seed = Seed(rng.next_u64());
        let chosen = workers::map(view.workers, batches, |batch| {
            let mut rng = seed.stream(Stage::Reduce, batch as u32, 0);
            let mut pull = |arm: usize| rewards[arm][urn.draw(&mut rng)];
            let best = self.arms.best(columns.len(), self.choose.max(1), EPSILON, DELTA, &mut pull);
            (0..columns.len()).map(|arm| best.contains(&arm)).collect::<Vec<bool>>()
        });
        Ok(Box::new(Batches { observed: view.observed.to_vec(), columns, furthest, chosen }.without_unused()))
    }
}

impl Arms {
    /// The best `count` of so many arms.
    fn best(
        self,
        arms: usize,
        count: usize,
        epsilon: f64,
        delta: f64,
        pull: &mut dyn FnMut(usize) -> f64,
    ) -> Vec<usize> {
        let mut left: Vec<usize> = (0..arms).collect();
        let pulls = |epsilon: f64, odds: f64| (2.0 / (epsilon * epsilon) * libm::log(odds)).ceil() as usize;
        match self {
            _ if arms <= count => {}
            Self::Direct => keep(&mut left, count, pulls(epsilon, arms as f64 / delta), pull),
            Self::Halving => {
                let (mut epsilon, mut delta) = (epsilon / 4.0, delta / 2.0);
                while left.len() > count {
                    let half = left.len().div_ceil(2).max(count);
                    keep(&mut left, half, pulls(epsilon, 3.0 * count as f64 / delta), pull);
                    (epsilon, delta) = (0.75 * epsilon, 0.5 * delta);
                }
            }
        }
        left
    }
}

/// Keeps the arms with the greatest mean reward over so many new pulls; ties go to the earlier arm.
fn keep(arms: &mut Vec<usize>, count: usize, pulls: usize, pull: &mut dyn FnMut(usize) -> f64) {
    let mut sums: Vec<(usize, f64)> =
        arms.iter().map(|&arm| (arm, (0..pulls).map(|_| pull(arm)).sum())).collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    *arms = sums.into_iter().take(count).map(|(arm, _)| arm).collect();
}

/// Simulations that stand for draws from the prior: where a kernel proposed, by their importance weights.
struct Urn {
    rows: Vec<u32>,
    /// Sums of the weights up to each row.
    sums: Vec<f64>,
}

impl Urn {
    fn new(view: &View<'_>) -> Self {
        let step = view.rows.len().div_ceil(MOST_ROWS).max(1);
        let rows: Vec<u32> = view.rows.iter().copied().step_by(step).collect();
        let mut total = 0.0;
        let sums = masses(view, &rows).into_iter().map(|mass| {
            total += mass;
            total
        });
        Self { sums: sums.collect(), rows }
    }

    fn draw(&self, rng: &mut Stream) -> usize {
        let level = rng.random::<f64>() * self.sums[self.sums.len() - 1];
        self.sums.partition_point(|&sum| sum <= level).min(self.rows.len() - 1)
    }
}

/// What every batch compares.
struct Batches {
    observed: Vec<f64>,
    /// Statistics in use, and the distance of each that counts as one.
    columns: Vec<usize>,
    furthest: Vec<f64>,
    /// For each batch, whether it compares each of these.
    chosen: Vec<Vec<bool>>,
}

impl Batches {
    /// The same without the statistics that no batch compares.
    fn without_unused(self) -> Self {
        let used: Vec<usize> =
            (0..self.columns.len()).filter(|&at| self.chosen.iter().any(|batch| batch[at])).collect();
        Self {
            columns: used.iter().map(|&at| self.columns[at]).collect(),
            furthest: used.iter().map(|&at| self.furthest[at]).collect(),
            chosen: self.chosen.iter().map(|batch| used.iter().map(|&at| batch[at]).collect()).collect(),
            ..self
        }
    }

    /// The batch of a simulation: told by a hash of what it is, so that it is the same wherever the simulation stands.
    fn of(&self, summaries: &[f64]) -> &[bool] {
        let hash = summaries.iter().fold(0, |hash, value| scramble(hash ^ value.to_bits()));
        &self.chosen[(hash % self.chosen.len() as u64) as usize]
    }
}

/// The finaliser of splitmix64, after its increment.
fn scramble(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl Projection for Batches {
    fn names(&self, statistics: &[String], _: &[String]) -> Vec<String> {
        self.columns.iter().map(|&j| statistics[j].clone()).collect()
    }

    /// Differences from the observation as shares of the furthest; nothing where the batch does not compare, so that it
    /// adds nothing to a distance, whatever its weight.
    fn features(&self, summaries: Stacked<'_>) -> Features {
        let mut features = Table::filled(summaries.rows(), self.columns.len(), 0.0);
        let mut values = vec![0.0; summaries.columns()];
        for (row, summaries) in summaries.iter().enumerate() {
            summaries.write(&mut values);
            let batch = self.of(&values);
            for (at, value) in features.row_mut(row).iter_mut().enumerate().filter(|(at, _)| batch[*at]) {
                let j = self.columns[at];
                *value = (values[j] - self.observed[j]) / self.furthest[at];
            }
        }
        Features::Instead(features)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::chosen;
    use super::*;
    use crate::divergence::Space;
    use crate::divergence::testing::{gaussian, normal_prior};
    use crate::propose::Importance;
    use crate::view::standard_deviations;
    use crate::workers::Serial;

    /// Counted by hand from Kalyanakrishnan & Stone: 7 is 2 ln(10 / 0.4) rounded up; 109 is 32 ln(6 / 0.2) and
    /// 233 is 2 / 0.1875^2 ln(6 / 0.1).
    #[test]
    fn arms_are_pulled_as_often_as_the_paper_says() {
        let count = |arms: Arms, number: usize, choose: usize| {
            let mut pulls = vec![0; number];
            let best = arms.best(number, choose, EPSILON, DELTA, &mut |arm| {
                pulls[arm] += 1;
                -(arm as f64)
            });
            assert_eq!(best, (0..choose.min(number)).collect::<Vec<_>>());
            pulls
        };
        assert_eq!(count(Arms::Direct, 10, 3), [7; 10]);
        assert_eq!(count(Arms::Halving, 8, 2), [342, 342, 342, 342, 109, 109, 109, 109]);
        // Never fewer than are to be chosen: of five arms three stay and then two.
        assert_eq!(count(Arms::Halving, 5, 2), [342, 342, 342, 109, 109]);
        assert_eq!(count(Arms::Halving, 3, 3), [0; 3]);
        assert_eq!(count(Arms::Direct, 3, 9), [0; 3]);
    }

    /// What the algorithms promise: with probability 1 - delta no arm is taken that is worse by more than epsilon than the last that should be.
    /// With a tenth of failures allowed among 300, more than 46 would be seen in one of a thousand trials; the bounds are loose, and there are none.
    #[test]
    fn arms_that_are_taken_are_good_ones() {
        let means: Vec<f64> = (0..12).map(|arm| 0.05 + 0.08 * f64::from(arm)).collect();
        for arms in [Arms::Direct, Arms::Halving] {
            let failed = (0..300).filter(|&repeat| {
                let mut rng = Seed(repeat).stream(Stage::Reduce, 0, 0);
                let mut pull = |arm: usize| f64::from(u8::from(rng.random::<f64>() < means[arm]));
                let best = arms.best(12, 3, 0.3, 0.1, &mut pull);
                assert_eq!(best.len(), 3);
                best.iter().any(|&arm| means[arm] < means[9] - 0.3)
            });
            assert!(failed.count() < 46, "{arms:?}");
        }
    }

    /// Fitted to some simulations, all of them usable.
    fn fitted(
        bandit: &Bandit,
        observed: &[f64],
        features: &Table,
        importance: &Importance<'_>,
    ) -> Box<dyn Projection> {
        let units = gaussian(features.rows(), 1, 0.0, 1.0, 3);
        let rows: Vec<u32> = (0..features.rows() as u32).collect();
        let view = View {
            units: &units,
            features: features.into(),
            observed,
            rows: &rows,
            spread: &standard_deviations(features, &rows),
            importance,
            space: &Space::new(&normal_prior(1), &units, Seed(1), 100),
            learned: crate::reduce::Estimates::default(),
            adjusts: false,
            keep: 100,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        bandit.fit(&view, &mut Seed(5).stream(Stage::Reduce, 0, 0)).unwrap()
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|j| format!("s{j}")).collect()
    }

    /// Six statistics with the same values in other orders are equally good arms: which two a batch compares is chance, a third of the
    /// 80 batches for each, give or take four. Every simulation is compared by two, each as a share of the furthest.
    #[test]
    fn a_simulation_is_compared_by_the_statistics_of_its_batch() {
        let values = gaussian(4000, 1, 0.0, 1.0, 4);
        let data = (0..4000).flat_map(|row| [0, 1, 2, 3, 4, 5].map(|j| values.at((row + 700 * j) % 4000, 0)));
        let features = Table::from_rows(6, data.collect());
        let observed = [0.1; 6];
        let bandit = Bandit { choose: 2, ..Bandit::default() };
        let found = fitted(&bandit, &observed, &features, &Importance::equal());
        assert_eq!(found.names(&names(6), &[]), names(6));
        let furthest = values.iter().map(|value| (value[0] - 0.1).abs()).fold(0.0, f64::max);
        let made = found.features((&features).into());
        let made = made.of((&features).into());
        let mut seen = [0; 6];
        for row in 0..4000 {
            let compared: Vec<usize> = (0..6).filter(|&j| made.at(row, j) != 0.0).collect();
            assert_eq!(compared.len(), 2);
            for j in compared {
                assert_eq!(made.at(row, j), (features.at(row, j) - 0.1) / furthest);
                seen[j] += 1;
            }
        }
        // 1,333 expected; one batch is 50, and five standard deviations are 21 batches.
        assert!(seen.iter().all(|count| (280..2400).contains(count)), "{seen:?}");
        let observed = Table::from_rows(6, observed.to_vec());
        let here = found.features((&observed).into());
        assert!(here.of((&observed).into()).row(0).to_vec().iter().all(|&value| value == 0.0));
    }

    /// An observation six standard deviations out is far from nearly all simulations: no batch compares that statistic, whatever it tells.
    #[test]
    fn what_is_far_from_the_observation_is_not_compared() {
        let features = gaussian(4000, 4, 0.0, 1.0, 4);
        for arms in [Arms::Halving, Arms::Direct] {
            let bandit = Bandit { choose: 2, arms, ..Bandit::default() };
            let found = fitted(&bandit, &[0.0, 6.0, 0.0, 6.0], &features, &Importance::equal());
            let names = found.names(&names(4), &[]);
            assert!(names.contains(&"s0".into()) && names.contains(&"s2".into()), "{names:?}");
            assert!(arms == Arms::Direct || names.len() == 2, "{names:?}");
        }
    }

    /// Simulations of two kinds: the first statistic is near the data in those that weigh nothing, the second in the others.
    #[test]
    fn pulls_are_draws_from_the_prior() {
        let data = (0..2000).flat_map(|row| if row % 2 == 0 { [0.0, 1.0] } else { [1.0, 0.0] }).collect();
        let features = Table::from_rows(2, data);
        let ln: Vec<f64> = (0..2000).map(|row| if row % 2 == 0 { -5.0 } else { 0.0 }).collect();
        let bandit = Bandit { choose: 1, ..Bandit::default() };
        let found = fitted(&bandit, &[0.0, 0.0], &features, &Importance::known(&ln));
        assert_eq!(found.names(&names(2), &[]), ["s1"]);
    }

    #[test]
    fn chooses_all_where_there_are_no_more() {
        assert_eq!(chosen(&Bandit { choose: 9, ..Bandit::default() }).len(), 6);
    }
}
