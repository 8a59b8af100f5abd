//! Promises that hold whatever the schedule: equal bits for any threads and chunks, nothing repeated after a
//! cut, failures counted and never accepted.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Mutex;

use counterpoise_core::adjust::Judged;
use counterpoise_core::digest::{Analysis, DigestError, Generation, Method};
use counterpoise_core::problem::{Failure, Marginal, Prior, Problem, Simulator, law};
use counterpoise_core::propose::{Adaptive, Covariance, Gaussian, Local, Proposal};
use counterpoise_core::reduce::{Beside, Identity, Learned};
use counterpoise_core::stop::{AfterGenerations, StopReason};
use counterpoise_core::stream::{Seed, Stream};
use counterpoise_core::weigh::{Auto, Hellinger, Paper, Weighting};
use counterpoise_run::drive::{self, Event, Finished, RunError};
use counterpoise_run::executor::Threads;
use counterpoise_run::pool::Pool;
use counterpoise_run::store::{Header, Memory, Store};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Two statistics that know a parameter each, one of pure noise, one constant; some rows fail.
#[derive(Default)]
struct Noisy {
    /// Rows are told apart by their parameters.
    seen: Mutex<Vec<Vec<u64>>>,
    fails: bool,
    failed: Mutex<BTreeSet<Vec<u64>>>,
}

impl Simulator for &Noisy {
    fn summaries(&self) -> usize {
        4
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        self.seen.lock().unwrap().push(theta.iter().map(|value| value.to_bits()).collect());
        let mut noise = |scale: f64| -> f64 {
            let z: f64 = StandardNormal.sample(rng);
            scale * z
        };
        summaries.copy_from_slice(&[theta[0].ln() + noise(0.1), theta[1] + noise(0.2), noise(1e4), 7.0]);
        if self.fails && rng.random::<f64>() < 0.2 {
            self.failed.lock().unwrap().insert(theta.iter().map(|value| value.to_bits()).collect());
            return match rng.random_range(0..3) {
                0 => Err(Failure::Declined("unlucky".into())),
                1 => {
                    summaries[1] = f64::NAN;
                    Ok(())
                }
                _ => panic!("a simulator that panics"),
            };
        }
        Ok(())
    }
}

fn prior() -> Prior {
    Prior::new(vec![
        Marginal::new("k", Box::new(law::LogUniform::new(0.01, 100.0).unwrap())),
        Marginal::new("x", Box::new(law::Normal::new(0.0, 1.0).unwrap())),
    ])
}

fn analysis(weighting: Box<dyn Weighting>, proposal: Box<dyn Proposal>) -> Analysis {
    let statistics = ["a", "b", "noise", "constant"].map(String::from).to_vec();
    Analysis {
        problem: Problem { prior: prior().into(), statistics, observed: vec![0.5, -0.3, 0.0, 7.0] },
        method: Method {
            simulations: 600,
            keep: 60,
            proposal,
            reduction: Box::new(Identity),
            weighting,
            adjustment: None,
            stop: Box::new(AfterGenerations(3)),
        },
        seed: Seed(42),
    }
}

/// What users get when they choose nothing: the simulations of all generations together, learned features, an adjustment.
fn default_analysis() -> Analysis {
    let mut analysis = analysis(Box::new(Auto::default()), Box::new(Adaptive));
    analysis.method.reduction = Box::new(Beside(Box::new(Learned::default())));
    analysis.method.adjustment = Some(Box::new(Judged));
    analysis
}

fn header() -> Header {
    Header {
        description: serde_json::json!({ "problem": "noisy" }),
        parameters: vec!["k".into(), "x".into()],
        statistics: ["a", "b", "noise", "constant"].map(String::from).to_vec(),
        units: prior().unit_scales(),
    }
}

fn run(
    analysis: &Analysis,
    simulator: &Noisy,
    (threads, chunk): (usize, Option<usize>),
    store: &mut dyn Store,
    observe: &mut dyn FnMut(Event<'_>) -> ControlFlow<StopReason>,
) -> Result<Finished, RunError> {
    let mut executor = Threads::new(simulator, threads, chunk);
    drive::run((analysis, &header()), &mut executor, store, &Pool::new(threads), observe)
}

fn whole(analysis: &Analysis, simulator: &Noisy, schedule: (usize, Option<usize>)) -> Vec<Generation> {
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    run(analysis, simulator, schedule, &mut Memory::default(), &mut go_on).unwrap().history
}

const SCHEDULES: [(usize, Option<usize>); 7] =
    [(1, Some(600)), (2, Some(1)), (4, Some(7)), (8, Some(50)), (2, Some(1000)), (2, None), (3, None)];

/// Panics of the simulator are expected; their messages would only clutter the output.
fn hush() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload_as_str().is_some_and(|text| text.contains("a simulator that panics")) {
            before(info);
        }
    }));
}

#[test]
fn equal_bits_for_any_threads_and_chunks() {
    hush();
    let rules: [fn() -> Box<dyn Weighting>; 3] = [
        || Box::new(Auto::default()),
        || Box::new(Hellinger { cross_fit: false, ..Hellinger::default() }),
        || Box::new(Paper::default()),
    ];
    let kernels: [fn() -> Box<dyn Proposal>; 3] =
        [|| Box::new(Covariance), || Box::new(Gaussian { sd: 0.25 }), || Box::new(Local::default())];
    for (rule, kernel) in rules.iter().zip(kernels) {
        let simulator = Noisy { fails: true, ..Noisy::default() };
        let reference = whole(&analysis(rule(), kernel()), &simulator, (1, Some(600)));
        for schedule in SCHEDULES {
            assert_eq!(whole(&analysis(rule(), kernel()), &simulator, schedule), reference, "{schedule:?}");
        }
    }
}

#[test]
fn equal_bits_where_nothing_is_chosen() {
    hush();
    let simulator = Noisy { fails: true, ..Noisy::default() };
    let reference = whole(&default_analysis(), &simulator, (1, Some(600)));
    for schedule in SCHEDULES {
        assert_eq!(whole(&default_analysis(), &simulator, schedule), reference, "{schedule:?}");
    }
}

#[test]
fn a_run_cut_anywhere_and_resumed_on_another_schedule_equals_the_uncut_run() {
    hush();
    for plan in [analysis(Box::new(Auto::default()), Box::new(Covariance)), default_analysis()] {
        cut_and_resumed(&plan);
    }
}

fn cut_and_resumed(plan: &Analysis) {
    let uncut = Noisy { fails: true, ..Noisy::default() };
    let reference = whole(plan, &uncut, (1, Some(600)));
    for (number, cut) in [1usize, 97, 599, 600, 601, 1000, 1799].into_iter().enumerate() {
        let simulator = Noisy { fails: true, ..Noisy::default() };
        let mut store = Memory::default();
        let mut count = 0;
        let mut stop = |event: Event<'_>| {
            count += usize::from(matches!(event, Event::Simulated { .. }));
            if count >= cut { ControlFlow::Break(StopReason::Interrupt) } else { ControlFlow::Continue(()) }
        };
        let broken = run(plan, &simulator, (2, Some(1)), &mut store, &mut stop).unwrap();
        assert_eq!(broken.reason, StopReason::Interrupt);
        assert!(broken.history.len() < 3);
        let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
        let schedule = SCHEDULES[number % SCHEDULES.len()];
        let resumed = run(plan, &simulator, schedule, &mut store, &mut go_on).unwrap();
        assert_eq!(resumed.history, reference, "cut after {cut} chunks");
    }
}

#[test]
fn finished_simulations_are_not_repeated_after_a_cut() {
    let plan = analysis(Box::new(Auto::default()), Box::new(Covariance));
    let simulator = Noisy::default();
    let mut store = Memory::default();
    let mut stop = |event: Event<'_>| match event {
        Event::Simulated { done, .. } if done >= 300 => ControlFlow::Break(StopReason::Interrupt),
        _ => ControlFlow::Continue(()),
    };
    run(&plan, &simulator, (1, Some(10)), &mut store, &mut stop).unwrap();
    let before = simulator.seen.lock().unwrap().len();
    assert!((300..=330).contains(&before), "{before} simulated");
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    run(&plan, &simulator, (1, Some(10)), &mut store, &mut go_on).unwrap();
    let seen = simulator.seen.lock().unwrap();
    let distinct: BTreeSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (1800, 1800), "{before} simulated before the cut");
}

#[test]
fn failures_are_counted_and_never_accepted() {
    hush();
    let simulator = Noisy { fails: true, ..Noisy::default() };
    let history = whole(&analysis(Box::new(Auto::default()), Box::new(Covariance)), &simulator, (2, None));
    for generation in &history {
        // A fifth of 600, five standard deviations either way.
        assert!((70..170).contains(&generation.failed), "{} failed", generation.failed);
        assert_eq!(generation.population.len(), 60);
        let example = generation.failure.as_ref().unwrap();
        assert!(!generation.population.rows.contains(&(example.row as u32)));
        let failed = simulator.failed.lock().unwrap();
        for theta in generation.population.thetas.iter() {
            let bits: Vec<u64> = theta.iter().map(|value| value.to_bits()).collect();
            assert!(!failed.contains(&bits), "a failed simulation was accepted");
        }
        assert_eq!(generation.constant, [3], "the constant statistic is dropped");
        assert!(generation.weights.iter().all(|fold| fold[3] == 0.0));
    }
}

#[test]
fn too_many_failures_end_the_run_with_numbers_and_an_example() {
    struct Hopeless;
    impl Simulator for Hopeless {
        fn summaries(&self) -> usize {
            4
        }
        fn simulate(&self, _: &[f64], _: &mut Stream, _: &mut [f64]) -> Result<(), Failure> {
            Err(Failure::Declined("the reactor melted".into()))
        }
    }
    let plan = analysis(Box::new(Auto::default()), Box::new(Covariance));
    let mut executor = Threads::new(Hopeless, 2, None);
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    let result =
        drive::run((&plan, &header()), &mut executor, &mut Memory::default(), &Pool::new(2), &mut go_on);
    let Err(RunError::Digest { index: 0, source }) = result else { panic!("{result:?}") };
    assert!(matches!(source, DigestError::TooFewUsable { usable: 0, failed: 600, total: 600, keep: 60, .. }));
    let text = source.to_string();
    assert!(text.contains("600 of 600 simulations failed") && text.contains("the reactor melted"), "{text}");
}

#[test]
fn the_posterior_is_where_theory_puts_it() {
    let history =
        whole(&analysis(Box::new(Auto::default()), Box::new(Covariance)), &Noisy::default(), (2, None));
    let last = &history[2];
    let summary = counterpoise_core::summary::summarise(
        &analysis(Box::new(Auto::default()), Box::new(Covariance)).problem.prior,
        &last.population,
    );
    // ln k = 0.5 +- 0.1; x = -0.3 / (1 + 0.04) +- 0.196. Particles: 60, and the kernel widens: four of those
    // errors either way.
    assert!(
        (summary[0].log10.unwrap().0 - 0.5 / std::f64::consts::LN_10).abs() < 0.1,
        "{:?}",
        summary[0].log10
    );
    assert!((summary[1].mean + 0.288).abs() < 0.2, "{}", summary[1].mean);
    assert!(summary[1].sd < 0.5, "{}", summary[1].sd);
    let weights = last.mean_weights();
    assert!(weights[2] * 1e4 < 0.5 * weights[0].max(weights[1]), "noise weighs too much: {weights:?}");
}
