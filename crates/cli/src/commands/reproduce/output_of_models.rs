//! What the models do at the paper's parameters: the first panels of figures 3 to 5.

use counterpoise_pictures::{Axis, Colour, Mark, Panel};

use super::experiment::{Case, Experiment};
use super::posteriors::Curves;

/// Datasets that are shown.
const SHOWN: usize = 4;

/// Panels of typical output, if there is any to show.
pub(super) fn panels(experiment: &Experiment, cases: &[Case], curves: &mut Curves) -> Vec<Panel> {
    match experiment.name {
        "death" => vec![courses(experiment, cases, curves, Axis::linear("time"))],
        "dimerization" => vec![courses(experiment, &cases[..1], curves, Axis::log("time"))],
        "diffusion" => vec![profiles(experiment, cases, curves)],
        _ => Vec::new(),
    }
}

/// A statistic as the species and the time in its name.
fn parsed(name: &str) -> Option<(&str, f64)> {
    let (species, time) = name.split_once('@')?;
    Some((species, time.parse().ok()?))
}

/// Each species over time.
fn courses(experiment: &Experiment, cases: &[Case], curves: &mut Curves, axis: Axis) -> Panel {
    let mut species: Vec<&str> = Vec::new();
    for (name, _) in experiment.model.statistics.iter().filter_map(|name| parsed(name)) {
        if !species.contains(&name) {
            species.push(name);
        }
    }
    let mut panel = Panel::new().title("output of the model").x(axis).y(Axis::linear("molecules").from(0.0));
    for (at, case) in cases.iter().take(SHOWN).enumerate() {
        for (which, wanted) in species.iter().enumerate() {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for (name, value) in experiment.model.statistics.iter().zip(&case.data.observed) {
                if let Some((_, time)) = parsed(name).filter(|(name, _)| name == wanted) {
                    x.push(time);
                    y.push(*value);
                }
            }
            curves.add("output", &format!("{wanted}, dataset {}", at + 1), &x, &y);
            let series = if species.len() > 1 { which } else { at };
            let mark = Mark::line(&x, &y).colour(Colour::Series(series));
            panel = panel.mark(if species.len() > 1 { mark.named(*wanted) } else { mark });
        }
    }
    panel
}

/// Particles in each voxel at three times.
fn profiles(experiment: &Experiment, cases: &[Case], curves: &mut Curves) -> Panel {
    let mut times: Vec<f64> =
        experiment.model.statistics.iter().filter_map(|name| parsed(name)).map(|(_, time)| time).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let chosen = [times[0], times[times.len() / 2], times[times.len() - 1]];
    let mut panel = Panel::new()
        .title("particles in the voxels: start, middle (dashed), end")
        .x(Axis::linear("voxel"))
        .y(Axis::linear("particles").from(0.0));
    for (at, case) in cases.iter().take(SHOWN).enumerate() {
        for (which, time) in chosen.iter().enumerate() {
            let y: Vec<f64> = experiment
                .model
                .statistics
                .iter()
                .zip(&case.data.observed)
                .filter(|(name, _)| parsed(name).is_some_and(|(_, found)| found == *time))
                .map(|(_, value)| *value)
                .collect();
            let x: Vec<f64> = (1..=y.len()).map(|voxel| voxel as f64).collect();
            curves.add("output", &format!("t = {time}, dataset {}", at + 1), &x, &y);
            let colour = if which == 0 { Colour::Ink } else { Colour::Series(at) };
            let mark = Mark::line(&x, &y).colour(colour);
            panel = panel.mark(if which == 1 { mark.dashed() } else { mark });
        }
    }
    panel
}
