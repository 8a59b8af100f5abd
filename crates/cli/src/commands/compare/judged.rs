//! What methods made of datasets, and how good that is.

use std::time::Instant;

use anyhow::anyhow;
use counterpoise_core::divergence::weighted_information;
use counterpoise_core::judge::{Exact, covered, mean_and_error, rank};
use counterpoise_core::population::Population;
use counterpoise_core::problem::law::Scale;
use counterpoise_core::problem::{Marginal, Prior, Problem, Simulator};
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::summary::{moments, summarise};
use counterpoise_run::study::{FirstShared, infer};
use serde::Serialize;

use super::given::Judge;
use crate::interrupt::Interrupt;
use crate::problem_file::Method;

/// What one method made of one dataset; not a number where nothing is known to judge it by.
pub(super) struct Figures {
    /// Difference of the posterior mean, and of the mode, from the truth, mean over parameters, in prior standard deviations.
    pub(super) mean_bias: f64,
    pub(super) mode_bias: f64,
    /// Share of the parameters whose central 90 % interval has the truth.
    pub(super) covered: f64,
    /// Information in the posterior, and in what the weights accept where they have not learned.
    pub(super) information: f64,
    pub(super) held_out: f64,
    pub(super) ess: f64,
    pub(super) seconds: f64,
    pub(super) distances: Option<Distances>,
}

/// How far the posterior of a method is from the exact one.
pub(super) struct Distances {
    /// First Wasserstein distance of each parameter, and in units of the exact standard deviation.
    pub(super) raw: Vec<f64>,
    pub(super) scaled: Vec<f64>,
    /// Standard deviation over that of the exact posterior, mean over parameters.
    pub(super) sd: f64,
    /// Energy distance in unit space.
    pub(super) energy: f64,
}

/// A figure over all datasets.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Figure {
    pub(super) mean: f64,
    pub(super) error: f64,
}

impl Figure {
    pub(super) fn of(values: &[f64]) -> Self {
        let (mean, error) = mean_and_error(values);
        Self { mean, error }
    }
}

/// What one method made of all datasets.
#[derive(Debug, Serialize)]
pub(super) struct Judged {
    pub(super) rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean_bias: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode_bias: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) coverage_90: Option<Figure>,
    #[serde(flatten)]
    pub(super) exact: Option<Near>,
    pub(super) information: Figure,
    pub(super) held_out: Figure,
    pub(super) ess: Figure,
    pub(super) seconds: Figure,
}

/// How near one method comes to the exact posteriors.
#[derive(Debug, Serialize)]
pub(super) struct Near {
    /// W1 in units of the exact standard deviation, mean over parameters; and of each dataset.
    pub(super) w1_in_sd: Figure,
    pub(super) w1_of_datasets: Vec<f64>,
    /// W1 of each parameter, on the scale given, and in units of the exact standard deviation.
    pub(super) parameters: Vec<NearParameter>,
    pub(super) sd_ratio: Figure,
    pub(super) energy_distance: Figure,
    /// Datasets on which no other rule has a smaller W1.
    pub(super) nearest_on: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct NearParameter {
    pub(super) name: String,
    pub(super) scale: &'static str,
    pub(super) w1: Figure,
    pub(super) w1_in_sd: Figure,
}

/// Runs a method on a dataset and judges what it gives.
pub(super) fn one(
    problem: Problem,
    method: &Method,
    seed: Seed,
    (judge, index): (&Judge, usize),
    executor: &mut FirstShared<&dyn Simulator>,
    interrupt: &Interrupt,
) -> anyhow::Result<Figures> {
    let (prior, start) = (problem.prior.clone(), Instant::now());
    interrupt.or_go_on()?;
    let history = infer(problem, method.build(), seed, executor, &mut interrupt.watch())?;
    interrupt.or_go_on()?;
    // As if the first generation had been its own: whoever came first has made it for all.
    let seconds = start.elapsed().as_secs_f64() + executor.spared();
    let last = history.last().ok_or_else(|| anyhow!("no generation was made"))?;
    let (population, d) = (last.posterior(), prior.dimension());
    let (mut mean_bias, mut mode_bias, mut inside) = (f64::NAN, f64::NAN, f64::NAN);
    if let Some(truth) = &judge.data[index].truth {
        (mean_bias, mode_bias, inside) = (0.0, 0.0, 0.0);
        let summaries = summarise(&prior, population);
        let mut rng = seed.stream(Stage::Reference, 0, 0);
        for (j, (marginal, summary)) in prior.marginals().iter().zip(&summaries).enumerate() {
            let (mean, _) = moments(&population.units.column(j), population.weights.normalised());
            mean_bias += (mean - truth[j]).abs() / d as f64;
            mode_bias += (marginal.unit(summary.mode) - truth[j]).abs() / d as f64;
            let rank = rank(population, j, truth[j], &mut rng);
            inside += f64::from(u8::from(covered(rank, 0.9))) / d as f64;
        }
    }
    let distances = judge.exact(index).map(|exact| distances(&prior, population, exact));
    let ess = population.effective_sample_size();
    let information = weighted_information(&prior, &population.units, population.weights.normalised());
    let held_out = last.information.held_out;
    Ok(Figures { mean_bias, mode_bias, covered: inside, information, held_out, ess, seconds, distances })
}

fn distances(prior: &Prior, population: &Population, exact: &Exact) -> Distances {
    let d = prior.dimension();
    let units: Vec<f64> = (0..d).map(|j| exact.wasserstein(population, j)).collect();
    let sd = |j: usize| moments(&population.units.column(j), population.weights.normalised()).1 / exact.sd(j);
    Distances {
        raw: prior.marginals().iter().zip(&units).map(|(marginal, unit)| unit * scale(marginal).1).collect(),
        scaled: units.iter().enumerate().map(|(j, unit)| unit / exact.sd(j)).collect(),
        sd: (0..d).map(sd).sum::<f64>() / d as f64,
        energy: exact.energy(population),
    }
}

/// The scale on which distances of a parameter are given, and the length of one of unit space on it.
fn scale(marginal: &Marginal) -> (&'static str, f64) {
    let latent = 1.0 / marginal.unit_of_latent();
    match marginal.scale() {
        Scale::Log => ("log10", latent / std::f64::consts::LN_10),
        Scale::Linear | Scale::Whole => ("natural", latent),
    }
}

/// Every method over all datasets.
pub(super) fn summed(methods: &[(String, Method)], judged: &[Vec<Figures>], prior: &Prior) -> Vec<Judged> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let w1 = |figures: &Figures| figures.distances.as_ref().map_or(f64::NAN, |known| mean(&known.scaled));
    let least: Vec<f64> = judged.iter().map(|row| row.iter().map(w1).fold(f64::INFINITY, f64::min)).collect();
    let rule = |at: usize| {
        let figures = || judged.iter().map(move |row| &row[at]);
        let figure =
            |value: &dyn Fn(&Figures) -> f64| Figure::of(&figures().map(value).collect::<Vec<f64>>());
        let known = |value: fn(&Figures) -> f64| Some(figure(&value)).filter(|figure| !figure.mean.is_nan());
        let known_distances: Option<Vec<&Distances>> =
            figures().map(|figures| figures.distances.as_ref()).collect();
        let near = known_distances.map(|distances| {
            let over = |value: &dyn Fn(&Distances) -> f64| {
                Figure::of(&distances.iter().map(|one| value(one)).collect::<Vec<f64>>())
            };
            let parameter = |(j, marginal): (usize, &Marginal)| NearParameter {
                name: marginal.name().to_owned(),
                scale: scale(marginal).0,
                w1: over(&|one| one.raw[j]),
                w1_in_sd: over(&|one| one.scaled[j]),
            };
            Near {
                w1_in_sd: figure(&w1),
                w1_of_datasets: figures().map(w1).collect(),
                parameters: prior.marginals().iter().enumerate().map(parameter).collect(),
                sd_ratio: over(&|one| one.sd),
                energy_distance: over(&|one| one.energy),
                nearest_on: figures().zip(&least).filter(|(figures, least)| w1(figures) <= **least).count(),
            }
        });
        Judged {
            rule: methods[at].0.clone(),
            mean_bias: known(|f| f.mean_bias),
            mode_bias: known(|f| f.mode_bias),
            coverage_90: known(|f| f.covered),
            exact: near,
            information: figure(&|f| f.information),
            held_out: figure(&|f| f.held_out),
            ess: figure(&|f| f.ess),
            seconds: figure(&|f| f.seconds),
        }
    };
    (0..methods.len()).map(rule).collect()
}
