//! Statistics are added until the posterior no longer moves (Barnes et al. 2012).

use rand::RngExt;

use super::super::{Projection, ReduceError, Reduction};
use super::trials::Trials;
use super::{Columns, candidates, masses};
use crate::stream::Stream;
use crate::view::View;
use crate::workers;

/// From no statistic on, adds the one that moves the posterior furthest in Kullback-Leibler divergence, and takes out
/// those without which it then stays where it is, for good; until no statistic moves it further than chance would. How far chance moves it
/// is seen from two posteriors by the same statistics, each from one half of the simulations.
///
/// What departs from the paper, and why:
///
/// - The paper runs ABC anew for every set of statistics that it looks at; here all posteriors are taken from the simulations of the
///   generation, the nearest by statistics in units of their standard deviations, so that no simulation is spent on choosing.
/// - A statistic that was taken out does not come back: two that displace each other would take turns for ever.
/// - What counts as a move is a threshold that others set by hand for each problem. Chance, as above, with its `margin` and a least move sets it here.
/// - Rows count by their importance weights from the second generation on.
#[derive(Clone, Debug)]
pub struct ApproximateSufficiency {
    /// How many times further than by chance a posterior must move.
    pub margin: f64,
}

impl Default for ApproximateSufficiency {
    fn default() -> Self {
        Self { margin: 2.0 }
    }
}

const NEIGHBOURS: usize = 5;
/// Points that divergences are estimated from, at the most.
const MOST_POINTS: usize = 500;
/// The least divergence, in nats, that counts as a move: chance is sometimes seen as nothing.
const LEAST: f64 = 0.05;

impl Reduction for ApproximateSufficiency {
    fn fit(&self, view: &View<'_>, rng: &mut Stream) -> Result<Box<dyn Projection>, ReduceError> {
        let mut waiting = candidates(view)?;
        let trials = Trials::new(view, view.rows, view.observed, view.keep);
        let chance = Chance::new(view, rng);
        let posterior = |subset: &[usize]| thinned(trials.accepted(subset));
        let mut chosen: Vec<usize> = Vec::new();
        loop {
            let present = posterior(&chosen);
            let moves = workers::map(view.workers, waiting.len(), |at| {
                divergence(view, &posterior(&[&chosen[..], &[waiting[at]]].concat()), &present)
            });
            let Some(best) = (0..waiting.len()).reduce(|a, b| if moves[b] > moves[a] { b } else { a }) else {
                break;
            };
            if moves[best] <= self.margin * chance.with(view, &chosen) {
                break;
            }
            // Looked at once: two statistics that make each other superfluous would take turns for ever.
            chosen.push(waiting.remove(best));
            self.drop_redundant(view, &mut chosen, &posterior, &chance);
        }
        Ok(Columns::of(chosen, view))
    }
}

impl ApproximateSufficiency {
    /// Takes out what the last addition made superfluous.
    fn drop_redundant(
        &self,
        view: &View<'_>,
        chosen: &mut Vec<usize>,
        posterior: &dyn Fn(&[usize]) -> Vec<u32>,
        chance: &Chance,
    ) {
        let mut at = 0;
        while at + 1 < chosen.len() {
            let without: Vec<usize> =
                chosen.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &j)| j).collect();
            let moved = divergence(view, &posterior(chosen), &posterior(&without));
            if moved <= self.margin * chance.with(view, &without) {
                *chosen = without;
            } else {
                at += 1;
            }
        }
    }
}

/// How far two posteriors by the same statistics are apart.
struct Chance {
    halves: [Vec<u32>; 2],
}

impl Chance {
    fn new(view: &View<'_>, rng: &mut Stream) -> Self {
        let mut halves = [Vec::new(), Vec::new()];
        view.rows.iter().for_each(|&row| halves[usize::from(rng.random::<bool>())].push(row));
        Self { halves }
    }

    fn with(&self, view: &View<'_>, statistics: &[usize]) -> f64 {
        let [a, b] = [0, 1].map(|half: usize| {
            let trials = Trials::new(view, &self.halves[half], view.observed, view.keep / 2);
            thinned(trials.accepted(statistics))
        });
        (0.5 * (divergence(view, &a, &b) + divergence(view, &b, &a))).max(LEAST)
    }
}

fn thinned(rows: Vec<u32>) -> Vec<u32> {
    let step = rows.len().div_ceil(MOST_POINTS).max(1);
    rows.into_iter().step_by(step).collect()
}

/// Kullback-Leibler divergence of one set of parameters from another, by their neighbours (Pérez-Cruz 2008); rows and neighbours
/// count by their importance weights. A simulation in both is not its own neighbour.
fn divergence(view: &View<'_>, from: &[u32], to: &[u32]) -> f64 {
    let d = view.units.columns() as f64;
    let (here, there) = (masses(view, from), masses(view, to));
    let (mut sum, mut total) = (0.0, 0.0);
    let mut near: Vec<(f64, f64)> = Vec::new();
    // Log distance to the last neighbour, and the share of the mass that is as near.
    let mut neighbour = |row: u32, among: &[u32], masses: &[f64]| -> Option<(f64, f64)> {
        near.clear();
        let here = view.units.row(row as usize);
        for (&other, &mass) in among.iter().zip(masses).filter(|(other, _)| **other != row) {
            let squares = view.units.row(other as usize).iter().zip(here);
            near.push((squares.map(|(a, b)| (a - b) * (a - b)).sum::<f64>(), mass));
        }
        if near.len() < NEIGHBOURS {
            return None;
        }
        let square = near.select_nth_unstable_by(NEIGHBOURS - 1, |a, b| a.0.total_cmp(&b.0)).1.0;
        let mass = |part: &[(f64, f64)]| part.iter().map(|(_, mass)| mass).sum::<f64>();
        let share = mass(&near[..NEIGHBOURS]) / mass(&near);
        (square > 0.0 && share > 0.0).then_some((0.5 * libm::log(square), share))
    };
    for (&row, &mass) in from.iter().zip(&here) {
        if let (Some((inside, own)), Some((outside, other))) =
            (neighbour(row, from, &here), neighbour(row, to, &there))
        {
            sum += mass * (d * (outside - inside) + libm::log(own / other));
            total += mass;
        }
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::testing::chosen;
    use super::*;
    use crate::divergence::Space;
    use crate::divergence::testing::{gaussian, normal_prior};
    use crate::propose::Importance;
    use crate::stream::Seed;
    use crate::table::Table;
    use crate::workers::Serial;

    /// Copies of one statistic, each a little off: any of them makes the others superfluous.
    #[test]
    fn ends_where_statistics_take_turns() {
        let (units, noise) = (gaussian(4000, 1, 0.0, 1.0, 3), gaussian(4000, 12, 0.0, 0.3, 4));
        let mut features = noise;
        for row in 0..4000 {
            features.row_mut(row).iter_mut().for_each(|value| *value += units.at(row, 0));
        }
        let rows: Vec<u32> = (0..4000).collect();
        let prior = normal_prior(1);
        for keep in [20, 40, 100] {
            let view = View {
                units: &units,
                features: (&features).into(),
                observed: &[0.4; 12],
                rows: &rows,
                spread: &[1.04; 12],
                importance: &Importance::equal(),
                space: &Space::new(&prior, &units, Seed(1), keep),
                learned: crate::reduce::Estimates::default(),
                adjusts: false,
                keep,
                previous: None,
                tried: &[],
                workers: &Serial,
            };
            for seed in 0..20 {
                let mut rng = Seed(seed).stream(crate::stream::Stage::Reduce, 0, 0);
                assert!(ApproximateSufficiency::default().fit(&view, &mut rng).is_ok());
            }
        }
    }

    #[test]
    fn finds_the_statistics_that_tell_something() {
        // A statistic that is noise moves the posterior too, if less: it makes it wider.
        let found = chosen(&ApproximateSufficiency::default());
        assert!(found.contains(&"s1".into()) && found.contains(&"s4".into()), "{found:?}");
        assert!(found.len() < 5, "{found:?}");
    }

    /// Points of N(1, 1) that weigh `exp(-x)` are points of N(0, 1); as they are, they are half a nat away from them.
    #[test]
    fn weights_count() {
        let units = Table::from_rows(
            1,
            [gaussian(800, 1, 0.0, 1.0, 1).values(), gaussian(800, 1, 1.0, 1.0, 2).values()].concat(),
        );
        let ln: Vec<f64> = (0..1600).map(|row| if row < 800 { 0.0 } else { -units.at(row, 0) }).collect();
        let space = Space::new(&normal_prior(1), &units, Seed(1), 1);
        let apart = |importance: &Importance<'_>| {
            let view = View {
                units: &units,
                features: (&units).into(),
                observed: &[0.0],
                rows: &[],
                spread: &[1.0],
                importance,
                space: &space,
                learned: crate::reduce::Estimates::default(),
                adjusts: false,
                keep: 1,
                previous: None,
                tried: &[],
                workers: &Serial,
            };
            let rows = |range: std::ops::Range<u32>| range.collect::<Vec<u32>>();
            divergence(&view, &rows(0..800), &rows(800..1600))
        };
        let (weighted, plain) = (apart(&Importance::known(&ln)), apart(&Importance::equal()));
        assert!(weighted.abs() < 0.15 && plain > 0.3, "{weighted}, {plain}");
    }
}
