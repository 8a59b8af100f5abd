//! A weighting rule, a kernel and a model added from outside, as CONTRIBUTING.md walks through them.

#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;

use counterpoise_core::digest::{Analysis, Generation, Method};
use counterpoise_core::population::Population;
use counterpoise_core::problem::{Failure, Marginal, Prior, Problem, Simulator, law};
use counterpoise_core::propose::{Kernel, Proposal, ProposeError};
use counterpoise_core::reduce::Identity;
use counterpoise_core::stop::AfterGenerations;
use counterpoise_core::stream::{Seed, Stream};
use counterpoise_core::table::Table;
use counterpoise_core::view::View;
use counterpoise_core::weigh::{ByFormula, Formula};
use counterpoise_run::drive::{self, Event};
use counterpoise_run::executor::Threads;
use counterpoise_run::pool::Pool;
use counterpoise_run::store::{Header, Memory};
use rand::RngExt;
use rand_distr::{Distribution, Poisson};

// walk: rule
/// One over the range of each statistic.
#[derive(Debug)]
struct Range;

impl Formula for Range {
    fn name(&self) -> &'static str {
        "range"
    }

    fn weights(&self, view: &View<'_>, rows: &[u32]) -> Vec<f64> {
        let range = |j: usize| {
            let values = rows.iter().map(|&row| view.features.at(row as usize, j));
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            high - low
        };
        (0..view.observed.len()).map(|j| if range(j) > 0.0 { 1.0 / range(j) } else { 0.0 }).collect()
    }
}
// end

// walk: kernel
/// Moves each parameter by up to a fixed distance in unit space, every step as likely as another.
#[derive(Debug)]
struct Square {
    half_width: f64,
}

struct SquareKernel {
    half_width: f64,
    centres: Table,
    weights: Vec<f64>,
}

impl Proposal for Square {
    fn fit(&self, _: &Prior, population: &Population) -> Result<Box<dyn Kernel>, ProposeError> {
        Ok(Box::new(SquareKernel {
            half_width: self.half_width,
            centres: population.units.clone(),
            weights: population.weights.normalised().to_vec(),
        }))
    }
}

impl Kernel for SquareKernel {
    fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        let mut level: f64 = rng.random();
        let reached = self.weights.iter().position(|weight| {
            level -= weight;
            level < 0.0
        });
        unit.copy_from_slice(self.centres.row(reached.unwrap_or(self.weights.len() - 1)));
        for value in unit {
            *value += rng.random_range(-self.half_width..self.half_width);
        }
    }

    fn ln_density(&self, unit: &[f64]) -> f64 {
        let within = |centre: &[f64]| centre.iter().zip(unit).all(|(c, u)| (c - u).abs() <= self.half_width);
        let near = self.centres.iter().zip(&self.weights).filter(|(centre, _)| within(centre));
        near.map(|(_, weight)| weight).sum::<f64>().ln()
    }
}
// end

// walk: model
/// Ten counts of a Poisson process.
struct Counts;

impl Simulator for Counts {
    fn summaries(&self) -> usize {
        10
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        let law = Poisson::new(theta[0]).map_err(|error| Failure::Declined(error.to_string()))?;
        summaries.fill_with(|| law.sample(rng));
        Ok(())
    }
}
// end

fn infer() -> Vec<Generation> {
    let analysis = Analysis {
        problem: Problem {
            prior: Prior::new(vec![Marginal::new("rate", Box::new(law::Gamma::new(2.0, 5.0).unwrap()))])
                .into(),
            statistics: (1..=10).map(|i| format!("count{i}")).collect(),
            observed: vec![7.0, 5.0, 9.0, 8.0, 6.0, 10.0, 7.0, 4.0, 8.0, 6.0],
        },
        method: Method {
            simulations: 4000,
            keep: 200,
            proposal: Box::new(Square { half_width: 0.3 }),
            reduction: Box::new(Identity),
            weighting: Box::new(ByFormula(Box::new(Range))),
            adjustment: None,
            stop: Box::new(AfterGenerations(4)),
        },
        seed: Seed(1),
    };
    let header = Header {
        description: serde_json::Value::Null,
        parameters: vec!["rate".into()],
        statistics: Vec::new(),
        units: Vec::new(),
    };
    let mut executor = Threads::new(Counts, 2, None);
    let mut go_on = |_: Event<'_>| ControlFlow::Continue(());
    drive::run((&analysis, &header), &mut executor, &mut Memory::default(), &Pool::new(2), &mut go_on)
        .unwrap()
        .history
}

/// Gamma prior and Poisson counts: the exact posterior is Gamma(2 + 70, rate 1/5 + 10), mean 7.06, sd 0.83.
/// Ten raw counts are compared one by one, so the approximation is wider; its mean must be right.
#[test]
fn three_additions_from_outside_find_the_exact_mean() {
    let history = infer();
    let last = &history[history.len() - 1].population;
    let (mean, sd) = counterpoise_core::summary::moments(&last.thetas.column(0), last.weights.normalised());
    assert!((mean - 7.06).abs() < 0.35, "mean {mean}");
    assert!((0.7..1.6).contains(&sd), "sd {sd}");
}

/// CONTRIBUTING.md shows the code above, to the letter.
#[test]
fn the_walks_in_contributing_are_this_code() {
    let read =
        |path: &str| std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (code, guide) = (read("tests/extend.rs"), read("../../CONTRIBUTING.md"));
    let walks: Vec<&str> = code.split("// walk: ").skip(1).collect();
    assert_eq!(walks.iter().filter(|walk| walk.contains("\n// end")).count(), 3);
    for walk in walks.iter().filter(|walk| walk.contains("\n// end")) {
        let (name, body) = walk.split_once('\n').unwrap();
        let body = body.split("// end").next().unwrap().trim();
        assert!(guide.contains(body), "the walk `{name}` differs from CONTRIBUTING.md");
    }
}
