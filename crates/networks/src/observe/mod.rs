//! What is seen of a trajectory: when, which quantities, and through how much noise.

mod finder;
mod noise;
mod record;
mod times;

pub(crate) use record::Recorder;

pub use noise::{Noise, NoiseLaw};
pub use times::{Times, TimesError};

use crate::Expression;

/// A quantity that is observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Observable {
    /// Its name.
    pub name: String,
    /// What it is: of species, parameters, rules, numbers and time.
    pub value: Expression,
    /// What measuring adds to it.
    pub noise: Option<Noise>,
    /// Whether it is observed at the last time only, and its statistic named without one.
    pub once: bool,
}

/// The statistics of a trajectory.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// When.
    pub times: Times,
    /// What.
    pub observables: Vec<Observable>,
}

impl Observation {
    /// Names of the statistics, observable by observable: `A@0`, `A@1`, ..., `B@0`, ...
    #[must_use]
    pub fn statistics(&self) -> Vec<String> {
        let names = |observable: &Observable| -> Vec<String> {
            if observable.once {
                vec![observable.name.clone()]
            } else {
                self.times.names(&observable.name).collect()
            }
        };
        self.observables.iter().flat_map(names).collect()
    }
}
