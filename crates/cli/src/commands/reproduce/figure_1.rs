//! Figure 1: the objective along a line of weights is piecewise constant.

use counterpoise_core::divergence::{self, Divergence, Exponent, Space};
use counterpoise_core::propose::Importance;
use counterpoise_core::select::{distances, nearest};
use counterpoise_core::stream::Stage;
use counterpoise_core::variates::StandardNormal;
use counterpoise_core::workers;
use counterpoise_pictures::{Axis, Figure, Mark, Panel, Style};
use counterpoise_run::executor::Threads;
use counterpoise_run::study::Reused;
use rand::distr::Distribution;

use super::experiment::{ADAPTIVE, Experiment, Plan, Size};
use super::sheet::{Cell, Sheet};
use super::{Context, Made};
use crate::print::tally::Tally;
use crate::trouble::Trouble;

/// The paper's unit of the distance along the line.
const UNIT: f64 = 1e-4;
/// How far the line goes to both sides, in that unit: whole, and zoomed.
const WIDE: f64 = 1_000.0;
const NEAR: f64 = 100.0;
/// Points on each line.
const POINTS: usize = 1_001;

/// Makes the figure.
pub(super) fn make(context: &Context<'_>) -> Result<Made, Trouble> {
    let experiment = Experiment::new("toy-sorted", context)?;
    let size = Size { generations: 1, ..experiment.size(context) };
    let case = experiment.cases(1, context)?.swap_remove(0);
    let failed = |error| Trouble::failed(error, None);
    let tally = Tally::new(context.output, "simulations", size.simulations);
    let (mut executor, mut told) =
        (Threads::new(&*experiment.model.simulator, context.pool.threads(), None), 0);
    let made = Reused::simulate(
        &experiment.prior,
        size.simulations,
        context.seed,
        &mut executor,
        &context.pool,
        &mut |done| {
            tally.more(done - told);
            told = done;
        },
    );
    let made = made.map_err(failed)?;
    let problem = experiment.problem(case.data.observed);
    let method = experiment.method(Plan { rule: ADAPTIVE, size });
    let generation = made.infer(problem.clone(), method, context.seed, None).map_err(failed)?;
    let top = generation.weights[0].iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let best: Vec<f64> = generation.weights[0].iter().map(|weight| weight / top).collect();
    let mut rng = context.seed.stream(Stage::Reference, 2, 0);
    let direction: Vec<f64> = best.iter().map(|_| StandardNormal.sample(&mut rng)).collect();
    let (proposed, simulated) = made.parts();
    let space = Space::new(&experiment.prior, &proposed.units, context.seed, size.keep);
    let (importance, rows) = (Importance::equal(), made.usable());
    let plan = divergence::Paper { neighbours: 5, order: 0.5, exponent: Exponent::Corrected };
    // The accepted rows and the objective at a place on the line.
    let at = |place: f64| -> (Vec<u32>, f64) {
        let weights: Vec<f64> =
            best.iter().zip(&direction).map(|(weight, step)| weight + UNIT * place * step).collect();
        let near = distances(simulated.summaries(), &problem.observed, &weights, &rows);
        let accepted: Vec<u32> = nearest(&near, size.keep).into_iter().map(|at| rows[at]).collect();
        let value = plan.gauge(&space, &importance).measure(&accepted);
        (accepted, value)
    };
    let mut sheet = Sheet::new(["panel", "r", "L", "accepted rows that changed since the last r"]);
    let mut text = String::new();
    let mut panels = Vec::new();
    let tally = Tally::new(context.output, "places on the line", 2 * POINTS);
    for (name, reach) in [("wide", WIDE), ("near", NEAR)] {
        let places: Vec<f64> =
            (0..POINTS).map(|index| reach * (2.0 * index as f64 / (POINTS - 1) as f64 - 1.0)).collect();
        let found = workers::map(&context.pool, POINTS, |index| {
            let found = at(places[index]);
            tally.done();
            found
        });
        let (mut jumps, mut constant) = (0, true);
        for (index, (accepted, value)) in found.iter().enumerate() {
            let before = &found[index.saturating_sub(1)];
            let changed = accepted.iter().filter(|row| !before.0.contains(row)).count();
            jumps += usize::from(changed > 0);
            constant &= changed > 0 || *value == before.1;
            let numbers = [places[index], *value, changed as f64].map(Cell::Number);
            sheet.row([vec![Cell::text(name)], numbers.to_vec()].concat());
        }
        let values: Vec<f64> = found.iter().map(|(_, value)| *value).collect();
        text.push_str(&format!(
            "- |r| up to {reach}: the accepted simulations change between {jumps} of {} neighbouring places; L is {} where they do \
             not change.\n",
            POINTS - 1,
            if constant { "exactly constant" } else { "NOT constant" }
        ));
        let panel = Panel::new()
            .title(if name == "wide" { "(a) along a line of weights" } else { "(b) zoomed" })
            .x(Axis::linear("r"))
            .y(Axis::linear("L(w)"))
            .mark(Mark::points(&places, &values).scale(0.6));
        panels.push(if name == "near" { panel.mark(steps(&places, &values)) } else { panel });
    }
    let figure = Figure::new(Style::print())
        .title("The objective is piecewise constant: toy problem, w = w* + 0.0001 r eta")
        .description("The estimated distance from the prior along a line of distance weights, and zoomed")
        .columns(2)
        .panels(panels);
    Ok(Made { figure: Some(figure), sheets: vec![("", sheet)], text })
}

/// A line that is level from place to place.
fn steps(places: &[f64], values: &[f64]) -> Mark {
    let x: Vec<f64> = places.iter().flat_map(|&place| [place, place]).skip(1).collect();
    let y: Vec<f64> = values.iter().flat_map(|&value| [value, value]).collect();
    Mark::line(&x, &y[..x.len()]).opacity(0.6)
}
