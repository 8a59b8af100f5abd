//! What a run looks like: panels for the page and for papers.

mod course;
mod marginals;
mod pairs;
mod predictive;
mod weights;

pub(crate) use course::{course, information};
pub(crate) use marginals::marginal;
pub(crate) use pairs::{MOST as MOST_PAIRED, chosen, correlation, pairs};
pub(crate) use predictive::{MOST_SERIES, over_time, strips, tip};
pub(crate) use weights::{MOST_SERIES as MOST_WEIGHED, bars, over_time as weights_over_time};

use counterpoise_pictures::{DOUBLE_COLUMN, Figure, Panel, SINGLE_COLUMN, Style};

use crate::run::Run;
use crate::{predictive as check, shares};

/// What a picture for a paper shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The posterior of each parameter beside its prior.
    Marginals,
    /// Each pair of parameters.
    Pairs,
    /// How much each statistic counts.
    Weights,
    /// Information by generation.
    Information,
    /// Observed statistics against those of accepted simulations.
    Predictive,
}

/// Why there is no such picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// A single parameter.
    #[error("there is one parameter: no pairs")]
    NoPairs,
    /// The simulations are not kept.
    #[error("the simulations of this run are in a table, and not kept with it")]
    NoSimulations,
}

/// Rows of a picture with a name each.
const MOST_ROWS: usize = 40;

/// A picture for a paper.
///
/// # Errors
/// Where the run has nothing of the kind.
pub fn picture(run: &Run, subject: Subject) -> Result<Figure, PictureError> {
    let style = Style::print();
    let grid = |panels: Vec<Panel>| {
        let columns = panels.len().clamp(1, 3);
        let width = if panels.len() == 1 { SINGLE_COLUMN } else { DOUBLE_COLUMN };
        Figure::new(style).columns(columns).width(width).panels(panels)
    };
    Ok(match subject {
        Subject::Marginals => grid((0..run.problem.prior.dimension()).map(|j| marginal(run, j)).collect()),
        Subject::Pairs => {
            let chosen = chosen(run);
            if chosen.len() < 2 {
                return Err(PictureError::NoPairs);
            }
            let height = DOUBLE_COLUMN / chosen.len() as f64 * 0.85;
            let panels = pairs(run, &chosen).into_iter().map(|panel| panel.height(height));
            Figure::new(style).columns(chosen.len()).without_legend().panels(panels)
        }
        Subject::Weights => {
            // One panel: a legend has one meaning a colour.
            let (mut panels, _) = weights_over_time(run, weights::COLOURS);
            let shares = shares::statistics(run);
            if panels.is_empty() {
                let shown = &shares[..shares.len().min(MOST_ROWS)];
                Figure::new(style)
                    .width(SINGLE_COLUMN)
                    .panel(bars(shown).height(shown.len() as f64 * 9.0 + 10.0))
            } else {
                panels.push(bars(&shares[..shares.len().min(12)]));
                Figure::new(style).columns(2).panels(panels)
            }
        }
        Subject::Information => Figure::new(style).width(SINGLE_COLUMN).panel(information(run)),
        Subject::Predictive => {
            let accepted = run.accepted.as_ref().ok_or(PictureError::NoSimulations)?;
            let weights = run.history.last().map_or(&[][..], |last| last.population.weights.normalised());
            let checks = check::checks(&run.problem, accepted, weights);
            let panels = over_time(&run.problem.statistics, &checks);
            if panels.is_empty() {
                let worst = check::worst_first(&checks);
                let shown = &worst[..worst.len().min(MOST_ROWS)];
                Figure::new(style)
                    .width(SINGLE_COLUMN)
                    .panel(strips(shown).height(shown.len() as f64 * 9.0 + 10.0))
            } else {
                grid(panels)
            }
        }
    })
}
