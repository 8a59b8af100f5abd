//! Counterpoise inside another program: what it states and brings along means the same as on the command line.
// The lint's exception for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use counterpoise_cli::host::{self, Means, Model, Ready, Source, Stated, Stop, Written};
use counterpoise_core::problem::{Failure, Joint, Simulator};
use counterpoise_core::stop::StopReason;
use counterpoise_core::stream::Stream;
use counterpoise_run::executor::{Executor, Threads};
use counterpoise_run::store::{Memory, Store};
use serde_json::json;

const TEXT: &str = r#"name = "stated"
parameters = { m = { law = "normal", mean = 0, sd = 3 } }
observed = { values = { x = 1.0 } }
method = { simulations = 400, keep = 40, generations = 2, seed = 3 }
"#;

/// A normal variate about the parameter.
struct Shifted;

impl Simulator for Shifted {
    fn summaries(&self) -> usize {
        1
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        summaries[0] = theta[0] + rng.uniform() - 0.5;
        Ok(())
    }
}

fn stated(text: &str, joint: Option<Arc<dyn Joint>>) -> Source {
    let model = Model {
        statistics: vec!["x".into()],
        simulator: Arc::new(Shifted),
        description: json!({ "shifted": 1 }),
        headline: "a shift".into(),
        max_failures: 0.5,
    };
    let joint = joint.map(|joint| (joint, json!("joint")));
    let stated = Stated { text: text.into(), directory: PathBuf::from("."), model: Some(model), joint };
    Source { problem: Written::Here(Arc::new(stated)), set: Vec::new() }
}

#[test]
fn executors_and_stores_of_a_program_do_not_show() {
    let folder = tempfile::tempdir().unwrap();
    let source = stated(TEXT, None);
    let here = host::run(&source, Some(&folder.path().join("r")), Means::default()).unwrap();
    let (mut executor, mut store) = (Threads::new(Shifted, 2, Some(7)), Memory::default());
    let mut events = 0;
    let mut see = |_: &counterpoise_run::drive::Event<'_>| {
        events += 1;
        ControlFlow::Continue(())
    };
    let means = Means {
        executor: Some(&mut executor as &mut dyn Executor),
        store: Some(&mut store as &mut dyn Store),
        see: Some(&mut see),
        threads: Some(1),
    };
    let there = host::run(&source, None, means).unwrap();
    assert!(events > 4);
    assert_eq!(here.summary["parameters"], there.summary["parameters"]);
    assert!(here.stopped.is_none() && here.summary["finished"] == true);
    let posterior = there.summary["parameters"]["m"]["mean"].as_f64().unwrap();
    assert!((posterior - 1.0).abs() < 0.3, "{posterior}");
}

#[test]
fn whoever_watches_may_stop() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (stated(TEXT, None), folder.path().join("r"));
    let mut see = |_: &counterpoise_run::drive::Event<'_>| ControlFlow::Break(StopReason::Interrupt);
    let stopped = host::run(&source, Some(&path), Means { see: Some(&mut see), ..Means::default() }).unwrap();
    assert!(stopped.stopped.unwrap().contains("interrupted"));
    assert!(host::run(&source, Some(&path), Means::default()).unwrap().stopped.is_none());
}

#[test]
fn mistakes_are_named_without_places() {
    let source = stated(&TEXT.replace("keep = 40", "keep = 4, kep = 1"), None);
    let refused = Ready::load(&source, false).err().unwrap();
    assert!(refused.is_input);
    assert!(refused.message.contains("unknown key `kep` in `method`"), "{}", refused.message);
    assert!(refused.message.contains("at least 20 are needed"), "{}", refused.message);
    assert!(!refused.message.contains("-->"), "{}", refused.message);
}

#[test]
fn commands_take_a_stated_problem_and_give_back_what_they_print() {
    let words =
        ["compare", "-", "--rules", "uniform", "--datasets", "2", "--json", "--set", "method.keep=30"];
    let words: Vec<_> = words.iter().map(Into::into).collect();
    let (code, printed) = host::command(&words, Some(&stated(TEXT, None)), &Stop::default()).unwrap();
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &printed["problem"], &printed["keep"]), (0, &json!("stated"), &json!(30)));
    let refused = host::command(&["rum".into()], None, &Stop::default()).unwrap_err();
    assert!(refused.is_input && refused.message.contains("similar subcommand"), "{}", refused.message);
}

#[test]
fn studies_end_when_they_are_asked_to() {
    for command in ["compare", "calibrate"] {
        let stop = Stop::default();
        stop.ask();
        let refused =
            host::command(&[command.into(), "-".into()], Some(&stated(TEXT, None)), &stop).unwrap_err();
        assert!(!refused.is_input && refused.message.contains("interrupted"), "{}", refused.message);
    }
}

/// Half of the line.
#[derive(Debug)]
struct Positive;

impl Joint for Positive {
    fn draw(&self, rng: &mut Stream, theta: &mut [f64]) {
        theta[0] = 6.0 * rng.uniform();
    }

    fn ln_density(&self, theta: &[f64]) -> f64 {
        if (0.0..=6.0).contains(&theta[0]) { -(6.0f64.ln()) } else { f64::NEG_INFINITY }
    }
}

#[test]
fn a_joint_law_takes_the_place_of_the_parameters_laws() {
    let mut store = Memory::default();
    let source = stated(&TEXT.replace("x = 1.0", "x = -0.2"), Some(Arc::new(Positive)));
    let means = Means { store: Some(&mut store as &mut dyn Store), ..Means::default() };
    host::run(&source, None, means).unwrap();
    let ready = Ready::load(&source, false).unwrap();
    assert_eq!(ready.description()["joint"], "joint");
    let header = counterpoise_run::store::Header {
        description: ready.description().clone(),
        parameters: ready.parameters(),
        statistics: ready.statistics().to_vec(),
        units: Vec::new(),
    };
    for generation in store.open(&header).unwrap() {
        assert!(generation.population.thetas.values().iter().all(|&m| (0.0..=6.0).contains(&m)));
    }
}
