//! Arguments of the commands that make many runs: compare, calibrate, reproduce.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::{ProblemArguments, Schedule};

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) problem: ProblemArguments,
    /// Methods to compare, each of names joined by +, for example hellinger,uniform+semi-automatic+linear.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    #[arg(default_value = "uniform,sd,mad,informed,hellinger,uniform+semi-automatic")]
    pub(crate) rules: Vec<String>,
    /// How many datasets; at least two.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub(crate) datasets: u64,
    /// Draw the truth of each dataset from the prior, even where the problem file gives one.
    #[arg(long)]
    pub(crate) prior: bool,
    /// Compare on these data, a row a dataset with the statistics in columns, and not on simulated ones.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["datasets", "prior"])]
    pub(crate) observed: Option<PathBuf>,
    /// The parameters that the data were made with, where they are known: a row a dataset.
    #[arg(long, value_name = "FILE", requires = "observed")]
    pub(crate) truths: Option<PathBuf>,
    /// Draws of the exact posteriors, to be compared with: columns named as the parameters or log10_ and the name, and
    /// dataset with --observed. Without --observed they are those of the problem's own data.
    #[arg(long, value_name = "FILE", conflicts_with = "prior")]
    pub(crate) exact: Option<PathBuf>,
    /// Draw the figures to this .svg or .png file.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) schedule: Schedule,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    #[command(flatten)]
    pub(crate) problem: ProblemArguments,
    /// How many datasets; at least two.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub(crate) datasets: u64,
    /// Judge near the observation: truths come from the posterior of a first run on it, and not from the prior.
    #[arg(long)]
    pub(crate) around: bool,
    /// Take simulations as data that are there already: those of the problem's table, of the first generation of the run in DIR,
    /// or of one generation made for all datasets. For methods of one generation.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    pub(crate) reuse: Option<Option<PathBuf>>,
    /// Draw the figures to this .svg or .png file.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) schedule: Schedule,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
pub(crate) struct ReproduceArguments {
    /// What to make.
    #[arg(value_enum, value_name = "ITEM")]
    pub(crate) item: Item,
    /// Smaller problems, fewer simulations and datasets: a minute or two, and not the paper's figures.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Which of the paper's two accounts of its experiments to follow where they disagree.
    #[arg(long, value_enum, default_value_t = PresetName::Text)]
    pub(crate) preset: PresetName,
    /// Write the files into this directory.
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub(crate) into: PathBuf,
    /// Datasets, each made anew at the paper's parameters; at least two [default: 10; 2 with --quick].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=100_000))]
    pub(crate) datasets: Option<u64>,
    /// Simulations a generation, the same share kept [default: the paper's; a tenth with --quick].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(400..=100_000_000))]
    pub(crate) simulations: Option<u64>,
    /// For the tables: these problems only.
    #[arg(long, value_name = "PROBLEM,...", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(["toy-sorted", "toy", "death", "dimerization", "diffusion"]))]
    pub(crate) problems: Vec<String>,
    /// For table-1: instead of the table, measure with how many simulations uniform weights take as long as Algorithm 2, in processor
    /// time. Nothing else should run on the machine.
    #[arg(long)]
    pub(crate) measure: bool,
    /// The seed of everything.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Overwrite files.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) schedule: Schedule,
}

/// A figure or a table of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Item {
    /// The objective is piecewise constant.
    #[value(name = "figure-1")]
    Figure1,
    /// Posteriors of the toy problem.
    #[value(name = "figure-2")]
    Figure2,
    /// Posteriors of the death process.
    #[value(name = "figure-3")]
    Figure3,
    /// Posteriors of the dimerization system.
    #[value(name = "figure-4")]
    Figure4,
    /// Posteriors of the diffusion problem.
    #[value(name = "figure-5")]
    Figure5,
    /// Weights found in repeated runs.
    #[value(name = "figure-6")]
    Figure6,
    /// Algorithm 2 against more samples.
    #[value(name = "table-1")]
    Table1,
    /// Algorithm 2 against subset selection and semi-automatic ABC.
    #[value(name = "table-2")]
    Table2,
    /// All of them.
    All,
}

/// One of the paper's two accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetName {
    /// The body and the captions.
    Text,
    /// The table of hyperparameters in appendix A.
    Appendix,
}
