//! Exact simulation beside the peers: processor time a simulation, in turns within one run.

mod floor;
pub mod leaping;
mod model;
mod ours;
pub mod prior_cost;
mod python;
mod rebop;
mod turn;

use counterpoise_core::stream::Seed;
use counterpoise_networks::Method;

use self::model::Model;
use self::ours::Ours;
use self::python::{PEERS, Python};
use self::turn::Turn;

#[derive(clap::Args)]
pub struct Options {
    /// Models: death, dimerization, diffusion, chain; all of them unless told.
    #[arg(long, value_delimiter = ',')]
    model: Vec<String>,
    /// Turns of every simulator; the best counts.
    #[arg(long, default_value_t = 9)]
    repeats: usize,
    /// Processor seconds that a turn should take.
    #[arg(long, default_value_t = 0.25)]
    seconds: f64,
    /// Simulators to leave out: rebop-macro, rebop-run-time, copasi, libroadrunner, gillespy2.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
}

/// A simulator that takes part.
pub trait Contender {
    fn name(&self) -> &'static str;
    /// Simulates so many times in a row.
    fn turn(&mut self, count: usize) -> anyhow::Result<Turn>;
}

/// What ours may cost at most, as a share of the other's cost.
fn target(model: &str, other: &str) -> Option<f64> {
    Some(match (model, other) {
        ("death" | "chain", "rebop-macro") => 0.5,
        ("death", "copasi" | "libroadrunner" | "gillespy2") => 0.02,
        ("dimerization", "rebop-macro") => 0.35,
        ("dimerization", "copasi") => 1.0 / 15.0,
        ("dimerization", "gillespy2") => 1.0 / 30.0,
        ("dimerization", "libroadrunner") => 1.0 / 80.0,
        ("dimerization", "floor") => 5.0,
        ("diffusion", "rebop-macro") => 0.45,
        ("diffusion", "copasi") => 0.01,
        ("diffusion", "gillespy2") => 1.0 / 40.0,
        ("chain", "copasi") => 1.0 / 8.0,
        _ => return None,
    })
}

/// Deaths that one core should simulate in a second.
const DEATHS_A_SECOND: f64 = 4e6;

pub fn run(options: &Options) -> anyhow::Result<()> {
    if PEERS.iter().any(|(name, _)| options.takes(name)) {
        python::prepare()?;
    }
    let all = model::NAMES.map(String::from).to_vec();
    for name in if options.model.is_empty() { &all } else { &options.model } {
        measure(&Model::named(name)?, options)?;
    }
    Ok(())
}

impl Options {
    fn takes(&self, name: &str) -> bool {
        self.without.iter().all(|left_out| left_out != name)
    }
}

/// One who takes part, with all its turns.
struct Entrant<'a> {
    contender: Box<dyn Contender + 'a>,
    count: usize,
    best: f64,
    total: Turn,
}

impl<'a> Entrant<'a> {
    /// Finds out how many simulations take about `seconds`.
    fn new(mut contender: Box<dyn Contender + 'a>, seconds: f64) -> anyhow::Result<Self> {
        let mut total = contender.turn(1)?;
        let mut count = 1;
        loop {
            let turn = contender.turn(count)?;
            total.join(&turn);
            if turn.seconds > 0.2 * seconds {
                let count = (count as f64 * seconds / turn.seconds).ceil() as usize;
                return Ok(Self { contender, count, best: f64::INFINITY, total });
            }
            count *= 4;
        }
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        let turn = self.contender.turn(self.count)?;
        self.best = self.best.min(turn.each());
        self.total.join(&turn);
        Ok(())
    }
}

fn entrants<'a>(model: &'a Model, options: &Options) -> anyhow::Result<Vec<Entrant<'a>>> {
    let mut contenders: Vec<Box<dyn Contender + 'a>> = Vec::new();
    match Ours::new(model, &model.times, Method::Direct, Seed(1))? {
        Some(ours) => contenders.push(Box::new(ours)),
        None => println!("ours: not available"),
    }
    if options.takes("rebop-macro") {
        contenders.push(Box::new(rebop::Compiled::new(model)));
    }
    if options.takes("rebop-run-time") {
        contenders.push(Box::new(rebop::Interpreted::new(model)));
    }
    for peer in PEERS.into_iter().filter(|(name, _)| options.takes(name)) {
        match Python::start(peer, model) {
            Ok(python) => {
                println!("{}: {}", peer.0, python.version);
                contenders.push(Box::new(python));
            }
            Err(error) => println!("{}: absent ({error:#})", peer.0),
        }
    }
    contenders.into_iter().map(|contender| Entrant::new(contender, options.seconds)).collect()
}

fn measure(model: &Model, options: &Options) -> anyhow::Result<()> {
    let events = rebop::events(model);
    println!("\n{}: {events:.1} events a simulation, {} times", model.name, model.times.len());
    let mut entrants = entrants(model, options)?;
    let mut floor = f64::INFINITY;
    for _ in 0..options.repeats {
        entrants.iter_mut().try_for_each(Entrant::turn)?;
        floor = floor.min(floor::turn(4_000_000));
    }

    let ours = entrants.iter().find(|entrant| entrant.contender.name() == "ours").map(|ours| ours.best);
    println!(
        "{:<16} {:>12} {:>12} {:>10} {:>10}  of {} turns the best",
        "", "us each", "ns an event", "ours / it", "at most", options.repeats
    );
    let line = |name: &str, seconds: f64| {
        let ratio = ours.map_or("-".into(), |ours| format!("{:.4}", ours / seconds));
        let target = target(model.name, name);
        let most = target.map_or(String::new(), |most| format!("{most:.4}"));
        let missed = target.zip(ours).is_some_and(|(most, ours)| ours / seconds > most);
        let (each, event) = (seconds * 1e6, seconds * 1e9 / events);
        let mark = if missed { "  MISSED" } else { "" };
        println!("{name:<16} {each:>12.3} {event:>12.2} {ratio:>10} {most:>10}{mark}");
    };
    entrants.iter().for_each(|entrant| line(entrant.contender.name(), entrant.best));
    line("floor", floor * events);
    if let ("death", Some(ours)) = (model.name, ours) {
        let rate = 1.0 / ours;
        let mark = if rate < DEATHS_A_SECOND { "  MISSED" } else { "" };
        println!("ours: {:.2} million a second; at least {:.0}{mark}", rate / 1e6, DEATHS_A_SECOND / 1e6);
    }
    compare(model, &entrants);
    Ok(())
}

/// Warns of means at the last time that differ from those of the first who took part.
fn compare(model: &Model, entrants: &[Entrant<'_>]) {
    let Some((first, others)) = entrants.split_first() else { return };
    let mut agreed = true;
    for other in others {
        if let Some(species) = first.total.disagreement(&other.total) {
            agreed = false;
            println!(
                "WARNING: the mean of {} at the end is {:.4} with {} and {:.4} with {}",
                model.species[species],
                first.total.mean(species),
                first.contender.name(),
                other.total.mean(species),
                other.contender.name()
            );
        }
    }
    if agreed && !others.is_empty() {
        println!("means at the last time agree within five standard errors");
    }
}
