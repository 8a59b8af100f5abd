//! The laws of noise.

use super::*;
use counterpoise_networks::{Noise, NoiseLaw};

/// A value that does not change, measured at two times.
fn measured(law: NoiseLaw, value: f64, size: f64) -> Result<Table, Failure> {
    let network = network("A -> 0 @ 0", &["s"], &[("A", value)]);
    let noise = Some(Noise { law, size: Expression::parameter(0) });
    let observables =
        vec![Observable { name: "A".into(), value: Expression::species(0), noise, once: false }];
    let observation = Observation { times: Times::new(vec![1.0, 2.0]).unwrap(), observables };
    let simulation = Simulation::new(network, observation, Method::Direct, None).unwrap();
    one(&simulation, &[size])?;
    Ok(many(&simulation, &[size], 40_000))
}

/// At each time, and their difference: the noise of one time knows nothing of the other's.
fn has(what: &str, table: &Table, (mean, variance, fourth): Moments) {
    (0..2).for_each(|at| agree(what, &table.column(at), (mean, variance, fourth)));
    let difference: Vec<f64> = table.iter().map(|row| row[1] - row[0]).collect();
    agree(
        &format!("difference of {what}"),
        &difference,
        (0.0, 2.0 * variance, 2.0 * fourth + 6.0 * variance * variance),
    );
}

#[test]
fn noise_has_the_moments_of_its_law() {
    let (value, size) = (40.0_f64, 0.3_f64);
    let (variance, table) = (size * size, measured(NoiseLaw::Normal, value, size).unwrap());
    has("normal", &table, (value, variance, 3.0 * variance * variance));

    let table = measured(NoiseLaw::LogNormal, value, size).unwrap();
    let raw = |k: i32| value.powi(k) * (0.5 * variance * f64::from(k * k)).exp();
    let (m1, m2, m3, m4) = (raw(1), raw(2), raw(3), raw(4));
    let fourth = m4 - 4.0 * m1 * m3 + 6.0 * m1 * m1 * m2 - 3.0 * m1.powi(4);
    has("log-normal", &table, (m1, m2 - m1 * m1, fourth));

    for value in [0.0, 3.0, 40.0, 5e6] {
        let table = measured(NoiseLaw::Poisson, value, size).unwrap();
        has(&format!("Poisson of {value}"), &table, poisson(size * value));
        assert!(table.values().iter().all(|count| *count >= 0.0 && count.fract() == 0.0));
    }
}

#[test]
fn without_a_size_there_is_no_noise() {
    for law in [NoiseLaw::Normal, NoiseLaw::LogNormal] {
        assert!(measured(law, 40.0, 0.0).unwrap().values().iter().all(|&value| value == 40.0));
    }
    assert!(measured(NoiseLaw::Poisson, 40.0, 0.0).unwrap().values().iter().all(|&value| value == 0.0));
    let why = "the noise of A must be a finite number of at least 0, found -1";
    for law in [NoiseLaw::Normal, NoiseLaw::LogNormal, NoiseLaw::Poisson] {
        assert_eq!(measured(law, 40.0, -1.0).unwrap_err(), Failure::Declined(why.into()));
    }
}
