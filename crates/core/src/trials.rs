//! Judging ways to read simulations by pseudo-observations: simulations near the data play the observation, and what
//! is accepted for them is scored by how well it tells their own parameters.

use crate::near::{Extent, Field};
use crate::table::Table;
use crate::vectors::{Loop, vectorised};
use crate::view::View;
use crate::workers::{self, Workers};

/// What speaks for one of several ways to go.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What was chosen among: `rule` or `adjustment`.
    pub subject: String,
    /// The way.
    pub name: String,
    /// Mean energy score over the pseudo-observations, in units of the accepted parameters' spread: less is better.
    pub score: f64,
    /// Standard error of the difference from the best.
    pub error: f64,
    /// Whether this is the way taken.
    pub chosen: bool,
}

/// Simulations near the data.
pub(crate) struct Trials {
    /// Rows that play the observation.
    pub(crate) rows: Vec<u32>,
    /// Standard deviation of each parameter among the rows they were chosen from.
    scale: Vec<f64>,
}

/// Pseudo-observations are chosen among as many as are kept over this: near the data, or they tell of other places.
pub(crate) const REGION: f64 = 2.0;
/// Particles that stand for a population when it is scored.
pub(crate) const STAND_INS: usize = 96;
/// Particles that a trial fits a regression to, unless it has more regressors than these are enough for.
pub(crate) const FITTED: usize = 1_500;
/// Simulations that trials look among at the most: of more, every second, or third, and so on.
pub(crate) const LOOKED_AMONG: usize = 10_000;

impl Trials {
    /// At most `count` rows among those nearest to the data whose effective size is `near`, each as likely as its
    /// importance weight says.
    pub(crate) fn new(view: &View<'_>, field: &Field<'_>, weights: &[f64], near: f64, count: usize) -> Self {
        let all = field.near((view.observed, weights), None, Extent::of(near));
        let some = all.thinned(all.reaching(near), usize::MAX);
        let total: f64 = some.weights.iter().sum();
        let mut near: Vec<(u32, f64)> =
            some.rows.into_iter().zip(some.weights.iter().map(|weight| weight / total)).collect();
        near.sort_unstable_by_key(|&(row, _)| row);
        let (near, shares): (Vec<u32>, Vec<f64>) = near.into_iter().unzip();
        let mut rows: Vec<u32> = systematic(&shares, count).into_iter().map(|at| near[at]).collect();
        rows.dedup();
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
        Self { rows, scale: (0..d).map(scale).collect() }
    }

    /// The energy score of equally weighted points for the parameters that were true, together and one by one, as a
    /// sample of `effective` points would have it in the mean: few of them tell less than their law does. Copies of a
    /// point stand next to each other.
    pub(crate) fn score(&self, units: &Table, truth: &[f64], effective: f64) -> f64 {
        let (n, d) = (units.rows(), truth.len());
        // Coordinate by coordinate, the truth last.
        let mut points = vec![0.0; (n + 1) * d];
        for (j, column) in points.chunks_exact_mut(n + 1).enumerate() {
            let rows = units.iter().chain(std::iter::once(truth));
            column.iter_mut().zip(rows).for_each(|(slot, row)| *slot = row[j] / self.scale[j]);
        }
        let (to_truth, among) = vectorised(Steps { points: &points, n, d });
        // The chance that two of the points are copies of one: their distance tells nothing.
        let copies = (0..n).collect::<Vec<usize>>();
        let runs = copies.chunk_by(|&a, &b| units.row(a) == units.row(b));
        let n = n as f64;
        let same: f64 = runs.map(|run| (run.len() as f64 / n).powi(2)).sum();
        let apart = if same < 1.0 { among / (n * n * (1.0 - same)) } else { 0.0 };
        to_truth / n - apart * (1.0 - 1.0 / effective.max(1.0))
    }
}

/// Sums of the steps from points to the truth and between each two of them: of each step its length and the mean of
/// its coordinates' sizes, both by dimension.
struct Steps<'a> {
    points: &'a [f64],
    n: usize,
    d: usize,
}

impl Loop for Steps<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let Self { points, n, d } = self;
        let (mut squares, mut sizes) = (vec![0.0; n], vec![0.0; n]);
        let mut sums = (0.0, 0.0);
        for i in 0..=n {
            // The truth is compared to all, a point to those before it.
            let (squares, sizes) = (&mut squares[..i], &mut sizes[..i]);
            squares.fill(0.0);
            sizes.fill(0.0);
            for column in points.chunks_exact(n + 1) {
                let own = column[i];
                for ((square, size), other) in squares.iter_mut().zip(sizes.iter_mut()).zip(column) {
                    let step = (own - other).abs();
                    *square += step * step;
                    *size += step;
                }
            }
            let lengths: f64 = squares.iter().map(|square| square.sqrt()).sum();
            let sum = lengths / (d as f64).sqrt() + sizes.iter().sum::<f64>() / d as f64;
            if i == n {
                sums.0 = sum;
            } else {
                sums.1 += sum;
            }
        }
        sums
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

/// How many standard errors the preferred may be worse: differences that matter are smaller than one.
const MARGIN: f64 = 0.25;

/// Pseudo-observations after each round of which the ways that are clearly worse are left out, and how many standard
/// errors are clear.
const ROUND: usize = 24;
const CLEARLY: f64 = 3.0;

/// Scores of `ways` on pseudo-observations, a row each. `score` gives those of some ways on one. A way that falls
/// behind is left out of the rounds that follow, and has no number there; nothing more is tried where one is left.
pub(crate) fn race(
    workers: &dyn Workers,
    trials: usize,
    ways: usize,
    score: impl Fn(usize, &[usize]) -> Vec<f64> + Sync,
) -> Vec<Vec<f64>> {
    let mut left: Vec<usize> = (0..ways).collect();
    let mut scores: Vec<Vec<f64>> = Vec::with_capacity(trials);
    while scores.len() < trials && (left.len() > 1 || scores.is_empty()) {
        let first = scores.len();
        scores.extend(workers::map(workers, ROUND.min(trials - first), |at| {
            let mut row = vec![f64::NAN; ways];
            left.iter().zip(score(first + at, &left)).for_each(|(&way, score)| row[way] = score);
            row
        }));
        let best = best(&scores, &left);
        left.retain(|&way| {
            let (mean, error) = behind(&scores, way, best);
            way == best || mean <= CLEARLY * error
        });
    }
    scores
}

/// The way with the least mean score.
pub(crate) fn best(scores: &[Vec<f64>], ways: &[usize]) -> usize {
    let mean = |way: usize| scores.iter().map(|trial| trial[way]).sum::<f64>();
    let first = ways.first().copied().unwrap_or(0);
    ways.iter()
        .fold((first, mean(first)), |best, &way| {
            let mean = mean(way);
            if mean < best.1 { (way, mean) } else { best }
        })
        .0
}

/// How much worse a way is than another, with the standard error, where both were tried.
fn behind(scores: &[Vec<f64>], way: usize, other: usize) -> (f64, f64) {
    let steps: Vec<f64> =
        scores.iter().map(|trial| trial[way] - trial[other]).filter(|step| !step.is_nan()).collect();
    crate::judge::mean_and_error(&steps)
}

/// The verdicts on ways that were scored on the same pseudo-observations, the preferred ones first: taken is the first
/// that is not worse than the best by more than a quarter of its standard error. A way that was left out of some lost.
pub(crate) fn verdicts(subject: &str, names: Vec<String>, scores: &[Vec<f64>]) -> (usize, Vec<Verdict>) {
    let whole: Vec<usize> =
        (0..names.len()).filter(|&way| scores.iter().all(|trial| !trial[way].is_nan())).collect();
    let best = best(scores, &whole);
    let level = scores.iter().map(|trial| trial[best]).sum::<f64>() / scores.len() as f64;
    let behind: Vec<(f64, f64)> = (0..names.len()).map(|way| behind(scores, way, best)).collect();
    let near = |way: &usize| behind[*way].0 <= MARGIN * behind[*way].1;
    let taken = whole.iter().copied().find(near).unwrap_or(best);
    let verdict = |(way, name): (usize, String)| Verdict {
        subject: subject.to_owned(),
        name,
        score: level + behind[way].0,
        error: behind[way].1,
        chosen: way == taken,
    };
    (taken, names.into_iter().enumerate().map(verdict).collect())
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
    fn the_score_is_least_for_the_law_of_the_truth() {
        use crate::divergence::testing::gaussian;
        let trials = Trials { rows: Vec::new(), scale: vec![1.0] };
        let truths = gaussian(400, 1, 0.0, 1.0, 1);
        let mean = |centre: f64, sd: f64| {
            let sample = gaussian(200, 1, centre, sd, 2);
            truths.iter().map(|truth| trials.score(&sample, truth, f64::INFINITY)).sum::<f64>() / 400.0
        };
        let right = mean(0.0, 1.0);
        for (centre, sd) in [(0.0, 0.5), (0.0, 2.0), (0.6, 1.0)] {
            assert!(right < mean(centre, sd), "{centre} {sd}");
        }
    }

    #[test]
    fn the_preferred_is_taken_unless_another_is_clearly_better() {
        let names = || vec!["a".to_owned(), "b".to_owned()];
        let scores: Vec<Vec<f64>> =
            (0..10).map(|i| vec![1.0, 1.0 + if i % 2 == 0 { 0.5 } else { -0.55 }]).collect();
        assert_eq!(verdicts("rule", names(), &scores).0, 0);
        let scores: Vec<Vec<f64>> = (0..10).map(|i| vec![1.0, 0.5 + 0.01 * f64::from(i)]).collect();
        let (taken, all) = verdicts("rule", names(), &scores);
        assert_eq!(taken, 1);
        // One that was left out early is never taken, and its score is told beside the best's.
        let scores: Vec<Vec<f64>> =
            (0..10).map(|i| vec![if i < 5 { 2.0 + f64::from(i) } else { f64::NAN }, f64::from(i)]).collect();
        let (second, partly) = verdicts("rule", names(), &scores);
        assert!(second == 1 && (partly[0].score - 6.5).abs() < 1e-12, "{partly:?}");
        assert!(all[1].chosen && !all[0].chosen && (all[1].score - 0.545).abs() < 1e-12);
    }

    #[test]
    fn what_falls_behind_is_left_out() {
        let noise = crate::divergence::testing::gaussian(120, 3, 0.0, 0.1, 1);
        let level = [1.0, 1.0, 3.0];
        let scores = race(&workers::Serial, 120, 3, |trial, ways| {
            ways.iter().map(|&way| level[way] + noise.at(trial, way)).collect()
        });
        assert_eq!(scores.len(), 120);
        assert!(scores[23][2] > 2.0 && scores[24][2].is_nan() && !scores[119][1].is_nan());
        let alone = race(&workers::Serial, 120, 2, |_, ways| ways.iter().map(|&way| way as f64).collect());
        assert_eq!(alone.len(), ROUND, "one is left");
    }
}
