//! From reactions to a simulator: what the models that are networks have in common.

use counterpoise_networks::{Expression, Method, Network, Observable, Observation, Simulation, Times};

use crate::ModelError;
use crate::limits::{positive, within};

/// Observation times a model may have besides time 0.
const MOST_TIMES: usize = 9_999;

/// Reactions with their species' amounts at time 0.
pub(crate) struct Reactions<'a> {
    pub(crate) text: &'a str,
    pub(crate) parameters: &'a [&'static str],
    pub(crate) initial: &'a [(&'a str, usize)],
}

impl Reactions<'_> {
    /// The exact simulator whose statistics are all species at all times, and `more`.
    pub(crate) fn simulation(&self, times: Times, more: Option<Observable>) -> Simulation {
        let initial: Vec<_> = self.initial.iter().map(|&(name, count)| (name, count as f64)).collect();
        let network = Network::parse(self.text, self.parameters, &initial);
        let network = network.expect("the reactions of the models are written as they should be");
        let species = network.species.iter().enumerate().map(|(index, species)| Observable {
            name: species.name.clone(),
            value: Expression::species(index),
            noise: None,
            once: false,
        });
        let observables = species.chain(more).collect();
        let simulation = Simulation::new(network, Observation { times, observables }, Method::Direct, None);
        simulation.expect("every network can be simulated directly")
    }
}

/// Time 0 and `count` equal steps up to `to`.
pub(crate) fn even_times(to: f64, count: usize) -> Result<Times, ModelError> {
    positive("to", to)?;
    within("count", count, (1, MOST_TIMES))?;
    Ok(Times::linear(to, count, true)?)
}

/// Time 0 and `count` times in equal ratio from `first` to `to`, both included.
pub(crate) fn geometric_times(first: f64, to: f64, count: usize) -> Result<Times, ModelError> {
    positive("to", to)?;
    within("count", count, (2, MOST_TIMES))?;
    if positive("first", first)? >= to {
        let expected = format!("a number below to = {to}");
        return Err(ModelError::OutOfRange { option: "first", expected, found: first });
    }
    Ok(Times::geometric(first, to, count, true)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_cannot_be_used_are_refused_by_the_option() {
        let refused = |times: Result<Times, ModelError>| times.unwrap_err().to_string();
        assert_eq!(
            refused(geometric_times(99.9999, 100.0, 50)),
            "expected observation times that differ in six significant digits, found two at 99.9999"
        );
        assert_eq!(
            refused(geometric_times(5.0, 5.0, 4)),
            "option first: expected a number below to = 5, found 5"
        );
        assert_eq!(
            refused(geometric_times(0.0, 5.0, 4)),
            "option first: expected a finite number above 0, found 0"
        );
        assert_eq!(
            refused(geometric_times(1.0, 5.0, 1)),
            "option count: expected a whole number from 2 to 9999, found 1"
        );
        assert_eq!(
            refused(even_times(f64::NAN, 4)),
            "option to: expected a finite number above 0, found NaN"
        );
        assert_eq!(
            refused(even_times(1.0, 0)),
            "option count: expected a whole number from 1 to 9999, found 0"
        );
        // Even the finest even grid that is allowed has names of its own.
        assert_eq!(even_times(20.0, MOST_TIMES).unwrap().values().len(), MOST_TIMES + 1);
        assert_eq!(
            refused(even_times(20.0, MOST_TIMES + 1)),
            "option count: expected a whole number from 1 to 9999, found 10000"
        );
    }
}
