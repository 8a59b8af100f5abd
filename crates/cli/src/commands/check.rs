//! `check`: every mistake at once, then a few simulations to see what a run will be like.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use counterpoise_core::digest::{Analysis, Inputs, digest};
use counterpoise_core::problem::{Failure, Problem, Simulator};
use counterpoise_core::propose::{Proposed, propose};
use counterpoise_core::simulate::{Chunk, Jobs, Simulated, simulate_rows};
use counterpoise_core::stream::Seed;
use counterpoise_run::executor::{Executor, Threads};
use counterpoise_run::pool::Pool;
use serde_json::{Value, json};

use super::beyond::{Beyond, beyond, bytes, observed_beyond, size};
use super::{check_table, overrides, shell_words};
use crate::args::CheckArguments;
use crate::output::Output;
use crate::print::json;
use crate::print::list::listed;
use crate::print::number::duration;
use crate::print::table::wrapped;
use crate::problem_file::{Loaded, Material, Method, Purpose, open};
use crate::trouble::{DONE, FAILED, Trouble};

/// Draws from the prior.
const DRAWS: usize = 20;
/// So many that all fail are enough where they have taken so many seconds.
const HOPELESS: usize = 5;
const HOPELESS_SECONDS: f64 = 2.0;
/// Rows of the small generation that tells how long weighing takes, and seconds it may cost to simulate.
const TRIAL: usize = 1_000;
const PATIENCE: f64 = 2.0;

/// Width of a warning.
const PAGE: usize = 100;
/// Constant statistics that are named.
const NAMED: usize = 20;

/// A draw that takes so many times the median, and so many seconds, is slow enough to be warned of.
const SLOW_RATIO: f64 = 20.0;
const SLOW_SECONDS: f64 = 0.1;

/// What the draws told.
struct Tried {
    statistics: usize,
    seconds: Vec<f64>,
    failures: Vec<(usize, Failure)>,
    constant: Vec<String>,
    proposed: Proposed,
}

impl Tried {
    /// Whether every draw failed.
    fn is_hopeless(&self) -> bool {
        self.failures.len() == self.seconds.len()
    }
}

/// Checks a problem file and tries its model.
pub(crate) fn check(arguments: &CheckArguments, output: Output) -> Result<u8, Trouble> {
    let loaded = open(&arguments.problem, &overrides(&arguments.problem), Purpose::Infer)?;
    let (pool, names) = (arguments.schedule.pool(), loaded.parameters());
    let Loaded { name, problem, material, method, headline, advice, .. } = loaded;
    let simulator = match material {
        Material::Simulator(simulator) => simulator,
        Material::Table(table) => {
            let subject = check_table::Subject { name, problem, method, model: headline };
            return check_table::check(arguments, subject, table, output);
        }
    };
    let tried =
        try_draws(&problem, &*simulator, &method, pool).map_err(|error| Trouble::failed(error, None))?;
    let analysis = Analysis { problem, method: method.build(), seed: Seed(method.seed) };
    let trial = trial(analysis, simulator, &method, (&tried, pool));
    let mut report = describe(&name, &tried, &method, (trial.simulating, trial.weighing));
    report["model"] = json!(headline);
    report["threads"] = json!(pool.threads());
    report["bytes"] = json!(bytes(&method, names.len() + tried.statistics));
    let tail = heavy_tail(&tried.seconds, advice.as_deref());
    report["warnings"] = json!(tail.into_iter().chain(beyond(&trial.beyond)).collect::<Vec<_>>());
    let next = next_step(&tried, method.seed, &names, arguments);
    let text = if arguments.json { json::object(&report)? } else { page(&report, &names) + &next };
    output.result(&text)?;
    Ok(if tried.is_hopeless() { FAILED } else { DONE })
}

fn try_draws(
    problem: &Problem,
    simulator: &dyn Simulator,
    method: &Method,
    pool: Pool,
) -> anyhow::Result<Tried> {
    let seed = Seed(method.seed);
    let rows = method.simulations.min(TRIAL);
    let proposed = propose(&problem.prior, None, rows, (seed, 0), &pool)?;
    let jobs = Jobs { thetas: &proposed.thetas, seed, generation: 0, first: 0 };
    let (mut seconds, mut failures, mut usable) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..DRAWS {
        let start = Instant::now();
        let chunk = catch_unwind(AssertUnwindSafe(|| simulate_rows(simulator, &jobs, &[row])));
        seconds.push(start.elapsed().as_secs_f64());
        match chunk {
            Ok(Chunk { summaries, mut outcomes, .. }) => match outcomes.swap_remove(0) {
                Ok(()) => usable.push(summaries.row(0).to_vec()),
                Err(failure) => failures.push((row, failure)),
            },
            Err(_) => failures.push((row, Failure::Crashed("panic".into()))),
        }
        if usable.is_empty() && row + 1 >= HOPELESS && seconds.iter().sum::<f64>() > HOPELESS_SECONDS {
            break;
        }
    }
    let same =
        |column: &usize| usable.len() > 1 && usable.iter().all(|row| row[*column] == usable[0][*column]);
    let constant =
        (0..problem.statistics.len()).filter(same).map(|at| problem.statistics[at].clone()).collect();
    Ok(Tried { statistics: problem.statistics.len(), seconds, failures, constant, proposed })
}

/// What a small generation tells, where it can be afforded.
struct Trial {
    /// Seconds that a run will take.
    simulating: f64,
    weighing: Option<f64>,
    /// Statistics of which the observed value lies beyond all simulations.
    beyond: Vec<Beyond>,
}

/// Tries a small generation: simulating, weighing and the range of every statistic.
fn trial(
    mut analysis: Analysis,
    simulator: Box<dyn Simulator>,
    method: &Method,
    (tried, pool): (&Tried, Pool),
) -> Trial {
    let all = (method.simulations * method.generations) as f64;
    let mean = tried.seconds.iter().sum::<f64>() / tried.seconds.len() as f64;
    let alone = mean * all / pool.threads() as f64;
    let rows = tried.proposed.thetas.rows();
    if tried.is_hopeless() || mean * rows as f64 / pool.threads() as f64 > PATIENCE {
        return Trial { simulating: alone, weighing: None, beyond: Vec::new() };
    }
    let share = rows as f64 / method.simulations as f64;
    analysis.method.simulations = rows;
    analysis.method.keep = ((method.keep as f64 * share) as usize).max(method.keep.min(20));
    let jobs = Jobs { thetas: &tried.proposed.thetas, seed: analysis.seed, generation: 0, first: 0 };
    let mut simulated = Simulated::empty(rows, simulator.summaries());
    let start = Instant::now();
    let mut executor = Threads::new(simulator, pool.threads(), None);
    let ran = executor.run(jobs, &simulated.pending(), &mut |chunk| {
        simulated.place(&chunk);
        std::ops::ControlFlow::Continue(())
    });
    let simulating = start.elapsed().as_secs_f64() / share * method.generations as f64;
    let start = Instant::now();
    let inputs = Inputs {
        index: 0,
        previous: None,
        kernel: None,
        proposed: &tried.proposed,
        simulated: &simulated,
        earlier: &[],
    };
    if ran.is_err() || digest(&analysis, &inputs, &pool).is_err() {
        return Trial { simulating: alone, weighing: None, beyond: Vec::new() };
    }
    let weighing = start.elapsed().as_secs_f64() / share * method.generations as f64;
    let beyond = observed_beyond(&analysis.problem, &simulated);
    Trial { simulating, weighing: Some(weighing), beyond }
}

/// Where to go from here: the run, or the first failure alone.
fn next_step(tried: &Tried, seed: u64, names: &[String], arguments: &CheckArguments) -> String {
    let mut words =
        vec!["counterpoise".into(), "run".into(), arguments.problem.problem.display().to_string()];
    words.extend(arguments.problem.set.iter().flat_map(|set| ["--set".into(), set.clone()]));
    let (true, Some((row, _))) = (tried.is_hopeless(), tried.failures.first()) else {
        return format!("next: {}\n", shell_words(&words));
    };
    let theta = tried.proposed.thetas.row(*row);
    let at: Vec<String> = names.iter().zip(theta).map(|(name, value)| format!("{name}={value}")).collect();
    words[1] = "simulate".into();
    words.extend(["--at".into(), at.join(","), "--seed".into(), seed.to_string()]);
    words.extend(["--generation".into(), "0".into(), "--row".into(), row.to_string()]);
    format!("nothing can be inferred like this; to see it fail again: {}\n", shell_words(&words))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A warning if a few draws take nearly all the time.
fn heavy_tail(seconds: &[f64], advice: Option<&str>) -> Option<String> {
    let limit = (SLOW_RATIO * median(seconds)).max(SLOW_SECONDS);
    let slow = seconds.iter().filter(|&&seconds| seconds > limit).count();
    if slow == 0 {
        return None;
    }
    let slowest = seconds.iter().copied().fold(0.0, f64::max);
    let warning = format!(
        "{slow} of {} draws took more than {SLOW_RATIO} times the median, up to {}: such parameters will \
         take most of the run's time",
        seconds.len(),
        duration(slowest)
    );
    Some(advice.map_or(warning.clone(), |advice| format!("{warning}; {advice}")))
}

fn describe(name: &str, tried: &Tried, method: &Method, (simulating, weighing): (f64, Option<f64>)) -> Value {
    let example = tried.failures.first().map(|(row, failure)| {
        json!({ "row": row, "theta": tried.proposed.thetas.row(*row), "failure": failure.to_string() })
    });
    json!({
        "problem": name,
        "draws": tried.seconds.len(),
        "failed": tried.failures.len(),
        "failure": example,
        "constant": tried.constant,
        "seconds": {
            "mean": tried.seconds.iter().sum::<f64>() / tried.seconds.len() as f64,
            "median": median(&tried.seconds),
            "slowest": tried.seconds.iter().copied().fold(0.0, f64::max),
        },
        "simulations": method.simulations * method.generations,
        "keep": method.keep,
        "generations": method.generations,
        "estimate": { "simulate": simulating, "weigh": weighing, "total": simulating + weighing.unwrap_or(0.0) },
    })
}

fn page(report: &Value, parameters: &[String]) -> String {
    let seconds = |value: &Value| duration(value.as_f64().unwrap_or(f64::NAN));
    let (times, estimate) = (&report["seconds"], &report["estimate"]);
    let mut text = format!("{}: no mistakes\n", report["problem"].as_str().unwrap_or_default());
    if let Some(model) = report["model"].as_str() {
        text += &format!("model: {model}\n");
    }
    text += &format!(
        "{} draws from the prior: {} each on average, {} the slowest\n",
        report["draws"],
        seconds(&times["mean"]),
        seconds(&times["slowest"])
    );
    match &report["failure"] {
        Value::Null => text += "none failed\n",
        example => {
            let (failed, failure) = (&report["failed"], example["failure"].as_str().unwrap_or_default());
            let theta = example["theta"].as_array().into_iter().flatten();
            let at: Vec<String> =
                parameters.iter().zip(theta).map(|(name, value)| format!("{name} = {value}")).collect();
            text += &format!("{failed} of them failed; for example at {}: {failure}\n", at.join(", "));
        }
    }
    let names = report["constant"].as_array().map_or(&[][..], Vec::as_slice);
    if !names.is_empty() {
        let names = names.iter().filter_map(Value::as_str);
        text +=
            &format!("constant statistics: {}; they tell nothing and are left out\n", listed(names, NAMED));
    }
    if report["failed"] == report["draws"] {
        return text;
    }
    let weighing = match &estimate["weigh"] {
        Value::Null => "and the choice of weights".to_owned(),
        weigh => format!("and {} for the choice of weights", seconds(weigh)),
    };
    text += &format!(
        "a run of {} simulations in {} generations takes about {} on {} threads: {} of simulating {weighing}; and \
         {} of disk at most\n",
        report["simulations"],
        report["generations"],
        seconds(&estimate["total"]),
        report["threads"],
        seconds(&estimate["simulate"]),
        size(report["bytes"].as_f64().unwrap_or(f64::NAN)),
    );
    for warning in report["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        text += &wrapped(&format!("warning: {warning}"), PAGE, "  ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_tail_that_costs_time_is_warned_of() {
        assert_eq!(heavy_tail(&[1e-3; 20], None), None);
        let mut seconds = vec![1e-3; 20];
        seconds[7] = 0.09;
        assert_eq!(heavy_tail(&seconds, None), None, "90 milliseconds are nothing");
        seconds[7] = 3.0;
        let warning = heavy_tail(&seconds, Some("do that")).unwrap();
        assert_eq!(
            warning,
            "1 of 20 draws took more than 20 times the median, up to 3 s: such parameters will take most of \
             the run's time; do that"
        );
        assert_eq!(heavy_tail(&[3.0; 20], None), None, "all alike");
    }
}
