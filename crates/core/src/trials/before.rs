//! What the generation before found: it counts, and fades.

use super::Verdict;

/// How far a way was behind the best in the generation before, with the standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Before {
    pub(super) behind: f64,
    pub(super) error: f64,
}

/// How much larger standard errors are a generation later: what was tried then was near the data by other standards.
pub(super) const FADED: f64 = std::f64::consts::SQRT_2;
/// Evidence of two generations that is so many standard errors apart is not evidence of the same: the newer counts.
const CONTRADICTING: f64 = 3.0;

impl Before {
    /// What the generation before says of some ways.
    pub(crate) fn of(
        tried: &[Verdict],
        subject: &str,
        ways: impl Iterator<Item = String>,
    ) -> Vec<Option<Self>> {
        let tried: Vec<&Verdict> = tried.iter().filter(|verdict| verdict.subject == subject).collect();
        let best = tried.iter().map(|verdict| verdict.score).fold(f64::INFINITY, f64::min);
        let one = |way: String| {
            let verdict = tried.iter().find(|verdict| verdict.way == way)?;
            let before = Self { behind: verdict.score - best, error: FADED * verdict.error };
            (before.behind.is_finite() && before.error.is_finite()).then_some(before)
        };
        ways.map(one).collect()
    }
}

/// What two estimates with their standard errors say together; the first alone where they contradict each other, or it is exact.
pub(super) fn together(now: (f64, f64), before: (f64, f64)) -> (f64, f64) {
    let apart = (now.0 - before.0).abs();
    let is_useful = now.1 > 0.0 && before.1 > 0.0 && apart <= CONTRADICTING * both(now.1, before.1);
    if !is_useful {
        return now;
    }
    let (a, b) = (1.0 / (now.1 * now.1), 1.0 / (before.1 * before.1));
    ((a * now.0 + b * before.0) / (a + b), (a + b).sqrt().recip())
}

/// The standard error of a difference.
pub(super) fn both(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}
