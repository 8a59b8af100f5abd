//! Observed statistics against those of the accepted simulations.

use counterpoise_pictures::{Axis, Colour, Mark, Panel};

use crate::number::significant;
use crate::predictive::Check;
use crate::series::{is_geometric, series};

/// Observables that are drawn.
pub(crate) const MOST_SERIES: usize = 12;

/// A panel an observable: bands of the simulations over time, and what was observed.
pub(crate) fn over_time(statistics: &[String], checks: &[Check]) -> Vec<Panel> {
    let panel = |series: &crate::series::Series| {
        let at: Vec<&Check> = series.places.iter().map(|&place| &checks[place]).collect();
        let curve = |level: usize| at.iter().map(|check| check.quantiles[level]).collect::<Vec<f64>>();
        let observed: Vec<f64> = at.iter().map(|check| check.observed).collect();
        let tips = at.iter().map(|check| tip(check)).collect();
        let times = &series.times;
        let axis = if is_geometric(times) { Axis::log("time") } else { Axis::linear("time") };
        Panel::new()
            .title(&*series.name)
            .x(axis)
            .y(Axis::linear(""))
            .mark(Mark::band(times, &curve(0), &curve(4)).opacity(0.2).named("90 % of simulations"))
            .mark(Mark::band(times, &curve(1), &curve(3)).opacity(0.35).named("50 %"))
            .mark(Mark::line(times, &curve(2)).named("median"))
            .mark(Mark::points(times, &observed).colour(Colour::Series(1)).named("observed").tips(tips))
    };
    series(statistics).iter().take(MOST_SERIES).map(panel).collect()
}

/// What is known of a statistic, in a line or two.
pub(crate) fn tip(check: &Check) -> String {
    let [low, _, median, _, high] = check.quantiles.map(|value| significant(value, 4));
    format!(
        "{}\nobserved {}\nsimulated {median}, 90 % between {low} and {high}",
        check.name,
        significant(check.observed, 4)
    )
}

/// A strip a statistic: where the observation lies, in half-widths of the central 90 % from the median.
pub(crate) fn strips(checks: &[&Check]) -> Panel {
    let scaled = |check: &Check, value: f64| {
        let [low, _, median, _, high] = check.quantiles;
        let half = if value < median { median - low } else { high - median };
        if value == median { 0.0 } else { (value - median) / half }
    };
    let y: Vec<f64> = (0..checks.len()).map(|at| at as f64).collect();
    let list =
        |level: usize| checks.iter().map(|check| scaled(check, check.quantiles[level])).collect::<Vec<f64>>();
    let observed: Vec<f64> =
        checks.iter().map(|check| scaled(check, check.observed).clamp(-4.0, 4.0)).collect();
    let middle = vec![0.0; y.len()];
    let ends = (vec![-1.0; y.len()], vec![1.0; y.len()]);
    Panel::new()
        .x(Axis::linear("from the median, in half-widths of the 90 % band"))
        .y(Axis::names(checks.iter().map(|check| check.name.clone())))
        .mark(Mark::errors_x(&middle, &y, &ends.0, &ends.1).colour(Colour::Series(0)).named("90 %"))
        .mark(
            Mark::errors_x(&middle, &y, &list(1), &list(3))
                .colour(Colour::Series(0))
                .scale(2.0)
                .named("50 %"),
        )
        .mark(Mark::points(&observed, &y).colour(Colour::Series(1)).scale(1.5).named("observed"))
}
