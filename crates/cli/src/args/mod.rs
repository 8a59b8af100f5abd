//! The command line as types.

mod studies;

use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::commands::init::NAMES;
use crate::host::Stated;

pub(crate) use studies::{CalibrateArguments, CompareArguments, Item, PresetName, ReproduceArguments};

/// Help that fits a screen of 24 lines, with the prompt: options share a line, `completions` and `man` another.
const HELP: &str = "\
{about}

Usage: counterpoise COMMAND [OPTIONS]

{subcommands}

-q, --quiet prints results and errors only; -h, --help; -V, --version
COMMAND --help has its options; completions SHELL, man [COMMAND]: for a shell
Exit codes: 0 done, 1 failed, 2 bad input, 3 stopped at a limit or by the user
";

/// Approximate Bayesian computation that weighs the evidence by itself
#[derive(Debug, Parser)]
#[command(name = "counterpoise", version = crate::version::long())]
#[command(arg_required_else_help = true, help_template = HELP)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print results and errors only.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// What the program can do. The first lines fit a screen of 80 columns.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a folder with a problem that runs as it is
    Init(InitArguments),
    /// Find mistakes in a problem, try simulations, say what a run costs
    ///
    /// Every mistake in the problem file is shown with its line. If there are none, twenty simulations are made and, if they are
    /// quick, a small generation: what fails, what never varies, what lies beyond all simulations, and how long a run takes.
    Check(CheckArguments),
    /// Infer the parameters of a problem and print the posterior
    ///
    /// Goes on with a run that was stopped: the same command again.
    Run(RunArguments),
    /// Print the summary of a run again
    Show(ShowArguments),
    /// Write one HTML page with pictures of a run
    ///
    /// The page needs no network.
    Report(ReportArguments),
    /// Show that page in a browser while a run goes on
    Watch(WatchArguments),
    /// Draw a picture of a run for a paper
    Plot(PlotArguments),
    /// Write the posterior or the simulations of a run for other programs
    Export(ExportArguments),
    /// Look whether a run's directory holds what was written into it
    Verify(VerifyArguments),
    /// Write a table of simulations
    Simulate(SimulateArguments),
    /// Say what an SBML file holds, and what of it can be inferred
    Sbml(SbmlArguments),
    /// Judge several methods on data whose truth is known
    Compare(CompareArguments),
    /// See whether intervals cover the truth as often as they say
    Calibrate(CalibrateArguments),
    /// Make a figure or a table of Harrison & Baker again
    Reproduce(ReproduceArguments),
    /// Print what a shell needs to complete commands and options
    #[command(hide = true)]
    Completions(CompletionsArguments),
    /// Print a page of the manual
    ///
    /// Read it with: counterpoise man run | man -l -
    #[command(hide = true)]
    Man(ManArguments),
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

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The command that the page is about; by default the program.
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
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
    /// Draw marginals and distance weights in text.
    #[arg(long, conflicts_with = "json")]
    pub(crate) plot: bool,
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
    /// Draw marginals and distance weights in text.
    #[arg(long, conflicts_with = "json")]
    pub(crate) plot: bool,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The directory of the run.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Write to this file [default: report.html in the directory, which is replaced].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite the file.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// The directory of the run.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The port; 0 takes any that is free.
    #[arg(long, value_name = "N", default_value_t = 8377)]
    pub(crate) port: u16,
    /// The address to listen on. Where others can reach it, they need the token in the address that is printed.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) bind: std::net::IpAddr,
}

/// Arguments of `plot`.
#[derive(Debug, Args)]
pub(crate) struct PlotArguments {
    /// The directory of the run.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// What to draw.
    #[arg(long, value_enum)]
    pub(crate) what: Drawn,
    /// Write to this .svg or .png file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Dots an inch, of a .png file.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u16).range(30..=1200))]
    pub(crate) dpi: u16,
    /// Overwrite the file.
    #[arg(long)]
    pub(crate) force: bool,
}

/// A picture of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Drawn {
    /// The posterior of each parameter beside its prior.
    Marginals,
    /// Each pair of parameters.
    Pairs,
    /// How much each statistic counts in the distance.
    Weights,
    /// Information by generation, beside the simple rules.
    Information,
    /// Observed statistics against those of the accepted simulations.
    Predictive,
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

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The directory of the run.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Write to this .csv or .parquet file, or to a .nc file for ArviZ (by the command of the Python package).
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
    /// The table to write.
    #[arg(long, value_enum, default_value_t = What::Posterior)]
    pub(crate) what: What,
    /// Instead of the weighted particles, so many equally weighted draws from the posterior, no two alike.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000), conflicts_with = "what")]
    pub(crate) draws: Option<u32>,
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
