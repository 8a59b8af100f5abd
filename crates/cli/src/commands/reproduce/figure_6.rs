//! Figure 6: the weights that repeated runs of Algorithm 2 find.

use counterpoise_pictures::{Axis, Colour, Figure, Mark, Panel, Style};

use super::experiment::{ADAPTIVE, Case, Experiment, OURS, Plan};
use super::sheet::{Cell, Sheet};
use super::{Context, Made};
use crate::trouble::Trouble;

/// Runs of each problem, and with --quick.
const RUNS: usize = 40;
const QUICK_RUNS: usize = 8;
/// Statistics that the summary names.
const NAMED: usize = 3;

/// Makes the figure.
pub(super) fn make(context: &Context<'_>) -> Result<Made, Trouble> {
    let runs = context
        .arguments
        .datasets
        .map_or(if context.arguments.quick { QUICK_RUNS } else { RUNS }, |runs| runs as usize);
    let mut sheet = Sheet::new(["problem", "rule", "run", "statistic", "weight", "log10 weight, centred"]);
    let mut summary = Sheet::new([
        "problem",
        "rule",
        "largest on average (log10, centred)",
        "largest in so many runs",
        "sd over runs",
        "correlation of runs",
    ]);
    let mut panels = Vec::new();
    for name in ["toy-sorted", "death"] {
        let experiment = Experiment::new(name, context)?;
        let first = experiment.cases(1, context)?.swap_remove(0);
        // The same data in every run: only the seed is another.
        let cases: Vec<Case> =
            (0..runs).map(|_| Case { data: first.data.clone(), exact: first.exact.clone() }).collect();
        let size = experiment.size(context);
        let plans = [ADAPTIVE, OURS].map(|rule| Plan { rule, size });
        let outcomes = experiment.study(&plans, &cases, context)?;
        let names = &experiment.model.statistics;
        for (at, plan) in plans.iter().enumerate() {
            let found: Vec<Vec<f64>> = outcomes.iter().map(|row| centred(&row[at].weights)).collect();
            for (run, logs) in found.iter().enumerate() {
                for (j, log) in logs.iter().enumerate() {
                    sheet.row(vec![
                        Cell::text(name),
                        Cell::text(plan.rule.name),
                        Cell::Number((run + 1) as f64),
                        Cell::text(names[j].clone()),
                        Cell::Number(outcomes[run][at].weights[j]),
                        Cell::Number(*log),
                    ]);
                }
            }
            let mean: Vec<f64> = (0..names.len())
                .map(|j| found.iter().map(|logs| logs[j]).sum::<f64>() / runs as f64)
                .collect();
            summary.row(summarised(name, plan.rule.name, names, &mean, &found));
            if plan.rule.name == ADAPTIVE.name {
                panels.push(panel(name, names, &mean, &found));
            }
        }
    }
    let figure = Figure::new(Style::print())
        .title(format!("Weights found in {runs} runs of Algorithm 2 on the same data"))
        .description("Distance weights of repeated runs, each centred, and their mean")
        .columns(1)
        .panels(panels);
    let note = "\nWeights count up to a common factor, so that their logarithms are centred: the mean over statistics is 0 in every run. \
                Statistics that never vary have none.\n";
    let text = format!("{runs} runs a problem\n\n{}{note}", summary.markdown());
    Ok(Made { figure: Some(figure), sheets: vec![("", sheet)], text })
}

/// Decimal logarithms about their mean; not a number where a weight is zero.
fn centred(weights: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> =
        weights.iter().map(|&weight| if weight > 0.0 { libm::log10(weight) } else { f64::NAN }).collect();
    let known: Vec<f64> = logs.iter().copied().filter(|log| log.is_finite()).collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    logs.into_iter().map(|log| log - mean).collect()
}

fn summarised(problem: &str, rule: &str, names: &[String], mean: &[f64], found: &[Vec<f64>]) -> Vec<Cell> {
    let mut order: Vec<usize> = (0..names.len()).filter(|&j| mean[j].is_finite()).collect();
    order.sort_by(|&a, &b| mean[b].total_cmp(&mean[a]));
    let largest = |logs: &Vec<f64>| {
        (0..logs.len()).filter(|&j| logs[j].is_finite()).reduce(|a, b| if logs[b] > logs[a] { b } else { a })
    };
    let tops: Vec<Option<usize>> = found.iter().map(largest).collect();
    let named = order.iter().take(NAMED);
    let averages: Vec<String> = named.clone().map(|&j| format!("{} {:.2}", names[j], mean[j])).collect();
    let wins: Vec<String> = named
        .map(|&j| format!("{} {}", names[j], tops.iter().filter(|top| **top == Some(j)).count()))
        .collect();
    let mut row = [problem, rule, &averages.join(", "), &wins.join(", ")].map(Cell::text).to_vec();
    row.extend([Cell::Number(spread(&order, mean, found)), Cell::Number(correlation(&order, found))]);
    row
}

/// The standard deviation of a weight over the runs, mean over statistics.
fn spread(statistics: &[usize], mean: &[f64], found: &[Vec<f64>]) -> f64 {
    let one = |&j: &usize| {
        let square = found.iter().map(|logs| (logs[j] - mean[j]) * (logs[j] - mean[j])).sum::<f64>();
        (square / found.len() as f64).sqrt()
    };
    statistics.iter().map(one).sum::<f64>() / statistics.len() as f64
}

/// The correlation between the weights of two runs, mean over all pairs.
fn correlation(statistics: &[usize], found: &[Vec<f64>]) -> f64 {
    let product = |a: &Vec<f64>, b: &Vec<f64>| statistics.iter().map(|&j| a[j] * b[j]).sum::<f64>();
    let (mut sum, mut pairs) = (0.0, 0.0);
    for (at, a) in found.iter().enumerate() {
        for b in &found[..at] {
            // Centred already.
            sum += product(a, b) / (product(a, a) * product(b, b)).sqrt();
            pairs += 1.0;
        }
    }
    sum / pairs
}

fn panel(problem: &str, names: &[String], mean: &[f64], found: &[Vec<f64>]) -> Panel {
    let places: Vec<f64> = (0..names.len()).map(|j| j as f64).collect();
    let faint = found.iter().map(|logs| Mark::line(&places, logs).colour(Colour::Series(3)).opacity(0.25));
    Panel::new()
        .title(problem)
        .x(Axis::names(names.iter().cloned()))
        .y(Axis::linear("log10 weight, centred"))
        .marks(faint)
        .mark(Mark::line(&places, mean).colour(Colour::Ink).scale(1.8).named("mean"))
}
