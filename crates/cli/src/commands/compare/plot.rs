//! A comparison as a figure: each rule with its standard errors.

use counterpoise_pictures::{Figure, Style};

use super::{Comparison, Judged};
use crate::beside::beside;

/// The figure.
pub(super) fn figure(comparison: &Comparison) -> Figure {
    let rules = &comparison.rules;
    let panel = |title: &str, value: &dyn Fn(&Judged) -> Option<super::Figure>, marked: Option<f64>| {
        let line = |judged: &Judged| value(judged).map(|of| (judged.rule.clone(), of.mean, of.error));
        let lines: Vec<(String, f64, f64)> = rules.iter().map(line).collect::<Option<_>>()?;
        let from_zero = !title.starts_with("90 %") && !title.starts_with("information");
        Some(beside(title, from_zero, &lines, marked))
    };
    let near =
        |value: fn(&super::Near) -> super::Figure| move |judged: &Judged| judged.exact.as_ref().map(value);
    let ceiling = comparison.exact_information.map(|figure| figure.mean);
    let information = if ceiling.is_some() { "information (line: exact)" } else { "information" };
    let panels = [
        panel("W1 to the exact posterior, in its sd", &near(|near| near.w1_in_sd), None),
        panel("energy distance to the exact posterior", &near(|near| near.energy_distance), None),
        panel("bias of the mean, in prior sd", &|judged| judged.mean_bias, None),
        panel("bias of the mode, in prior sd", &|judged| judged.mode_bias, None),
        panel("90 % intervals cover", &|judged| judged.coverage_90, Some(0.9)),
        panel(information, &|judged| Some(judged.information), ceiling),
        panel("effective sample size", &|judged| Some(judged.ess), None),
        panel("seconds", &|judged| Some(judged.seconds), None),
    ];
    Figure::new(Style::print())
        .title(format!("{}: {} datasets", comparison.problem, comparison.datasets))
        .description("Methods beside each other, each figure with its standard error over datasets")
        .columns(2)
        .panels(panels.into_iter().flatten())
}
