//! A drawing as PNG.

use std::cell::RefCell;
use std::rc::Rc;

use tiny_skia::{FillRule, LineCap, LineJoin, Path, PathBuilder, Pixmap, StrokeDash, Transform};
use ttf_parser::OutlineBuilder;

use crate::clip::{Frame, Place};
use crate::colour::Colour;
use crate::draw::Drawing;
use crate::font;
use crate::shape::{Anchor, Paint, Shape, Stroke};
use crate::ticks::Label;

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// Too many dots, or none.
    #[error("a picture of {width} by {height} dots cannot be made")]
    Size {
        /// Dots across.
        width: f64,
        /// Dots up and down.
        height: f64,
    },
    /// The image could not be encoded.
    #[error("the picture cannot be encoded: {0}")]
    Encode(String),
}

/// The image, enlarged by a factor.
pub(crate) fn image(drawing: &Drawing, factor: f64) -> Result<Vec<u8>, PngError> {
    let (width, height) = ((drawing.width * factor).round(), (drawing.height * factor).round());
    let size = || PngError::Size { width, height };
    if !(width >= 1.0 && height >= 1.0 && width * height <= 1e8) {
        return Err(size());
    }
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or_else(size)?;
    pixmap.fill(tiny_skia::Color::WHITE);
    let mut canvas = Canvas { pixmap, transform: Transform::from_scale(factor as f32, factor as f32) };
    for shape in &drawing.shapes {
        canvas.shape(shape);
    }
    canvas.pixmap.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

struct Canvas {
    pixmap: Pixmap,
    transform: Transform,
}

fn paint(colour: Colour, opacity: f64) -> tiny_skia::Paint<'static> {
    let [red, green, blue] = colour.rgb();
    let mut paint = tiny_skia::Paint::default();
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint.anti_alias = true;
    paint
}

fn polygon(parts: &[Vec<Place>], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for part in parts {
        for (index, (x, y)) in part.iter().enumerate() {
            match index {
                0 => builder.move_to(*x as f32, *y as f32),
                _ => builder.line_to(*x as f32, *y as f32),
            }
        }
        if closed {
            builder.close();
        }
    }
    builder.finish()
}

impl Canvas {
    fn fill(&mut self, path: Option<Path>, fill: Paint) {
        if let Some(path) = path {
            let paint = paint(fill.colour, fill.opacity);
            self.pixmap.fill_path(&path, &paint, FillRule::Winding, self.transform, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, stroke: Stroke) {
        let Some(path) = path else { return };
        let dash = stroke.width as f32 * 3.0;
        let pen = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_join: LineJoin::Round,
            line_cap: LineCap::Butt,
            dash: if stroke.dashed { StrokeDash::new(vec![dash, dash], 0.0) } else { None },
            ..Default::default()
        };
        let paint = paint(stroke.paint.colour, stroke.paint.opacity);
        self.pixmap.stroke_path(&path, &paint, &pen, self.transform, None);
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Lines { parts, stroke, .. } => self.stroke(polygon(parts, false), *stroke),
            Shape::Area { places, paint } => {
                self.fill(polygon(std::slice::from_ref(places), true), *paint);
            }
            Shape::Boxes { frames, .. } => {
                for (Frame { left, top, right, bottom }, paint) in frames {
                    let corners = vec![(*left, *top), (*right, *top), (*right, *bottom), (*left, *bottom)];
                    self.fill(polygon(&[corners], true), *paint);
                }
            }
            Shape::Dots { places, radius, paint, .. } => {
                for (x, y) in places {
                    self.fill(PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32), *paint);
                }
            }
            Shape::Text { at, label, size, anchor, colour, upward } => {
                let path = text(*at, label, *size, *anchor, *upward);
                self.fill(path, Paint::solid(*colour));
            }
            Shape::Begin { .. } | Shape::End => {}
        }
    }
}

/// The outlines of a text.
fn text((x, y): Place, label: &Label, size: f64, anchor: Anchor, upward: bool) -> Option<Path> {
    let back = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    };
    let start = -back * label.width() * size;
    let builder = Rc::new(RefCell::new(PathBuilder::new()));
    let place = |start: f64, rise: f64, size: f64| {
        let builder = builder.clone();
        move |at: f64| -> Box<dyn OutlineBuilder> {
            Box::new(Outline {
                builder: builder.clone(),
                origin: (start + at * size, rise),
                scale: size / font::units(),
            })
        }
    };
    let width = font::outline(&label.text, place(start, 0.0, size));
    if let Some(power) = &label.power {
        font::outline(power, place(start + width * size, -0.35 * size, 0.75 * size));
    }
    let path = builder.take().finish()?;
    let turned = if upward { Transform::from_rotate(-90.0) } else { Transform::identity() };
    path.transform(turned.post_translate(x as f32, y as f32))
}

/// Puts the outline of a glyph where it belongs.
struct Outline {
    builder: Rc<RefCell<PathBuilder>>,
    origin: Place,
    scale: f64,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        let x = self.origin.0 + f64::from(x) * self.scale;
        let y = self.origin.1 - f64::from(y) * self.scale;
        (x as f32, y as f32)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.borrow_mut().move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.borrow_mut().line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.builder.borrow_mut().quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.builder.borrow_mut().cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.borrow_mut().close();
    }
}
