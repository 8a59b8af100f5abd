//! An adjustment that proves itself on pseudo-observations, or is left alone.

use std::sync::OnceLock;

use super::forward::Forward;
use super::modes::Modes;
use super::thin::Thin;
use super::ways::{Kind, Looks, Size, Way};
use super::{Accepted, AdjustError, Adjusted, Adjustment, Regression, Simulations};
use crate::near::{Extent, Field, Near};
use crate::trials::{Before, LOOKED_AMONG, MARGIN, REGION, STAND_INS, Scores, Trials};
use crate::view::View;

/// What is chosen.
const SUBJECT: &str = "adjustment";

/// Chooses how many of the nearest simulations to take and how to adjust them, by what tells the parameters of
/// pseudo-observations near the data best. Where no adjustment does better than the accepted as they are, these stay.
#[derive(Clone, Debug)]
pub struct Judged;

/// Effective sizes of the samples that are tried: as many times as are kept, and all where none of these is enough.
const SIZES: [f64; 5] = [0.4, 1.0, 2.5, 6.0, 15.0];
/// An effective size, for each parameter but for two at least, that leaves small errors: a thirtieth of a standard
/// deviation of two. More gains little, and a regression that reaches further may be off by more than trials can show:
/// a shift by a third of a standard deviation makes scores worse by two parts in a hundred, which is their noise. One
/// larger size is tried.
const ENOUGH: f64 = 500.0;
/// A sample without adjustment is no larger.
const MOST_AS_ACCEPTED: f64 = 2.5;

/// How many standard errors others may be worse than fewer particles than are kept, and than modes that are weighed
/// afterwards: either must show that it is better.
const MARGIN_OF_DOUBTFUL: f64 = 1.0;

/// Ways that do not weigh simulations by where they were proposed are tried where the nearest weigh so unevenly that their
/// number is so many times their effective size.
const UNEVEN: f64 = 3.0;
/// Beside such ways, others must leave so large a share of what is kept.
const LEFT: f64 = 0.8;
/// Shares of all simulations that a regression which weighs afterwards is tried on.
const SHARES: [f64; 2] = [0.5, 0.2];
/// Shares in which features are regressed on the parameters, and up to how many statistics.
const FITTED_TO: [f64; 2] = [1.0, 0.3];
const MOST_STATISTICS: usize = 40;

impl Adjustment for Judged {
    fn adjust(&self, accepted: &Accepted<'_>, all: &Simulations<'_>) -> Result<Adjusted, AdjustError> {
        // Only features with a weight matter here, and often they are few of many.
        let used: Vec<usize> =
            (0..accepted.distance_weights.len()).filter(|&j| accepted.distance_weights[j] > 0.0).collect();
        if used.is_empty() {
            return Err(AdjustError::NoVariation);
        }
        among(accepted, all, &used)
    }
}

fn among(accepted: &Accepted<'_>, all: &Simulations<'_>, used: &[usize]) -> Result<Adjusted, AdjustError> {
    let view = all.view;
    let (keep, step) = (view.keep as f64, view.rows.len().div_ceil(LOOKED_AMONG));
    let field = &Field::for_one_look(view, 1);
    let modes = Modes::find(&accepted.population.units, accepted.population.weights.normalised());
    let at_data = Looks { accepted, view, modes: &modes, logits: &OnceLock::new(), used, forwards: &[] };
    let (mut sizes, first_enough) = sizes(view);
    let look = |ways: &[Way]| {
        let extent = reach(ways, keep, view.rows.len());
        field.near((accepted.observed, accepted.distance_weights), None, extent)
    };
    let of_size = |&size: &f64| Way { size: Size::Effective(size), kind: Kind::None };
    // Far simulations weigh something only if far ones are taken: what is more than enough is looked at when it has won.
    let mut within = first_enough.unwrap_or(f64::INFINITY);
    let near: Vec<Way> = sizes.iter().filter(|&&size| size <= within).map(of_size).collect();
    let mut here = look(&near);
    sizes.dedup_by_key(|size| if *size > within { here.all() } else { here.reaching(*size * keep) });
    let enough = first_enough.map_or(here.all(), |size| here.reaching(size * keep));
    let mut ways = first_ways(&at_data, &sizes, step);
    let mut fitted = Vec::new();
    if view.importance.is_known_anywhere() && here.reaching(keep) as f64 > UNEVEN * keep {
        // Modes that one regression draws together weigh as their middle does.
        let kind = if modes.is_one() { Kind::WeighedAfter } else { Kind::WeighedAfterByMode };
        let after = SHARES.map(|share| Way { size: Size::Share(share), kind });
        here = look(&[&ways[..], &after].concat());
        within = f64::INFINITY;
        ways.extend(after.into_iter().filter(|way| at_data.is_worth_trying(&here, *way, step)));
        fitted = forwards(view, accepted, used);
        ways.extend(
            fitted.iter().enumerate().map(|(which, forward)| Way {
                size: Size::Fitted(forward.count()),
                kind: Kind::Forward(which),
            }),
        );
        // These leave as many as are kept. Beside them, a sample of a few heavy simulations is not worth its noise.
        let leaves_enough = |way: &Way| match way.size {
            Size::Effective(_) => here.effective(way.size.of(&here, keep)) >= LEFT * keep,
            Size::Share(_) | Size::Fitted(_) => true,
        };
        if ways.iter().any(|way| !matches!(way.size, Size::Effective(_))) {
            ways.retain(leaves_enough);
        }
    }
    let trials = Trials::new(view, field, accepted.distance_weights, keep / REGION);
    let at_data = Looks { forwards: &fitted, ..at_data };
    let some = Thin::of(view, step, accepted.distance_weights, used);
    let thin = some.view(view);
    let laid_out = Field::compared(&thin, 1, &some.weights);
    let in_trials = Looks { view: &thin, logits: &OnceLock::new(), used: &some.used, ..at_data };
    let score = |at: usize, ways: &[Way]| -> Vec<f64> {
        let row = trials.rows[at];
        let (observed, truth) = (view.features.row(row as usize).to_vec(), view.units.row(row as usize));
        let seen: Vec<f64> = used.iter().map(|&j| observed[j]).collect();
        let extent = reach(ways, keep / step as f64, thin.rows.len());
        let near = laid_out.near((&seen, &some.weights), some.place(row), extent);
        let mut look = in_trials.at(&near, &observed, &seen);
        let one = |way: &Way| {
            let size = way.size.of(&near, keep / step as f64);
            look.stand_ins(size, way.kind).filter(|(units, _)| units.rows() >= STAND_INS / 4).map_or(
                f64::INFINITY,
                |(units, effective)| {
                    // In the end there are so many times as many.
                    trials.score(&units, truth, effective * step as f64)
                },
            )
        };
        ways.iter().map(one).collect()
    };
    // More than are enough are taken only where they are better.
    let is_more = |way: usize| match (ways[way].size, first_enough) {
        (Size::Effective(size), Some(enough)) => size > enough,
        _ => false,
    };
    let before = |ways: &[Way]| Before::of(view.tried, SUBJECT, ways.iter().map(|way| at_data.key(way)));
    let mut scores = Scores::race(view.workers, &trials, before(&ways), is_more, |at, left| {
        score(at, &left.iter().map(|&way| ways[way]).collect::<Vec<Way>>())
    });
    let more = more_ways(accepted, &ways, &scores);
    if !more.is_empty() {
        scores.extend(view.workers, before(&more), |at, left| {
            score(at, &left.iter().map(|&way| more[way]).collect::<Vec<Way>>())
        });
        ways.extend(more);
    }
    // Of what is as good, the larger sample is preferred, up to what is enough; and where particles lie apart, a regression
    // for each mode to one for all.
    let is_far = |way: &Way| matches!(way.size, Size::Effective(size) if size > within);
    let count = |way: &Way| {
        if !is_far(way) {
            return way.size.of(&here, keep);
        }
        let extent = reach(&[*way], keep / step as f64, thin.rows.len());
        let near = laid_out.near((&some.observed, &some.weights), None, extent);
        (step * way.size.of(&near, keep / step as f64)).clamp(enough.min(here.all() - 1) + 1, here.all())
    };
    let counts: Vec<usize> = ways.iter().map(count).collect();
    let mut order: Vec<usize> = (0..ways.len()).collect();
    order.sort_by_key(|&way| match (counts[way], ways[way].kind != Kind::ByMode) {
        (count, for_all) if count <= enough => (false, here.all() - count, for_all),
        (count, for_all) => (true, count, for_all),
    });
    let named = |way: usize, count: &str| format!("{}, {count} nearest", at_data.name(ways[way].kind));
    let name = |way: usize| {
        let about = if is_far(&ways[way]) { "about " } else { "" };
        (at_data.key(&ways[way]), named(way, &format!("{about}{}", counts[way])))
    };
    // The posterior of fewer than are kept is rough, which scores hardly tell.
    let is_doubtful =
        |way: usize| counts[way] < here.reaching(keep) || ways[way].kind == Kind::WeighedAfterByMode;
    let margin = |best: usize| if is_doubtful(best) { MARGIN_OF_DOUBTFUL } else { MARGIN };
    let (taken, mut evidence) = scores.verdicts(SUBJECT, &order, margin, name);
    let made = |at: usize| {
        let way = &ways[order[at]];
        let there = is_far(way).then(|| look(&[*way]));
        let near = there.as_ref().unwrap_or(&here);
        let count = way.size.of(near, keep);
        at_data.population(near, count, way.kind, all.thetas).map(|population| (at, count, population))
    };
    let (at, count, population) = made(taken).or_else(|error| {
        // What pseudo-observations allow, the data may not: where the nearest all look alike there is nothing to regress on.
        let plain = (0..order.len()).filter(|&at| ways[order[at]].kind == Kind::None);
        let best = plain.min_by(|&a, &b| evidence[a].score.total_cmp(&evidence[b].score)).ok_or(error)?;
        evidence.iter_mut().enumerate().for_each(|(at, verdict)| verdict.chosen = at == best);
        made(best)
    })?;
    // What was taken is counted.
    evidence[at].name = named(order[at], &count.to_string());
    Ok(Adjusted { population, evidence })
}

/// The features by the parameters: those that the distance compares, and the statistics as they are, which no learning
/// has bent at the bounds of the prior.
fn forwards(view: &View<'_>, accepted: &Accepted<'_>, compared: &[usize]) -> Vec<Forward> {
    let raw = view.features.columns() - view.learned.count();
    let statistics: Vec<usize> = view.varying().into_iter().filter(|&j| j < raw).collect();
    let is_new = statistics != compared && statistics.len() <= MOST_STATISTICS;
    let sets = [
        Some(("features by parameters", compared.to_vec())),
        is_new.then_some(("statistics by parameters", statistics)),
    ];
    let plans = sets.into_iter().flatten().flat_map(|set| FITTED_TO.map(|share| (set.clone(), share)));
    plans.filter_map(|(set, share)| Forward::fit(view, accepted, set, share)).collect()
}

/// The effective sizes that are tried, as multiples of what is kept, ascending; and which of them is enough, if one is.
fn sizes(view: &View<'_>) -> (Vec<f64>, Option<f64>) {
    let keep = view.keep as f64;
    let possible = |&size: &f64| size <= 1.0 || 2.0 * size * keep < view.rows.len() as f64;
    let mut sizes: Vec<f64> = SIZES.into_iter().filter(possible).collect();
    let wanted = (ENOUGH * view.units.columns().max(2) as f64).max(keep);
    let first = sizes.iter().position(|size| size * keep >= wanted);
    match first {
        Some(at) => sizes.truncate(at + 2),
        None => sizes.push(f64::INFINITY),
    }
    let enough = first.map(|at| sizes[at]);
    (sizes, enough)
}

/// How far ways look among `all` simulations of which so many are kept.
fn reach(ways: &[Way], keep: f64, all: usize) -> Extent {
    let (mut effective, mut least) = (0.0_f64, 0);
    for way in ways {
        match way.size {
            Size::Effective(size) => effective = effective.max(size * keep),
            Size::Fitted(_) => {}
            Size::Share(share) => least = least.max((share * all as f64).ceil() as usize),
        }
    }
    Extent { effective, least, most: usize::MAX }
}

/// What is raced; `step` simulations in the end are one in a trial.
fn first_ways(looks: &Looks<'_>, sizes: &[f64], step: usize) -> Vec<Way> {
    let keep = looks.view.keep as f64;
    let needed = Regression::default().particles_for(looks.used.len());
    let of_kind = |kind: Kind, fits: &dyn Fn(f64) -> bool| -> Vec<Way> {
        let fitting = sizes.iter().rev().filter(|size| fits(**size));
        fitting.map(|&size| Way { size: Size::Effective(size), kind }).collect()
    };
    let enough_for = |particles: usize| move |size: f64| size * keep / step as f64 >= particles as f64;
    let mut ways = of_kind(Kind::Linear, &enough_for(needed));
    ways.extend(of_kind(Kind::None, &|size| size <= MOST_AS_ACCEPTED));
    if !looks.modes.is_one() {
        // Regressions by mode may be good where one for all is not.
        ways.extend(of_kind(Kind::ByMode, &enough_for(needed * looks.modes.count())));
    }
    ways
}

impl Looks<'_> {
    /// Whether a way that weighs afterwards has enough to learn from, and leaves the data themselves with enough.
    fn is_worth_trying(&self, here: &Near<'_>, way: Way, step: usize) -> bool {
        let keep = self.view.keep as f64;
        let count = way.size.of(here, keep);
        count / step >= Regression::default().particles_for(self.used.len()) * self.modes.count()
            && self.left(here, count, way.kind) >= keep
    }
}

/// What else a regression may do, where it is best.
fn more_ways(accepted: &Accepted<'_>, ways: &[Way], scores: &Scores) -> Vec<Way> {
    let stayed = |way: &usize| scores.stayed(*way);
    let linear: Vec<usize> =
        (0..ways.len()).filter(|&way| ways[way].kind == Kind::Linear).filter(stayed).collect();
    if linear.is_empty() {
        return Vec::new();
    }
    let size = ways[scores.best(&linear)].size;
    let is_bounded = |marginal: &crate::problem::Marginal| {
        let (low, high) = marginal.unit_support();
        low.is_finite() && high.is_finite()
    };
    let mut more = vec![Way { size, kind: Kind::Heteroscedastic }];
    if accepted.prior.marginals().iter().any(is_bounded) {
        more.push(Way { size, kind: Kind::Within });
    }
    more
}
