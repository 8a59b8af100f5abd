//! Exact posteriors of the paper's problems, where they can be had: by a closed form, on a grid, by dynamic programming.
//!
//! Under log-uniform priors the decimal logarithm of each parameter is uniform beforehand; its posterior is given on even
//! steps over the whole prior. The parameters of one problem are independent of each other given the data.

mod death;
pub(crate) mod diffusion;
mod toy;

use crate::{Model, Setting};

/// Steps of a grid.
const STEPS: usize = 4_000;

/// The exact posterior of one parameter: a density of its decimal logarithm on even steps over the prior.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    low: f64,
    step: f64,
    heights: Vec<f64>,
}

impl Density {
    /// The density in proportion to the exponential of `ln`, over the prior from `low` to `high` on the natural scale.
    fn new((low, high): (f64, f64), ln: impl Fn(f64) -> f64) -> Self {
        let (low, high) = (libm::log10(low), libm::log10(high));
        let step = (high - low) / STEPS as f64;
        let logs: Vec<f64> = (0..STEPS).map(|at| ln(low + (at as f64 + 0.5) * step)).collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = logs.iter().map(|ln| libm::exp(ln - top)).collect();
        let total = raw.iter().sum::<f64>() * step;
        Self { low, step, heights: raw.into_iter().map(|height| height / total).collect() }
    }

    /// Middles of the steps, and the density there.
    #[must_use]
    pub fn curve(&self) -> (Vec<f64>, Vec<f64>) {
        let middles = (0..self.heights.len()).map(|at| self.low + (at as f64 + 0.5) * self.step);
        (middles.collect(), self.heights.clone())
    }

    /// Mean and standard deviation.
    #[must_use]
    pub fn moments(&self) -> (f64, f64) {
        let (middles, heights) = self.curve();
        let average = |of: &dyn Fn(f64) -> f64| -> f64 {
            middles.iter().zip(&heights).map(|(&x, height)| of(x) * height * self.step).sum()
        };
        let mean = average(&|x| x);
        (mean, average(&|x| (x - mean) * (x - mean)).sqrt())
    }

    /// Values at `count` even steps of probability: they stand for as many draws.
    #[must_use]
    pub fn quantiles(&self, count: usize) -> Vec<f64> {
        let (mut values, mut below, mut at) = (Vec::with_capacity(count), 0.0, 0);
        for index in 0..count {
            let share = (index as f64 + 0.5) / count as f64;
            while at + 1 < self.heights.len() && below + self.heights[at] * self.step < share {
                below += self.heights[at] * self.step;
                at += 1;
            }
            let inside = ((share - below) / (self.heights[at] * self.step)).clamp(0.0, 1.0);
            values.push(self.low + (at as f64 + inside) * self.step);
        }
        values
    }

    /// `integral sqrt(posterior prior)`.
    fn affinity(&self) -> f64 {
        let prior = 1.0 / (self.step * self.heights.len() as f64);
        self.heights.iter().map(|height| (height * prior).sqrt()).sum::<f64>() * self.step
    }
}

/// Squared Hellinger distance of a posterior from its prior: the ceiling of what a right posterior can have.
#[must_use]
pub fn information(posterior: &[Density]) -> f64 {
    1.0 - posterior.iter().map(Density::affinity).product::<f64>()
}

/// The exact posterior of each parameter of a model, given its observed statistics; nothing where there is none.
#[must_use]
pub fn posterior(model: &Model, setting: &Setting, observed: &[f64]) -> Option<Vec<Density>> {
    let option =
        |name: &str| model.options.iter().find(|(option, _)| *option == name).map(|(_, value)| *value);
    let prior = |at: usize| (setting.parameters[at].low, setting.parameters[at].high);
    match model.name {
        "toy" | "toy-sorted" => Some(vec![toy::posterior(prior(0), observed)]),
        "death" => {
            let step = option("to")? / option("count")?;
            let (last, counts) = observed.split_last()?;
            Some(vec![death::rate(prior(0), step, counts), death::deviation(prior(1), *last)])
        }
        "diffusion" => {
            let step = option("to")? / option("count")?;
            diffusion::posterior(prior(0), option("voxels")? as usize, step, observed)
                .map(|density| vec![density])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::reference;
    use crate::{Preset, builtin, setting};

    /// Values of the closed form, computed apart from this code.
    #[test]
    fn the_information_of_the_toy_is_the_known_one() {
        for (preset, draws, known) in [
            (Preset::Text, 10, 0.7053),
            (Preset::Text, 32, 0.8352),
            (Preset::Appendix, 10, 0.8526),
            (Preset::Appendix, 32, 0.9176),
        ] {
            let model = builtin("toy", preset, &[("draws".into(), f64::from(draws))]).unwrap();
            let mut observed = vec![5.0; draws as usize];
            // The posterior of the logarithm has the same shape whatever the maximum, far from the ends.
            observed[0] = 10.0 * f64::from(draws) / f64::from(draws + 1);
            let exact = posterior(&model, &setting("toy", preset).unwrap(), &observed).unwrap();
            let found = information(&exact);
            assert!((found - known).abs() < 2e-3, "{preset:?}, {draws} draws: {found}, known {known}");
        }
    }

    /// Mean and standard deviation of each reference posterior, of 4,000 exact draws: five standard errors are allowed,
    /// sixty comparisons.
    #[test]
    fn agree_with_the_reference() {
        for (name, parameters) in
            [("toy-sorted", &["theta"][..]), ("death", &["k", "sigma"]), ("diffusion", &["theta"])]
        {
            let (model, setting) =
                (builtin(name, Preset::Text, &[]).unwrap(), setting(name, Preset::Text).unwrap());
            let (_, observed) = reference(name, "observed.csv");
            let (header, summary) = reference(name, "summary.csv");
            let mut known = Vec::new();
            // The dynamic programming of the last takes a second a dataset.
            let count = if name == "diffusion" { 3 } else { 10 };
            for (observed, summary) in observed.iter().zip(&summary).take(count) {
                let exact = posterior(&model, &setting, &observed[1..]).unwrap();
                known.push(information(&exact));
                for (density, parameter) in exact.iter().zip(parameters) {
                    let column = |what: &str| {
                        let wanted = format!("log10_{parameter}.{what}");
                        summary[header.iter().position(|each| *each == wanted).unwrap()]
                    };
                    let (mean, sd) = density.moments();
                    let error = 5.0 * sd / 4_000f64.sqrt();
                    assert!((column("mean") - mean).abs() < error, "{name}: {mean}, {}", column("mean"));
                    assert!((column("sd") - sd).abs() < 2.0 * error, "{name}: {sd}, {}", column("sd"));
                    let values = density.quantiles(2_001);
                    assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
                    let average = values.iter().sum::<f64>() / 2_001.0;
                    assert!(
                        (average - mean).abs() < 0.01 * sd,
                        "{name}: quantiles average {average}, not {mean}"
                    );
                }
            }
            let mean = known.iter().sum::<f64>() / known.len() as f64;
            let expected = match name {
                "toy-sorted" => 0.705..0.706,
                "death" => 0.74..0.82,
                _ => 0.6..0.7,
            };
            assert!(expected.contains(&mean), "{name}: {mean}");
        }
    }

    #[test]
    fn what_has_no_exact_posterior_has_none() {
        let model = builtin("dimerization", Preset::Text, &[]).unwrap();
        assert!(posterior(&model, &setting("dimerization", Preset::Text).unwrap(), &[0.0; 99]).is_none());
    }
}
