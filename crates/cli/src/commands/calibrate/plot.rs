//! A calibration as a figure: coverage against what is promised, and the ranks of the truth.

use counterpoise_pictures::{Axis, Colour, Figure, Mark, Panel, Style};

use super::{BINS, CURVE, Calibration};

/// Parameters that have a curve each, at the most: more could not be told apart.
const MOST_CURVES: usize = 4;
/// What the shaded intervals are.
const CHANCE: &str = "by chance";

/// The figure.
pub(super) fn figure(calibration: &Calibration) -> Figure {
    Figure::new(Style::print())
        .title(format!("{}: {} datasets", calibration.problem, calibration.datasets))
        .description(calibration.verdict.clone())
        .columns(2)
        .panel(coverage(calibration))
        .panels(ranks(calibration))
}

/// The curve of expected coverage, within two standard errors of a right one.
fn coverage(calibration: &Calibration) -> Panel {
    let n = calibration.datasets as f64;
    let levels: Vec<f64> = (0..=CURVE).map(|at| at as f64 / CURVE as f64).collect();
    let spread = |level: &f64| 2.0 * (level * (1.0 - level) / n).sqrt();
    let low: Vec<f64> = levels.iter().map(|level| (level - spread(level)).max(0.0)).collect();
    let high: Vec<f64> = levels.iter().map(|level| (level + spread(level)).min(1.0)).collect();
    let line = |curve: &[f64]| Mark::line(&levels, &[&[0.0], curve].concat());
    let parameters = &calibration.parameters;
    let several = (2..=MOST_CURVES).contains(&parameters.len());
    let each = parameters.iter().enumerate().filter(|_| several);
    Panel::new()
        .title("how often intervals have the truth")
        .x(Axis::linear("probability of the interval").between(0.0, 1.0))
        .y(Axis::linear("share that covers").between(0.0, 1.0))
        .mark(Mark::band(&levels, &low, &high).colour(Colour::Muted).named(CHANCE))
        .mark(Mark::line(&levels, &levels).colour(Colour::Muted).dashed())
        .marks(each.map(|(at, one)| line(&one.curve).colour(Colour::Series(at + 1)).named(&*one.name)))
        .mark(line(&calibration.curve).scale(1.5).named(if several { "all" } else { "found" }))
}

/// The ranks of each parameter's truths. Outlines, so that both ends of the shaded interval show.
fn ranks(calibration: &Calibration) -> impl Iterator<Item = Panel> {
    calibration.parameters.iter().map(|parameter| {
        let edges: Vec<f64> = (0..=BINS).map(|at| at as f64 / BINS as f64).collect();
        let counts: Vec<f64> = parameter.ranks.iter().map(|&count| count as f64).collect();
        let (low, high) = (parameter.band.0 as f64, parameter.band.1 as f64);
        Panel::new()
            .title(format!("ranks of {}", parameter.name))
            .x(Axis::linear("share of the posterior below the truth").between(0.0, 1.0))
            .y(Axis::linear("datasets").from(0.0))
            .mark(Mark::band(&[0.0, 1.0], &[low, low], &[high, high]).colour(Colour::Muted).named(CHANCE))
            .mark(Mark::steps(&edges, &counts).scale(1.5))
    })
}
