//! `check` of a table: what is in it, without a simulation.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use counterpoise_core::problem::{Failure, Problem};
use serde_json::{Value, json};

use crate::args::CheckArguments;
use crate::output::Output;
use crate::print::json;
use crate::print::list::listed;
use crate::print::progress::Progress;
use crate::problem_file::{Method, TableModel};
use crate::trouble::{DONE, FAILED, Trouble};

/// Names of columns that are shown.
const NAMED: usize = 20;

/// What is checked.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) problem: Problem,
    pub(crate) method: Method,
    pub(crate) model: Option<String>,
}

/// Reads the table and says what a run would find.
pub(crate) fn check(
    arguments: &CheckArguments,
    Subject { name, problem, method, model }: Subject,
    table: TableModel,
    output: Output,
) -> Result<u8, Trouble> {
    let (rows, unused) = (table.rows(), json!(table.unused()));
    let source = table.source(method.simulations);
    let mut progress = Progress::new(output, 1, method.simulations);
    let mut told = |share: f64| {
        progress.simulated(0, (share * method.simulations as f64) as usize, 0);
        ControlFlow::Continue(())
    };
    let read = source.read(&problem.prior, &arguments.schedule.pool(), &mut told);
    progress.finish();
    let read = read.map_err(|error| {
        let hint = error.fault.hint();
        Trouble::input(error, hint)
    })?;
    let ControlFlow::Continue(given) = read else { return Ok(DONE) };
    let (summaries, usable) = (given.simulated.table(), given.simulated.usable());
    let mut constant = vec![true; summaries.columns()];
    for pair in usable.windows(2) {
        let rows = summaries.row(pair[0] as usize).iter().zip(summaries.row(pair[1] as usize));
        constant.iter_mut().zip(rows).for_each(|(constant, (a, b))| *constant &= a == b);
    }
    let constant: Vec<&String> = problem
        .statistics
        .iter()
        .zip(&constant)
        .filter(|(_, constant)| **constant)
        .map(|(name, _)| name)
        .collect();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (&row, failure) in given.simulated.failures() {
        let what = match failure {
            Failure::NotFinite { column } => {
                format!("{} is missing or infinite", problem.statistics[*column])
            }
            other => other.to_string(),
        };
        counts.entry(what).or_insert((0, row)).0 += 1;
    }
    let failures: Vec<Value> = counts
        .into_iter()
        .map(|(failure, (count, row))| json!({ "failure": failure, "count": count, "first_row": row }))
        .collect();
    let parameters: Vec<&str> = problem.prior.marginals().iter().map(|marginal| marginal.name()).collect();
    let report = json!({
        "problem": name,
        "model": model,
        "rows": rows,
        "simulations": method.simulations,
        "keep": method.keep,
        "parameters": parameters,
        "statistics": problem.statistics,
        "unused": unused,
        "usable": usable.len(),
        "failed": given.simulated.failures().len(),
        "failures": failures,
        "constant": constant,
    });
    output.result(&if arguments.json { json::object(&report)? } else { page(&report) })?;
    Ok(if usable.len() < method.keep { FAILED } else { DONE })
}

fn page(report: &Value) -> String {
    let names = |key: &str| {
        let list = report[key].as_array().map_or(&[][..], Vec::as_slice);
        (list.len(), listed(list.iter().filter_map(Value::as_str), NAMED))
    };
    let mut text = format!("{}: no mistakes\n", report["problem"].as_str().unwrap_or_default());
    text += &format!("model: {}\n", report["model"].as_str().unwrap_or_default());
    for (key, what) in
        [("parameters", "parameters"), ("statistics", "statistics"), ("unused", "columns not used")]
    {
        let (count, list) = names(key);
        if count > 0 {
            text += &format!("{count} {what}: {list}\n");
        }
    }
    text += &format!("{} of {} rows can be used\n", report["usable"], report["simulations"]);
    for failure in report["failures"].as_array().into_iter().flatten().take(NAMED) {
        text += &format!(
            "  {} rows fail: {} (the first is row {}, counted from 0)\n",
            failure["count"],
            failure["failure"].as_str().unwrap_or_default(),
            failure["first_row"]
        );
    }
    if let (1.., list) = names("constant") {
        text += &format!("constant statistics: {list}\n");
    }
    text + &format!("a run keeps {} of them in one generation; nothing is simulated\n", report["keep"])
}
