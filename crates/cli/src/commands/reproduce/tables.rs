//! Tables 1 and 2: Algorithm 2 against more samples, and against other ways to reduce statistics.

use counterpoise_core::judge::mean_and_error;
use counterpoise_core::stream::Seed;
use counterpoise_models::exact;
use counterpoise_pictures::{Figure, Panel, Style};

use super::equal_time::{Times, measure};
use super::experiment::{
    ADAPTIVE, BARNES, Case, Experiment, FEARNHEAD_PRANGLE, OURS, Outcome, Plan, Rule, SCALED, Size, UNIFORM,
    kept,
};
use super::sheet::{Cell, Sheet};
use super::{Context, Made};
use crate::beside::beside;
use crate::trouble::Trouble;

/// Simulations and share kept of table 1, and the paper's larger number of simulations.
const SIMULATIONS: usize = 5_000;
const SHARE: f64 = 0.05;
const MORE: f64 = 5_600.0 / 5_000.0;

/// A problem, with what the paper's two tables say: Hellinger distance and bias of three methods. With `equal_time` times as many
/// simulations uniform weights take as long here as Algorithm 2 without its audit: numbers of `--measure`, rounded and kept, so that
/// results do not depend on the clock.
struct Row {
    problem: &'static str,
    equal_time: f64,
    table_1: [&'static str; 2],
    table_2: [&'static str; 2],
}

const ROWS: [Row; 5] = [
    Row {
        problem: "toy-sorted",
        equal_time: 8.0,
        table_1: ["0.792 / 0.783 / 0.803", "0.047 / 0.047 / 0.032"],
        table_2: ["0.800 / 0.793 / 0.790", "0.045 / 0.051 / 0.048"],
    },
    Row { problem: "toy", equal_time: 12.0, table_1: ["", ""], table_2: ["", ""] },
    Row {
        problem: "death",
        equal_time: 11.0,
        table_1: ["0.838 / 0.825 / 0.853", "0.136 / 0.114 / 0.260"],
        table_2: ["0.914 / 0.0896 / 0.844", "1.078 / 1.304 / 2.641"],
    },
    Row {
        problem: "dimerization",
        equal_time: 1.12,
        table_1: ["0.923 / 0.923 / 0.937", "0.125 / 0.243 / 0.057"],
        table_2: ["0.877 / 0.858 / 0.876", "1.645 / 1.229 / 0.715"],
    },
    Row {
        problem: "diffusion",
        equal_time: 3.0,
        table_1: ["0.723 / 0.730 / 0.771", "0.486 / 0.491 / 0.130"],
        table_2: ["0.737 / 0.673 / 0.721", "0.451 / 0.511 / 0.275"],
    },
];

/// The same of the dimerization system of a quick run, which has a hundredth of the molecules; the paper's takes so long that a search hardly shows.
const SMALL_DIMERIZATION: f64 = 2.2;

fn equal_time(context: &Context<'_>, row: &Row) -> f64 {
    let small = row.problem == "dimerization" && context.arguments.quick;
    if small { SMALL_DIMERIZATION } else { row.equal_time }
}

/// The bias that the paper's table gives, with its name.
type Bias = (&'static str, fn(&Outcome) -> f64);

/// Algorithm 2 against uniform weights with more samples.
pub(super) fn table_1(context: &Context<'_>) -> Result<Made, Trouble> {
    let plans = |experiment: &Experiment, row: &Row| {
        let size = |times: f64| size(context, experiment, times);
        let mut plans = vec![plan(UNIFORM, size(1.0)), plan(UNIFORM, size(MORE))];
        let equal_time = equal_time(context, row);
        if equal_time > MORE {
            plans.push(plan(UNIFORM, size(equal_time)));
        }
        plans.extend([SCALED, ADAPTIVE, OURS].map(|rule| plan(rule, size(1.0))));
        plans
    };
    let (sheet, paper, panels) =
        table(context, &plans, |row| row.table_1, ("bias of the mode, log10", |one| one.mode_bias))?;
    let text = format!(
        "{}\nThe paper (N1 = 5000 / N2 = 5600 with uniform weights / Algorithm 2; bias of the mode):\n\n{}{}",
        sheet.markdown(),
        paper.markdown(),
        note(context)
    );
    let figure = drawn("Algorithm 2 against more samples: rules with their simulations a generation", panels);
    Ok(Made { figure: Some(figure), sheets: vec![("", sheet)], text })
}

/// How many simulations uniform weights can have in the time of Algorithm 2.
pub(super) fn equal_times(context: &Context<'_>) -> Result<Made, Trouble> {
    let columns =
        ["problem", "simulations", "seconds of uniform", "seconds of Algorithm 2", "factor", "in use"];
    let mut sheet = Sheet::new(columns);
    for row in ROWS.iter().filter(|row| wanted(context, row)) {
        context.output.note(row.problem);
        let experiment = Experiment::new(row.problem, context)?;
        let cases = experiment.cases(context.datasets(), context)?;
        let (size, mut times) = (size(context, &experiment, 1.0), Vec::new());
        for (index, case) in cases.iter().enumerate() {
            let seed = Seed(context.seed.0.wrapping_add(1 + index as u64));
            times.push(measure(&experiment, case, size, seed)?);
        }
        let mean = |value: fn(&Times) -> f64| Cell::mean(&times.iter().map(value).collect::<Vec<f64>>());
        sheet.row(vec![
            Cell::text(row.problem),
            Cell::text(format!("{} x {}", size.generations, size.simulations)),
            mean(|times| times.uniform),
            mean(|times| times.adaptive),
            mean(|times| times.factor),
            Cell::Number(equal_time(context, row)),
        ]);
    }
    let text = format!(
        "{}\nProcessor seconds on one thread, means over datasets with standard errors. Factor: with so many times the simulations uniform \
         weights take as long as Algorithm 2; its audit, which only measures its optimism, is taken off. In use: the factor of the table.\n",
        sheet.markdown()
    );
    Ok(Made { figure: None, sheets: vec![("-times", sheet)], text })
}

/// Algorithm 2 against Barnes et al. and Fearnhead & Prangle, in one generation.
pub(super) fn table_2(context: &Context<'_>) -> Result<Made, Trouble> {
    let plans = |experiment: &Experiment, _: &Row| {
        let size = Size { generations: 1, ..experiment.size(context) };
        [UNIFORM, ADAPTIVE, BARNES, FEARNHEAD_PRANGLE, OURS].map(|rule| plan(rule, size)).to_vec()
    };
    let (sheet, paper, panels) =
        table(context, &plans, |row| row.table_2, ("bias of the mean, log10", |one| one.mean_bias))?;
    let text = format!(
        "{}\nThe paper (adaptive / Barnes et al. / Fearnhead & Prangle; bias of the mean):\n\n{}{}",
        sheet.markdown(),
        paper.markdown(),
        note(context)
    );
    let figure = drawn("Algorithm 2 against Barnes et al. and Fearnhead & Prangle", panels);
    Ok(Made { figure: Some(figure), sheets: vec![("", sheet)], text })
}

/// So many times the simulations of table 1, and as many kept.
fn size(context: &Context<'_>, experiment: &Experiment, times: f64) -> Size {
    let simulations = context.simulations(SIMULATIONS);
    Size {
        simulations: (simulations as f64 * times).round() as usize,
        keep: kept(SHARE, simulations),
        generations: experiment.setting.generations,
    }
}

/// Whether a problem is asked for: those of the paper where none is named.
fn wanted(context: &Context<'_>, row: &Row) -> bool {
    let chosen = &context.arguments.problems;
    chosen.is_empty() && !row.table_1[0].is_empty() || chosen.iter().any(|name| name == row.problem)
}

fn drawn(title: &str, panels: Vec<Panel>) -> Figure {
    Figure::new(Style::print())
        .title(title)
        .description("Rules beside each other, each figure with its standard error over datasets")
        .columns(2)
        .panels(panels)
}

fn plan(rule: Rule, size: Size) -> Plan {
    Plan { rule, size }
}

fn note(context: &Context<'_>) -> String {
    let small = if context.arguments.quick {
        " Quick: dimerization has 1,000 molecules at the start, and not 100,000."
    } else {
        ""
    };
    format!(
        "{} Seconds depend on the machine; nothing else does.{small}\n",
        super::posteriors::NOTE.trim_end()
    )
}

fn table(
    context: &Context<'_>,
    plans: &dyn Fn(&Experiment, &Row) -> Vec<Plan>,
    paper: fn(&Row) -> [&'static str; 2],
    bias: Bias,
) -> Result<(Sheet, Sheet, Vec<Panel>), Trouble> {
    let mut sheet = Sheet::new([
        "problem",
        "rule",
        "simulations",
        "kept",
        "information",
        "exact",
        "root",
        "as printed",
        "bias of mode",
        "bias of mean",
        "W1",
        "90 % covers",
        "seconds simulating",
        "seconds weighing",
    ]);
    let mut printed = Sheet::new(["problem", "Hellinger distance", "bias"]);
    let mut panels = Vec::new();
    for row in ROWS.iter().filter(|row| wanted(context, row)) {
        context.output.note(row.problem);
        let experiment = Experiment::new(row.problem, context)?;
        let cases = experiment.cases(context.datasets(), context)?;
        let plans = plans(&experiment, row);
        let outcomes = experiment.study(&plans, &cases, context)?;
        let exact: Vec<f64> = cases.iter().map(ceiling).collect();
        for (at, Plan { rule, size }) in plans.iter().enumerate() {
            let mean = |value: &dyn Fn(&Outcome) -> f64| {
                Cell::mean(&outcomes.iter().map(|row| value(&row[at])).collect::<Vec<f64>>())
            };
            let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            sheet.row(vec![
                Cell::text(row.problem),
                Cell::text(rule.name),
                Cell::text(format!("{} x {}", size.generations, size.simulations)),
                Cell::Number(size.keep as f64),
                mean(&|one| one.information),
                Cell::mean(&exact),
                mean(&|one| one.information.max(0.0).sqrt()),
                mean(&|one| one.printed),
                mean(&|one| one.mode_bias),
                mean(&|one| one.mean_bias),
                mean(&|one| average(&one.w1)),
                mean(&|one| one.covered),
                mean(&|one| one.simulating),
                mean(&|one| one.weighing),
            ]);
        }
        panels.extend(panels_of(row.problem, (&plans, &outcomes), &exact, bias));
        let [hellinger, biases] = paper(row);
        printed.row([row.problem, hellinger, biases].map(Cell::text).to_vec());
    }
    Ok((sheet, printed, panels))
}

/// What a problem adds to the figure: how far from the prior and from the truth each rule comes.
fn panels_of(
    problem: &str,
    (plans, outcomes): (&[Plan], &[Vec<Outcome>]),
    exact: &[f64],
    bias: Bias,
) -> Vec<Panel> {
    let known = exact.iter().map(|information| information.sqrt()).sum::<f64>() / exact.len() as f64;
    let same = plans.iter().all(|plan| plan.size.simulations == plans[0].size.simulations);
    let name = |Plan { rule, size }: &Plan| match same {
        true => rule.name.to_owned(),
        false => format!("{}, {}", rule.name, size.simulations),
    };
    let panel = |what: &str, from_zero: bool, value: fn(&Outcome) -> f64, marked: Option<f64>| {
        let line = |(at, plan): (usize, &Plan)| {
            let (mean, error) =
                mean_and_error(&outcomes.iter().map(|row| value(&row[at])).collect::<Vec<f64>>());
            (name(plan), mean, error)
        };
        let lines: Vec<(String, f64, f64)> = plans.iter().enumerate().map(line).collect();
        beside(&format!("{problem}: {what}"), from_zero, &lines, marked)
    };
    let ceiling = Some(known).filter(|known| known.is_finite());
    let title = if ceiling.is_some() { "Hellinger distance (line: exact)" } else { "Hellinger distance" };
    vec![
        panel(title, false, |one| one.information.max(0.0).sqrt(), ceiling),
        panel(bias.0, true, bias.1, None),
    ]
}

fn ceiling(case: &Case) -> f64 {
    case.exact.as_ref().map_or(f64::NAN, |exact| exact::information(exact))
}
