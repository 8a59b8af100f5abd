//! Rates that change in time, where the law is known.

use super::*;

const ROWS: usize = 20_000;
const TIMES: [f64; 5] = [0.25, 1.0, 2.0, 5.0, 12.0];

/// Births at a rate that depends on time alone are Poisson with its integral as the mean, and independent from time
/// to time.
fn births(rate: &str, integral: impl Fn(f64) -> f64) {
    let simulation = observing(network(&format!("0 -> A @ {{ {rate} }}"), &["k"], &[]), &TIMES, None);
    assert_eq!(engine(&simulation), "Timed");
    let table = many(&simulation, &[3.0], ROWS);
    let (mut last, mut before) = (vec![0.0; ROWS], 0.0);
    for (at, time) in TIMES.into_iter().enumerate() {
        let (now, column) = (integral(time), table.column(at));
        agree(&format!("{rate} up to {time}"), &column, poisson(now));
        let new: Vec<f64> = column.iter().zip(&last).map(|(a, b)| a - b).collect();
        agree(&format!("{rate} since the last time before {time}"), &new, poisson(now - before));
        (last, before) = (column, now);
    }
}

#[test]
fn births_follow_the_integral_of_their_rate() {
    births("k * (1 + sin(4 * time))", |t| 3.0 * (t + (1.0 - (4.0 * t).cos()) / 4.0));
    births("k / (1 + time)", |t| 3.0 * (1.0 + t).ln());
    births("k * exp(-time)", |t| 3.0 * (1.0 - (-t).exp()));
    births("select(time < 2, k, 2 * k)", |t| 3.0 * (t.min(2.0) + 2.0 * (t - 2.0).max(0.0)));
    // Nothing, then something, so that a bound from the beginning would not hold.
    births("k * max(0, time - 4)^2", |t| (t - 4.0).max(0.0).powi(3));
}

#[test]
fn deaths_follow_the_integral_of_their_rate() {
    let simulation = observing(network("A -> 0 @ { k * A * time }", &["k"], &[("A", 50.0)]), &TIMES, None);
    let table = many(&simulation, &[0.1], ROWS);
    for (at, time) in TIMES.into_iter().enumerate() {
        agree(&format!("at {time}"), &table.column(at), binomial(50.0, (-0.05 * time * time).exp()));
    }
}

/// Births at k and deaths at g time: Poisson with mean k times the integral of exp(-g (t^2 - s^2) / 2) over s.
#[test]
fn a_constant_rate_beside_one_that_changes() {
    let simulation =
        observing(network("0 -> A @ k\nA -> 0 @ { g * time * A }", &["k", "g"], &[]), &TIMES, None);
    let table = many(&simulation, &[8.0, 0.5], ROWS);
    for (at, time) in TIMES.into_iter().enumerate() {
        let steps = 20_000;
        let width = time / f64::from(steps);
        let survive = |s: f64| f64::exp(-0.25 * (time * time - s * s));
        let integral: f64 = (0..steps).map(|step| survive((f64::from(step) + 0.5) * width) * width).sum();
        agree(&format!("at {time}"), &table.column(at), poisson(8.0 * integral));
    }
}

#[test]
fn rates_that_grow_without_bound_are_failures() {
    let reaction = || network("0 -> A @ { 1 / (2 - time) }", &["k"], &[]);
    let fails = observing(reaction(), &[1.0, 3.0], None);
    let thetas = Table::filled(50, 1, 0.0);
    let jobs = Jobs { thetas: &thetas, seed: Seed(1), generation: 0, first: 0 };
    let chunk = simulate_rows(&fails, &jobs, &(0..50).collect::<Vec<_>>());
    for outcome in &chunk.outcomes {
        assert!(matches!(outcome, Err(Failure::Declined(_))), "{outcome:?}");
    }
    let why = declined(&fails, &[0.0]);
    assert!(why.starts_with("the rates grow without bound near time 1.99"), "{why}");
    // Before that it is a rate as any other.
    let table = many(&observing(reaction(), &[1.0, 1.9], None), &[0.0], ROWS);
    agree("at 1", &table.column(0), poisson(2f64.ln()));
    agree("at 1.9", &table.column(1), poisson(20f64.ln()));
}

/// No trajectory may pass because it was lucky not to look at the time when the rate is negative.
#[test]
fn a_rate_that_becomes_negative_in_time_fails_in_every_trajectory() {
    let simulation = observing(network("0 -> A @ { k - time }", &["k"], &[]), &[1.0, 3.0], None);
    let thetas = Table::filled(200, 1, 1.0);
    let jobs = Jobs { thetas: &thetas, seed: Seed(1), generation: 0, first: 0 };
    let chunk = simulate_rows(&simulation, &jobs, &(0..200).collect::<Vec<_>>());
    for outcome in &chunk.outcomes {
        let Err(Failure::Declined(why)) = outcome else { panic!("{outcome:?}") };
        assert!(why.starts_with("the rate of `0 -> A` became -"), "{why}");
    }
    assert!(one(&simulation, &[3.5]).is_ok());
}
