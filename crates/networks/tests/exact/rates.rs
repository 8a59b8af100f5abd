//! Rates that are any expression.

use super::*;

const GENE: &str = "0 -> A @ { 20 / (1 + (A / 8)^2) }\nA -> 0 @ { 2 * A }";
const ENZYME: &str = "0 -> A @ v\nA -> 0 @ { 30 * A / (10 + A) }";
const HILL: &str = "0 -> A @ { 3 + v * hill(A, 6, 2) }\nA -> 0 @ { 2.5 * A }";

/// The stationary law of births and deaths by detailed balance: what goes up from n comes down from n + 1.
fn stationary(up: impl Fn(f64) -> f64, down: impl Fn(f64) -> f64) -> Moments {
    let mut law = vec![1.0];
    (0..400).for_each(|n| law.push(law[n] * up(n as f64) / down((n + 1) as f64)));
    of_counts(&law)
}

/// By time 40 what remains of the beginning is below e^-20 of it.
#[test]
fn births_and_deaths_reach_their_stationary_law() {
    let hill = |n: f64| n * n / (36.0 + n * n);
    let cases = [
        (GENE, stationary(|n| 20.0 / (1.0 + (n / 8.0).powi(2)), |n| 2.0 * n)),
        (ENZYME, stationary(|_| 12.0, |n| 30.0 * n / (10.0 + n))),
        (HILL, stationary(|n| 3.0 + 12.0 * hill(n), |n| 2.5 * n)),
    ];
    for (text, law) in cases {
        let simulation = observing(network(text, &["v"], &[]), &[40.0], None);
        assert_eq!(engine(&simulation), "Lanes");
        agree(text, &many(&simulation, &[12.0], 20_000).column(0), law);
        // The same rates in the other simulators: copies side by side, and a rate that time changes but not the law.
        let copies: Vec<String> = (0..48).map(|i| text.replace('A', &format!("A{i}"))).collect();
        let simulation = observing(network(&copies.join("\n"), &["v"], &[]), &[40.0], None);
        assert_eq!(engine(&simulation), "Next");
        let table = many(&simulation, &[12.0], 1_500);
        for copy in [0, 4, 8] {
            agree(&format!("copy {copy} of {text}"), &table.column(copy), law);
        }
        let timed = format!("{text}\n0 -> B @ {{ time }}");
        let simulation = observing(network(&timed, &["v"], &[]), &[40.0], None);
        assert_eq!(engine(&simulation), "Timed");
        agree(&timed, &many(&simulation, &[12.0], 2_000).column(0), law);
    }
}

/// The same reaction alone, among many others, and beside one whose rate time changes.
fn everywhere(reaction: &str, initial: f64) -> [Simulation; 3] {
    let others: Vec<String> = (0..520).map(|i| format!("Z{i} -> 0 @ k")).collect();
    let texts = [
        reaction.to_owned(),
        format!("{reaction}\n{}", others.join("\n")),
        format!("{reaction}\nZ -> 0 @ {{ time * Z }}"),
    ];
    let simulations =
        texts.map(|text| observing(network(&text, &["k"], &[("A", initial)]), &[0.0, 100.0], None));
    assert_eq!(simulations.each_ref().map(engine), ["Lanes", "Next", "Timed"]);
    simulations
}

#[test]
fn rates_that_cannot_be_are_declined_with_their_reason() {
    let below = "A fell below 0: a reaction that uses it up has a rate that does not vanish with it";
    let cases: [(&str, f64, &str); 6] = [
        ("0 -> A @ { 5.5 - A }", 0.0, "the rate of `0 -> A` became -0.5"),
        ("0 -> A @ { sqrt(2.5 - A) }", 0.0, "the rate of `0 -> A` became NaN"),
        ("0 -> A @ { 1 / (2 - A) }", 0.0, "the rate of `0 -> A` became inf"),
        ("A -> 0 @ { k }", 3.0, below),
        ("2 A -> 0 @ { k * A }", 3.0, below),
        (
            "0 -> A @ { exp(A) }",
            0.0,
            "reactions became faster than 4.503599627370496e13 a unit of time, where the clock no longer moves",
        ),
    ];
    for (reaction, initial, expected) in cases {
        for simulation in everywhere(reaction, initial) {
            assert_eq!(declined(&simulation, &[1.0]), expected, "{reaction} in {}", engine(&simulation));
        }
    }
    // Without parameters that are numbers there is no beginning.
    for simulation in everywhere("A -> 0 @ k", 3.0) {
        assert_eq!(declined(&simulation, &[f64::NAN]), "k must be a finite number, found NaN");
        assert_eq!(declined(&simulation, &[]), "expected 1 parameters, found 0");
        assert_eq!(
            declined(&simulation, &[-1.0]),
            "the rate constant of `A -> 0` must be a finite number of at least 0, found -1"
        );
    }
}

/// A rate that reaches 0 just where it would become negative is none that is declined.
#[test]
fn rates_that_vanish_end_a_trajectory() {
    for simulation in everywhere("0 -> A @ { k * (5 - A) }", 0.0) {
        assert_eq!(one(&simulation, &[1.0]).unwrap()[..2], [0.0, 5.0], "{}", engine(&simulation));
    }
}

/// A species that no reaction changes may be a fraction, but not a negative factor of a rate.
#[test]
fn negative_factors_are_declined() {
    let mut network = network("E + S -> E + P @ 1", &["n"], &[("E", 0.0), ("S", 30.0)]);
    network.species[0].initial = expression(&network, "n - 10");
    let simulation = observing(network, &[1.0], None);
    assert_eq!(declined(&simulation, &[4.0]), "E cannot be -6 at time 0");
    assert!(one(&simulation, &[10.5]).is_ok());
}

#[test]
fn steep_hill_functions_do_not_overflow() {
    let simulation = observing(
        network("0 -> A @ { 1000 * hill(X, k, 80) }", &["k"], &[("A", 0.0), ("X", 1e4)]),
        &[1.0],
        None,
    );
    let count = one(&simulation, &[1.0]).unwrap()[0];
    assert!((count - 1000.0).abs() < 200.0, "{count}");
    assert_eq!(one(&simulation, &[1e9]).unwrap()[0], 0.0);
}

#[test]
fn high_orders_count_combinations_without_overflow() {
    // One expected event a unit of time: the number of ways to pick is 1 for as many as there are.
    let text = format!("{} A -> B @ k", 90);
    let simulation = observing(network(&text, &["k"], &[("A", 90.0)]), &[1e3], None);
    assert_eq!(one(&simulation, &[1.0]).unwrap(), [0.0, 1.0]);
}

/// Whoever goes on drawing from the stream of a trajectory must not draw its variates again.
#[test]
fn a_trajectory_uses_up_its_stream() {
    for simulation in everywhere("A -> 0 @ k", 30.0) {
        let mut rng = Seed(1).stream(Stage::Simulate, 0, 0);
        let mut summaries = vec![0.0; simulation.summaries()];
        let mut draw = || {
            simulation.simulate(&[1.0], &mut rng, &mut summaries).unwrap();
            rng.clone()
        };
        let (first, second) = (draw(), draw());
        assert!(first != Seed(1).stream(Stage::Simulate, 0, 0) && first != second, "{}", engine(&simulation));
    }
}
