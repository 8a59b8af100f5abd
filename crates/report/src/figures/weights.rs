//! How much each statistic counts.

use counterpoise_pictures::{Axis, Colour, Mark, Panel};

use crate::number::significant;
use crate::run::Run;
use crate::series::{Series, is_geometric, series};
use crate::shares::{Share, by_influence, in_order};

/// Observables in one panel, and in all.
pub(crate) const COLOURS: usize = 7;
pub(crate) const MOST_SERIES: usize = 28;

/// What a share is one of.
fn of(is_influence: bool) -> &'static str {
    if is_influence { "influence (%)" } else { "share of the distance (%)" }
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

/// Shares as bars, with their range over folds and generations.
pub(crate) fn bars(shares: &[Share]) -> Panel {
    let list = |pick: &dyn Fn(&Share) -> f64| -> Vec<f64> {
        shares.iter().map(|share| percent(pick(share))).collect()
    };
    let y: Vec<f64> = (0..shares.len()).map(|at| at as f64).collect();
    let middle = list(&|share| share.share);
    Panel::new()
        .x(Axis::linear(of(shares.iter().any(|share| share.weight.is_none()))).from(0.0))
        .y(Axis::names(shares.iter().map(|share| share.name.clone())))
        .mark(Mark::rows(&middle).opacity(0.6).named("last generation"))
        .mark(
            Mark::errors_x(
                &middle,
                &y,
                &list(&|share| share.generations.0),
                &list(&|share| share.generations.1),
            )
            .colour(Colour::Ink)
            .scale(0.6)
            .named("range over generations"),
        )
}

/// Shares over time by observable, where statistics are observables at times: so many at most, the heaviest first, a few in a panel. The number
/// tells how many observables there are.
pub(crate) fn over_time(run: &Run, most: usize) -> (Vec<Panel>, usize) {
    let (names, shares) = in_order(run);
    let mut found = series(names);
    let total = |series: &Series| series.places.iter().map(|&place| shares[place]).sum::<f64>();
    found.sort_by(|a, b| total(b).total_cmp(&total(a)));
    let count = found.len();
    found.truncate(most);
    let a_panel = found.len().div_ceil(found.len().div_ceil(COLOURS).max(1)).max(1);
    let panel = |group: &[Series]| {
        let mut panel = Panel::new();
        for (number, series) in group.iter().enumerate() {
            let y: Vec<f64> = series.places.iter().map(|&place| percent(shares[place])).collect();
            let tips = series.places.iter().zip(&y);
            let tips = tips.map(|(&place, share)| format!("{}: {} %", names[place], significant(*share, 3)));
            panel = panel
                .mark(
                    Mark::line(&series.times, &y)
                        .colour(Colour::Series(number))
                        .tips(vec![series.name.clone()])
                        .named(&*series.name),
                )
                .mark(Mark::points(&series.times, &y).colour(Colour::Series(number)).tips(tips.collect()));
        }
        let geometric = group.iter().all(|series| is_geometric(&series.times));
        let axis = if geometric { Axis::log("time") } else { Axis::linear("time") };
        panel.x(axis).y(Axis::linear(of(by_influence(run))).from(0.0))
    };
    (found.chunks(a_panel).map(panel).collect(), count)
}
