//! The command line as types.

use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::init::NAMES;
use crate::host::Stated;

/// Approximate Bayesian computation that weighs the evidence by itself.
#[derive(Debug, Parser)]
#[command(name = "counterpoise", version, about, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped at a limit or by the user.")]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print results and errors only.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a folder with a problem that runs as it is.
    Init(InitArguments),
    /// Infer the parameters of a problem and print the posterior; goes on with a run that was stopped.
    Run(RunArguments),
    /// Find every mistake in a problem file, and try twenty simulations.
    Check(CheckArguments),
    /// Write a table of simulations.
    Simulate(SimulateArguments),
    /// Print the summary of a run again.
    Show(ShowArguments),
    /// Judge several methods on the same simulations of data whose truth is known.
    Compare(CompareArguments),
    /// See whether intervals cover the truth as often as they say.
    Calibrate(CalibrateArguments),
    /// Look whether the directory of a run holds what was written into it.
    Verify(VerifyArguments),
    /// Write the posterior or the simulations of a run as a table for other programs.
    Export(ExportArguments),
    /// Say what an SBML file contains, what can be inferred of it, and what is not supported.
    Sbml(SbmlArguments),
}

impl Command {
    /// The problem it is about.
    pub(crate) fn problem(&mut self) -> Option<&mut ProblemArguments> {
        match self {
            Self::Run(RunArguments { problem, .. })
            | Self::Check(CheckArguments { problem, .. })
            | Self::Simulate(SimulateArguments { problem, .. })
            | Self::Compare(CompareArguments { problem, .. })
            | Self::Calibrate(CalibrateArguments { problem, .. }) => Some(problem),
            _ => None,
        }
    }
}

/// Arguments of `init`.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The folder to make; nothing is overwritten.
    #[arg(value_name = "NAME")]
    pub(crate) name: PathBuf,
    /// What kind of model it begins with.
    #[arg(long, value_name = "TEMPLATE", default_value = "death", value_parser = PossibleValuesParser::new(NAMES))]
    pub(crate) template: String,
}

/// A problem file and changes to it.
#[derive(Debug, Args)]
pub(crate) struct ProblemArguments {
    /// The problem file.
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: PathBuf,
    /// Give a key of the problem file another value, for example method.seed=2.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// What the program around this one states in place of the file.
    #[arg(skip)]
    pub(crate) stated: Option<Arc<Stated>>,
}

/// How work is spread; never shows in a result.
#[derive(Debug, Args)]
pub(crate) struct Schedule {
    /// Threads to use [default: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) threads: Option<u64>,
    /// Simulations a thread takes at a time [default: chosen by what is left].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) chunk: Option<u64>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) problem: ProblemArguments,
    /// Keep the run in this directory, and go on with what it holds [default: runs/ and the problem's name].
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) schedule: Schedule,
    /// Simulate on the workers of the Dask scheduler at this address (Python package only).
    #[arg(long, value_name = "ADDRESS", conflicts_with = "mpi")]
    pub(crate) dask: Option<String>,
    /// Simulate on the other ranks of an MPI job (Python package only).
    #[arg(long)]
    pub(crate) mpi: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) problem: ProblemArguments,
    #[command(flatten)]
    pub(crate) schedule: Schedule,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `simulate`.
#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub(crate) problem: ProblemArguments,
    /// How many simulations to make.
    #[arg(long, value_name = "N", required_unless_present = "row")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) rows: Option<u64>,
    /// Simulate at these parameters, all of them given, and not at draws from the prior.
    #[arg(long, value_name = "NAME=VALUE,...", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// The seed; the same as --set method.seed=SEED.
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// Repeat the simulation of this row of a run, at the parameters of --at.
    #[arg(long, value_name = "ROW", requires = "at", conflicts_with = "rows")]
    pub(crate) row: Option<u64>,
    /// The generation of the run that --row counts in.
    #[arg(long, value_name = "GENERATION", requires = "row", default_value_t = 0)]
    pub(crate) generation: u32,
    /// Write to this .csv, .csv.gz or .parquet file [default: CSV to the standard output].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite the file.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) schedule: Schedule,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The directory of the run.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

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
    #[command(flatten)]
    pub(crate) schedule: Schedule,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The directory of the run.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Keep what is whole and move the rest aside, so that `run` makes it again.
    #[arg(long)]
    pub(crate) salvage: bool,
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
    #[command(flatten)]
    pub(crate) schedule: Schedule,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The directory of the run.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Write to this .csv or .parquet file.
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
    /// The table to write.
    #[arg(long, value_enum, default_value_t = What::Posterior)]
    pub(crate) what: What,
    /// Overwrite the file.
    #[arg(long)]
    pub(crate) force: bool,
}

/// A table of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// The kept particles of the last generation, with their importance weights.
    Posterior,
    /// Every simulation of the committed generations.
    Simulations,
}

impl std::fmt::Display for What {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Posterior => "posterior",
            Self::Simulations => "simulations",
        })
    }
}

/// Arguments of `sbml`.
#[derive(Debug, Args)]
pub(crate) struct SbmlArguments {
    /// The SBML file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }
}
