//! The question, the answer, and what to worry about.

use counterpoise_core::diagnose::Warning;
use maud::{Markup, html};

use crate::number::significant;
use crate::prior::words;
use crate::run::Run;

/// Parameters named in the first sentence.
const NAMED: usize = 6;

fn count(number: usize, name: &str) -> String {
    format!("{number} {name}{}", if number == 1 { "" } else { "s" })
}

/// Name and state of the run.
pub(super) fn heading(run: &Run) -> Markup {
    let summary = &run.summary;
    let done = run.history.len();
    let simulations: usize = run.history.iter().map(|generation| generation.simulations).sum();
    let state = match (summary["finished"] == true, summary["stopped_by"].as_str()) {
        (true, None | Some("generations")) => "finished".to_owned(),
        (true, Some(reason)) => format!("ended by the limit of {reason}"),
        (false, Some(reason)) => format!("stopped: {reason}"),
        (false, None) => "not finished".to_owned(),
    };
    html! {
        header {
            h1 { (run.name()) }
            @if let Some(model) = summary["model"].as_str() { p.model { (model) } }
            p {
                (count(run.problem.prior.dimension(), "parameter")) " from " (count(run.problem.statistics.len(), "statistic")) "; "
                (done) " of " (count(run.planned() as usize, "generation")) ", " (simulations) " simulations; "
                span id="state" { (state) } "."
            }
        }
    }
}

/// The posterior in a sentence and a table.
pub(super) fn section(run: &Run) -> Markup {
    let posterior = run.posterior();
    let truth = run.truth();
    let has_truth = truth.iter().any(Option::is_some);
    let number = |value: f64| significant(value, 4);
    let laws = &run.description["parameters"];
    let kept = run.history.last().map_or(0, |last| last.population.len());
    let ess = run.history.last().map_or(f64::NAN, |last| last.posterior().effective_sample_size());
    html! {
        p.question { "Which values of the parameters make the observed statistics likely?" }
        p.answer {
            @for (index, parameter) in posterior.iter().take(NAMED).enumerate() {
                @if index > 0 { "; " }
                b { (parameter.name) } " is " (significant(parameter.quantiles[2], 3))
                " (90 %: " (significant(parameter.quantiles[0], 3)) " to " (significant(parameter.quantiles[4], 3)) ")"
            }
            @if posterior.len() > NAMED { "; and " (posterior.len() - NAMED) " more below" }
            "."
        }
        div.scroll { table {
            thead { tr {
                th { "parameter" } th.n { "median" } th.n { "5 %" } th.n { "95 %" } th.n { "mean" } th.n { "sd" } th.n { "mode" }
                @if has_truth { th.n { "truth" } }
                th { "prior" }
            } }
            tbody { @for (parameter, truth) in posterior.iter().zip(&truth) { tr data-name=(parameter.name) {
                th { (parameter.name) }
                td.n { (number(parameter.quantiles[2])) } td.n { (number(parameter.quantiles[0])) }
                td.n { (number(parameter.quantiles[4])) } td.n { (number(parameter.mean)) } td.n { (number(parameter.sd)) }
                td.n { (number(parameter.mode)) }
                @if has_truth { td.n { (truth.map_or_else(String::new, number)) } }
                td { (words(&laws[&parameter.name])) }
            } } }
        } }
        p.note { (kept) " particles with importance weights; effective sample size " (significant(ess, 4)) "." }
    }
}

/// What to do about a warning, beyond what it says itself.
fn remedy(warning: &Warning) -> &'static str {
    match warning {
        Warning::TiedDistances { .. } => {
            "Harmless where few tie. Where many do, statistics are counts with few values: raise method.simulations, or add a statistic that varies more."
        }
        Warning::RepeatedParameters { .. } => {
            "The table of simulations repeats parameters. Simulate each row at parameters of its own, or read information figures as upper bounds."
        }
        Warning::ConstantStatistics { .. } => {
            "Nothing is lost: a statistic that never varies says nothing. If it should vary, look at the simulator."
        }
        Warning::Unreached { .. } => {
            "Look at the predictive check below. Compare units and names of the data with those of the simulator; widen the prior; and if nothing helps, doubt the model."
        }
        Warning::LowEffectiveSampleSize { .. } => {
            "Raise method.keep (and method.simulations with it), or lower method.generations."
        }
        Warning::BelowBaseline { .. } => {
            "The search had too few simulations to learn from: raise method.simulations, or use the simple rule it names."
        }
        Warning::Optimism { .. } => {
            "Use weighting = \"hellinger\" or \"auto\", which learn on one half and accept in the other."
        }
        Warning::AtPriorBound { .. } => {
            "Widen the prior on that side if such values make sense. If they do not, the data want a value that the model does not allow."
        }
        Warning::FailedSimulations { .. } => {
            "Few failures far from the posterior do no harm. Where many fail near it, the posterior lacks those parameters: repair the simulator, or raise its limit."
        }
        _ => "docs/report.md says more.",
    }
}

/// Warnings with what to do about each.
pub(super) fn diagnosis(run: &Run) -> Markup {
    let warnings = run.warnings();
    html! {
        @if warnings.is_empty() {
            p.fine { "Nothing to worry about was found." }
        }
        @for warning in &warnings {
            div.warning { p { (warning.to_string()) } p.remedy { (remedy(warning)) } }
        }
    }
}
