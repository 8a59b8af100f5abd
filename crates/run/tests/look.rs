//! A bystander sees what a run has written, and changes nothing.

#![allow(clippy::unwrap_used)]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;

use counterpoise_core::digest::{Analysis, Method};
use counterpoise_core::problem::{Failure, Marginal, Prior, Problem, Simulator, law};
use counterpoise_core::propose::Covariance;
use counterpoise_core::reduce::Identity;
use counterpoise_core::simulate::Chunk;
use counterpoise_core::stop::AfterGenerations;
use counterpoise_core::stream::{Seed, Stream};
use counterpoise_core::table::Table;
use counterpoise_core::weigh::{ByFormula, Uniform};
use counterpoise_core::workers::Serial;
use counterpoise_run::drive::{self, Event};
use counterpoise_run::executor::Threads;
use counterpoise_run::store::{Directory, Follower, Header, Loss, Store, committed, holder, simulated};
use serde_json::json;

/// Tells its parameter twice, the second time with a minus.
struct Echo;

impl Simulator for Echo {
    fn summaries(&self) -> usize {
        2
    }

    fn simulate(&self, theta: &[f64], _: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        summaries.copy_from_slice(&[theta[0], -theta[0]]);
        Ok(())
    }
}

fn header() -> Header {
    Header {
        description: json!({ "method": { "seed": 1 } }),
        parameters: vec!["x".into()],
        statistics: vec!["s".into(), "t".into()],
        units: Vec::new(),
    }
}

#[test]
fn generations_and_their_simulations_are_those_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let analysis = Analysis {
        problem: Problem {
            prior: Prior::new(vec![Marginal::new("x", Box::new(law::Uniform::new(0.0, 1.0).unwrap()))])
                .into(),
            statistics: header().statistics,
            observed: vec![0.5, -0.5],
        },
        method: Method {
            // More than one group of rows in the file.
            simulations: 20_000,
            keep: 50,
            proposal: Box::new(Covariance),
            reduction: Box::new(Identity),
            weighting: Box::new(ByFormula(Box::new(Uniform))),
            adjustment: None,
            stop: Box::new(AfterGenerations(2)),
        },
        seed: Seed(1),
    };
    let mut store = Directory::new(folder.path());
    let mut executor = Threads::new(Echo, 1, None);
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    let history =
        drive::run((&analysis, &header()), &mut executor, &mut store, &Serial, &mut go_on).unwrap().history;
    for generation in &history {
        assert_eq!(committed(folder.path(), generation.index).unwrap().as_ref(), Some(generation));
    }
    assert_eq!(committed(folder.path(), 2).unwrap(), None);
    assert!(holder(folder.path()).is_some(), "this process is at work");
    drop(store);
    assert_eq!(holder(folder.path()), None);
    let population = &history[1].population;
    let order: Vec<usize> = (0..50).rev().collect();
    let rows: Vec<u32> = order.iter().map(|&at| population.rows[at]).collect();
    assert!(rows.iter().any(|&row| row < 10_000) && rows.iter().any(|&row| row >= 10_000));
    let table = simulated(folder.path(), 1, (1, 2), &rows).unwrap().unwrap();
    for (place, &at) in order.iter().enumerate() {
        let theta = population.thetas.at(at, 0);
        assert_eq!(table.row(place), [theta, -theta]);
    }
    assert!(simulated(folder.path(), 1, (1, 3), &rows).is_err(), "three statistics are not there");
    assert!(simulated(folder.path(), 1, (1, 2), &[20_000]).is_err(), "nor is such a row");
}

#[test]
fn a_journal_is_followed_as_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let mut follower = Follower::default();
    let seen = |follower: &mut Follower| {
        follower.look(folder.path(), 0).unwrap();
        (follower.done, follower.failed)
    };
    assert_eq!(seen(&mut follower), (0, 0), "nothing is there yet");
    let mut store = Directory::new(folder.path());
    store.open(&header()).unwrap();
    store.chunks(0, 100, &mut |_| ()).unwrap();
    let mut give = |rows: Vec<usize>, failing: bool| {
        let table = Table::filled(rows.len(), 2, 1.0);
        let outcomes = rows.iter().map(|row| match failing {
            true => Err(Failure::Declined(format!("row {row} would not"))),
            false => Ok(()),
        });
        let outcomes = outcomes.collect();
        store.append(Chunk::new(rows, table, outcomes)).unwrap();
        store.secure(Loss::Process).unwrap();
    };
    give((0..10).collect(), false);
    assert_eq!(seen(&mut follower), (10, 0));
    assert_eq!(seen(&mut follower), (10, 0), "not counted twice");
    give(vec![40, 41], true);
    assert_eq!((seen(&mut follower), follower.rows()), ((12, 2), Some(100)));
    let (generation, row, why) = follower.failures.last().unwrap();
    assert_eq!((*generation, *row), (0, 41));
    assert!(why.contains("row 41 would not"), "{why}");
    // Half a record at the end, or what is none yet: somebody is writing it.
    let path = folder.path().join("generations/000/journal");
    let whole = fs::read(&path).unwrap();
    give(vec![50], false);
    let longer = fs::read(&path).unwrap();
    fs::write(&path, &longer[..longer.len() - 5]).unwrap();
    assert_eq!(seen(&mut follower), (12, 2));
    fs::write(&path, &whole).unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&[7; 30]).unwrap();
    assert_eq!(seen(&mut follower), (12, 2));
    fs::write(&path, &longer).unwrap();
    assert_eq!(seen(&mut follower), (13, 2));
    // A shorter journal is another one.
    fs::write(&path, &whole[..48]).unwrap();
    assert_eq!(seen(&mut follower), (0, 0));
    assert_eq!(follower.failures.len(), 2, "what failed is remembered");
    fs::remove_file(&path).unwrap();
    assert_eq!((seen(&mut follower), follower.rows()), ((0, 0), None));
}
