//! The death process: particles die at a common rate, and one normal variate knows the other parameter.

use counterpoise_networks::{Expression, Noise, NoiseLaw, Observable, Simulation};

use crate::catalogue::{Built, Chosen, Entry, ModelOption};
use crate::limits::within;
use crate::reactions::{Reactions, even_times};
use crate::{ModelError, Parameter, Setting};

const PARAMETERS: [&str; 2] = ["k", "sigma"];

/// A -> 0 at rate k, with `initial` particles at time 0, observed then and at `count` even times up to `to`: `A@0`,
/// `A@0.625`, ...; and `z` from a normal law of mean 0 and deviation sigma.
///
/// # Errors
/// If there are no particles or times, or too many, or `to` is not above zero.
fn death(initial: usize, to: f64, count: usize) -> Result<Simulation, ModelError> {
    let initial = [("A", within("initial", initial, (1, 1_000_000_000))?)];
    let reactions = Reactions { text: "A -> 0 @ k", parameters: &PARAMETERS, initial: &initial };
    let z = Observable {
        name: "z".into(),
        value: 0.0.into(),
        noise: Some(Noise { law: NoiseLaw::Normal, size: Expression::parameter(1) }),
        once: true,
    };
    Ok(reactions.simulation(even_times(to, count)?, Some(z)))
}

pub(crate) const ENTRY: Entry = Entry {
    name: "death",
    options: &[
        ModelOption::new("initial", "particles at time 0", 10.0),
        ModelOption::new("to", "last observation time", 20.0),
        ModelOption::new("count", "evenly spaced observation times after 0", 32.0),
    ],
    text: Setting::new(
        &[Parameter::new("k", (1e-3, 1e3), 0.1), Parameter::new("sigma", (1e-3, 1e3), 0.01)],
        50_000,
        0.05,
    ),
    appendix: Setting::new(
        &[Parameter::new("k", (1e-4, 1e4), 0.1), Parameter::new("sigma", (1e-4, 1e4), 0.01)],
        500_000,
        0.005,
    ),
    build,
};

fn build(chosen: &Chosen<'_>) -> Result<Built, ModelError> {
    let model = death(chosen.count("initial")?, chosen.number("to")?, chosen.count("count")?)?;
    let statistics = model.statistics().to_vec();
    Ok((Box::new(model), statistics))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::parameters;
    use crate::oracle::{self, Moments};
    use counterpoise_core::problem::{Failure, Simulator};
    use counterpoise_core::stream::Stream;
    use counterpoise_core::variates::{Exp1, StandardNormal};
    use rand::RngExt;

    fn paper() -> Simulation {
        death(10, 20.0, 32).unwrap()
    }

    /// The same model without a network: one death after another.
    struct ByHand;

    impl Simulator for ByHand {
        fn summaries(&self) -> usize {
            34
        }

        fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
            let [rate, sigma] = parameters(PARAMETERS, theta)?;
            let mut alive = 10.0;
            let mut death = rng.sample::<f64, _>(Exp1) / rate / alive;
            for (step, summary) in summaries[..33].iter_mut().enumerate() {
                while death <= 0.625 * step as f64 {
                    alive -= 1.0;
                    death += rng.sample::<f64, _>(Exp1) / rate / alive;
                }
                *summary = alive;
            }
            summaries[33] = sigma * rng.sample::<f64, _>(StandardNormal);
            Ok(())
        }
    }

    /// 34 statistics at two thetas, two comparisons each at five standard errors: a correct simulator fails for fewer
    /// than 1 seed in 10^4.
    #[test]
    fn the_network_simulates_as_one_does_by_hand() {
        for theta in [[0.1, 0.25], [0.6, 3.0]] {
            oracle::alike(&paper(), &ByHand, &theta, 20_000);
        }
    }

    #[test]
    fn conforms() {
        oracle::conformance(&paper(), &[0.1, 0.01]);
    }

    #[test]
    fn counts_start_at_the_initial_one_and_never_rise() {
        for k in [0.0, 1e-3, 0.1, 10.0, 1e3, 1e12] {
            for row in oracle::simulate(&paper(), &[k, 0.01], 200).iter() {
                assert_eq!(row[0], 10.0);
                assert!(row[..33].windows(2).all(|pair| pair[1] <= pair[0]), "{row:?}");
                assert!(row[..33].iter().all(|alive| alive.fract() == 0.0 && *alive >= 0.0));
                match k {
                    0.0 => assert_eq!(row[32], 10.0),
                    1e3.. => assert_eq!(row[1], 0.0),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_rate_at_which_the_clock_stands_still_is_declined() {
        for k in [1e14, 1e300] {
            let declined = oracle::declined(&paper(), &[k, 0.01]);
            assert!(declined.starts_with("reactions became faster than"), "{declined}");
        }
        assert_eq!(oracle::declined(&paper(), &[f64::NAN, 0.01]), "k must be a finite number, found NaN");
        assert_eq!(
            oracle::declined(&paper(), &[-1.0, 0.01]),
            "the rate constant of `A -> 0` must be a finite number of at least 0, found -1"
        );
        assert_eq!(
            oracle::declined(&paper(), &[0.1, -1.0]),
            "the noise of z must be a finite number of at least 0, found -1"
        );
    }

    /// `A(t)` is Binomial(initial, exp(-k t)). Twelve comparisons at five standard errors: a correct
    /// simulator fails for fewer than 1 seed in 10^4, and the seed is fixed.
    #[test]
    fn counts_are_binomial_and_z_is_normal() {
        let (k, sigma) = (0.1, 0.25);
        let table = oracle::simulate(&paper(), &[k, sigma], 20_000);
        for column in [1, 4, 11, 20, 32] {
            let survival = (-k * 0.625 * column as f64).exp();
            let exact = Moments::of_counts(&oracle::binomial(10, survival));
            oracle::agree(&format!("column {column}"), &table.column(column), exact);
        }
        let normal = Moments { mean: 0.0, variance: sigma * sigma, fourth: 3.0 * sigma.powi(4) };
        oracle::agree("z", &table.column(33), normal);
    }

    /// `A(t + dt) | A(t)` is Binomial(A(t), exp(-k dt)).
    fn ln_likelihood(k: f64, counts: &[f64]) -> f64 {
        let survival = (-k * 0.625).exp();
        let transition = |pair: &[f64]| oracle::binomial(pair[0] as usize, survival)[pair[1] as usize].ln();
        counts.windows(2).map(transition).sum()
    }

    /// The whole trajectory follows the transitions: under the right likelihood the mean score is 0 and its
    /// square averages to minus the mean curvature. Four comparisons at five standard errors: fewer than 1
    /// seed in 10^4 fails.
    #[test]
    fn trajectories_have_the_likelihood_of_the_reference_posterior() {
        for k in [0.1, 0.5] {
            let table = oracle::simulate(&paper(), &[k, 0.01], 4_000);
            let of = |row: &[f64]| oracle::score(|ln_k| ln_likelihood(ln_k.exp(), &row[..33]), k.ln());
            oracle::information_equality(&format!("k = {k}"), table.iter().map(of));
        }
    }

    #[test]
    fn grid_posterior_gives_the_reference() {
        let grid = |ln_density: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
            let at = |step: i32| -3.0 + (f64::from(step) + 0.5) * 6.0 / 3_000.0;
            (0..3_000).map(|step| (at(step), ln_density(10f64.powf(at(step))))).collect()
        };
        oracle::agree_with_reference("death", "log10_k", 10, |observed| {
            grid(&|k| ln_likelihood(k, &observed[..33]))
        });
        oracle::agree_with_reference("death", "log10_sigma", 10, |observed| {
            grid(&|sigma| -sigma.ln() - 0.5 * (observed[33] / sigma).powi(2))
        });
    }
}
