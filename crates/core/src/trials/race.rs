//! Ways tried side by side on pseudo-observations, as a race: one that falls behind is left out.

use super::before::{Before, both, together};
use super::{Trials, Verdict};
use crate::workers::{self, Workers};

/// How many standard errors the preferred may be worse: differences that matter are smaller than one.
pub(crate) const MARGIN: f64 = 0.25;

/// Pseudo-observations after each round of which the ways that are too far behind are left out. The first rounds are short:
/// most ways are far behind.
const ROUNDS: [usize; 3] = [8, 16, 24];

/// How many standard errors behind are clear after so many pseudo-observations: of few, the errors are not known well.
fn clearly(tried: usize) -> f64 {
    3.0 + 24.0 / tried as f64
}

/// The same for what is taken only if it is better than others, such as what comes late: it need not be clearly behind to be left
/// out.
fn somewhat(tried: usize) -> f64 {
    1.0 + 24.0 / tried as f64
}

/// What stands for pseudo-observations of the generation before where it is asked how well errors are known.
const TRIED_BEFORE: usize = 24;

/// The ways that were not clearly behind the best of them in the generation before.
pub(crate) fn contenders(before: &[Option<Before>]) -> Vec<usize> {
    let best = before.iter().flatten().map(|before| before.behind).fold(f64::INFINITY, f64::min);
    let is_open = |before: &Before| {
        before.behind - best <= clearly(TRIED_BEFORE) * before.error || before.behind <= best
    };
    (0..before.len()).filter(|&way| before[way].as_ref().is_none_or(is_open)).collect()
}

/// Scores of ways on pseudo-observations.
pub(crate) struct Scores {
    /// A row a pseudo-observation; not a number where a way was left out.
    rows: Vec<Vec<f64>>,
    /// How much each pseudo-observation counts.
    counts: Vec<f64>,
    /// What is known of each way beforehand.
    before: Vec<Option<Before>>,
}

impl Scores {
    /// A race of ways of which this is known beforehand, and of which some may leave early. `score` gives those of some ways on
    /// one pseudo-observation. A way that falls behind, or was clearly behind before, is left out of the rounds that follow, and
    /// has no number there; nothing more is tried where one is left.
    pub(crate) fn race(
        workers: &dyn Workers,
        trials: &Trials,
        before: Vec<Option<Before>>,
        leaves_early: impl Fn(usize) -> bool,
        score: impl Fn(usize, &[usize]) -> Vec<f64> + Sync,
    ) -> Self {
        let (mut left, ways) = (contenders(&before), before.len());
        let mut scores =
            Self { rows: Vec::with_capacity(trials.rows.len()), counts: trials.counts.clone(), before };
        let mut rounds = ROUNDS.into_iter();
        let mut round = ROUNDS[0];
        while scores.rows.len() < trials.rows.len() && (left.len() > 1 || scores.rows.is_empty()) {
            let first = scores.rows.len();
            round = rounds.next().unwrap_or(round);
            scores.rows.extend(workers::map(workers, round.min(trials.rows.len() - first), |at| {
                let mut row = vec![f64::NAN; ways];
                left.iter().zip(score(first + at, &left)).for_each(|(&way, score)| row[way] = score);
                row
            }));
            let (best, tried) = (scores.best(&left), scores.rows.len());
            left.retain(|&way| {
                let (mean, error) = scores.behind(way, best);
                let enough = if leaves_early(way) { somewhat(tried) } else { clearly(tried) };
                way == best || mean <= enough * error
            });
        }
        scores
    }

    /// More ways, on the same pseudo-observations. `score` is asked for some of them by their place among these. One that falls
    /// behind the best so far is left out of the rounds that follow.
    pub(crate) fn extend(
        &mut self,
        workers: &dyn Workers,
        before: Vec<Option<Before>>,
        score: impl Fn(usize, &[usize]) -> Vec<f64> + Sync,
    ) {
        let (ways, best, more) = (self.before.len(), self.leader(), before.len());
        self.rows.iter_mut().for_each(|row| row.resize(ways + more, f64::NAN));
        self.before.extend(before);
        let mut left: Vec<usize> = (0..more).collect();
        if self.before[best].is_some() {
            left.retain(|&way| {
                let (mean, error) = self.behind(ways + way, best);
                self.before[ways + way].is_none() || mean <= somewhat(TRIED_BEFORE) * error
            });
        }
        let (mut tried, mut rounds) = (0, ROUNDS.into_iter());
        while tried < self.rows.len() && !left.is_empty() {
            let round = rounds.next().unwrap_or(ROUNDS[ROUNDS.len() - 1]).min(self.rows.len() - tried);
            let found = workers::map(workers, round, |at| score(tried + at, &left));
            for (row, found) in self.rows[tried..].iter_mut().zip(found) {
                left.iter().zip(found).for_each(|(&way, score)| row[ways + way] = score);
            }
            tried += round;
            left.retain(|&way| {
                let (mean, error) = self.behind(ways + way, best);
                mean <= somewhat(tried) * error
            });
        }
    }

    /// Whether a way was never left out.
    pub(crate) fn stayed(&self, way: usize) -> bool {
        self.rows.iter().all(|row| !row[way].is_nan())
    }

    /// The best of the ways that were never left out.
    pub(crate) fn leader(&self) -> usize {
        let ways = self.before.len();
        self.best(&(0..ways).filter(|&way| self.stayed(way)).collect::<Vec<usize>>())
    }

    /// Whether a way was never left out and is behind the best by no more than so many standard errors.
    pub(crate) fn is_within(&self, way: usize, errors: f64) -> bool {
        let (mean, error) = self.behind(way, self.leader());
        self.stayed(way) && mean <= errors * error
    }

    /// The way with the least mean score.
    pub(crate) fn best(&self, ways: &[usize]) -> usize {
        let sum = |way: usize| self.rows.iter().zip(&self.counts).map(|(row, n)| n * row[way]).sum::<f64>();
        let first = ways.first().copied().unwrap_or(0);
        let least = |of: &dyn Fn(usize) -> f64| {
            let better = |best: (usize, f64), way: usize| {
                let value = of(way);
                if value < best.1 { (way, value) } else { best }
            };
            ways.iter().copied().fold((first, of(first)), better).0
        };
        let now = least(&sum);
        least(&|way| self.behind(way, now).0)
    }

    /// How much worse a way is than another, with the standard error: where both were tried, and by what is known beforehand.
    fn behind(&self, way: usize, other: usize) -> (f64, f64) {
        let steps = self.rows.iter().zip(&self.counts).map(|(row, &count)| (row[way] - row[other], count));
        let steps: Vec<(f64, f64)> = steps.filter(|(step, _)| !step.is_nan()).collect();
        let now = mean_and_error(&steps);
        let before = match (self.before[way], self.before[other]) {
            (Some(way), Some(other)) if way != other => {
                (way.behind - other.behind, both(way.error, other.error))
            }
            // Nothing is known of how a way that sat out does beside one that is new.
            _ if steps.is_empty() => return (f64::INFINITY, 0.0),
            _ => return now,
        };
        if steps.len() < 2 {
            return before;
        }
        together(now, before)
    }

    /// The verdicts on ways, `order` with the preferred ones first: taken, as a place in it, is the first that is not
    /// worse than the best by more than a share of its standard error, which `margin` gives for the best. `name` gives both names
    /// of a way. A way that was left out of some lost.
    pub(crate) fn verdicts(
        &self,
        subject: &str,
        order: &[usize],
        margin: impl Fn(usize) -> f64,
        name: impl Fn(usize) -> (String, String),
    ) -> (usize, Vec<Verdict>) {
        let whole: Vec<usize> = order.iter().copied().filter(|&way| self.stayed(way)).collect();
        let best = self.best(&whole);
        let level: Vec<(f64, f64)> = self.rows.iter().map(|row| row[best]).zip(self.counts.clone()).collect();
        let level = mean_and_error(&level).0;
        let behind: Vec<(f64, f64)> = order.iter().map(|&way| self.behind(way, best)).collect();
        let margin = margin(best);
        let is_near = |at: &usize| behind[*at].0 <= margin * behind[*at].1 && self.stayed(order[*at]);
        let of_best = order.iter().position(|&way| way == best).unwrap_or(0);
        let taken = (0..order.len()).find(is_near).unwrap_or(of_best);
        let verdict = |(at, &way): (usize, &usize)| {
            let ((way, name), (behind, error)) = (name(way), behind[at]);
            Verdict {
                subject: subject.to_owned(),
                way,
                name,
                score: level + behind,
                error,
                chosen: at == taken,
            }
        };
        (taken, order.iter().enumerate().map(verdict).collect())
    }
}

/// Mean and standard error of figures that count so often each.
fn mean_and_error(figures: &[(f64, f64)]) -> (f64, f64) {
    let n = figures.len() as f64;
    let total: f64 = figures.iter().map(|(_, count)| count).sum();
    let mean = figures.iter().map(|(figure, count)| figure * count).sum::<f64>() / total;
    let squares: f64 = figures.iter().map(|(figure, count)| (count * (figure - mean)).powi(2)).sum();
    (mean, (squares * n / (n - 1.0)).sqrt() / total)
}

#[cfg(test)]
mod tests {
    use super::super::before::FADED;
    use super::*;

    /// Scores that count the same.
    fn plain(rows: Vec<Vec<f64>>) -> Scores {
        Scores { counts: vec![1.0; rows.len()], before: vec![None; rows[0].len()], rows }
    }

    fn verdicts(scores: &Scores) -> (usize, Vec<Verdict>) {
        scores.verdicts("rule", &[0, 1], |_| MARGIN, |way| (way.to_string(), way.to_string()))
    }

    #[test]
    fn the_preferred_is_taken_unless_another_is_clearly_better() {
        let close = (0..10).map(|i| vec![1.0, 1.0 + if i % 2 == 0 { 0.5 } else { -0.55 }]).collect();
        assert_eq!(verdicts(&plain(close)).0, 0);
        let (taken, all) = verdicts(&plain((0..10).map(|i| vec![1.0, 0.5 + 0.01 * f64::from(i)]).collect()));
        assert_eq!(taken, 1);
        assert!(all[1].chosen && !all[0].chosen && (all[1].score - 0.545).abs() < 1e-12);
        // One that was left out early is never taken, and its score is told beside the best's.
        let left_out =
            (0..10).map(|i| vec![if i < 5 { 2.0 + f64::from(i) } else { f64::NAN }, f64::from(i)]).collect();
        let (second, partly) = verdicts(&plain(left_out));
        assert!(second == 1 && (partly[0].score - 6.5).abs() < 1e-12, "{partly:?}");
    }

    #[test]
    fn what_was_drawn_twice_counts_twice() {
        let rows = vec![vec![1.0, 2.0], vec![1.0, 0.5], vec![1.0, 1.2]];
        let often = Scores { counts: vec![1.0, 3.0, 1.0], ..plain(rows.clone()) };
        let copied = plain([&rows[..], &[rows[1].clone(), rows[1].clone()]].concat());
        assert_eq!(often.best(&[0, 1]), 1);
        assert_eq!(plain(rows).best(&[0, 1]), 0);
        let (often, copied) = (verdicts(&often).1, verdicts(&copied).1);
        assert!((often[0].score - copied[0].score).abs() < 1e-12, "{often:?} {copied:?}");
        // Copies are no evidence of their own.
        assert!(often[0].error > 1.2 * copied[0].error, "{often:?} {copied:?}");
    }

    #[test]
    fn what_falls_behind_is_left_out() {
        let trials = Trials { rows: (0..120).collect(), counts: vec![1.0; 120], scale: vec![1.0] };
        let noise = crate::divergence::testing::gaussian(120, 3, 0.0, 0.1, 1);
        let level = [1.0, 1.0, 3.0];
        let scores = Scores::race(
            &workers::Serial,
            &trials,
            vec![None; 3],
            |_| false,
            |trial, ways| ways.iter().map(|&way| level[way] + noise.at(trial, way)).collect(),
        );
        assert_eq!(scores.rows.len(), 120);
        assert!(scores.rows[7][2] > 2.0 && scores.rows[8][2].is_nan() && scores.stayed(1));
        let alone = Scores::race(
            &workers::Serial,
            &trials,
            vec![None; 2],
            |_| false,
            |_, ways| ways.iter().map(|&way| way as f64).collect(),
        );
        assert_eq!(alone.rows.len(), ROUNDS[0], "one is left");
        let mut more = scores;
        more.extend(&workers::Serial, vec![None; 2], |trial, ways| {
            ways.iter().map(|&way| [5.0, 1.0][way] + noise.at(trial, way)).collect()
        });
        assert!(more.rows[7][3] > 2.0 && more.rows[8][3].is_nan() && more.stayed(4) && !more.stayed(3));
    }

    fn verdict(way: &str, score: f64, error: f64) -> Verdict {
        let (subject, name) = ("rule".to_owned(), format!("{way} here"));
        Verdict { subject, way: way.to_owned(), name, score, error, chosen: false }
    }

    #[test]
    fn evidence_of_the_generation_before_counts_half() {
        let tried = [verdict("a", 1.2, 0.05), verdict("b", 1.0, 0.0), verdict("c", f64::INFINITY, f64::NAN)];
        let ways = || ["b", "a", "c", "d"].map(str::to_owned).into_iter();
        let known = Before::of(&tried, "rule", ways());
        assert_eq!(known[2..], [None, None], "what failed, and what is new");
        let a = known[1].unwrap();
        assert!((a.behind - 0.2).abs() < 1e-12 && (a.error - 0.05 * FADED).abs() < 1e-12);
        assert_eq!(Before::of(&tried, "adjustment", ways()), [None; 4]);
        // As good as the same number of pseudo-observations with twice the variance.
        let rows = (0..50).map(|i| vec![1.0, 1.1 + if i % 2 == 0 { 0.3 } else { -0.3 }]).collect();
        let scores = Scores { before: known[..2].to_vec(), ..plain(rows) };
        let (now, error) = plain(scores.rows.clone()).behind(1, 0);
        let (weight, of_before) = (1.0 / (error * error), 1.0 / (a.error * a.error));
        let expected = (now * weight + 0.2 * of_before) / (weight + of_before);
        let (mean, error) = scores.behind(1, 0);
        assert!(
            (mean - expected).abs() < 1e-12 && (error - (weight + of_before).sqrt().recip()).abs() < 1e-12
        );
    }

    #[test]
    fn one_that_sat_out_is_not_compared_with_one_that_is_new() {
        let tried = [verdict("a", 1.0, 0.0), verdict("b", 2.0, 0.05)];
        let known = Before::of(&tried, "rule", ["a", "b", "new"].map(str::to_owned).into_iter());
        let rows = (0..9).map(|i| vec![1.0, f64::NAN, 0.8 + 0.01 * f64::from(i % 3)]).collect();
        let scores = Scores { before: known, ..plain(rows) };
        let named = |way: usize| (way.to_string(), way.to_string());
        let (taken, all) = scores.verdicts("rule", &[0, 1, 2], |_| MARGIN, named);
        assert_eq!((taken, all[1].score, all[1].error), (2, f64::INFINITY, 0.0));
        // It is tried again in the next.
        assert_eq!(Before::of(&all, "rule", std::iter::once("1".to_owned())), [None]);
    }

    #[test]
    fn evidence_that_contradicts_what_is_seen_now_does_not_count() {
        let tried = [verdict("a", 1.0, 0.0), verdict("b", 1.5, 0.05)];
        let known = Before::of(&tried, "rule", ["a", "b"].map(str::to_owned).into_iter());
        let rows: Vec<Vec<f64>> = (0..50).map(|i| vec![1.0 + 0.01 * f64::from(i % 5), 0.8]).collect();
        let alone = plain(rows.clone()).behind(1, 0);
        assert_eq!(Scores { before: known, ..plain(rows) }.behind(1, 0), alone);
    }

    #[test]
    fn what_was_clearly_behind_sits_out_until_that_has_faded() {
        let trials = Trials { rows: (0..40).collect(), counts: vec![1.0; 40], scale: vec![1.0] };
        let noise = crate::divergence::testing::gaussian(40, 2, 0.0, 0.1, 1);
        let race = |tried: &[Verdict]| {
            let known = Before::of(tried, "rule", ["0", "1"].map(str::to_owned).into_iter());
            let score = |trial: usize, ways: &[usize]| -> Vec<f64> {
                ways.iter().map(|&way| 1.0 + 0.3 * way as f64 + noise.at(trial, way)).collect()
            };
            let scores = Scores::race(&workers::Serial, &trials, known, |_| false, score);
            let tried = scores.rows.iter().filter(|row| !row[1].is_nan()).count();
            (tried, verdicts(&scores).1)
        };
        let mut verdicts = Vec::new();
        let mut tried = Vec::new();
        for _ in 0..6 {
            let (count, found) = race(&verdicts);
            assert!(found[0].chosen && !found[1].chosen);
            tried.push(count > 0);
            verdicts = found;
        }
        // Standard errors grow by half each time: what is known well is asked again after some generations.
        assert!(tried[0] && !tried[1] && tried.iter().filter(|&&tried| tried).count() > 1, "{tried:?}");
    }

    #[test]
    fn some_leave_a_race_early() {
        let trials = Trials { rows: (0..24).collect(), counts: vec![1.0; 24], scale: vec![1.0] };
        // After eight trials 4.7 errors behind, after 24 three: limits are 6 and 4, for those that leave early 4 and 2.
        let noise =
            |trial: usize| if trial.is_multiple_of(2) { 0.6 } else { -0.6 } * if trial < 8 { 0.93 } else { 3.6 };
        let race = |leaves_early: bool| {
            Scores::race(
                &workers::Serial,
                &trials,
                vec![None; 2],
                |way| leaves_early && way == 1,
                |trial, ways| {
                    ways.iter().map(|&way| if way == 1 { 1.0 + noise(trial) } else { 0.0 }).collect()
                },
            )
        };
        let (mean, error) = race(false).behind(1, 0);
        assert!(race(false).stayed(1) && mean > 2.0 * error && mean < 4.0 * error, "{mean} {error}");
        assert_eq!(race(true).rows.len(), ROUNDS[0]);
    }
}
