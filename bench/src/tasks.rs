//! The problems that are measured: the builtin ones, and one with statistics that know nothing.

use anyhow::Context;
use counterpoise_core::problem::{Failure, Marginal, Prior, Simulator, law};
use counterpoise_core::stream::Stream;
use counterpoise_core::variates::StandardNormal;
use counterpoise_models::{Preset, builtin, setting};
use rand::distr::Distribution;

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
    let built = builtin(name, Preset::Text, &[]).with_context(|| format!("the problem {name}"))?;
    Ok(Task {
        prior: setting(name, Preset::Text)?.prior()?,
        parameters: built.parameters,
        statistics: built.statistics,
        simulator: built.simulator,
    })
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
