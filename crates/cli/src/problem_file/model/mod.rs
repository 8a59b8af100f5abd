//! `[model]`: the simulator, of whatever kind.

mod builtin;
mod command;
mod hosted;
mod network;
mod observation;
mod reach;
mod ready;
mod reordered;
mod sbml;
mod table;

use std::path::Path;

use counterpoise_core::problem::Simulator;
use counterpoise_models::{NAMES, Setting};
use counterpoise_run::executor::Tolerance;
use serde_json::Value;

use super::reading::{Place, Section};
pub(super) use command::{MAX_FAILURES, START_TIMEOUT, TIMEOUT};
pub(crate) use hosted::of_host;
pub(super) use observation::LAWS as NOISE_LAWS;
pub(crate) use reordered::Reordered;
pub(crate) use table::{TableModel, without_truth};

/// Every kind of model that the format knows.
const KINDS: [&str; 5] = ["builtin", "network", "sbml", "command", "table"];

/// The model of a file.
pub(crate) struct Chosen {
    /// The paper's experiment, where the model is one of its own.
    pub(crate) paper: Option<Paper>,
    /// `None` where there are mistakes.
    pub(crate) ready: Option<Ready>,
}

/// Prior and budget that come with a built-in model.
pub(crate) struct Paper {
    pub(crate) name: &'static str,
    pub(crate) setting: Setting,
    /// Whether the file names the preset: it then asks for the paper's experiment and not for its model alone.
    pub(crate) written: bool,
}

/// Where simulations come from.
pub(crate) enum Material {
    /// They are made.
    Simulator(Box<dyn Simulator>),
    /// They exist already.
    Table(TableModel),
}

/// A model without mistakes.
pub(crate) struct Ready {
    pub(crate) material: Material,
    /// Names of the parameters, in the simulator's order.
    pub(crate) parameters: Vec<String>,
    /// Names of the summaries, in the simulator's order.
    pub(crate) statistics: Vec<String>,
    /// How they are made of observables at times, if they are.
    pub(crate) series: Option<Series>,
    /// All that determines what it simulates.
    pub(crate) description: Value,
    /// What it is, in one line.
    pub(crate) headline: Option<String>,
    /// What to do where some simulations take far longer than others.
    pub(crate) advice: Option<String>,
    /// How many failed simulations are borne.
    pub(crate) tolerance: Tolerance,
}

/// Statistics that are observables at times: the first at every time, then the second at every time, and so on.
pub(crate) struct Series {
    pub(crate) observables: Vec<String>,
    /// In ascending order.
    pub(crate) times: Vec<f64>,
}

/// What the rest of the file tells a model.
pub(crate) struct Surroundings<'a> {
    /// Names of `[parameters]` with their places; `None` where there are none.
    pub(crate) parameters: Option<&'a [(String, Place)]>,
    /// Directory of the problem file.
    pub(crate) directory: &'a Path,
    /// So many draws from the prior, to try a model; none where the prior has mistakes.
    pub(crate) draws: &'a dyn Fn(usize) -> Vec<Vec<f64>>,
}

/// The model of the file, unless a mistake leaves none.
pub(crate) fn read(mut section: Section<'_>, surroundings: &Surroundings<'_>) -> Option<Chosen> {
    let builtin = || format!("builtin = \"...\" takes one of {}", NAMES.join(", "));
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| section.has(kind)).collect();
    match kinds[..] {
        [] => {
            section.missing("builtin", builtin());
            None
        }
        ["builtin"] => builtin::read(&mut section),
        ["network"] => {
            section.only(&["network"]);
            let ready = network::read(section.section("network")?, surroundings);
            Some(Chosen { paper: None, ready })
        }
        ["sbml"] => {
            section.only(&["sbml"]);
            let ready = sbml::read(section.section("sbml")?, surroundings);
            Some(Chosen { paper: None, ready })
        }
        ["table"] => {
            section.only(&["table"]);
            let ready = table::read(section.section("table")?, surroundings);
            Some(Chosen { paper: None, ready })
        }
        ["command"] => {
            section.only(&["command"]);
            let ready = command::read(section.section("command")?, surroundings);
            Some(Chosen { paper: None, ready })
        }
        [_] => None,
        _ => {
            let place = section.key_place(kinds[1]);
            let message = format!("[model] has {} at once", kinds.join(" and "));
            section.mistakes().add(place, message, "keep exactly one of them".to_owned());
            None
        }
    }
}
