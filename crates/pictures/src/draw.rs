//! A figure as shapes.

use crate::axis::{AxisKind, Placement};
use crate::clip::{Frame, Place};
use crate::colour::Colour;
use crate::figure::Figure;
use crate::font;
use crate::layout::{self, Placed};
use crate::mark::{Kind, Mark};
use crate::shape::{Anchor, Paint, Shape, Stroke};
use crate::style::Style;
use crate::ticks::Label;

/// All shapes, from back to front.
pub(crate) struct Drawing {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
}

/// Draws a figure.
pub(crate) fn figure(figure: &Figure) -> Drawing {
    let em = figure.style.font;
    let mut shapes = vec![];
    let mut top = 0.0;
    if !figure.title.is_empty() {
        top += 1.6 * em;
        let title = font::elided(&figure.title, figure.width / em / 1.15 - 1.0);
        shapes.push(text((0.5 * em, 1.2 * em), title, 1.15 * em, Anchor::Start, Colour::Ink));
    }
    if figure.legend {
        top += legend(figure, top, &mut shapes);
    }
    let (placed, height) = layout::place(figure, top);
    for placed in placed.iter().filter(|placed| !placed.panel.blank) {
        panel(placed, figure.style, &mut shapes);
    }
    Drawing { width: figure.width, height, shapes }
}

fn text(at: Place, text: impl Into<String>, size: f64, anchor: Anchor, colour: Colour) -> Shape {
    Shape::Text { at, label: Label::plain(text), size, anchor, colour, upward: false }
}

/// Draws names and samples of all marks with a name; returns its height.
fn legend(figure: &Figure, top: f64, shapes: &mut Vec<Shape>) -> f64 {
    let em = figure.style.font;
    let mut entries: Vec<(&str, &Mark)> = vec![];
    for mark in figure.panels.iter().flat_map(|panel| &panel.marks) {
        if let Some(name) = mark.name.as_deref().filter(|name| entries.iter().all(|entry| entry.0 != *name)) {
            entries.push((name, mark));
        }
    }
    if entries.is_empty() {
        return 0.0;
    }
    let (mut x, mut y) = (0.5 * em, top + 1.1 * em);
    for (name, mark) in entries {
        let name = font::elided(name, (figure.width / em - 4.0).max(4.0));
        let width = (2.2 + font::width(&name) + 1.4) * em;
        if x > em && x + width > figure.width {
            (x, y) = (0.5 * em, y + 1.5 * em);
        }
        let middle = y - 0.35 * em;
        let paint = Paint { colour: mark.colour, opacity: mark.opacity };
        let line = [(x, middle), (x + 1.8 * em, middle)];
        match mark.kind {
            Kind::Points { .. } | Kind::ErrorsX { .. } | Kind::ErrorsY { .. } => shapes.push(Shape::Dots {
                places: vec![(x + 0.9 * em, middle)],
                radius: figure.style.point * mark.scale.max(1.0),
                paint: Paint { opacity: mark.opacity.max(0.6), ..paint },
                tips: vec![None],
            }),
            Kind::Bars { .. }
            | Kind::Band { .. }
            | Kind::Columns { .. }
            | Kind::Rows { .. }
            | Kind::Cells { .. } => {
                let frame = Frame {
                    left: x,
                    top: middle - 0.35 * em,
                    right: x + 1.8 * em,
                    bottom: middle + 0.35 * em,
                };
                shapes.push(Shape::Boxes { frames: vec![(frame, paint)], tips: vec![None] });
            }
            _ => shapes.push(Shape::Lines {
                parts: vec![line.to_vec()],
                stroke: stroke(mark, figure.style),
                series: None,
            }),
        }
        shapes.push(text((x + 2.2 * em, y), name, em, Anchor::Start, Colour::Ink));
        x += width;
    }
    y + 0.5 * em - top
}

fn stroke(mark: &Mark, style: Style) -> Stroke {
    Stroke {
        paint: Paint { colour: mark.colour, opacity: mark.opacity },
        width: style.line * mark.scale,
        dashed: mark.dashed,
    }
}

fn panel(placed: &Placed<'_>, style: Style, shapes: &mut Vec<Shape>) {
    let (panel, frame, em) = (placed.panel, placed.frame, style.font);
    let is_log = |kind: &AxisKind| *kind == AxisKind::Log;
    let x =
        Placement { is_log: is_log(&panel.x.kind), range: placed.ranges[0], ends: (frame.left, frame.right) };
    let upside = matches!(panel.y.kind, AxisKind::Names(_));
    let y = Placement {
        is_log: is_log(&panel.y.kind),
        range: placed.ranges[1],
        ends: if upside { (frame.top, frame.bottom) } else { (frame.bottom, frame.top) },
    };
    if !panel.title.is_empty() {
        let room = (frame.right + placed.room.1 - frame.left) / em;
        let title = font::elided(&panel.title, room);
        shapes.push(text((frame.left, frame.top - 0.6 * em), title, em, Anchor::Start, Colour::Ink));
    }
    axes(placed, style, [x, y], shapes);
    let scales = [x, y].map(|axis| {
        let (low, high) = if upside && axis.ends.0 < axis.ends.1 && axis.ends == y.ends {
            (axis.range.1, axis.range.0)
        } else {
            axis.range
        };
        (axis.is_log, low, high)
    });
    shapes.push(Shape::Begin { frame, scales });
    for mark in &panel.marks {
        draw(mark, frame, [x, y], style, shapes);
    }
    shapes.push(Shape::End);
}

/// Grid, lines, ticks and labels of both axes.
fn axes(placed: &Placed<'_>, style: Style, [x, y]: [Placement; 2], shapes: &mut Vec<Shape>) {
    let (panel, frame, em) = (placed.panel, placed.frame, style.font);
    let pen = |colour: Colour, scale: f64| Stroke {
        paint: Paint::solid(colour),
        width: style.line * scale,
        dashed: false,
    };
    let mut grid = vec![];
    let mut lines =
        vec![vec![(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)]];
    let mut labels = vec![];
    for tick in &placed.x {
        let at = x.at(tick.at);
        if !(frame.left - 0.01..=frame.right + 0.01).contains(&at) {
            continue;
        }
        let is_name = matches!(panel.x.kind, AxisKind::Names(_));
        let length = if tick.label.is_some() { 0.35 } else { 0.2 } * em;
        lines.push(vec![(at, frame.bottom), (at, frame.bottom + length)]);
        let Some(label) = &tick.label else { continue };
        if !is_name {
            grid.push(vec![(at, frame.top), (at, frame.bottom)]);
        }
        labels.push(match placed.upward {
            true => Shape::Text {
                at: (at + 0.35 * em, frame.bottom + 0.6 * em),
                label: label.clone(),
                size: em,
                anchor: Anchor::End,
                colour: Colour::Ink,
                upward: true,
            },
            false => {
                let half = label.width() * em / 2.0;
                let (least, most) = (frame.left - placed.room.0 + half, frame.right + placed.room.1 - half);
                Shape::Text {
                    at: (at.max(least).min(most), frame.bottom + 1.4 * em),
                    label: label.clone(),
                    size: em,
                    anchor: Anchor::Middle,
                    colour: Colour::Ink,
                    upward: false,
                }
            }
        });
    }
    for tick in &placed.y {
        let at = y.at(tick.at);
        if !(frame.top - 0.01..=frame.bottom + 0.01).contains(&at) {
            continue;
        }
        let length = if tick.label.is_some() { 0.35 } else { 0.2 } * em;
        lines.push(vec![(frame.left - length, at), (frame.left, at)]);
        let Some(label) = &tick.label else { continue };
        if !matches!(panel.y.kind, AxisKind::Names(_)) {
            grid.push(vec![(frame.left, at), (frame.right, at)]);
        }
        labels.push(Shape::Text {
            at: (frame.left - 0.6 * em, at + 0.35 * em),
            label: label.clone(),
            size: em,
            anchor: Anchor::End,
            colour: Colour::Ink,
            upward: false,
        });
    }
    shapes.push(Shape::Lines { parts: grid, stroke: pen(Colour::Grid, 0.6), series: None });
    shapes.push(Shape::Lines { parts: lines, stroke: pen(Colour::Ink, 0.6), series: None });
    shapes.extend(labels);
    if !panel.x.quiet && !panel.x.label.is_empty() {
        let label = font::elided(&panel.x.label, (frame.right - frame.left) / em);
        let below = match placed.upward {
            true => {
                0.6 + 1.4
                    + placed
                        .x
                        .iter()
                        .filter_map(|tick| tick.label.as_ref())
                        .map(Label::width)
                        .fold(0.0, f64::max)
            }
            false => 2.9,
        };
        let at = ((frame.left + frame.right) / 2.0, frame.bottom + below * em);
        shapes.push(text(at, label, em, Anchor::Middle, Colour::Ink));
    }
    if !panel.y.quiet && !panel.y.label.is_empty() {
        shapes.push(Shape::Text {
            at: (frame.left - placed.room.0 + 1.1 * em, (frame.top + frame.bottom) / 2.0),
            label: Label::plain(font::elided(&panel.y.label, (frame.bottom - frame.top) / em)),
            size: em,
            anchor: Anchor::Middle,
            colour: Colour::Ink,
            upward: true,
        });
    }
}

/// Draws the data of one mark.
fn draw(mark: &Mark, frame: Frame, [x, y]: [Placement; 2], style: Style, shapes: &mut Vec<Shape>) {
    let pen = stroke(mark, style);
    let paint = pen.paint;
    let places =
        |xs: &[f64], ys: &[f64]| xs.iter().zip(ys).map(|(a, b)| (x.at(*a), y.at(*b))).collect::<Vec<Place>>();
    let series = || mark.tips.first().or(mark.name.as_ref()).cloned();
    let lines = |parts: Vec<Vec<Place>>, series: Option<String>| Shape::Lines { parts, stroke: pen, series };
    let tip = |index: usize| mark.tips.get(index).cloned();
    let boxes = |list: Vec<[f64; 4]>| {
        let mut frames = vec![];
        let mut tips = vec![];
        for (index, [x0, x1, y0, y1]) in list.into_iter().enumerate() {
            if ![x0, x1, y0, y1].iter().all(|end| end.is_finite()) {
                continue;
            }
            let left = x0.min(x1).max(frame.left);
            let (right, top) = (x0.max(x1).min(frame.right), y0.min(y1).max(frame.top));
            let bottom = y0.max(y1).min(frame.bottom);
            if left <= right && top <= bottom {
                frames.push((Frame { left, top, right, bottom }, paint));
                tips.push(tip(index));
            }
        }
        Shape::Boxes { frames, tips }
    };
    match &mark.kind {
        Kind::Line { x, y } => shapes.push(lines(frame.line(&places(x, y)), series())),
        Kind::Area { x: xs, y: ys } => {
            let outline = places(xs, ys);
            let mut area: Vec<Place> = outline.iter().copied().filter(|place| !place.1.is_nan()).collect();
            if let (Some(first), Some(last)) = (area.first().copied(), area.last().copied()) {
                area.push((last.0, y.base()));
                area.push((first.0, y.base()));
            }
            let paint = Paint { opacity: 0.22 * mark.opacity, ..paint };
            shapes.push(Shape::Area { places: frame.area(&area), paint });
            shapes.push(lines(frame.line(&outline), series()));
        }
        Kind::Steps { edges, heights } => {
            let mut outline = vec![(x.at(edges.first().copied().unwrap_or(f64::NAN)), y.base())];
            for (edge, height) in edges.windows(2).zip(heights) {
                outline.push((x.at(edge[0]), y.at(*height)));
                outline.push((x.at(edge[1]), y.at(*height)));
            }
            outline.push((x.at(edges.last().copied().unwrap_or(f64::NAN)), y.base()));
            shapes.push(lines(frame.line(&outline), series()));
        }
        Kind::Bars { edges, heights } => {
            let bars = edges.windows(2).zip(heights);
            let bars = bars.map(|(edge, height)| [x.at(edge[0]), x.at(edge[1]), y.base(), y.at(*height)]);
            shapes.push(boxes(bars.collect()));
        }
        Kind::Columns { heights } => {
            let bar = |(at, height): (usize, &f64)| {
                [x.at(at as f64 - 0.4), x.at(at as f64 + 0.4), y.base(), y.at(*height)]
            };
            shapes.push(boxes(heights.iter().enumerate().map(bar).collect()));
        }
        Kind::Rows { lengths } => {
            let bar = |(at, length): (usize, &f64)| {
                [x.base(), x.at(*length), y.at(at as f64 - 0.4), y.at(at as f64 + 0.4)]
            };
            shapes.push(boxes(lengths.iter().enumerate().map(bar).collect()));
        }
        Kind::Cells { columns, values } => {
            let columns = (*columns).max(1);
            let mut cells = Shape::Boxes { frames: vec![], tips: vec![] };
            if let Shape::Boxes { frames, tips } = &mut cells {
                for (index, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
                    let (column, row) = ((index % columns) as f64, (index / columns) as f64);
                    let colour = if *value < 0.0 { Colour::Series(1) } else { mark.colour };
                    let paint = Paint { colour, opacity: value.abs().min(1.0) };
                    let cell = Frame {
                        left: x.at(column - 0.5),
                        right: x.at(column + 0.5),
                        top: y.at(row - 0.5).min(y.at(row + 0.5)),
                        bottom: y.at(row + 0.5).max(y.at(row - 0.5)),
                    };
                    if (cell.left + cell.right + cell.top + cell.bottom).is_finite() {
                        frames.push((cell, paint));
                        tips.push(tip(index));
                    }
                }
            }
            shapes.push(cells);
        }
        Kind::Band { x: xs, low, high } => {
            // Where an end is missing the band is interrupted.
            let ends: Vec<[Place; 2]> = xs
                .iter()
                .zip(low.iter().zip(high))
                .map(|(at, (low, high))| [(x.at(*at), y.at(*low)), (x.at(*at), y.at(*high))])
                .collect();
            for part in ends.split(|[low, high]| !(low.0 + low.1 + high.1).is_finite()) {
                let up = part.iter().map(|end| end[1]);
                let back = part.iter().rev().map(|end| end[0]);
                shapes.push(Shape::Area { places: frame.area(&up.chain(back).collect::<Vec<_>>()), paint });
            }
        }
        Kind::Points { x, y } => shapes.push(dots(mark, frame, &places(x, y), style)),
        Kind::ErrorsY { x: xs, y: ys, low, high } => {
            let cap = 1.5 * style.point;
            let bar = |index: usize| {
                let (at, low, high) = (x.at(xs[index]), y.at(low[index]), y.at(high[index]));
                [
                    vec![(at, low), (at, high)],
                    vec![(at - cap, low), (at + cap, low)],
                    vec![(at - cap, high), (at + cap, high)],
                ]
            };
            let count = xs.len().min(low.len()).min(high.len());
            let parts = (0..count).flat_map(bar).flat_map(|part| frame.line(&part)).collect();
            shapes.push(lines(parts, None));
            shapes.push(dots(mark, frame, &places(xs, ys), style));
        }
        Kind::ErrorsX { x: xs, y: ys, low, high } => {
            let cap = 1.5 * style.point;
            let bar = |index: usize| {
                let (at, low, high) = (y.at(ys[index]), x.at(low[index]), x.at(high[index]));
                [
                    vec![(low, at), (high, at)],
                    vec![(low, at - cap), (low, at + cap)],
                    vec![(high, at - cap), (high, at + cap)],
                ]
            };
            let count = ys.len().min(low.len()).min(high.len());
            let parts = (0..count).flat_map(bar).flat_map(|part| frame.line(&part)).collect();
            shapes.push(lines(parts, None));
            shapes.push(dots(mark, frame, &places(xs, ys), style));
        }
        Kind::Vertical { x: at } => {
            let at = x.at(*at);
            shapes.push(lines(frame.line(&[(at, frame.top), (at, frame.bottom)]), None));
        }
        Kind::Horizontal { y: at } => {
            let at = y.at(*at);
            shapes.push(lines(frame.line(&[(frame.left, at), (frame.right, at)]), None));
        }
    }
}

fn dots(mark: &Mark, frame: Frame, places: &[Place], style: Style) -> Shape {
    let inside: Vec<usize> = (0..places.len()).filter(|index| frame.holds(places[*index])).collect();
    Shape::Dots {
        places: inside.iter().map(|index| places[*index]).collect(),
        radius: style.point * mark.scale,
        paint: Paint { colour: mark.colour, opacity: mark.opacity },
        tips: inside.iter().map(|index| mark.tips.get(*index).cloned()).collect(),
    }
}
