//! A row's bits are its own, whatever is simulated beside it.

use super::*;
use counterpoise_core::simulate::Chunk;
use counterpoise_networks::{Noise, NoiseLaw};

/// Rows 0 to 39 alone, and then in lists of several lengths and orders.
fn same_in_any_company(what: &str, simulation: &Simulation, thetas: &[Vec<f64>]) -> Vec<Result<(), Failure>> {
    let values = (0..40).flat_map(|row| thetas[row % thetas.len()].clone()).collect();
    let table = Table::from_rows(thetas[0].len(), values);
    let jobs = Jobs { thetas: &table, seed: Seed(5), generation: 2, first: 3 };
    let alone: Vec<_> = (0..40)
        .map(|row| {
            let mut summaries = vec![f64::NAN; simulation.summaries()];
            let outcome = simulation.simulate(jobs.theta(row), &mut jobs.stream(row), &mut summaries);
            (outcome, summaries)
        })
        .collect();
    let forwards: Vec<usize> = (0..40).collect();
    let backwards: Vec<usize> = (0..40).rev().collect();
    let mixed: Vec<usize> = (0..40).map(|place| place * 17 % 40).collect();
    for order in [forwards, backwards, mixed] {
        for length in [1, 2, 5, 16, 17, 40] {
            for rows in order.chunks(length) {
                let Chunk { summaries, outcomes, .. } = simulate_rows(simulation, &jobs, rows);
                for (slot, &row) in rows.iter().enumerate() {
                    let (outcome, expected) = &alone[row];
                    assert_eq!(outcomes[slot], *outcome, "{what}: row {row} among {rows:?}");
                    let bits =
                        |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                    if outcome.is_ok() {
                        assert_eq!(
                            bits(summaries.row(slot)),
                            bits(expected),
                            "{what}: row {row} among {rows:?}"
                        );
                    }
                }
            }
        }
    }
    alone.into_iter().map(|(outcome, _)| outcome).collect()
}

fn dimerization() -> Network {
    network(
        "A -> 0 @ a\n2 A <-> B @ b, c\nB -> C @ { d * B / (5 + B) }",
        &["a", "b", "c", "d"],
        &[("A", 90.0)],
    )
}

fn thetas() -> Vec<Vec<f64>> {
    vec![
        vec![1.0, 0.02, 0.5, 2.0],
        vec![30.0, 0.01, 0.1, 0.0],
        vec![0.0; 4],
        vec![0.01, 1.0, 10.0, 0.5],
        vec![0.1, f64::NAN, 1.0, 1.0],
        vec![0.0, 0.5, 20.0, 0.0],
        // The clock stands still, at once or as soon as there is a B.
        vec![1e18, 0.1, 0.1, 0.1],
        vec![0.1, 0.1, 1e18, 0.1],
        vec![0.1, -0.1, 0.1, 0.1],
    ]
}

#[test]
fn rows_are_the_same_in_any_company() {
    let times = [0.0, 0.1, 1.0, 6.0];
    let simulation = observing(dimerization(), &times, None);
    assert_eq!(engine(&simulation), "Lanes");
    let outcomes = same_in_any_company("plain", &simulation, &thetas());
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 16);
}

#[test]
fn rows_with_too_many_events_are_the_same_in_any_company() {
    for most in [20, 100, 3_000] {
        let simulation = observing(dimerization(), &[0.5, 6.0], Some(most));
        let outcomes = same_in_any_company(&format!("at most {most}"), &simulation, &thetas());
        let over = format!("it takes more than max_events = {most} reactions");
        assert!(
            outcomes.contains(&Err(Failure::Declined(over))) && outcomes.contains(&Ok(())),
            "{outcomes:?}"
        );
    }
}

/// A trajectory that has had too many events and then breaks, all between two counts of its events.
#[test]
fn rows_with_too_many_events_that_fail_are_the_same_in_any_company() {
    let network = network("A -> 0 @ { k }", &["k"], &[("A", 3_000.0)]);
    let simulation = observing(network, &[1.0], Some(100));
    assert_eq!(engine(&simulation), "Lanes");
    same_in_any_company("fails late", &simulation, &[vec![1e5], vec![1e4], vec![50.0]]);
}

#[test]
fn measured_rows_are_the_same_in_any_company() {
    let laws = [NoiseLaw::Normal, NoiseLaw::LogNormal, NoiseLaw::Poisson];
    let observables = laws.into_iter().enumerate().map(|(index, law)| Observable {
        name: format!("x{index}"),
        value: expression(&dimerization(), ["A", "B + time", "C"][index]),
        noise: Some(Noise { law, size: expression(&dimerization(), "d") }),
        once: index == 2,
    });
    let observables = observables.collect();
    let observation = Observation { times: Times::new(vec![0.1, 1.0, 4.0]).unwrap(), observables };
    let simulation = Simulation::new(dimerization(), observation, Method::Direct, None).unwrap();
    assert_eq!(engine(&simulation), "Lanes");
    same_in_any_company("noise", &simulation, &thetas());
}

/// What is computed from the state is recorded at once, and what is a species as it is may be logged first: nobody may see
/// a difference, whether events are rarer than observations, as frequent, or far more frequent.
#[test]
fn what_is_logged_is_what_is_observed() {
    let linear = |end: f64, steps| Times::linear(end, steps, true).unwrap();
    let geometric = Times::geometric(1e-3, 6.0, 100, true).unwrap();
    for times in [linear(6.0, 7), linear(6.0, 100), linear(6.0, 3_000), linear(0.05, 40), geometric] {
        let by = |how: fn(&str) -> String| {
            let observables = ["A", "B", "C"].into_iter().enumerate().map(|(index, species)| Observable {
                name: species.to_string(),
                value: expression(&dimerization(), &how(species)),
                noise: None,
                once: index == 1,
            });
            let observation = Observation { times: times.clone(), observables: observables.collect() };
            Simulation::new(dimerization(), observation, Method::Direct, Some(5_000)).unwrap()
        };
        let (logged, at_once) = (by(str::to_string), by(|species| format!("{species} + 0 * time")));
        same_in_any_company("logged", &logged, &thetas());
        let values = (0..300).flat_map(|row| thetas()[[0, 1, 2, 3, 5][row % 5]].clone()).collect();
        let table = Table::from_rows(4, values);
        let jobs = Jobs { thetas: &table, seed: Seed(6), generation: 1, first: 0 };
        let rows: Vec<usize> = (0..300).collect();
        let [logged, at_once] = [logged, at_once].map(|simulation| simulate_rows(&simulation, &jobs, &rows));
        assert_eq!(logged.outcomes, at_once.outcomes);
        assert!(logged.outcomes.iter().filter(|outcome| outcome.is_ok()).count() > 200);
        assert!(logged.summaries.iter().zip(at_once.summaries.iter()).all(|(a, b)| a == b || a[0].is_nan()));
    }
}

/// Along a chain of equal rates the number of steps made is Poisson, so that the numbers at its places are binomial.
#[test]
fn many_reactions_in_lanes_have_the_exact_moments() {
    let places = 40;
    let text: Vec<String> = (0..places).map(|at| format!("S{at} -> S{} @ k", at + 1)).collect();
    let (molecules, rate, end) = (50.0, 2.0, 9.0);
    let chain = network(&text.join("\n"), &["k"], &[("S0", molecules)]);
    let simulation = observing(chain, &[end], None);
    assert_eq!(engine(&simulation), "Lanes");
    let summaries = many(&simulation, &[rate], 4_000);
    let mut share = (-rate * end).exp();
    for place in 0..places {
        let mean = summaries.iter().map(|row| row[place]).sum::<f64>() / 4_000.0;
        let sd = (molecules * share * (1.0 - share) / 4_000.0).sqrt();
        // Where hardly anyone is, counts are not normal.
        if molecules * share * 4_000.0 > 50.0 {
            assert!(
                (mean - molecules * share).abs() < 5.0 * sd,
                "S{place}: {mean} for {}",
                molecules * share
            );
        }
        share *= rate * end / (place + 1) as f64;
    }
}

/// The other simulators take one row after another, but in memory they use again.
#[test]
fn rows_of_the_other_simulators_are_the_same_in_any_company() {
    let copies: Vec<String> = (0..172).map(|i| format!("A{i} -> 0 @ a\n2 A{i} <-> B{i} @ b, c")).collect();
    let initial: Vec<String> = (0..172).map(|i| format!("A{i}")).collect();
    let initial: Vec<_> = initial.iter().map(|name| (name.as_str(), 9.0)).collect();
    let large = network(&copies.join("\n"), &["a", "b", "c", "d"], &initial);
    let simulation = observing(large, &[0.0, 0.3, 2.0], Some(800));
    assert_eq!(engine(&simulation), "Next");
    same_in_any_company("next reaction", &simulation, &thetas());
    let timed = network("A -> 0 @ { a * A * time }\n2 A <-> B @ b, c", &["a", "b", "c", "d"], &[("A", 30.0)]);
    let simulation = observing(timed, &[0.0, 0.3, 2.0], Some(200));
    assert_eq!(engine(&simulation), "Timed");
    same_in_any_company("timed", &simulation, &thetas());
}
