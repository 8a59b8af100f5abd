//! Each pair of parameters.

use counterpoise_core::population::Population;
use counterpoise_core::problem::law::Scale;
use counterpoise_core::summary::{moments, quantile};
use counterpoise_pictures::{Axis, Colour, Mark, Panel};

use super::marginals::curves;
use crate::run::Run;

/// Parameters of the matrix.
pub(crate) const MOST: usize = 10;
/// Points of a panel.
const POINTS: usize = 250;

/// Rows of a population drawn by importance weight, at equal steps of its sum.
fn drawn(population: &Population) -> Vec<usize> {
    let weights = population.weights.normalised();
    let count = population.len().min(POINTS);
    let (mut sum, mut row) = (weights.first().copied().unwrap_or(0.0), 0);
    let mut rows: Vec<usize> = (0..count)
        .map(|step| {
            let at = (step as f64 + 0.5) / count as f64;
            while sum < at && row + 1 < weights.len() {
                row += 1;
                sum += weights[row];
            }
            row
        })
        .collect();
    rows.dedup();
    rows
}

/// Correlation of two parameters in unit space, where the logarithm is taken of those that are positive by their law.
pub(crate) fn correlation(population: &Population, one: usize, other: usize) -> f64 {
    let weights = population.weights.normalised();
    let (a, b) = (population.units.column(one), population.units.column(other));
    let ((mean_a, sd_a), (mean_b, sd_b)) = (moments(&a, weights), moments(&b, weights));
    let covariance: f64 =
        a.iter().zip(&b).zip(weights).map(|((a, b), w)| w * (a - mean_a) * (b - mean_b)).sum();
    covariance / (sd_a * sd_b)
}

/// The parameters of the matrix: all, or those that are most correlated with any other.
pub(crate) fn chosen(run: &Run) -> Vec<usize> {
    let count = run.problem.prior.dimension();
    let Some(last) = run.history.last() else { return vec![] };
    if count <= MOST {
        return (0..count).collect();
    }
    let strongest = |one: usize| {
        let others = (0..count).filter(|&other| other != one);
        others.map(|other| correlation(last.posterior(), one, other).abs()).fold(0.0, f64::max)
    };
    let mut order: Vec<(f64, usize)> = (0..count).map(|one| (strongest(one), one)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut kept: Vec<usize> = order.into_iter().take(MOST).map(|(_, one)| one).collect();
    kept.sort_unstable();
    kept
}

/// The panels of the matrix, row by row: points below the diagonal, densities on it.
pub(crate) fn pairs(run: &Run, chosen: &[usize]) -> Vec<Panel> {
    let Some(last) = run.history.last() else { return vec![] };
    let population = last.posterior();
    let rows = drawn(population);
    let truth = run.truth();
    let marginals = run.problem.prior.marginals();
    let axis = |column: usize, label: &str| {
        let (values, weights) = (population.thetas.column(column), population.weights.normalised());
        let is_log = marginals[column].scale() == Scale::Log;
        let axis = if is_log { Axis::log(label) } else { Axis::linear(label) };
        let ends = [0.005, 0.995].map(|level| quantile(&values, weights, level));
        let warp = |value: f64| if is_log { value.ln() } else { value };
        let back = |value: f64| if is_log { value.exp() } else { value };
        let margin = 0.1 * (warp(ends[1]) - warp(ends[0])).max(1e-9);
        axis.between(back(warp(ends[0]) - margin), back(warp(ends[1]) + margin))
    };
    let mut panels = vec![];
    for (down, &y) in chosen.iter().enumerate() {
        for (across, &x) in chosen.iter().enumerate() {
            if across > down {
                panels.push(Panel::blank());
                continue;
            }
            let outer = |is_outer: bool, axis: Axis| if is_outer { axis } else { axis.quiet() };
            let below = outer(down + 1 == chosen.len(), axis(x, marginals[x].name()));
            if across == down {
                let mut panel = Panel::new().x(below).y(Axis::linear("").from(0.0).quiet());
                if let Some(curve) = curves(&marginals[x], last, x) {
                    panel = panel.mark(Mark::area(&curve.x, &curve.y).tips(vec![marginals[x].name().into()]));
                }
                if let Some(truth) = truth[x] {
                    panel = panel.mark(Mark::vertical(truth).dashed());
                }
                panels.push(panel);
                continue;
            }
            let values = |column: usize| -> Vec<f64> {
                rows.iter().map(|&row| population.thetas.at(row, column)).collect()
            };
            let mut panel = Panel::new().x(below).y(outer(across == 0, axis(y, marginals[y].name()))).mark(
                Mark::points(&values(x), &values(y)).opacity(0.5).scale(0.8).named(format!(
                    "{}, {}",
                    marginals[x].name(),
                    marginals[y].name()
                )),
            );
            if let Some(truth) = truth[x] {
                panel = panel.mark(Mark::vertical(truth).colour(Colour::Ink).dashed().scale(0.7));
            }
            if let Some(truth) = truth[y] {
                panel = panel.mark(Mark::horizontal(truth).colour(Colour::Ink).dashed().scale(0.7));
            }
            panels.push(panel);
        }
    }
    panels
}
