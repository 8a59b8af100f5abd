//! Every key of a problem file: what readers know it by, and what the guide says of it.
//!
//! Readers refuse what is not here; `docs/problem-file.md` is made of it.

use super::method::{GENERATIONS, SEED, SHARE, SIMULATIONS};
use super::model::{MAX_FAILURES, START_TIMEOUT, TIMEOUT};

/// What holds where a key is not given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Usual {
    /// It must be given, or belongs to one of several ways of which one must be.
    Required,
    /// In words or as it would be written.
    Words(&'static str),
    Number(f64),
}

/// A key of a table.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) usual: Usual,
    pub(crate) means: &'static str,
}

const fn key(name: &'static str, usual: Usual, means: &'static str) -> Key {
    Key { name, usual, means }
}

/// The names of keys, for a reader.
pub(crate) fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

use Usual::{Number, Required, Words};

pub(crate) const OBSERVED: &[Key] = &[
    key(
        "file",
        Required,
        "a `.csv` file: a header of statistic names and one row, or two columns `statistic,value`. For networks and SBML also a time course: a column `time`, a column for each observable, and one row for each observation time, in any order",
    ),
    key("values", Required, "the numbers themselves: `{ x1 = 0.2, x2 = 2.9 }`"),
    key("truth", Required, "synthetic data made at these parameters: `{ k = 0.1, sigma = 0.01 }`"),
    key(
        "seed",
        Words("that of the method"),
        "with `truth`: the seed of the synthetic data. Set it to keep the data while you change the method's seed",
    ),
];

pub(crate) const METHOD: &[Key] = &[
    key("simulations", Number(SIMULATIONS as f64), "a generation"),
    key("keep", Number(SHARE), "a share below 1, or a count; at least 20 particles"),
    key("generations", Number(GENERATIONS as f64), "how many"),
    key(
        "weighting",
        Words("`\"auto\"`"),
        "how much each statistic counts; a name, or a table `{ rule = \"...\", ... }`",
    ),
    key(
        "reduction",
        Words("`\"none\"`; with `auto` `{ rule = \"learned\", raw = true }`"),
        "what the distance compares: the statistics, or something made of them",
    ),
    key(
        "proposal",
        Words("`\"covariance\"`; with `auto` `\"adaptive\"`"),
        "where the next parameters are drawn from",
    ),
    key(
        "adjust",
        Words("`\"none\"`; with `auto` `\"auto\"`"),
        "how the accepted parameters are corrected at the end",
    ),
    key("seed", Number(SEED as f64), "of everything that is drawn"),
];

pub(crate) const STOP: &[Key] = &[
    key(
        "simulations",
        Words("no limit"),
        "of the whole run, those of earlier processes included; never one more is kept. Stops inside a generation, with exit code 3",
    ),
    key("seconds", Words("no limit"), "of this process. Stops inside a generation, with exit code 3"),
    key(
        "ess",
        Words("no limit"),
        "ends the run after a generation whose effective sample size is below this: a normal end",
    ),
];

pub(crate) const NETWORK: &[Key] = &[
    key("reactions", Required, "a text, one reaction a line"),
    key(
        "initial",
        Number(0.0),
        "a number for each species, or a text such as `\"2 * n\"` of parameters and constants, rounded to a whole number if reactions change the species",
    ),
    key("constants", Words("none"), "names for numbers"),
    key(
        "rules",
        Words("none"),
        "names for expressions, `{ total = \"A + B\" }`, each of which may use those before it",
    ),
    key("mass_action", Words("`\"combinations\"`"), "or `\"permutations\"`"),
];

/// What networks of every origin have.
pub(crate) const OBSERVATION: &[Key] = &[
    key(
        "times",
        Required,
        "when it is observed: a list of numbers, or a table such as `{ to = 100, count = 10 }`",
    ),
    key("observe", Words("every species"), "names, or expressions with a name"),
    key(
        "noise",
        Words("none"),
        "`{ law = \"normal\", size = \"sigma\" }` for all, or a table of these by observable",
    ),
    key(
        "simulator",
        Words("`\"direct\"`"),
        "exact, reaction by reaction; `\"tau-leaping\"` or `{ rule = \"tau-leaping\", epsilon = 0.04 }` leaps over many: faster with large numbers, and approximate",
    ),
    key(
        "max_events",
        Words("none"),
        "a simulation with more reactions than this is a failure; a leap of tau-leaping counts as one",
    ),
];

pub(crate) const TIMES: &[Key] = &[
    key("to", Required, "the last time"),
    key("count", Required, "how many"),
    key("spacing", Words("`\"linear\"`"), "or `\"geometric\"`: equal ratios"),
    key("first", Words("`to / count`"), "the first time after 0; geometric times need it"),
    key("zero", Words("false"), "time 0 as well"),
];

pub(crate) const SBML: &[Key] = &[key("file", Required, "the SBML file")];

pub(crate) const TABLE: &[Key] = &[
    key(
        "file",
        Required,
        "`.csv`, `.csv.gz` or `.parquet`; parameters are the columns with the names in `[parameters]`",
    ),
    key("statistics", Words("every other column"), "names of columns"),
];

pub(crate) const COMMAND: &[Key] = &[
    key(
        "run",
        Required,
        "the program and its arguments, as a list; never through a shell. It runs in the folder of the problem file. A program with a slash is relative to that folder, any other is looked for on the `PATH`",
    ),
    key(
        "protocol",
        Words("`\"lines\"`"),
        "one long-lived program for each thread, which answers a line to every line; or `\"once\"`: one start a simulation, with `{k}` and `{seed}` in `run` replaced by the value of the parameter `k` and the seed",
    ),
    key("timeout", Number(TIMEOUT), "seconds a simulation; one that takes longer is a failure"),
    key("start_timeout", Number(START_TIMEOUT), "seconds until a program of the protocol `lines` is ready"),
    key(
        "failures",
        Words("`\"reject\"`"),
        "a failed simulation is counted and never accepted; `\"stop\"`: the first ends the run",
    ),
    key(
        "max_failures",
        Number(MAX_FAILURES),
        "the share of failures that is borne; a run with clearly more ends",
    ),
    key(
        "statistics",
        Words("as the program says"),
        "names of the statistics; by default the program says them, or is tried for them",
    ),
    key(
        "files",
        Words("none"),
        "further files that belong to the simulator. These, and files that `run` names, are fingerprinted: when one changes, it is another run",
    ),
];
