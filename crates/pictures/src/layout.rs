//! Where the panels of a figure are, from the room that their labels need.

use crate::axis::{Axis, AxisKind};
use crate::clip::Frame;
use crate::figure::{Figure, Panel};
use crate::font;
use crate::ticks::{self, Label, Tick};

/// A panel with all that is decided about it.
pub(crate) struct Placed<'a> {
    pub(crate) panel: &'a Panel,
    pub(crate) frame: Frame,
    pub(crate) ranges: [(f64, f64); 2],
    pub(crate) x: Vec<Tick>,
    pub(crate) y: Vec<Tick>,
    /// Whether the labels below are read from bottom to top.
    pub(crate) upward: bool,
    /// How far labels may stand out at the left and right.
    pub(crate) room: (f64, f64),
}

/// Ranges of both axes of a panel.
fn ranges(panel: &Panel) -> [(f64, f64); 2] {
    [true, false].map(|across| {
        let axis = if across { &panel.x } else { &panel.y };
        let values: Vec<f64> = panel.marks.iter().flat_map(|mark| mark.extent(across)).collect();
        axis.range(&values, panel.marks.iter().any(|mark| mark.stands_on_zero(across)))
    })
}

/// Every so many names, cut to a length, so that each has its room.
fn names(names: &[String], room: f64, most: f64) -> Vec<Tick> {
    let every = (names.len() as f64 * 1.1 / room.max(1.0)).ceil().max(1.0) as usize;
    let shown = names.iter().enumerate().step_by(every);
    let tick = |(at, name): (usize, &String)| {
        let label = Label::plain(font::elided(name, most));
        Tick { at: at as f64, label: Some(label) }
    };
    shown.map(tick).collect()
}

fn numbers(axis: &Axis, range: (f64, f64), most: usize) -> Vec<Tick> {
    if axis.kind == AxisKind::Log { ticks::log(range, most) } else { ticks::linear(range, most) }
}

/// Lengths here are in units of the height of the text.
fn left_ticks(axis: &Axis, range: (f64, f64), height: f64, width: f64) -> Vec<Tick> {
    match &axis.kind {
        _ if axis.quiet => vec![],
        AxisKind::Names(list) => names(list, height, 0.4 * width),
        _ => numbers(axis, range, ((height / 2.2) as usize).clamp(2, 7)),
    }
}

fn widest(ticks: &[Tick]) -> f64 {
    ticks.iter().filter_map(|tick| tick.label.as_ref()).map(Label::width).fold(0.0, f64::max)
}

/// Ticks below, as many as fit, and whether they are read upwards.
fn lower_ticks(axis: &Axis, range: (f64, f64), width: f64) -> (Vec<Tick>, bool) {
    match &axis.kind {
        _ if axis.quiet => (vec![], false),
        AxisKind::Names(list) => {
            let slot = width / list.len().max(1) as f64;
            let fits = list.iter().all(|name| font::width(name) + 0.5 <= slot);
            if fits { (names(list, f64::INFINITY, slot), false) } else { (names(list, width, 10.0), true) }
        }
        AxisKind::Linear | AxisKind::Log => {
            let is_log = axis.kind == AxisKind::Log;
            let warped = |value: f64| if is_log { value.log10() } else { value };
            let scale = width / (warped(range.1) - warped(range.0));
            let fit = |ticks: &[Tick]| {
                let labelled: Vec<(f64, f64)> = ticks
                    .iter()
                    .filter_map(|tick| Some((warped(tick.at) * scale, tick.label.as_ref()?.width())))
                    .collect();
                labelled.windows(2).all(|pair| pair[1].0 - pair[0].0 >= (pair[0].1 + pair[1].1) / 2.0 + 0.7)
            };
            let tries = (2..=8).rev().map(|most| numbers(axis, range, most));
            (tries.into_iter().find(|ticks| fit(ticks)).unwrap_or_else(|| numbers(axis, range, 1)), false)
        }
    }
}

/// Ranges of both axes, and the ticks at the left.
type Prepared = ([(f64, f64); 2], Vec<Tick>);

/// The frames of all panels below `top`, and the height of the whole.
pub(crate) fn place(figure: &Figure, top: f64) -> (Vec<Placed<'_>>, f64) {
    let em = figure.style.font;
    let columns = figure.columns.min(figure.panels.len()).max(1);
    let heights: Vec<f64> = figure
        .panels
        .chunks(columns)
        .map(|row| {
            let height = |panel: &Panel| panel.height.unwrap_or(figure.style.height);
            row.iter().filter(|panel| !panel.blank).map(height).fold(0.0, f64::max).max(em)
        })
        .collect();
    let prepared: Vec<Prepared> = figure
        .panels
        .iter()
        .enumerate()
        .map(|(index, panel)| {
            let ranges = ranges(panel);
            let room = figure.width / columns as f64 / em;
            let y = left_ticks(&panel.y, ranges[1], heights[index / columns] / em, room);
            (ranges, y)
        })
        .collect();
    let left = |panel: &Panel, ticks: &[Tick]| match panel.y.quiet {
        true => 0.4 * em,
        false => em * (0.7 + widest(ticks) + if panel.y.label.is_empty() { 0.3 } else { 1.6 }),
    };
    let is_quiet = |panel: &Panel| panel.x.quiet && panel.y.quiet;
    let mut lefts = vec![0.0f64; columns];
    let mut rights = vec![0.0f64; columns];
    for (index, (panel, (_, ticks))) in figure.panels.iter().zip(&prepared).enumerate() {
        let column = index % columns;
        lefts[column] = lefts[column].max(left(panel, ticks));
        rights[column] = rights[column].max(if is_quiet(panel) { 0.4 * em } else { em });
    }
    let taken: f64 = lefts.iter().chain(&rights).sum();
    let width = ((figure.width - taken) / columns as f64).max(4.0 * em);
    let mut placed = vec![];
    let mut down = top;
    for (row, panels) in figure.panels.chunks(columns).enumerate() {
        let titled = panels.iter().any(|panel| !panel.title.is_empty());
        let over = em * if titled { 1.7 } else { 0.6 };
        let frame_top = down + over;
        let bottom = frame_top + heights[row];
        let mut under = 0.0f64;
        let mut across = 0.0;
        for (column, panel) in panels.iter().enumerate() {
            let (ranges, y) = prepared[row * columns + column].clone();
            let (x, upward) = lower_ticks(&panel.x, ranges[0], width / em);
            let frame_left = across + lefts[column];
            across = frame_left + width + rights[column];
            under = under.max(match panel.x.quiet {
                true => 0.4 * em,
                false => {
                    let labels = if upward { widest(&x) + 0.4 } else { 1.3 };
                    em * (0.7 + labels + if panel.x.label.is_empty() { 0.2 } else { 1.5 })
                }
            });
            placed.push(Placed {
                panel,
                frame: Frame { left: frame_left, top: frame_top, right: frame_left + width, bottom },
                ranges,
                x,
                y,
                upward,
                room: (lefts[column], rights[column]),
            });
        }
        down = bottom + under;
    }
    (placed, down + 0.2 * em)
}
