//! How much each statistic counts, and how informative that is.

use counterpoise_core::digest::Generation;
use maud::{Markup, html};

use super::{MOST_ROWS, alone, left_out, wide};
use crate::figures::{self, MOST_WEIGHED};
use crate::number::significant;
use crate::run::Run;
use crate::shares::{self, Share, by_influence};

const WIDTH: f64 = 240.0;

/// A bar with its ranges.
fn bar(share: &Share, top: f64) -> Markup {
    let at = |value: f64| format!("{:.1}", WIDTH * value / top);
    let (low, high) = share.generations;
    let percent = |value: f64| format!("{} %", significant(100.0 * value, 3));
    let mut tip = format!("{}: {}", share.name, percent(share.share));
    if share.weight.is_some() {
        tip += &format!("\nfolds {} to {}", percent(share.folds.0), percent(share.folds.1));
    }
    tip += &format!("\ngenerations {} to {}", percent(low), percent(high));
    if let Some(weight) = share.weight {
        tip += &format!("\ndistance weight {}", significant(weight, 4));
    }
    html! {
        svg.bar viewBox="0 0 240 14" width="240" height="14" data-tip=(tip) {
            rect width="240" height="14" fill="transparent" {}
            rect y="2" height="10" width=(at(share.share)) fill="var(--series-0)" fill-opacity="0.55" {}
            path d={ "M" (at(low)) " 7H" (at(high)) } stroke="var(--ink)" stroke-width="1" {}
            @if share.weight.is_some() {
                path d={ "M" (at(share.folds.0)) " 7H" (at(share.folds.1)) } stroke="var(--series-1)" stroke-width="3" {}
            }
        }
    }
}

/// Shares, a row each.
fn table(shares: &[Share], of: &str) -> Markup {
    let ends = shares.iter().flat_map(|share| [share.share, share.generations.1, share.folds.1]);
    let top = ends.fold(f64::MIN_POSITIVE, f64::max);
    let is_weighed = shares.iter().any(|share| share.weight.is_some());
    html! {
        div.scroll.tall { table.bars data-shares=(if is_weighed { "distance" } else { "influence" }) {
            thead { tr { th { (of) } th { (if is_weighed { "share of the distance" } else { "influence" }) } th.n { "%" } @if is_weighed { th.n { "weight" } } } }
            tbody { @for share in shares.iter().take(MOST_ROWS) { tr data-name=(share.name) {
                th { (share.name) } td { (bar(share, top)) }
                td.n { (significant(100.0 * share.share, 3)) }
                @if let Some(weight) = share.weight { td.n { (significant(weight, 4)) } }
            } } }
        } }
        (left_out(shares.len()))
    }
}

/// How much each statistic counts, and what the distance compares, where that is something else.
pub(super) fn weights(run: &Run) -> Markup {
    let statistics = shares::statistics(run);
    let is_moved = run.history.last().is_some_and(Generation::is_moved);
    let compared: Vec<Share> = if by_influence(run) {
        shares::features(&run.history).into_iter().filter(|share| share.share > 0.0).collect()
    } else {
        vec![]
    };
    let (panels, observables) = figures::weights_over_time(run, MOST_WEIGHED);
    let dropped = statistics.iter().filter(|share| share.share == 0.0).count();
    html! {
        p.note {
            @if compared.is_empty() {
                "The share of the distance that a step of one standard deviation of the statistic makes, in the last generation. "
                "Thick red line: its range over the folds (one half learns for the other). Thin line: over all generations."
                @if dropped > 0 { " " (dropped) " of " (statistics.len()) " have no weight." }
            } @else {
                "The influence of a statistic is how far "
                (if is_moved { "the means of the posterior would move, by a linear regression of what was accepted," } else { "data like yours would move, by the distance," })
                " if it alone were another simulation's, as a share of all. Thin line: over all generations."
                @if dropped > 0 { " " (dropped) " of " (statistics.len()) " have no influence." }
            }
        }
        @for panel in panels {
            figure.wide.scroll { (wide(panel.height(200.0), "weights over time", 720.0)) }
        }
        @if observables > MOST_WEIGHED { p.note { "The " (MOST_WEIGHED) " heaviest of " (observables) " observables are drawn." } }
        (table(&statistics, "statistic"))
        @if !compared.is_empty() {
            p.note {
                "What the distance compares, statistics or features made of them such as predictions of the parameters: share of the distance "
                "that a step of one standard deviation makes. Thick red line: range over the folds. Thin line: over all generations."
            }
            (table(&compared, "compared"))
        }
    }
}

/// Information by generation.
pub(super) fn information(run: &Run) -> Markup {
    let Some(last) = run.history.last() else { return html! {} };
    let information = &last.information;
    let three = |value: f64| format!("{value:.3}");
    html! {
        p.note {
            "How far the accepted parameters are from the prior (squared Hellinger distance, 0 to 1). Held out: on simulations that the weights "
            "have not seen, which is the figure to trust. In sample: on those they were learned from. The simple rules are judged on the held-out ones."
        }
        div.cards {
            figure.card { (alone(figures::information(run), "information by generation")) }
            div.card { table {
                thead { tr { th { "last generation" } th.n { "information" } } }
                tbody {
                    tr { th { "held out" } td.n id="held-out" { (three(information.held_out)) } }
                    tr { th { "in sample" } td.n { (three(information.in_sample)) } }
                    @for (rule, value) in &information.baselines { tr { th { "rule " (rule) } td.n { (three(*value)) } } }
                }
            } }
        }
    }
}
