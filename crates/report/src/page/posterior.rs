//! Marginals, pairs and correlations.

use counterpoise_pictures::{Axis, Figure, Mark, Panel, Style};
use maud::{Markup, PreEscaped, html};

use super::{MOST_ROWS, alone, bare, left_out};
use crate::figures::{self, MOST_PAIRED, correlation};
use crate::number::significant;
use crate::run::Run;

/// Parameters with a picture of their own.
const MOST_PICTURES: usize = 200;

/// A card a parameter.
pub(super) fn marginals(run: &Run) -> Markup {
    let names = run.problem.prior.names();
    let with_truth = run.truth().iter().any(Option::is_some);
    html! {
        p.note {
            "Blue: posterior, its 90 % interval shaded. Pale: earlier generations, the later the darker. Dashed grey: prior."
            @if with_truth { " Dashed black: truth." }
        }
        div.cards { @for (column, name) in names.iter().take(MOST_PICTURES).enumerate() {
            figure.card data-name=(name) { (bare(figures::marginal(run, column), &format!("posterior of {name}"))) }
        } }
        @if names.len() > MOST_PICTURES { p.note { "The first " (MOST_PICTURES) " of " (names.len()) " are drawn." } }
    }
}

/// The matrix of pairs, and correlations by size.
pub(super) fn pairs(run: &Run) -> Markup {
    let count = run.problem.prior.dimension();
    let Some(last) = run.history.last().filter(|_| count > 1) else { return html! {} };
    let chosen = figures::chosen(run);
    let names = run.problem.prior.names();
    let size = (900.0 / chosen.len() as f64).clamp(86.0, 240.0);
    let panels = figures::pairs(run, &chosen).into_iter().map(|panel| panel.height(size * 0.8));
    let matrix = Figure::new(Style::page())
        .width(size * chosen.len() as f64 + 70.0)
        .columns(chosen.len())
        .description("pairs of parameters")
        .without_legend()
        .panels(panels);
    let mut all: Vec<(usize, usize, f64)> = (0..count)
        .flat_map(|one| (0..one).map(move |other| (other, one)))
        .map(|(one, other)| (one, other, correlation(last.posterior(), one, other)))
        .collect();
    let values: Vec<f64> = chosen
        .iter()
        .flat_map(|&row| chosen.iter().map(move |&column| (row, column)))
        .map(|(row, column)| if row == column { 1.0 } else { correlation(last.posterior(), row, column) })
        .collect();
    let tips = chosen
        .iter()
        .flat_map(|&row| chosen.iter().map(move |&column| (row, column)))
        .zip(&values)
        .map(|((row, column), value)| format!("{}, {}: {value:.2}", names[row], names[column]))
        .collect();
    let labels = || chosen.iter().map(|&column| names[column].clone());
    let cells = Panel::new()
        .x(Axis::names(labels()))
        .y(Axis::names(labels()))
        .height((26.0 * chosen.len() as f64).clamp(90.0, 300.0))
        .mark(Mark::cells(chosen.len(), &values).tips(tips));
    all.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    let total = all.len();
    html! {
        p.note {
            "Points are drawn by their importance weights."
            @if count > MOST_PAIRED { " The " (MOST_PAIRED) " parameters with the strongest correlations of " (count) " are shown." }
        }
        div.scroll { div.matrix data-columns=(chosen.len()) { (PreEscaped(matrix.svg())) } }
        h3 { "Correlations" }
        p.note { "Of logarithms where the prior is on a logarithmic scale. Blue: positive; red: negative." }
        div.cards {
            figure.card { (alone(cells, "correlations")) }
            div.card.scroll.tall { table {
                thead { tr { th { "parameters" } th.n { "correlation" } } }
                tbody { @for (one, other, value) in all.iter().take(MOST_ROWS) {
                    tr data-name={ (names[*one]) " " (names[*other]) } {
                        th { (names[*one]) ", " (names[*other]) } td.n { (significant(*value, 2)) }
                    }
                } }
            } (left_out(total)) }
        }
    }
}
