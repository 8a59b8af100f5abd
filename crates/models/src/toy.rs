//! The toy problem: draws from Uniform(0, theta), as they come or sorted.

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::stream::Stream;
use rand::RngExt;

use crate::catalogue::{Built, Chosen, Entry, ModelOption};
use crate::limits::{parameters, within};
use crate::{ModelError, Parameter, Setting};

/// `draws` independent values, uniform between 0 and theta.
///
/// The paper never lists its statistics. Unsorted, no single one of them knows much; sorted, the last is
/// the maximum and sufficient.
#[derive(Clone, Debug)]
pub struct Toy {
    draws: usize,
    sorted: bool,
}

impl Toy {
    /// The values as they are drawn.
    ///
    /// # Errors
    /// If there are no draws, or more than a million.
    pub fn raw(draws: usize) -> Result<Self, ModelError> {
        Ok(Self { draws: within("draws", draws, (1, 1_000_000))?, sorted: false })
    }

    /// The values in ascending order.
    ///
    /// # Errors
    /// If there are no draws, or more than a million.
    pub fn sorted(draws: usize) -> Result<Self, ModelError> {
        Ok(Self { sorted: true, ..Self::raw(draws)? })
    }

    /// Names of the summaries: `x1`, `x2`, ...
    #[must_use]
    pub fn statistics(&self) -> Vec<String> {
        (1..=self.draws).map(|index| format!("x{index}")).collect()
    }
}

impl Simulator for Toy {
    fn summaries(&self) -> usize {
        self.draws
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        let [theta] = parameters(["theta"], theta)?;
        for value in summaries.iter_mut() {
            *value = theta * rng.random::<f64>();
        }
        if self.sorted {
            summaries.sort_unstable_by(f64::total_cmp);
        }
        Ok(())
    }
}

const OPTIONS: &[ModelOption] =
    &[ModelOption::new("draws", "values drawn from Uniform(0, theta)", 10.0).appendix(32.0)];

const TEXT: Setting = Setting::new(&[Parameter::new("theta", (1.0, 1e2), 10.0)], 50_000, 0.005);
const APPENDIX: Setting = Setting::new(&[Parameter::new("theta", (1e-4, 1e4), 10.0)], 50_000, 0.005);

pub(crate) const RAW: Entry = Entry {
    name: "toy",
    options: OPTIONS,
    text: TEXT,
    appendix: APPENDIX,
    build: |chosen| build(Toy::raw, chosen),
};

pub(crate) const SORTED: Entry =
    Entry { name: "toy-sorted", build: |chosen| build(Toy::sorted, chosen), ..RAW };

fn build(new: fn(usize) -> Result<Toy, ModelError>, chosen: &Chosen<'_>) -> Result<Built, ModelError> {
    let toy = new(chosen.count("draws")?)?;
    let statistics = toy.statistics();
    Ok((Box::new(toy), statistics))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{self, Moments};

    #[test]
    fn conforms() {
        oracle::conformance(&Toy::raw(10).unwrap(), &[10.0]);
        oracle::conformance(&Toy::sorted(10).unwrap(), &[10.0]);
    }

    #[test]
    fn sorting_only_reorders() {
        let raw = oracle::simulate(&Toy::raw(20).unwrap(), &[3.0], 50);
        let sorted = oracle::simulate(&Toy::sorted(20).unwrap(), &[3.0], 50);
        for (raw, sorted) in raw.iter().zip(sorted.iter()) {
            let mut expected = raw.to_vec();
            expected.sort_by(f64::total_cmp);
            assert_eq!(sorted, expected);
            assert!(raw.iter().all(|value| (0.0..3.0).contains(value)));
        }
    }

    /// The j-th smallest of r uniforms is Beta(j, r + 1 - j). Forty comparisons at five standard errors:
    /// a correct simulator fails for fewer than 1 seed in 10^4, and the seed is fixed.
    #[test]
    fn order_statistics_have_the_moments_of_a_beta_law() {
        let (theta, draws) = (10.0, 10);
        let table = oracle::simulate(&Toy::sorted(draws).unwrap(), &[theta], 20_000);
        for j in 1..=draws {
            let (a, b) = (j as f64, (draws + 1 - j) as f64);
            let raw = |order: i32| -> f64 {
                (0..order).map(|i| (a + f64::from(i)) / (a + b + f64::from(i))).product::<f64>()
                    * theta.powi(order)
            };
            let exact = Moments::from_raw(raw(1), raw(2), raw(3), raw(4));
            oracle::agree(&format!("x{j}"), &table.column(j - 1), exact);
        }
        let largest = table.column(draws - 1).iter().sum::<f64>() / 20_000.0;
        let error = (theta * theta * 10.0 / (121.0 * 12.0) / 20_000.0).sqrt();
        assert!((largest - theta * 10.0 / 11.0).abs() < 5.0 * error, "E[max] is {largest}");
        let raw = oracle::simulate(&Toy::raw(draws).unwrap(), &[theta], 20_000);
        let uniform = Moments::from_raw(5.0, 100.0 / 3.0, 250.0, 2000.0);
        for j in 0..draws {
            oracle::agree(&format!("raw x{}", j + 1), &raw.column(j), uniform);
        }
    }

    /// Under a log-uniform prior the posterior of theta is theta^-(r + 1) on [max, 100]: that of its
    /// logarithm falls as theta^-r.
    #[test]
    fn closed_form_posterior_gives_the_reference() {
        oracle::agree_with_reference("toy-sorted", "log10_theta", 10, |observed| {
            let (low, steps) = (libm::log10(observed[9]), 20_000);
            let width = (2.0 - low) / f64::from(steps);
            let at = |step: i32| low + (f64::from(step) + 0.5) * width;
            (0..steps).map(|step| (at(step), -10.0 * std::f64::consts::LN_10 * at(step))).collect()
        });
    }
}
