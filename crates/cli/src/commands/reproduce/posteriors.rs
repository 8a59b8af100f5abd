//! Figures 2 to 5: what a model does, and its posterior by uniform, scaled and adaptive weights beside the exact one.

use std::f64::consts::LN_10;

use counterpoise_core::stream::Stage;
use counterpoise_models::Parameter;
use counterpoise_models::exact::{self, Density};
use counterpoise_pictures::{Axis, Colour, Figure, Mark, Panel, Style, density};

use super::experiment::{ADAPTIVE, Case, Experiment, OURS, Outcome, Plan, SCALED, UNIFORM};
use super::metropolis::walk;
use super::output_of_models;
use super::sheet::{Cell, Sheet};
use super::{Context, Made};
use crate::trouble::Trouble;

/// States of the walk over the true posterior of the toy problem.
const STATES: usize = 50_000;
/// Curves are drawn where the density is above this share of its top.
const SEEN: f64 = 1e-3;
/// Every so many points of an exact density are drawn.
const THINNED: usize = 4;

/// Curves of a figure, as a table.
pub(super) struct Curves(pub(super) Sheet);

impl Curves {
    pub(super) fn new() -> Self {
        Self(Sheet::new(["panel", "series", "x", "y"]))
    }

    pub(super) fn add(&mut self, panel: &str, series: &str, x: &[f64], y: &[f64]) {
        for (x, y) in x.iter().zip(y) {
            self.0.row(vec![Cell::text(panel), Cell::text(series), Cell::Number(*x), Cell::Number(*y)]);
        }
    }
}

/// Makes one of the figures.
pub(super) fn make(context: &Context<'_>, problems: &[&'static str]) -> Result<Made, Trouble> {
    let rules = [UNIFORM, SCALED, ADAPTIVE, OURS];
    let (mut panels, mut curves, mut text) = (Vec::new(), Curves::new(), String::new());
    let mut summary = Sheet::new(header());
    for name in problems {
        let experiment = Experiment::new(name, context)?;
        let cases = experiment.cases(context.datasets(), context)?;
        let size = experiment.size(context);
        let plans = rules.map(|rule| Plan { rule, size });
        let outcomes = experiment.study(&plans, &cases, context)?;
        panels.extend(output_of_models::panels(&experiment, &cases, &mut curves));
        panels.extend(posterior(&experiment, context, (&plans, &cases[0], &outcomes[0]), &mut curves));
        summarise(&experiment, &plans, &cases, &outcomes, &mut summary);
        text.push_str(&format!(
            "{name}: {} datasets, {} x {} simulations, {} kept{}\n\n",
            cases.len(),
            size.generations,
            size.simulations,
            size.keep,
            experiment.departure.as_ref().map_or(String::new(), |departure| format!(" ({departure})"))
        ));
    }
    text.push_str(&summary.markdown());
    text.push_str(NOTE);
    let figure = Figure::new(Style::print())
        .title(format!("Posteriors of the first dataset: {}", problems.join(", ")))
        .description("Posterior densities by several rules beside the exact one")
        .columns(if panels.len() == 1 { 1 } else { 2 })
        .panels(panels);
    Ok(Made { figure: Some(figure), sheets: vec![("", curves.0), ("-summary", summary)], text })
}

/// What the columns of a summary mean.
pub(super) const NOTE: &str = "\nMeans over datasets with standard errors. Information: squared Hellinger distance of the posterior from the prior; \
     exact: that of the exact posterior, its ceiling; root: the distance itself, the square root of the information; as printed: the information by the paper's estimator. Bias: distance from the truth in log10. W1: to the exact posterior, in its sd.\n";

/// Panels of all parameters for one dataset.
fn posterior(
    experiment: &Experiment,
    context: &Context<'_>,
    (plans, case, outcomes): (&[Plan], &Case, &[Outcome]),
    curves: &mut Curves,
) -> Vec<Panel> {
    let panel = |(j, parameter): (usize, &Parameter)| {
        let title = format!("{}: {}", experiment.name, parameter.name);
        let axis = Axis::log(parameter.name);
        let mut panel = Panel::new()
            .title(title.clone())
            .x(axis)
            .y(Axis::linear("density of log10").from(0.0))
            .mark(Mark::vertical(parameter.truth).dashed().colour(Colour::Muted).named("truth"));
        if let Some(exact) = &case.exact {
            let (x, y) = exact[j].curve();
            let top = y.iter().copied().fold(0.0, f64::max);
            let seen = x.iter().zip(&y).filter(|(_, height)| **height > SEEN * top);
            let (x, y): (Vec<f64>, Vec<f64>) =
                seen.step_by(THINNED).map(|(x, y)| (libm::exp(LN_10 * x), *y)).unzip();
            curves.add(&title, "exact", &x, &y);
            panel = panel.mark(Mark::line(&x, &y).colour(Colour::Ink).scale(1.6).named("exact"));
        }
        if experiment.name.starts_with("toy") {
            let most = case.data.observed.iter().copied().fold(0.0, f64::max);
            let (low, draws) = (libm::log(most), case.data.observed.len() as f64);
            let (least, high) = (libm::log(parameter.low), libm::log(parameter.high));
            let ln = |at: f64| {
                if at < low.max(least) || at > high { f64::NEG_INFINITY } else { -draws * (at - low) }
            };
            let mut rng = context.seed.stream(Stage::Reference, 1, 0);
            let states = walk(ln, (low.max(least) + 1.0 / draws, 2.0 / draws), STATES, &mut rng);
            let values: Vec<f64> = states.into_iter().map(libm::exp).collect();
            if let Some(curve) = density(&values, None, true, Some((most, parameter.high))) {
                curves.add(&title, "MCMC", &curve.x, &curve.y);
                panel = panel.mark(Mark::line(&curve.x, &curve.y).colour(Colour::Muted).named("MCMC"));
            }
        }
        for (at, (plan, outcome)) in plans.iter().zip(outcomes).enumerate() {
            let values = outcome.population.thetas.column(j);
            let weights = outcome.population.weights.normalised();
            let range = Some((parameter.low, parameter.high));
            if let Some(curve) = density(&values, Some(weights), true, range) {
                curves.add(&title, plan.rule.name, &curve.x, &curve.y);
                let mark = Mark::line(&curve.x, &curve.y).colour(Colour::Series(at)).named(plan.rule.name);
                panel = panel.mark(mark);
            }
        }
        panel
    };
    experiment.setting.parameters.iter().enumerate().map(panel).collect()
}

fn header() -> Vec<&'static str> {
    vec![
        "problem",
        "rule",
        "information",
        "exact",
        "root",
        "as printed",
        "bias of mean",
        "bias of mode",
        "W1",
        "sd / exact",
        "90 % covers",
        "ess",
        "by parameter: bias, sd, W1",
    ]
}

/// A row for each rule.
fn summarise(
    experiment: &Experiment,
    plans: &[Plan],
    cases: &[Case],
    outcomes: &[Vec<Outcome>],
    summary: &mut Sheet,
) {
    let exact: Vec<f64> = cases
        .iter()
        .map(|case| case.exact.as_ref().map_or(f64::NAN, |exact| exact::information(exact)))
        .collect();
    for (at, plan) in plans.iter().enumerate() {
        let over = |value: &dyn Fn(&Outcome) -> f64| -> Vec<f64> {
            outcomes.iter().map(|row| value(&row[at])).collect()
        };
        let mean = |value: &dyn Fn(&Outcome) -> f64| Cell::mean(&over(value));
        let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let figure = |values: Vec<f64>| crate::print::number::significant(average(&values), 2);
        let parts: Vec<String> = experiment
            .setting
            .parameters
            .iter()
            .enumerate()
            .map(|(j, parameter)| {
                let part = |value: fn(&Outcome) -> &Vec<f64>| figure(over(&|one| value(one)[j]));
                let (bias, sd, w1) = (part(|one| &one.biases), part(|one| &one.sds), part(|one| &one.w1));
                format!("{} {bias}, {sd}, {w1}", parameter.name)
            })
            .collect();
        summary.row(vec![
            Cell::text(experiment.name),
            Cell::text(plan.rule.name),
            mean(&|one| one.information),
            Cell::mean(&exact),
            mean(&|one| one.information.max(0.0).sqrt()),
            mean(&|one| one.printed),
            mean(&|one| one.mean_bias),
            mean(&|one| one.mode_bias),
            mean(&|one| average(&one.w1)),
            mean(&|one| average(&one.sd_ratio)),
            mean(&|one| one.covered),
            mean(&|one| one.ess),
            Cell::text(parts.join("; ")),
        ]);
    }
    let known: Vec<&Vec<Density>> = cases.iter().filter_map(|case| case.exact.as_ref()).collect();
    if known.is_empty() {
        return;
    }
    // What the exact posterior itself is off by.
    let off = |posterior: &Vec<Density>| -> f64 {
        let parameters = posterior.iter().zip(experiment.setting.parameters);
        let square = |(density, parameter): (&Density, &Parameter)| {
            let apart = density.moments().0 - libm::log10(parameter.truth);
            apart * apart
        };
        parameters.map(square).sum::<f64>().sqrt()
    };
    let biases: Vec<f64> = known.into_iter().map(off).collect();
    let roots: Vec<f64> = exact.iter().map(|information| information.sqrt()).collect();
    let unknown = Cell::Number(f64::NAN);
    let mut row = vec![Cell::text(experiment.name), Cell::text("exact posterior")];
    row.extend([Cell::mean(&exact), Cell::mean(&exact), Cell::mean(&roots), unknown.clone()]);
    row.extend([Cell::mean(&biases), unknown.clone(), Cell::Number(0.0), Cell::Number(1.0)]);
    row.extend([unknown.clone(), unknown, Cell::text("")]);
    summary.row(row);
}
