//! A comparison as a figure: each rule with its standard errors.

use counterpoise_pictures::{Axis, Colour, Figure, Mark, Panel, Style};

use super::{Comparison, Judged};

/// The figure.
pub(super) fn figure(comparison: &Comparison) -> Figure {
    let rules = &comparison.rules;
    let panel = |title: &str, value: &dyn Fn(&Judged) -> Option<super::Figure>, marked: Option<f64>| {
        let figures: Vec<super::Figure> = rules.iter().filter_map(value).collect();
        if figures.len() < rules.len() {
            return None;
        }
        let means: Vec<f64> = figures.iter().map(|figure| figure.mean).collect();
        let low: Vec<f64> = figures.iter().map(|figure| figure.mean - figure.error).collect();
        let high: Vec<f64> = figures.iter().map(|figure| figure.mean + figure.error).collect();
        let places: Vec<f64> = (0..rules.len()).map(|at| at as f64).collect();
        let axis = Axis::linear(title);
        let panel = Panel::new()
            .x(if title.starts_with("90 %") { axis } else { axis.from(0.0) })
            .y(Axis::names(rules.iter().map(|judged| judged.rule.clone())))
            .height(14.0 * rules.len() as f64 + 10.0)
            .marks(marked.map(|at| Mark::vertical(at).dashed().colour(Colour::Muted)))
            .mark(Mark::errors_x(&means, &places, &low, &high).scale(1.6));
        Some(panel)
    };
    let near =
        |value: fn(&super::Near) -> super::Figure| move |judged: &Judged| judged.exact.as_ref().map(value);
    let ceiling = comparison.exact_information.map(|figure| figure.mean);
    let panels = [
        panel("W1 to the exact posterior, in its sd", &near(|near| near.w1_in_sd), None),
        panel("energy distance to the exact posterior", &near(|near| near.energy_distance), None),
        panel("bias of the mean, in prior sd", &|judged| judged.mean_bias, None),
        panel("90 % intervals cover", &|judged| judged.coverage_90, Some(0.9)),
        panel("information, held out (line: exact)", &|judged| Some(judged.held_out), ceiling),
        panel("effective sample size", &|judged| Some(judged.ess), None),
    ];
    Figure::new(Style::print())
        .title(format!("{}: {} datasets", comparison.problem, comparison.datasets))
        .description("Methods beside each other, each figure with its standard error over datasets")
        .columns(2)
        .panels(panels.into_iter().flatten())
}
