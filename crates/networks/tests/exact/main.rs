//! The exact simulators against closed forms, and against themselves in other arrangements.
//!
//! Comparisons of moments are at five standard errors, which averages that are normal leave with probability 5.7e-7.
//! There are some seven hundred in this folder: with other seeds a correct simulator would fail for fewer than 1 in
//! 10^3, and the seeds are fixed.
// Platform functions are good enough for tests, whose shared functions may unwrap too.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod events;
mod lanes;
mod limits;
mod next;
mod noise;
mod rates;
mod timed;

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Jobs, simulate_rows};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::table::Table;
use counterpoise_networks::language::{self, Scope};
use counterpoise_networks::{Expression, Method, Network, Observable, Observation, Simulation, Times};

fn network(reactions: &str, parameters: &[&str], initial: &[(&str, f64)]) -> Network {
    Network::parse(reactions, parameters, initial).unwrap()
}

/// An expression of the network's parameters and species.
fn expression(network: &Network, text: &str) -> Expression {
    let resolve = |name: &str| {
        let species = network.species.iter().position(|species| species.name == name);
        let parameter = network.parameters.iter().position(|parameter| parameter == name);
        species.map(Expression::species).or(parameter.map(Expression::parameter))
    };
    language::expression(text, &Scope::new(resolve, Vec::new())).unwrap()
}

/// All species, at some times.
fn observing(network: Network, times: &[f64], max_events: Option<u64>) -> Simulation {
    let species = network.species.iter().enumerate();
    let observables = species.map(|(index, species)| Observable {
        name: species.name.clone(),
        value: Expression::species(index),
        noise: None,
        once: false,
    });
    let observation =
        Observation { times: Times::new(times.to_vec()).unwrap(), observables: observables.collect() };
    Simulation::new(network, observation, Method::Direct, max_events).unwrap()
}

/// Which simulator a network gets.
fn engine(simulation: &Simulation) -> &'static str {
    let text = format!("{simulation:?}");
    let engines = ["Lanes", "Next", "Timed"];
    engines.into_iter().find(|engine| text.contains(&format!("engine: {engine}"))).unwrap()
}

/// One trajectory.
fn one(simulation: &Simulation, theta: &[f64]) -> Result<Vec<f64>, Failure> {
    let mut summaries = vec![f64::NAN; simulation.summaries()];
    let mut rng = Seed(1).stream(Stage::Simulate, 0, 0);
    simulation.simulate(theta, &mut rng, &mut summaries).map(|()| summaries)
}

/// Why a trajectory is declined.
fn declined(simulation: &Simulation, theta: &[f64]) -> String {
    match one(simulation, theta) {
        Err(Failure::Declined(why)) => why,
        other => panic!("{theta:?} gives {other:?}"),
    }
}

/// Many trajectories with the same parameters, of which there is at least one.
fn many(simulation: &Simulation, theta: &[f64], rows: usize) -> Table {
    let thetas = Table::from_rows(theta.len(), theta.repeat(rows));
    let jobs = Jobs { thetas: &thetas, seed: Seed(7), generation: 0, first: 0 };
    let chunk = simulate_rows(simulation, &jobs, &(0..rows).collect::<Vec<_>>());
    assert!(
        chunk.outcomes.iter().all(Result::is_ok),
        "{:?}",
        chunk.outcomes.iter().find(|each| each.is_err())
    );
    chunk.summaries
}

/// Mean, variance and fourth central moment.
type Moments = (f64, f64, f64);

fn poisson(mean: f64) -> Moments {
    (mean, mean, mean + 3.0 * mean * mean)
}

fn binomial(n: f64, p: f64) -> Moments {
    let variance = n * p * (1.0 - p);
    (n * p, variance, variance * (1.0 + 3.0 * (n - 2.0) * p * (1.0 - p)))
}

/// Of a law on 0, 1, 2, ...; the weights need not sum to 1.
fn of_counts(weights: &[f64]) -> Moments {
    let total: f64 = weights.iter().sum();
    let average = |of: &dyn Fn(f64) -> f64| {
        weights.iter().enumerate().map(|(n, weight)| of(n as f64) * weight).sum::<f64>() / total
    };
    let mean = average(&|n| n);
    (mean, average(&|n| (n - mean).powi(2)), average(&|n| (n - mean).powi(4)))
}

/// Mean and variance of `draws` lie within five standard errors of the exact ones.
fn agree(what: &str, draws: &[f64], (mean, variance, fourth): Moments) {
    let n = draws.len() as f64;
    let found = draws.iter().sum::<f64>() / n;
    let error = 5.0 * (variance / n).sqrt() + 1e-9;
    assert!((found - mean).abs() < error, "{what}: mean {found}, exact {mean} +- {error}");
    let found = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let error = 5.0 * ((fourth - variance * variance).max(0.0) / n).sqrt() + 1e-9;
    assert!((found - variance).abs() < error, "{what}: variance {found}, exact {variance} +- {error}");
}
