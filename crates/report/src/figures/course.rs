//! A run by generation.

use counterpoise_core::digest::Generation;
use counterpoise_pictures::{Axis, Colour, Mark, Panel};

use crate::number::significant;
use crate::run::Run;

/// Series of the simple rules: none of them is blue.
const RULES: [usize; 5] = [2, 3, 4, 6, 1];

fn generations(run: &Run) -> Vec<f64> {
    run.history.iter().map(|generation| f64::from(generation.index)).collect()
}

fn axis(run: &Run) -> Axis {
    Axis::names(run.history.iter().map(|generation| generation.index.to_string())).label("generation")
}

/// Information in sample, held out, and by the simple rules.
pub(crate) fn information(run: &Run) -> Panel {
    let x = generations(run);
    let curve = |pick: &dyn Fn(&Generation) -> f64| run.history.iter().map(pick).collect::<Vec<f64>>();
    let tips = |name: &str, y: &[f64]| -> Vec<String> {
        x.iter().zip(y).map(|(at, y)| format!("{name}, generation {at}: {}", significant(*y, 3))).collect()
    };
    let mut panel = Panel::new().x(axis(run)).y(Axis::linear("information"));
    let rules: Vec<String> = run.history.last().map_or_else(Vec::new, |last| {
        last.information.baselines.iter().map(|(rule, _)| rule.clone()).collect()
    });
    for (number, rule) in rules.iter().enumerate() {
        let value = |generation: &Generation| {
            let mut baselines = generation.information.baselines.iter();
            baselines.find(|(name, _)| name == rule).map_or(f64::NAN, |(_, value)| *value)
        };
        let y = curve(&value);
        let colour = Colour::Series(RULES[number % RULES.len()]);
        panel = panel
            .mark(
                Mark::line(&x, &y)
                    .colour(colour)
                    .scale(0.7)
                    .named(format!("rule {rule}"))
                    .tips(vec![rule.clone()]),
            )
            .mark(Mark::points(&x, &y).colour(colour).scale(0.8).tips(tips(rule, &y)));
    }
    let y = curve(&|generation| generation.information.in_sample);
    panel = panel
        .mark(Mark::line(&x, &y).dashed().named("in sample"))
        .mark(Mark::points(&x, &y).scale(0.8).tips(tips("in sample", &y)));
    let y = curve(&|generation| generation.information.held_out);
    panel
        .mark(Mark::line(&x, &y).scale(1.4).named("held out"))
        .mark(Mark::points(&x, &y).scale(1.3).tips(tips("held out", &y)))
}

/// Effective sample size, acceptance distance, simulations and failures.
pub(crate) fn course(run: &Run) -> Vec<Panel> {
    let x = generations(run);
    let curve = |pick: &dyn Fn(&Generation) -> f64| run.history.iter().map(pick).collect::<Vec<f64>>();
    let tips = |y: &[f64]| -> Vec<String> {
        x.iter().zip(y).map(|(at, y)| format!("generation {at}: {}", significant(*y, 4))).collect()
    };
    let with = |panel: Panel, y: Vec<f64>, name: &str, number: usize| {
        panel
            .mark(Mark::line(&x, &y).colour(Colour::Series(number)).named(name))
            .mark(Mark::points(&x, &y).colour(Colour::Series(number)).tips(tips(&y)))
    };
    let kept = curve(&|generation| generation.population.len() as f64);
    let ess = curve(&|generation| generation.population.effective_sample_size());
    let threshold = curve(&threshold);
    let simulations = curve(&|generation| generation.simulations as f64);
    let failed = curve(&|generation| generation.failed as f64);
    let empty = |title: &str, y: Axis| Panel::new().title(title).x(axis(run)).y(y);
    let positive = threshold.iter().all(|value| *value > 0.0);
    let distance = if positive { Axis::log("") } else { Axis::linear("") };
    vec![
        with(
            with(empty("effective sample size", Axis::linear("").from(0.0)), kept, "kept", 2),
            ess,
            "effective sample size",
            0,
        ),
        with(empty("largest accepted distance", distance), threshold, "largest accepted distance", 3),
        with(
            with(
                empty("simulations and failures", Axis::linear("").from(0.0)),
                simulations,
                "simulations",
                4,
            ),
            failed,
            "failed",
            1,
        ),
    ]
}

/// The largest accepted distance of a generation.
fn threshold(generation: &Generation) -> f64 {
    generation.population.distances.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
