//! Measurements: accuracy against exact posteriors, coverage, and speed. `bench/README.md` has the figures.

mod accuracy;
mod coverage;
mod engine;
mod estimator;
mod objective;
mod picture;
mod problems;
mod programs;
mod reference;
mod runs;
mod simulators;
mod tables;
mod tasks;
mod unseen;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Measures Counterpoise; every figure of bench/README.md comes from one of these commands")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The entropy estimator against closed forms.
    Estimator,
    /// Distance to exact posteriors on the reference datasets.
    Accuracy(accuracy::Options),
    /// Coverage of 90 % intervals over random truths.
    Coverage(coverage::Options),
    /// Rules on made-up problems, beside exact posteriors.
    Unseen(unseen::Options),
    /// One evaluation of the search objective, beside numpy and scipy.
    Objective(objective::Options),
    /// The picture of the README.
    Picture(picture::Options),
    /// Engine time a simulation, beyond simulator and search; peak memory.
    Engine(engine::Options),
    /// The overhead of simulators that are programs of their own.
    Programs(programs::Options),
    /// Exact simulation beside rebop, COPASI, libroadrunner and gillespy2.
    Simulators(simulators::Options),
    /// A table of a million simulations beside R's package abc.
    Tables(tables::Options),
    /// Simulating dimerizations over the whole prior.
    PriorCost(simulators::prior_cost::Options),
    /// Tau-leaping beside exact simulation: bias and time.
    Leaping(simulators::leaping::Options),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().what {
        What::Estimator => estimator::run(),
        What::Accuracy(options) => accuracy::run(&options),
        What::Coverage(options) => coverage::run(&options),
        What::Unseen(options) => unseen::run(&options),
        What::Objective(options) => objective::run(&options),
        What::Picture(options) => picture::run(&options),
        What::Engine(options) => engine::run(&options),
        What::Programs(options) => programs::run(&options),
        What::Simulators(options) => simulators::run(&options),
        What::Tables(options) => tables::run(&options),
        What::PriorCost(options) => simulators::prior_cost::run(&options),
        What::Leaping(options) => simulators::leaping::run(&options),
    }
}
