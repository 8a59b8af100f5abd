//! What `calibrate --json` and `compare --json` printed, where it was kept beside the run.

use counterpoise_pictures::{Axis, Colour, Mark, Panel};
use maud::{Markup, html};
use serde_json::Value;

use super::alone;
use crate::number::significant;
use crate::run::Run;

/// Parameters whose ranks are drawn.
const MOST_RANKS: usize = 24;

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|number| number.as_f64().unwrap_or(f64::NAN)).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn short(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".into(), |number| significant(number, 3))
}

/// Coverage and ranks.
pub(super) fn calibration(run: &Run) -> Markup {
    let Some(found) = &run.calibration else { return html! {} };
    let curve = numbers(&found["curve"]);
    let levels: Vec<f64> = (1..=curve.len()).map(|at| at as f64 / curve.len() as f64).collect();
    let coverage = Panel::new()
        .x(Axis::linear("probability of the interval").between(0.0, 1.0))
        .y(Axis::linear("share that has the truth").between(0.0, 1.0))
        .mark(Mark::line(&[0.0, 1.0], &[0.0, 1.0]).colour(Colour::Muted).dashed().named("as it should be"))
        .mark(Mark::line(&levels, &curve).named("found"));
    html! {
        p { (text(&found["verdict"])) }
        p.note { (found["datasets"].as_u64().unwrap_or(0)) " datasets" (whence(text(&found["truths"]))) ". " (text(&found["caveat"])) }
        div.cards {
            figure.card { (alone(coverage, "coverage of intervals")) }
            div.card { table {
                thead { tr { th { "interval" } th.n { "covers" } th.n { "error" } } }
                tbody { @for level in list(&found["coverage"]) { tr {
                    th { (short(&level["level"])) } td.n { (short(&level["covered"])) } td.n { (short(&level["error"])) }
                } } }
            } }
            @for parameter in list(&found["parameters"]).iter().take(MOST_RANKS) {
                figure.card data-name=(text(&parameter["name"])) { (ranks(parameter)) }
            }
        }
    }
}

/// Where truths and data came from, by the word that `calibrate` has for it.
fn whence(truths: &str) -> &'static str {
    match truths {
        "prior" => " with truths from the prior",
        "posterior" => " with truths from the posterior of the observation",
        "reused" => " out of the simulations themselves, each left out in turn",
        "accepted" => " out of the simulations near the observation, each left out in turn",
        _ => "",
    }
}

/// The ranks of a parameter's truths, and between which counts they should lie.
fn ranks(parameter: &Value) -> Markup {
    let (counts, band) = (numbers(&parameter["ranks"]), numbers(&parameter["band"]));
    let edges: Vec<f64> = (0..=counts.len()).map(|at| at as f64 / counts.len().max(1) as f64).collect();
    let mut panel = Panel::new()
        .title(format!("ranks of {}", text(&parameter["name"])))
        .x(Axis::linear("rank of the truth").between(0.0, 1.0))
        .y(Axis::linear("datasets").from(0.0));
    if let [low, high] = band[..] {
        panel = panel.mark(
            Mark::band(&[0.0, 1.0], &[low, low], &[high, high]).colour(Colour::Muted).named("by chance"),
        );
    }
    alone(panel.mark(Mark::steps(&edges, &counts).named("found")), "ranks of the truth")
}

/// Methods beside each other.
pub(super) fn comparison(run: &Run) -> Markup {
    let Some(found) = &run.comparison else { return html! {} };
    let rules = list(&found["rules"]);
    // Every figure that the first method has: a mean and its error.
    let keys: Vec<&String> = rules.first().and_then(Value::as_object).map_or_else(Vec::new, |first| {
        first.iter().filter(|(_, value)| value["mean"].is_number()).map(|(key, _)| key).collect()
    });
    let names = || rules.iter().map(|rule| text(&rule["rule"]).to_owned());
    let panel = |key: &str| {
        let pick = |rule: &Value, part: &str| rule[key][part].as_f64().unwrap_or(f64::NAN);
        let mean: Vec<f64> = rules.iter().map(|rule| pick(rule, "mean")).collect();
        let ends = |sign: f64| -> Vec<f64> {
            rules.iter().map(|rule| pick(rule, "mean") + sign * pick(rule, "error")).collect()
        };
        let y: Vec<f64> = (0..rules.len()).map(|at| at as f64).collect();
        Panel::new()
            .title(key.replace('_', " "))
            .x(Axis::linear(""))
            .y(Axis::names(names()))
            .height((22.0 * rules.len() as f64).clamp(80.0, 300.0))
            .mark(Mark::errors_x(&mean, &y, &ends(-1.0), &ends(1.0)))
    };
    html! {
        p.note { (found["datasets"].as_u64().unwrap_or(0)) " datasets; means with their standard errors." }
        div.cards { @for key in &keys { figure.card { (alone(panel(key), key)) } } }
        div.scroll { table {
            thead { tr { th { "method" } @for key in &keys { th.n { (key.replace('_', " ")) } } } }
            tbody { @for rule in rules { tr {
                th { (text(&rule["rule"])) }
                @for key in &keys { td.n { (short(&rule[*key]["mean"])) " ± " (short(&rule[*key]["error"])) } }
            } } }
        } }
    }
}
