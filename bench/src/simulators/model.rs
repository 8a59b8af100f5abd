//! The four networks that are simulated, as plain data from which every simulator's own form is made.

use anyhow::bail;
use counterpoise_networks::{
    Counting, Expression, Network, Observable, Observation, Rate, Reaction, Species, Times,
};
use serde_json::{Value, json};

pub const NAMES: [&str; 4] = ["death", "dimerization", "diffusion", "chain"];

/// A mass-action network with its observation times. Two of one species react at `k S (S - 1) / 2`.
pub struct Model {
    pub name: &'static str,
    pub species: Vec<String>,
    pub initial: Vec<u32>,
    pub constants: Vec<f64>,
    pub reactions: Vec<Step>,
    /// Equal steps from 0 to the last.
    pub times: Vec<f64>,
}

/// One reaction: the species it consumes and makes, each as often as it does so, and its constant.
pub struct Step {
    pub reactants: Vec<usize>,
    pub products: Vec<usize>,
    pub constant: usize,
}

impl Step {
    fn new(reactants: &[usize], products: &[usize], constant: usize) -> Self {
        Self { reactants: reactants.to_vec(), products: products.to_vec(), constant }
    }

    /// Species consumed, each once, and how many.
    pub fn picks(&self) -> Vec<(usize, u32)> {
        let mut picks: Vec<(usize, u32)> = Vec::new();
        for &species in &self.reactants {
            match picks.iter_mut().find(|pick| pick.0 == species) {
                Some(pick) => pick.1 += 1,
                None => picks.push((species, 1)),
            }
        }
        picks
    }

    /// What the reaction adds to each of `species` species.
    pub fn differences(&self, species: usize) -> Vec<isize> {
        let mut differences = vec![0; species];
        self.reactants.iter().for_each(|&reactant| differences[reactant] -= 1);
        self.products.iter().for_each(|&product| differences[product] += 1);
        differences
    }
}

impl Model {
    pub fn named(name: &str) -> anyhow::Result<Self> {
        Ok(match name {
            "death" => Self::new("death", &[10], &[0.1], (20.0, 32), vec![Step::new(&[0], &[], 0)]),
            "dimerization" => Self::new(
                "dimerization",
                &[100_000, 0, 0],
                &[1.0, 0.04, 0.002, 0.5],
                (100.0, 32),
                vec![
                    Step::new(&[0], &[], 0),
                    Step::new(&[1], &[2], 1),
                    Step::new(&[0, 0], &[1], 2),
                    Step::new(&[1], &[0, 0], 3),
                ],
            ),
            "diffusion" => {
                let jumps = (0..7).flat_map(|i| [Step::new(&[i], &[i + 1], 0), Step::new(&[i + 1], &[i], 0)]);
                Self::new("diffusion", &[10, 10, 10, 10, 0, 0, 0, 0], &[0.1], (20.0, 8), jumps.collect())
            }
            "chain" => {
                let mut initial = [0; 50];
                initial[0] = 1000;
                let steps = (0..49).map(|i| Step::new(&[i], &[i + 1], 0)).collect();
                Self::new("chain", &initial, &[1.0], (50.0, 50), steps)
            }
            _ => bail!("expected a model among {}, found '{name}'", NAMES.join(", ")),
        })
    }

    fn new(
        name: &'static str,
        initial: &[u32],
        constants: &[f64],
        (to, steps): (f64, usize),
        reactions: Vec<Step>,
    ) -> Self {
        Self {
            name,
            species: (1..=initial.len()).map(|i| format!("S{i}")).collect(),
            initial: initial.to_vec(),
            constants: constants.to_vec(),
            reactions,
            times: (0..=steps).map(|step| to * step as f64 / steps as f64).collect(),
        }
    }

    /// The network for our own simulators; its parameters are the constants.
    pub fn network(&self) -> Network {
        let reaction = |(index, step): (usize, &Step)| Reaction {
            name: format!("R{}", index + 1),
            changes: (step.differences(self.species.len()).into_iter().enumerate())
                .filter(|&(_, difference)| difference != 0)
                .map(|(species, difference)| (species, difference as f64))
                .collect(),
            rate: Rate::MassAction {
                constant: Expression::parameter(step.constant),
                reactants: step.picks(),
                counting: Counting::Combinations,
            },
        };
        let species = |(name, &initial): (&String, &u32)| Species {
            name: name.clone(),
            initial: Expression::Number(f64::from(initial)),
        };
        Network {
            parameters: (1..=self.constants.len()).map(|i| format!("k{i}")).collect(),
            species: self.species.iter().zip(&self.initial).map(species).collect(),
            reactions: self.reactions.iter().enumerate().map(reaction).collect(),
            ..Network::default()
        }
    }

    /// Every species at `times`.
    pub fn observation(&self, times: &[f64]) -> anyhow::Result<Observation> {
        let observable = |(index, name): (usize, &String)| Observable {
            name: name.clone(),
            value: Expression::species(index),
            noise: None,
            once: false,
        };
        Ok(Observation {
            times: Times::new(times.to_vec())?,
            observables: self.species.iter().enumerate().map(observable).collect(),
        })
    }

    /// The form in which the peers outside this process are told.
    pub fn json(&self) -> Value {
        let reaction = |step: &Step| {
            json!({
                "reactants": step.reactants,
                "products": step.products,
                "constant": self.constants[step.constant],
            })
        };
        json!({
            "name": self.name,
            "species": self.species,
            "initial": self.initial,
            "reactions": self.reactions.iter().map(reaction).collect::<Vec<_>>(),
            "to": self.times[self.times.len() - 1],
            "steps": self.times.len() - 1,
        })
    }
}
