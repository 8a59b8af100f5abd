//! Observed statistics against those of the accepted simulations.

use maud::{Markup, html};

use super::{MOST_ROWS, alone, left_out};
use crate::figures::{self, MOST_SERIES};
use crate::number::significant;
use crate::predictive::{Check, checks, worst_first};
use crate::run::Run;
use crate::series::series;

const NAMED: usize = 5;

/// Where the observation lies among the simulations: a strip from the least to the most of both.
fn strip(check: &Check) -> Markup {
    let [low, lower, median, upper, high] = check.quantiles;
    let (first, last) = (check.ends.0.min(check.observed), check.ends.1.max(check.observed));
    let width = if last > first { last - first } else { 1.0 };
    let at = |value: f64| 4.0 + 232.0 * (value - first) / width;
    let text = |value: f64| format!("{:.1}", at(value));
    let wide = |from: f64, to: f64| format!("{:.1}", (at(to) - at(from)).max(1.0));
    let tip = format!("{}\nas far out: {} of simulations", figures::tip(check), significant(check.tail, 2));
    html! {
        svg.bar viewBox="0 0 240 14" width="240" height="14" data-tip=(tip) {
            rect width="240" height="14" fill="transparent" {}
            rect x=(text(low)) y="3" height="8" width=(wide(low, high)) fill="var(--series-0)" fill-opacity="0.25" {}
            rect x=(text(lower)) y="3" height="8" width=(wide(lower, upper)) fill="var(--series-0)" fill-opacity="0.4" {}
            path d={ "M" (text(median)) " 2V12" } stroke="var(--series-0)" stroke-width="2" {}
            circle cx=(text(check.observed)) cy="7" r="3.5" fill="var(--series-1)" {}
        }
    }
}

/// Bands over time, the worst offenders, and every statistic.
pub(super) fn section(run: &Run) -> Markup {
    let Some(last) = run.history.last() else { return html! {} };
    let Some(accepted) = &run.accepted else {
        return html! { p { "The simulations of this run are in a table and are not kept with it: there is nothing to compare the data with." } };
    };
    let checks = checks(&run.problem, accepted, last.population.weights.normalised());
    let worst = worst_first(&checks);
    let missed: Vec<&&Check> = worst.iter().filter(|check| check.is_missed()).collect();
    let panels = figures::over_time(&run.problem.statistics, &checks);
    let observables = series(&run.problem.statistics).len();
    html! {
        p.note {
            "Statistics of the kept simulations, with their importance weights, beside the observed ones. They were kept for being near: where "
            "even they miss, the model or the data are to be doubted; where they do not, less is proved."
        }
        @if missed.is_empty() {
            p.fine { "All " (checks.len()) " observed statistics lie within the central 90 % of the simulations." }
        } @else {
            p id="offenders" {
                (missed.len()) " of " (checks.len()) " observed statistics lie outside the central 90 % of the simulations (about "
                (checks.len().div_ceil(10)) " would if nothing were selected). The worst: "
                @for (index, check) in missed.iter().take(NAMED).enumerate() {
                    @if index > 0 { ", " }
                    b { (check.name) } " (observed " (significant(check.observed, 3)) ", simulated "
                    (significant(check.quantiles[0], 3)) " to " (significant(check.quantiles[4], 3)) ")"
                }
                "."
            }
        }
        @if !panels.is_empty() {
            div.cards { @for panel in panels { figure.card { (alone(panel, "observed and simulated over time")) } } }
            @if observables > MOST_SERIES { p.note { "The first " (MOST_SERIES) " of " (observables) " observables are drawn." } }
        }
        details open[observables == 0] {
            summary { "Every statistic, the worst first" }
            p.note { "Bars: central 50 and 90 % of the simulations, with their median; red point: observed. As far out: share of simulations at least as far from the median as the observation, on its side, doubled." }
            div.scroll.tall { table.bars {
                thead { tr { th { "statistic" } th { "simulated and observed" } th.n { "observed" } th.n { "5 %" } th.n { "median" } th.n { "95 %" } th.n { "as far out" } } }
                tbody { @for check in worst.iter().take(MOST_ROWS) { tr data-name=(check.name) .missed[check.is_missed()] {
                    th { (check.name) } td { (strip(check)) } td.n { (significant(check.observed, 4)) }
                    td.n { (significant(check.quantiles[0], 4)) } td.n { (significant(check.quantiles[2], 4)) }
                    td.n { (significant(check.quantiles[4], 4)) } td.n { (significant(check.tail, 2)) }
                } } }
            } }
            (left_out(checks.len()))
        }
    }
}
