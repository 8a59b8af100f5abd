//! Results are frozen: a change of any of these values changes the posteriors of every user and belongs into
//! CHANGELOG.md under "Results".

#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;

use counterpoise_core::digest::{Analysis, Generation, Method};
use counterpoise_core::problem::Problem;
use counterpoise_core::propose::{Covariance, Gaussian, Local, Proposal};
use counterpoise_core::reduce::Identity;
use counterpoise_core::stop::AfterGenerations;
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::weigh::{ByFormula, Hellinger, Informed, Paper, Weighting};
use counterpoise_models::{Preset, builtin, setting};
use counterpoise_run::drive::{self, Event};
use counterpoise_run::executor::Threads;
use counterpoise_run::pool::Pool;
use counterpoise_run::store::{Header, Memory};

fn last(model: &str, weighting: Box<dyn Weighting>, proposal: Box<dyn Proposal>) -> Generation {
    let built = builtin(model, Preset::Text, &[]).unwrap();
    let setting = setting(model, Preset::Text).unwrap();
    let mut observed = vec![0.0; built.statistics.len()];
    let mut rng = Seed(1).stream(Stage::Observe, 0, 0);
    built.simulator.simulate(&setting.truth(), &mut rng, &mut observed).unwrap();
    let analysis = Analysis {
        problem: Problem { prior: setting.prior().unwrap().into(), statistics: built.statistics, observed },
        method: Method {
            simulations: 1000,
            keep: 50,
            proposal,
            reduction: Box::new(Identity),
            weighting,
            adjustment: None,
            stop: Box::new(AfterGenerations(3)),
        },
        seed: Seed(1),
    };
    let header = Header {
        description: serde_json::Value::Null,
        parameters: built.parameters,
        statistics: Vec::new(),
        units: Vec::new(),
    };
    let mut executor = Threads::new(built.simulator, 2, None);
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    let pool = Pool::new(2);
    let finished = drive::run((&analysis, &header), &mut executor, &mut Memory::default(), &pool, &mut go_on);
    finished.unwrap().history.pop().unwrap()
}

fn hash(generation: &Generation) -> u64 {
    let population = &generation.population;
    let values =
        population.thetas.values().iter().chain(population.weights.ln()).chain(&population.distances);
    values.fold(0xcbf2_9ce4_8422_2325, |hash, value| (hash ^ value.to_bits()).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn posteriors_are_frozen() {
    let found = [
        hash(&last("death", Box::new(Hellinger::default()), Box::new(Covariance))),
        hash(&last("diffusion", Box::new(Paper::default()), Box::new(Gaussian { sd: 0.25 }))),
        hash(&last(
            "toy-sorted",
            Box::new(ByFormula(Box::new(Informed::default()))),
            Box::new(Local::default()),
        )),
    ];
    assert_eq!(found, [752_094_666_622_109_893, 6_751_441_048_699_007_613, 9_543_419_791_494_476_413]);
}
