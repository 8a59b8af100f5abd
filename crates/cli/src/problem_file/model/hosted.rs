//! A simulator that the program around this one brings along.

use counterpoise_run::executor::Tolerance;

use super::super::reading::Place;
use super::{Chosen, Material, Ready};
use crate::host::Model;

/// The model of a program, which takes the parameters in the order of the problem.
pub(crate) fn of_host(model: &Model, parameters: &[(String, Place)]) -> Chosen {
    let ready = Ready {
        material: Material::Simulator(Box::new(model.simulator.clone())),
        parameters: parameters.iter().map(|(name, _)| name.clone()).collect(),
        statistics: model.statistics.clone(),
        series: None,
        description: model.description.clone(),
        headline: Some(model.headline.clone()),
        advice: None,
        tolerance: Tolerance::Share(model.max_failures),
    };
    Chosen { paper: None, ready: Some(ready) }
}
