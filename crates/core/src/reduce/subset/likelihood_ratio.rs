//! Statistics are added while they change the posterior's histogram (Joyce & Marjoram 2008).

use rand::seq::SliceRandom;

use super::super::{Projection, ReduceError, Reduction};
use super::trials::Trials;
use super::{Columns, candidates, masses};
use crate::stream::Stream;
use crate::view::View;

/// Looks at the statistics in random order. One is added if with it the count of accepted parameters in some bin is more
/// than `deviations` standard deviations from what it was without, for any parameter; then those are taken out
/// that no longer change a bin. Ends when all that are left have been looked at without one being added.
///
/// Bins span what was accepted before; what falls beyond counts in the outermost. The paper has one parameter and takes the shares of the bins
/// before as known; here any parameter's bins count, and a share before is as uncertain as so many particles make it, which
/// widens the deviation by up to a factor of 1.4.
#[derive(Clone, Debug)]
pub struct LikelihoodRatio {
    /// Bins of each parameter.
    pub bins: usize,
    /// Standard deviations beyond which a count has changed.
    pub deviations: f64,
}

impl Default for LikelihoodRatio {
    fn default() -> Self {
        Self { bins: 10, deviations: 4.0 }
    }
}

impl Reduction for LikelihoodRatio {
    fn fit(&self, view: &View<'_>, rng: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        let mut waiting = candidates(view)?;
        waiting.shuffle(rng);
        let trials = Trials::new(view, view.rows, view.observed, view.keep);
        let mut chosen: Vec<usize> = Vec::new();
        'again: loop {
            for at in 0..waiting.len() {
                let with = [&chosen[..], &[waiting[at]]].concat();
                if self.differ(view, &trials.accepted(&with), &trials.accepted(&chosen)) {
                    chosen = with;
                    waiting.remove(at);
                    self.drop_redundant(view, &trials, &mut chosen);
                    continue 'again;
                }
            }
            break;
        }
        Ok(Columns::of(chosen, view))
    }
}

impl LikelihoodRatio {
    /// Takes out what the last addition made superfluous; that is not looked at again.
    fn drop_redundant(&self, view: &View<'_>, trials: &Trials<'_>, chosen: &mut Vec<usize>) {
        let mut at = 0;
        while at + 1 < chosen.len() {
            let mut without = chosen.clone();
            without.remove(at);
            if self.differ(view, &trials.accepted(chosen), &trials.accepted(&without)) {
                at += 1;
            } else {
                *chosen = without;
            }
        }
    }

    /// Whether the parameters of some rows fill the bins otherwise than those of others do. Rows count by their importance weights,
    /// and are as many as their effective sample size.
    fn differ(&self, view: &View<'_>, rows: &[u32], before: &[u32]) -> bool {
        let (here, there) = (masses(view, rows), masses(view, before));
        (0..view.units.columns()).any(|p| {
            let value = |row: &u32| view.units.at(*row as usize, p);
            let ends = before.iter().map(value);
            let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
            let width = (high - low) / self.bins as f64;
            if width == 0.0 {
                return false;
            }
            let count = |rows: &[u32], masses: &[f64]| {
                let mut counts = vec![0.0_f64; self.bins];
                for (row, mass) in rows.iter().zip(masses) {
                    let at = ((value(row) - low) / width).clamp(0.0, self.bins as f64 - 1.0);
                    counts[at as usize] += mass;
                }
                let (size, total) = (effective(masses), masses.iter().sum::<f64>());
                (counts.into_iter().map(move |count| count * size / total), size)
            };
            let ((found, n), (was, m)) = (count(rows, &here), count(before, &there));
            found.zip(was).any(|(found, was)| {
                // Of an empty bin it is only known that less than about one in m falls there.
                let share = was.max(0.5) / m;
                let deviation = (n * share * (1.0 - share) * (1.0 + n / m)).sqrt();
                (found - n * share).abs() > self.deviations * deviation
            })
        })
    }
}

/// How many equally weighted rows weighted ones are worth.
fn effective(masses: &[f64]) -> f64 {
    let total = masses.iter().sum::<f64>();
    total * total / masses.iter().map(|mass| mass * mass).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::testing::chosen;
    use super::*;

    #[test]
    fn finds_the_statistics_that_tell_something() {
        // A statistic that is noise moves the posterior too, if less: it makes it wider.
        let found = chosen(&LikelihoodRatio::default());
        assert!(found.contains(&"s1".into()) && found.contains(&"s4".into()), "{found:?}");
        assert!(found.len() < 5, "{found:?}");
    }
}
