//! Tables 1 and 2: Algorithm 2 against more samples, and against other ways to reduce statistics.

use counterpoise_models::exact;

use super::experiment::{
    ADAPTIVE, BARNES, Case, Experiment, FEARNHEAD_PRANGLE, OURS, Outcome, Plan, Rule, SCALED, Size, UNIFORM,
    kept,
};
use super::sheet::{Cell, Sheet};
use super::{Context, Made};
use crate::trouble::Trouble;

/// Simulations and share kept of table 1, and the paper's larger number of simulations.
const SIMULATIONS: usize = 5_000;
const SHARE: f64 = 0.05;
const MORE: f64 = 5_600.0 / 5_000.0;

/// A problem, with what the paper's two tables say: Hellinger distance and bias of three methods. With `equal_time` times as many
/// simulations uniform weights take as long here as Algorithm 2 without its audit; a number measured once, so that results do not
/// depend on the clock.
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
    Row { problem: "toy", equal_time: 8.0, table_1: ["", ""], table_2: ["", ""] },
    Row {
        problem: "death",
        equal_time: 7.0,
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

/// Algorithm 2 against uniform weights with more samples.
pub(super) fn table_1(context: &Context<'_>) -> Result<Made, Trouble> {
    let plans = |experiment: &Experiment, row: &Row| {
        let simulations = context.simulations(SIMULATIONS);
        let (keep, generations) = (kept(SHARE, simulations), experiment.setting.generations);
        let size = |times: f64| Size {
            simulations: (simulations as f64 * times).round() as usize,
            keep,
            generations,
        };
        let mut plans = vec![plan(UNIFORM, size(1.0)), plan(UNIFORM, size(MORE))];
        if row.equal_time > MORE {
            plans.push(plan(UNIFORM, size(row.equal_time)));
        }
        plans.extend([SCALED, ADAPTIVE, OURS].map(|rule| plan(rule, size(1.0))));
        plans
    };
    let (sheet, paper) = table(context, &plans, |row| row.table_1)?;
    let text = format!(
        "{}\nThe paper (N1 = 5000 / N2 = 5600 with uniform weights / Algorithm 2; bias of the mode):\n\n{}{}",
        sheet.markdown(),
        paper.markdown(),
        note(context)
    );
    Ok(Made { figure: None, sheets: vec![("", sheet)], text })
}

/// Algorithm 2 against Barnes et al. and Fearnhead & Prangle, in one generation.
pub(super) fn table_2(context: &Context<'_>) -> Result<Made, Trouble> {
    let plans = |experiment: &Experiment, _: &Row| {
        let size = Size { generations: 1, ..experiment.size(context) };
        [UNIFORM, ADAPTIVE, BARNES, FEARNHEAD_PRANGLE, OURS].map(|rule| plan(rule, size)).to_vec()
    };
    let (sheet, paper) = table(context, &plans, |row| row.table_2)?;
    let text = format!(
        "{}\nThe paper (adaptive / Barnes et al. / Fearnhead & Prangle; bias of the mean):\n\n{}{}",
        sheet.markdown(),
        paper.markdown(),
        note(context)
    );
    Ok(Made { figure: None, sheets: vec![("", sheet)], text })
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
) -> Result<(Sheet, Sheet), Trouble> {
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
    let wanted = |row: &&Row| {
        let chosen = &context.arguments.problems;
        chosen.is_empty() && !row.table_1[0].is_empty() || chosen.iter().any(|name| name == row.problem)
    };
    for row in ROWS.iter().filter(wanted) {
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
        let [hellinger, bias] = paper(row);
        printed.row([row.problem, hellinger, bias].map(Cell::text).to_vec());
    }
    Ok((sheet, printed))
}

fn ceiling(case: &Case) -> f64 {
    case.exact.as_ref().map_or(f64::NAN, |exact| exact::information(exact))
}
