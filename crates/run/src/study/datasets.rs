//! Pseudo-observed data with known truths.

use std::panic::{AssertUnwindSafe, catch_unwind};

use counterpoise_core::population::Population;
use counterpoise_core::problem::{Failure, Prior, Simulator};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::workers::{self, Workers};
use rand::RngExt;

/// Data and, where it is known, what they were made with.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Unit-space point of the truth.
    pub truth: Option<Vec<f64>>,
    /// Observed summaries.
    pub observed: Vec<f64>,
}

/// Where truths come from.
#[derive(Clone, Debug)]
pub enum Truths<'a> {
    /// Draws from the prior.
    Prior,
    /// One point, on the natural scale.
    At(&'a [f64]),
    /// Draws from weighted particles.
    Among(&'a Population),
}

/// No data could be made.
#[derive(Debug, thiserror::Error)]
#[error("dataset {index} could not be simulated: {failure}")]
pub struct DatasetError {
    /// Which one.
    pub index: usize,
    /// Why its last attempt failed.
    pub failure: Failure,
}

/// Draws after which a model that always fails is given up.
const ATTEMPTS: u64 = 100;

/// So many datasets, the same for a seed whatever the workers. A truth at which the model fails is drawn again.
///
/// # Errors
/// If the model fails again and again.
pub fn datasets(
    prior: &Prior,
    simulator: &dyn Simulator,
    (truths, count): (&Truths<'_>, usize),
    seed: Seed,
    workers: &dyn Workers,
) -> Result<Vec<Dataset>, DatasetError> {
    let made = workers::map(workers, count, |index| one(prior, simulator, truths, seed, index));
    made.into_iter().collect()
}

/// The particle at which the importance mass of those before it and its own exceeds `share`.
fn particle(population: &Population, share: f64) -> &[f64] {
    let mut mass = 0.0;
    let weights = population.weights.normalised().iter();
    let at = weights.take_while(|&weight| {
        mass += weight;
        mass <= share
    });
    population.units.row(at.count().min(population.len() - 1))
}

fn one(
    prior: &Prior,
    simulator: &dyn Simulator,
    truths: &Truths<'_>,
    seed: Seed,
    index: usize,
) -> Result<Dataset, DatasetError> {
    let d = prior.dimension();
    let mut last = Failure::Declined("no attempt was made".into());
    for attempt in 0..ATTEMPTS {
        // Generation 0 of this stage is the problem's own data.
        let mut rng = seed.stream(Stage::Observe, 1 + index as u32, attempt);
        let (mut unit, mut theta) = (vec![0.0; d], vec![0.0; d]);
        match truths {
            Truths::Prior => prior.draw(&mut rng, &mut unit),
            Truths::At(point) => {
                let marginals = prior.marginals().iter().zip(*point);
                unit = marginals.map(|(marginal, &value)| marginal.unit(value)).collect();
            }
            Truths::Among(population) => unit.copy_from_slice(particle(population, rng.random())),
        }
        match truths {
            // As it was given, to its last digit.
            Truths::At(point) => theta.copy_from_slice(point),
            _ => prior.natural(&unit, &mut theta),
        }
        let mut observed = vec![f64::NAN; simulator.summaries()];
        let simulate = || simulator.simulate(&theta, &mut rng, &mut observed);
        let outcome = catch_unwind(AssertUnwindSafe(simulate))
            .unwrap_or_else(|_| Err(Failure::Crashed("panic".into())));
        let broken = observed.iter().position(|value| !value.is_finite());
        last = match (outcome, broken) {
            (Ok(()), None) => return Ok(Dataset { truth: Some(unit), observed }),
            (Ok(()), Some(column)) => Failure::NotFinite { column },
            (Err(failure), _) => failure,
        };
    }
    Err(DatasetError { index, failure: last })
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::population::LogWeights;
    use counterpoise_core::table::Table;

    #[test]
    fn particles_are_drawn_by_their_weight() {
        let units = Table::from_rows(1, vec![1.0, 2.0, 3.0]);
        let weights = LogWeights::new(vec![0.0, f64::NEG_INFINITY, ln_3()]).unwrap();
        let population = Population {
            rows: vec![0, 1, 2],
            thetas: units.clone(),
            units,
            weights,
            distances: vec![0.0; 3],
        };
        let at = |share: f64| particle(&population, share)[0];
        assert_eq!([at(0.0), at(0.2499), at(0.2501), at(0.9999), at(1.0)], [1.0, 1.0, 3.0, 3.0, 3.0]);
    }

    /// Three times the weight of one.
    fn ln_3() -> f64 {
        1.098_612_288_668_109_8
    }
}
