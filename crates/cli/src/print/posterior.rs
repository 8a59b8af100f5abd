//! The summary of a run as a page a person can read.

use super::bars::bar;
use super::number::{duration, significant};
use super::plot;
use super::sparkline::sparkline;
use super::table::{Align, lines, wrapped};
use crate::summary::{Information, Parameter, Summary};

/// Statistics shown with bars.
const HEAVIEST: usize = 10;
const BAR: usize = 30;
const PAGE: usize = 100;

/// All of a summary, with larger pictures where they are asked for.
pub(crate) fn page(summary: &Summary, plot: bool) -> String {
    let mut text = heading(summary);
    if let Some(model) = &summary.model {
        text += &wrapped(&format!("model: {model}"), PAGE, "  ");
    }
    if !summary.parameters.is_empty() {
        text += "\n";
        text += &marginals(summary);
        text += "\n";
        text += &heaviest(summary);
        text += "\n";
        if plot {
            text += &plot::plots(summary);
            text += "\n";
        }
        text += &figures(summary);
    }
    if !summary.warnings.is_empty() {
        text += "\n";
    }
    for warning in &summary.warnings {
        text += &wrapped(&format!("warning: {warning}"), PAGE, "  ");
    }
    text += &format!("\nkept in {}\n", summary.directory);
    text
}

fn heading(summary: &Summary) -> String {
    let Summary { problem, generations, generations_planned, simulations, kept, .. } = summary;
    let reason = summary.stopped_by.as_deref();
    let ending = match (summary.finished, reason) {
        (true, Some("generations") | None) => String::new(),
        (true, Some(reason)) => format!(", ended by the limit of {reason}"),
        (false, Some("interrupt")) => ", interrupted".into(),
        (false, Some(reason)) => format!(", stopped at the limit of {reason}"),
        (false, None) => ", not finished".into(),
    };
    if *generations == 0 {
        return format!("{problem}: no generation of {generations_planned} is done{ending}\n");
    }
    format!(
        "{problem}: {generations} of {generations_planned} generations, {simulations} simulations, {kept} kept{ending}\n"
    )
}

fn marginals(summary: &Summary) -> String {
    let mut rows = vec![
        ["parameter", "mean", "sd", "90 % interval", "", "over the prior", ""].map(str::to_owned).to_vec(),
    ];
    rows.extend(summary.parameters.iter().map(|(name, parameter)| marginal(name, parameter)));
    let align =
        [Align::Left, Align::Right, Align::Right, Align::Left, Align::Right, Align::Left, Align::Left];
    lines(&rows, &align)
}

fn marginal(name: &str, parameter: &Parameter) -> Vec<String> {
    let number = |value: f64| significant(value, 4);
    let shares: Vec<f64> = parameter.histogram.iter().map(|share| share.0).collect();
    let scale = if parameter.scale == "log" { " (log scale)" } else { "" };
    vec![
        name.to_owned(),
        number(parameter.mean.0),
        number(parameter.sd.0),
        format!("{} to {}", number(parameter.q05.0), number(parameter.q95.0)),
        significant(parameter.range[0].0, 3),
        format!("│{}│", sparkline(&shares)),
        format!("{}{scale}", significant(parameter.range[1].0, 3)),
    ]
}

/// The statistics that count most, and what the distance compares, where that is something else.
fn heaviest(summary: &Summary) -> String {
    let (counts, called) = summary.counts();
    let statistics = bars(counts, "statistics", called);
    if !summary.counts_by_influence() {
        return statistics;
    }
    let compared = summary.sized_weights().filter(|(_, weight)| *weight > 0.0).collect();
    format!("{statistics}\n{}", bars(compared, "compared by the distance", "weight x sd"))
}

/// The heaviest, each with a bar.
fn bars(mut weights: Vec<(&String, f64)>, of: &str, called: &str) -> String {
    let all = weights.len();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    weights.retain(|(_, weight)| *weight > 0.0);
    weights.truncate(HEAVIEST);
    let top = weights.first().map_or(1.0, |(_, weight)| *weight);
    let title =
        if all > weights.len() { format!("heaviest {} of {all} {of}", weights.len()) } else { of.into() };
    let mut rows = vec![vec![title, called.into()]];
    rows.extend(
        weights
            .iter()
            .map(|(name, weight)| vec![(*name).clone(), significant(*weight, 3), bar(*weight, top, BAR)]),
    );
    lines(&rows, &[Align::Left, Align::Right, Align::Left])
}

/// What `auto` chose, with the best of what it left: the score of pseudo-observations, less is better.
fn chosen(summary: &Summary) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for taken in summary.evidence.iter().filter(|way| way.chosen) {
        let others = summary.evidence.iter().filter(|way| way.subject == taken.subject && !way.chosen);
        let next = others.min_by(|a, b| a.score.0.total_cmp(&b.score.0));
        let beside = next.map_or_else(String::new, |next| {
            format!("; next {} {:.3} +- {:.3}", next.name, next.score.0, next.error.0)
        });
        rows.push(vec![
            taken.subject.clone(),
            format!("{:.3}", taken.score.0),
            format!("{}{beside}", taken.name),
        ]);
    }
    rows
}

fn figures(summary: &Summary) -> String {
    let mut rows = Vec::new();
    if let Some(Information { in_sample, held_out, baselines }) = &summary.information {
        let row = |name: &str, value: f64, note: &str| {
            vec![name.to_owned(), format!("{value:.3}"), note.to_owned()]
        };
        rows.push(row("information", held_out.0, "held out"));
        rows.push(row("", in_sample.0, "in sample"));
        rows.extend(baselines.iter().map(|(rule, value)| row("", value.0, &format!("by the rule {rule}"))));
    }
    rows.extend(chosen(summary));
    let note = format!("effective sample size of {} kept", summary.kept);
    rows.push(vec!["ESS".into(), format!("{:.1}", summary.ess.0), note]);
    rows.push(vec![
        "failed".into(),
        summary.failed.to_string(),
        format!("of {} simulations", summary.simulations),
    ]);
    let seconds = &summary.seconds;
    let stages =
        [("simulating", seconds.simulate), ("weighing", seconds.weigh), ("proposing", seconds.propose)];
    let stages: Vec<String> =
        stages.iter().map(|(stage, spent)| format!("{} {stage}", duration(spent.0))).collect();
    rows.push(vec!["time".into(), duration(seconds.total.0), stages.join(", ")]);
    lines(&rows, &[Align::Left, Align::Right, Align::Left])
}
