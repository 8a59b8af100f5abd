//! The problems that are measured: the builtin ones, and one with statistics that know nothing.

use anyhow::Context;
use counterpoise_core::problem::law::{self, Law};
use counterpoise_core::problem::{Failure, Marginal, Prior, Simulator};
use counterpoise_core::stream::Stream;
use counterpoise_core::variates::StandardNormal;
use counterpoise_models::exact::{Density, posterior};
use counterpoise_models::{Preset, builtin, setting};
use rand::distr::Distribution;

use crate::problems;

/// A problem without its observation.
pub struct Task {
    pub prior: Prior,
    pub parameters: Vec<String>,
    pub statistics: Vec<String>,
    pub simulator: Box<dyn Simulator>,
}

/// The problem of a name.
pub fn task(name: &str) -> anyhow::Result<Task> {
    if name == "nuisance" {
        return nuisance();
    }
    if problems::names().iter().any(|known| known == name) {
        return Ok(problems::task(problems::known(name)?));
    }
    let built = builtin(name, Preset::Text, &[]).with_context(|| format!("the problem {name}"))?;
    Ok(Task {
        prior: setting(name, Preset::Text)?.prior()?,
        parameters: built.parameters,
        statistics: built.statistics,
        simulator: built.simulator,
    })
}

/// So many values that stand for the exact posterior of each parameter, where it is known.
pub fn exact_draws(
    name: &str,
    observed: &[f64],
    (count, rng): (usize, &mut Stream),
) -> anyhow::Result<Option<Vec<Vec<f64>>>> {
    if name == "nuisance" {
        // Normal prior and noise: the posterior is normal.
        let law = |seen: f64| law::Normal::new(seen / 1.01, 0.1 / 1.01_f64.sqrt());
        let column =
            |law: law::Normal| (0..count).map(|i| law.quantile((i as f64 + 0.5) / count as f64)).collect();
        return Ok(Some(vec![column(law(observed[0])?), column(law(observed[1] / 1000.0)?)]));
    }
    if problems::names().iter().any(|known| known == name) {
        let draws = problems::known(name)?.exact(observed, count, rng);
        let columns = (0..draws[0].len()).map(|j| draws.iter().map(|row| row[j]).collect());
        return Ok(Some(columns.collect()));
    }
    let (model, setting) = (builtin(name, Preset::Text, &[])?, setting(name, Preset::Text)?);
    let natural =
        |density: &Density| density.quantiles(count).into_iter().map(|log10| 10f64.powf(log10)).collect();
    Ok(posterior(&model, &setting, observed).map(|densities| densities.iter().map(natural).collect()))
}

/// Two parameters seen through two statistics of very different scale, beside twenty that are noise.
fn nuisance() -> anyhow::Result<Task> {
    let marginal = |name: &str| -> anyhow::Result<Marginal> {
        Ok(Marginal::new(name, Box::new(law::Normal::new(0.0, 1.0)?)))
    };
    Ok(Task {
        prior: Prior::new(vec![marginal("theta1")?, marginal("theta2")?]),
        parameters: vec!["theta1".into(), "theta2".into()],
        statistics: (1..=22).map(|j| format!("s{j}")).collect(),
        simulator: Box::new(Nuisance),
    })
}

struct Nuisance;

impl Simulator for Nuisance {
    fn summaries(&self) -> usize {
        22
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        summaries[0] = theta[0] + 0.1 * normal();
        summaries[1] = 1000.0 * (theta[1] + 0.1 * normal());
        for (j, slot) in summaries[2..].iter_mut().enumerate() {
            let scale = 10f64.powf(-3.0 + 6.0 * j as f64 / 19.0);
            // The last five follow Student's law with two degrees of freedom.
            let tail = if j < 15 { 1.0 } else { ((normal().powi(2) + normal().powi(2)) / 2.0).sqrt() };
            *slot = scale * normal() / tail;
        }
        Ok(())
    }
}
