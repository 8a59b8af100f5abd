//! The posterior of a parameter: every generation fading into the last, beside the prior.

use counterpoise_core::digest::Generation;
use counterpoise_core::problem::Marginal;
use counterpoise_core::problem::law::Scale;
use counterpoise_core::summary::quantile;
use counterpoise_pictures::{Axis, Colour, Curve, Mark, Panel, density};

use crate::number::significant;
use crate::prior;
use crate::run::Run;

/// Earlier generations that are drawn.
const MOST_CURVES: usize = 12;
/// Places at which the prior is drawn.
const PLACES: usize = 121;

fn natural_range(marginal: &Marginal) -> (f64, f64) {
    let (low, high) = marginal.unit_range();
    (marginal.natural(low), marginal.natural(high))
}

/// The density of a parameter in a generation; its whole numbers are counted.
pub(crate) fn curves(marginal: &Marginal, generation: &Generation, column: usize) -> Option<Curve> {
    let population = generation.posterior();
    let (values, weights) = (population.thetas.column(column), population.weights.normalised());
    if marginal.scale() == Scale::Whole {
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
        if high - low <= 400.0 {
            let x: Vec<f64> = (0..=(high - low) as usize).map(|step| low + step as f64).collect();
            let mut y = vec![0.0; x.len()];
            values.iter().zip(weights).for_each(|(value, weight)| y[(value - low) as usize] += weight);
            return Some(Curve { x, y });
        }
    }
    density(&values, Some(weights), marginal.scale() == Scale::Log, Some(marginal.support()))
}

/// Where the axis begins and ends: around what the kept of all generations say, unless that would hide the last.
fn window(run: &Run, marginal: &Marginal, column: usize) -> (f64, f64) {
    let is_log = marginal.scale() == Scale::Log;
    let warp = |value: f64| if is_log { value.ln() } else { value };
    let back = |value: f64| if is_log { value.exp() } else { value };
    let ends = |generation: &Generation| {
        let population = generation.posterior();
        let (values, weights) = (population.thetas.column(column), population.weights.normalised());
        (warp(quantile(&values, weights, 0.005)), warp(quantile(&values, weights, 0.995)))
    };
    let all: Vec<(f64, f64)> = run.history.iter().map(ends).collect();
    let Some(&last) = all.last() else { return natural_range(marginal) };
    let (prior_low, prior_high) = natural_range(marginal);
    let mut low = all.iter().map(|ends| ends.0).fold(f64::INFINITY, f64::min);
    let mut high = all.iter().map(|ends| ends.1).fold(f64::NEG_INFINITY, f64::max);
    let width = (last.1 - last.0).max(1e-12 * last.0.abs());
    if width < 0.15 * (high - low) {
        (low, high) = (low.max(last.0 - 2.5 * width), high.min(last.1 + 2.5 * width));
    }
    let margin = 0.08 * (high - low);
    let (low, high) = ((low - margin).max(warp(prior_low)), (high + margin).min(warp(prior_high)));
    if low < high { (back(low), back(high)) } else { (prior_low, prior_high) }
}

/// The panel of a parameter.
pub(crate) fn marginal(run: &Run, column: usize) -> Panel {
    let marginal = &run.problem.prior.marginals()[column];
    let is_log = marginal.scale() == Scale::Log;
    let (low, high) = window(run, marginal, column);
    let axis = if is_log { Axis::log(marginal.name()) } else { Axis::linear(marginal.name()) };
    let mut panel = Panel::new().x(axis.between(low, high)).y(Axis::linear(if is_log {
        "density (of log10)"
    } else {
        "density"
    })
    .from(0.0));
    let place = |index: usize| {
        let share = index as f64 / (PLACES - 1) as f64;
        if is_log { low * (high / low).powf(share) } else { low + (high - low) * share }
    };
    let x: Vec<f64> = (0..PLACES).map(place).collect();
    let y: Vec<f64> = x.iter().map(|value| prior::density(marginal, *value)).collect();
    panel = panel.mark(Mark::line(&x, &y).colour(Colour::Muted).dashed().named("prior"));
    let Some((last, earlier)) = run.history.split_last() else { return panel };
    let step = earlier.len().div_ceil(MOST_CURVES).max(1);
    let shown: Vec<&Generation> = earlier.iter().rev().step_by(step).rev().collect();
    for (index, generation) in shown.iter().enumerate() {
        let Some(curve) = curves(marginal, generation, column) else { continue };
        let opacity = 0.2 + 0.5 * index as f64 / shown.len() as f64;
        let mut mark = Mark::line(&curve.x, &curve.y)
            .colour(Colour::Series(5))
            .opacity(opacity)
            .scale(0.7)
            .tips(vec![format!("generation {}", generation.index)]);
        if index + 1 == shown.len() {
            mark = mark.named("earlier generations");
        }
        panel = panel.mark(mark);
    }
    if let Some(curve) = curves(marginal, last, column) {
        let population = last.posterior();
        let (values, weights) = (population.thetas.column(column), population.weights.normalised());
        let ends = [0.05, 0.95].map(|level| quantile(&values, weights, level));
        let inside: Vec<usize> =
            (0..curve.x.len()).filter(|&at| (ends[0]..=ends[1]).contains(&curve.x[at])).collect();
        let x: Vec<f64> = inside.iter().map(|&at| curve.x[at]).collect();
        let y: Vec<f64> = inside.iter().map(|&at| curve.y[at]).collect();
        panel = panel
            .mark(Mark::band(&x, &vec![0.0; x.len()], &y).named("90 % interval"))
            .mark(Mark::line(&curve.x, &curve.y).tips(vec!["posterior".into()]).named("posterior"));
    }
    if let Some(truth) = run.truth()[column] {
        panel = panel.mark(Mark::vertical(truth).dashed().named("truth"));
    }
    let summary = &run.posterior()[column];
    let [low, _, median, _, high] = summary.quantiles.map(|value| significant(value, 3));
    panel.title(format!("{}: {median} ({low} to {high})", marginal.name()))
}
