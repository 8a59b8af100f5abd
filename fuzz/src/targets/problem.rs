//! A problem file: every mistake, or what it means.

use std::path::Path;

use super::{Target, shapes};
use crate::corpus;

pub const TARGET: Target = Target {
    name: "problem",
    about: "problem files with built-in models, networks, SBML and tables",
    seeds: || corpus::files(&["examples", "crates/cli/tests"], &[".toml"]),
    words: &[
        "[parameters]", "[model]", "[model.network]", "[model.sbml]", "[model.table]", "[observed]", "[method]", "[stop]", "law", "low",
        "high", "mean", "sd", "uniform", "log-uniform", "normal", "log-normal", "gamma", "beta", "exponential", "integer", "truncated", "builtin",
        "toy-sorted", "death", "diffusion", "dimerization", "preset", "appendix", "reactions", "initial", "times", "observe", "noise", "events",
        "simulator", "tau-leaping", "direct", "max_events", "mass_action", "permutations", "values", "truth", "seed", "simulations", "keep",
        "generations", "weighting", "hellinger", "paper", "mad", "estimator", "search", "neighbours", "proposal", "local", "statistics", "file",
        "to", "count", "spacing", "geometric", "first", "zero", "name = ",
    ],
    run: |input| {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/sbml");
        match counterpoise_cli::read_problem(input, &examples) {
            Ok(_) => "a problem".into(),
            Err(mistakes) => shapes(&mistakes),
        }
    },
};
