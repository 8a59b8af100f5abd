//! A drawing as SVG.

use std::fmt::Write;

use crate::clip::Place;
use crate::draw::Drawing;
use crate::figure::Figure;
use crate::font;
use crate::shape::{Anchor, Paint, Shape, Stroke};
use crate::ticks::Label;

/// A text without what HTML and XML would take for their own, or cannot hold.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                safe.push('\u{fffd}');
            }
            letter => safe.push(letter),
        }
    }
    safe
}

/// A length with two decimals at most.
struct Length(f64);

impl std::fmt::Display for Length {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        formatter.write_str(if text == "-0" { "0" } else { text })
    }
}

/// The whole document.
pub(crate) fn document(drawing: &Drawing, figure: &Figure) -> String {
    let mut writer = Writer { text: String::new(), live: figure.style.live };
    let (width, height) = (Length(drawing.width), Length(drawing.height));
    let size = match figure.style.live {
        true => String::new(),
        false => format!(" width=\"{width}pt\" height=\"{height}pt\""),
    };
    let described = if figure.description.is_empty() { &figure.title } else { &figure.description };
    let label = match described.is_empty() {
        true => String::new(),
        false => format!(" aria-label=\"{}\"", escaped(described)),
    };
    writer.put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\"{size} viewBox=\"0 0 {width} {height}\" role=\"img\"{label} \
         font-family=\"{}\" font-size=\"{}\">\n",
        font::FAMILY,
        Length(figure.style.font)
    ));
    if !figure.style.live {
        writer.put(format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"));
    }
    for shape in &drawing.shapes {
        writer.shape(shape);
    }
    writer.text.push_str("</svg>\n");
    writer.text
}

struct Writer {
    text: String,
    live: bool,
}

impl Writer {
    fn put(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(arguments);
    }

    fn colour(&self, colour: crate::Colour) -> String {
        if self.live { colour.variable() } else { colour.hex() }
    }

    fn fill(&mut self, paint: Paint) {
        let colour = self.colour(paint.colour);
        self.put(format_args!(" fill=\"{colour}\""));
        if paint.opacity < 1.0 {
            self.put(format_args!(" fill-opacity=\"{}\"", Length(paint.opacity)));
        }
    }

    fn stroke(&mut self, stroke: Stroke) {
        let colour = self.colour(stroke.paint.colour);
        self.put(format_args!(
            " fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"",
            Length(stroke.width)
        ));
        if stroke.paint.opacity < 1.0 {
            self.put(format_args!(" stroke-opacity=\"{}\"", Length(stroke.paint.opacity)));
        }
        if stroke.dashed {
            let dash = Length(stroke.width * 3.0);
            self.put(format_args!(" stroke-dasharray=\"{dash} {dash}\""));
        }
    }

    fn path(&mut self, places: &[Place]) {
        for (index, (x, y)) in places.iter().enumerate() {
            self.put(format_args!("{}{} {}", if index == 0 { 'M' } else { 'L' }, Length(*x), Length(*y)));
        }
    }

    fn tip(&mut self, tip: Option<&String>) {
        if let Some(tip) = tip.filter(|_| self.live) {
            let tip = escaped(tip);
            self.put(format_args!(" data-tip=\"{tip}\""));
        }
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Lines { parts, stroke, series } => {
                if parts.is_empty() {
                    return;
                }
                self.text.push_str("<path d=\"");
                parts.iter().for_each(|part| self.path(part));
                self.text.push('"');
                self.stroke(*stroke);
                if let Some(series) = series.as_ref().filter(|_| self.live) {
                    let series = escaped(series);
                    self.put(format_args!(" data-series=\"{series}\""));
                }
                self.text.push_str("/>\n");
            }
            Shape::Area { places, paint } => {
                if places.len() < 3 {
                    return;
                }
                self.text.push_str("<path d=\"");
                self.path(places);
                self.text.push_str("Z\"");
                self.fill(*paint);
                self.text.push_str("/>\n");
            }
            Shape::Boxes { frames, tips } => {
                for ((frame, paint), tip) in frames.iter().zip(tips) {
                    let (width, height) = (frame.right - frame.left, frame.bottom - frame.top);
                    let (x, y) = (Length(frame.left), Length(frame.top));
                    let (width, height) = (Length(width), Length(height));
                    self.put(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""));
                    self.fill(*paint);
                    self.tip(tip.as_ref());
                    self.text.push_str("/>\n");
                }
            }
            Shape::Dots { places, radius, paint, tips } => self.dots(places, *radius, *paint, tips),
            Shape::Text { at, label, size, anchor, colour, upward } => {
                self.label(*at, label, *size, *anchor, *colour, *upward);
            }
            Shape::Begin { frame, scales } => {
                if self.live {
                    let [x, y] = scales.map(|(is_log, low, high)| {
                        format!("{} {low:e} {high:e}", if is_log { "log" } else { "linear" })
                    });
                    let frame =
                        [frame.left, frame.top, frame.right, frame.bottom].map(|end| Length(end).to_string());
                    let frame = frame.join(" ");
                    self.put(format_args!("<g data-frame=\"{frame}\" data-x=\"{x}\" data-y=\"{y}\">\n"));
                } else {
                    self.text.push_str("<g>\n");
                }
            }
            Shape::End => self.text.push_str("</g>\n"),
        }
    }

    fn dots(&mut self, places: &[Place], radius: f64, paint: Paint, tips: &[Option<String>]) {
        if places.is_empty() {
            return;
        }
        if self.live && tips.iter().any(Option::is_some) {
            for ((x, y), tip) in places.iter().zip(tips) {
                self.put(format_args!(
                    "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"",
                    Length(*x),
                    Length(*y),
                    Length(radius)
                ));
                self.fill(paint);
                self.tip(tip.as_ref());
                self.text.push_str("/>\n");
            }
            return;
        }
        // Lines of no length with round ends: a point takes a fifth of the bytes of a circle.
        self.text.push_str("<path d=\"");
        for (x, y) in places {
            self.put(format_args!("M{} {}h0", Length(*x), Length(*y)));
        }
        let colour = self.colour(paint.colour);
        self.put(format_args!(
            "\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\" stroke-linecap=\"round\"",
            Length(2.0 * radius)
        ));
        if paint.opacity < 1.0 {
            self.put(format_args!(" stroke-opacity=\"{}\"", Length(paint.opacity)));
        }
        self.text.push_str("/>\n");
    }

    fn label(
        &mut self,
        (x, y): Place,
        label: &Label,
        size: f64,
        anchor: Anchor,
        colour: crate::Colour,
        upward: bool,
    ) {
        let (x, y) = (Length(x), Length(y));
        self.put(format_args!("<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", Length(size)));
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => self.text.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.text.push_str(" text-anchor=\"end\""),
        }
        if upward {
            self.put(format_args!(" transform=\"rotate(-90 {x} {y})\""));
        }
        self.fill(Paint::solid(colour));
        let text = escaped(&label.text);
        self.put(format_args!(">{text}"));
        if let Some(power) = &label.power {
            let (rise, small) = (Length(-0.35 * size), Length(0.75 * size));
            let power = escaped(power);
            self.put(format_args!("<tspan dy=\"{rise}\" font-size=\"{small}\">{power}</tspan>"));
        }
        self.text.push_str("</text>\n");
    }
}
