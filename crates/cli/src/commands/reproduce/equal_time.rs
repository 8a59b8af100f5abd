//! With how many simulations uniform weights take as long as Algorithm 2: the numbers of table 1, measured.

use std::sync::{Arc, Mutex, PoisonError};

use counterpoise_core::digest::Method;
use counterpoise_core::divergence::{self, Exponent};
use counterpoise_core::search::Random;
use counterpoise_core::stream::{Seed, Stream};
use counterpoise_core::view::View;
use counterpoise_core::weigh::{Choice, Hellinger, Paper, Uniform, WeighError, Weighting};
use counterpoise_core::workers::Serial;
use counterpoise_run::clock::processor_seconds;
use counterpoise_run::executor::Threads;
use counterpoise_run::study::infer_watched;

use super::experiment::{ADAPTIVE, Case, Experiment, Plan, Size, UNIFORM};
use crate::trouble::Trouble;

/// Times that the number is corrected by what it turned out to take: time is not quite in proportion to it.
const CORRECTIONS: usize = 2;

/// Processor seconds of the two on one dataset, and the factor by which the number of simulations is to grow.
pub(super) struct Times {
    pub(super) uniform: f64,
    pub(super) adaptive: f64,
    pub(super) factor: f64,
}

/// Measures on one dataset, on one thread.
pub(super) fn measure(
    experiment: &Experiment,
    case: &Case,
    size: Size,
    seed: Seed,
) -> Result<Times, Trouble> {
    let uniform = |factor: f64| {
        let simulations = (size.simulations as f64 * factor).round() as usize;
        let plan = Plan { rule: UNIFORM, size: Size { simulations, ..size } };
        seconds(experiment, case, experiment.method(plan), seed)
    };
    // The first run pays for memory that the others find.
    uniform(1.0)?;
    let once = uniform(1.0)?;
    let adaptive = without_audit(experiment, case, size, seed)?;
    let mut factor = adaptive / once;
    for _ in 0..CORRECTIONS {
        factor *= adaptive / uniform(factor)?;
    }
    Ok(Times { uniform: once, adaptive, factor })
}

/// Algorithm 2 without its audit, which is no part of it: the audit is made once more by itself, and taken off twice.
fn without_audit(experiment: &Experiment, case: &Case, size: Size, seed: Seed) -> Result<f64, Trouble> {
    let audits = Arc::new(Mutex::new(0.0));
    let mut method = experiment.method(Plan { rule: ADAPTIVE, size });
    method.weighting = Box::new(Audited { spent: audits.clone() });
    let all = seconds(experiment, case, method, seed)?;
    let audit = *audits.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(all - 2.0 * audit)
}

/// Processor seconds of a run.
fn seconds(experiment: &Experiment, case: &Case, method: Method, seed: Seed) -> Result<f64, Trouble> {
    let mut executor = Threads::new(&*experiment.model.simulator, 1, None);
    let problem = experiment.problem(case.data.observed.clone());
    let mut go_on = |_: counterpoise_run::drive::Event<'_>| std::ops::ControlFlow::Continue(());
    let start = processor_seconds();
    let run = infer_watched(problem, method, seed, &mut executor, &Serial, &mut go_on);
    run.map_err(|error| Trouble::failed(error, None))?;
    Ok(processor_seconds() - start)
}

/// Algorithm 2, after an audit of it whose time is taken.
#[derive(Debug)]
struct Audited {
    spent: Arc<Mutex<f64>>,
}

impl Weighting for Audited {
    fn choose(&self, view: &View<'_>, rng: &mut Stream) -> Result<Choice, WeighError> {
        // The audit of `Paper`: its own search, learning in one half and accepting in the other.
        let audit = Hellinger {
            divergence: Box::new(divergence::Paper {
                neighbours: 5,
                order: 0.5,
                exponent: Exponent::Corrected,
            }),
            search: Box::new(Random),
            evaluations: 300,
            cross_fit: true,
            penalty: 0.0,
            starts: vec![Box::new(Uniform)],
            warm: false,
        };
        let start = processor_seconds();
        audit.choose(view, &mut rng.clone())?;
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) += processor_seconds() - start;
        Paper::default().choose(view, rng)
    }
}
