//! The run by generation, and where its time went.

use maud::{Markup, html};

use super::bare;
use crate::figures;
use crate::number::{duration, significant};
use crate::run::Run;

/// Pictures and a table by generation, and seconds by stage.
pub(super) fn section(run: &Run) -> Markup {
    let descriptions = ["effective sample size", "largest accepted distance", "simulations and failures"];
    let seconds = |stage: &str| run.summary["seconds"][stage].as_f64().unwrap_or(0.0);
    let named =
        [("simulating", "simulate"), ("weighing", "weigh"), ("proposing", "propose"), ("storing", "store")];
    let mut stages: Vec<(&str, f64)> = named.iter().map(|(name, key)| (*name, seconds(key))).collect();
    let total = seconds("total");
    stages.push(("other", (total - stages.iter().map(|(_, spent)| spent).sum::<f64>()).max(0.0)));
    let top = stages.iter().map(|(_, spent)| *spent).fold(f64::MIN_POSITIVE, f64::max);
    html! {
        div.cards { @for (panel, description) in figures::course(run).into_iter().zip(descriptions) {
            figure.card { (bare(panel, description)) }
        } }
        p.note {
            "Green: kept; blue: effective sample size. Yellow: simulations; red: failures. "
            "Distances of different generations do not compare: their weights differ."
        }
        div.scroll { table {
            thead { tr {
                th.n { "generation" } th.n { "simulations" } th.n { "failed" } th.n { "kept" } th.n { "ESS" } th.n { "largest distance" }
                th.n { "held out" } th.n { "in sample" } th.n { "evaluations" }
            } }
            tbody { @for one in &run.history { tr {
                td.n { (one.index) } td.n { (one.simulations) } td.n { (one.failed) } td.n { (one.population.len()) }
                td.n { (significant(one.population.effective_sample_size(), 4)) }
                td.n { (significant(one.population.distances.iter().copied().fold(f64::NEG_INFINITY, f64::max), 4)) }
                td.n { (format!("{:.3}", one.information.held_out)) } td.n { (format!("{:.3}", one.information.in_sample)) }
                td.n { (one.evaluations) }
            } } }
        } }
        h3 { "Seconds by stage" }
        p.note { (duration(total)) " in all." }
        div.scroll { table.bars { tbody { @for (stage, spent) in &stages { tr {
            th { (stage) }
            td { svg.bar viewBox="0 0 240 14" width="240" height="14" data-tip={ (stage) ": " (duration(*spent)) } {
                rect width="240" height="14" fill="transparent" {}
                rect y="2" height="10" width=(format!("{:.1}", 240.0 * spent / top)) fill="var(--series-2)" fill-opacity="0.6" {}
            } }
            td.n { (duration(*spent)) }
        } } } } }
        (failures(run))
    }
}

/// The first failure of each generation.
fn failures(run: &Run) -> Markup {
    let names = run.problem.prior.names();
    let found = run.history.iter().filter_map(|one| Some((one.index, one.failed, one.failure.as_ref()?)));
    let found: Vec<_> = found.collect();
    html! {
        @if !found.is_empty() {
            h3 { "Failures" }
            p.note { "The first of each generation." }
            @for (index, count, example) in &found {
                details {
                    summary { "generation " (index) ": " (count) " failed; row " (example.row) }
                    pre {
                        @for (name, value) in names.iter().zip(&example.theta) { (name) " = " (value) "\n" }
                        (example.failure.named(&run.problem.statistics))
                    }
                }
            }
        }
    }
}
