//! What a figure is made of: the little that SVG and PNG both draw.

use crate::clip::{Frame, Place};
use crate::colour::Colour;
use crate::ticks::Label;

/// A colour and how much of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub(crate) colour: Colour,
    pub(crate) opacity: f64,
}

impl Paint {
    pub(crate) fn solid(colour: Colour) -> Self {
        Self { colour, opacity: 1.0 }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke {
    pub(crate) paint: Paint,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
}

/// Where the given place is in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Something to draw.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Lines {
        parts: Vec<Vec<Place>>,
        stroke: Stroke,
        /// The name of a series whose values can be read off.
        series: Option<String>,
    },
    Area {
        places: Vec<Place>,
        paint: Paint,
    },
    Boxes {
        frames: Vec<(Frame, Paint)>,
        tips: Vec<Option<String>>,
    },
    Dots {
        places: Vec<Place>,
        radius: f64,
        paint: Paint,
        tips: Vec<Option<String>>,
    },
    Text {
        at: Place,
        label: Label,
        size: f64,
        anchor: Anchor,
        colour: Colour,
        /// Read from bottom to top.
        upward: bool,
    },
    /// What follows, up to the end, belongs to a panel: its frame and how to read values off it.
    Begin {
        frame: Frame,
        scales: [(bool, f64, f64); 2],
    },
    End,
}
