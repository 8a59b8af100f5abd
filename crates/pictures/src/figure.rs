//! Figures and panels.

use crate::axis::Axis;
use crate::draw;
use crate::mark::Mark;
use crate::png::{self, PngError};
use crate::style::Style;
use crate::svg;

/// One plotting area with its axes.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) marks: Vec<Mark>,
    pub(crate) height: Option<f64>,
    pub(crate) blank: bool,
}

impl Panel {
    /// An empty panel with linear axes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A place in the grid that stays empty.
    #[must_use]
    pub fn blank() -> Self {
        Self { blank: true, x: Axis::default().quiet(), y: Axis::default().quiet(), ..Self::default() }
    }

    /// With a title above.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// The axis below.
    #[must_use]
    pub fn x(self, x: Axis) -> Self {
        Self { x, ..self }
    }

    /// The axis at the left.
    #[must_use]
    pub fn y(self, y: Axis) -> Self {
        Self { y, ..self }
    }

    /// One more mark, in front of those before.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    /// More marks, in front of those before.
    #[must_use]
    pub fn marks(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }

    /// The height of its plotting area; a row of a figure is as high as its highest panel.
    #[must_use]
    pub fn height(self, height: f64) -> Self {
        Self { height: Some(height), ..self }
    }
}

/// Panels in a grid, with a title and a legend.
#[derive(Clone, Debug)]
pub struct Figure {
    pub(crate) style: Style,
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
    pub(crate) columns: usize,
    pub(crate) width: f64,
    pub(crate) legend: bool,
    pub(crate) description: String,
}

impl Figure {
    /// An empty figure as wide as its style says.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self {
            style,
            title: String::new(),
            panels: vec![],
            columns: 1,
            width: style.width,
            legend: true,
            description: String::new(),
        }
    }

    /// With a title above everything.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// What it shows, for those who cannot see it.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: description.into(), ..self }
    }

    /// How many panels stand side by side; 1 unless told.
    #[must_use]
    pub fn columns(self, columns: usize) -> Self {
        Self { columns: columns.max(1), ..self }
    }

    /// Its width, in the unit of its style.
    #[must_use]
    pub fn width(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// Without a legend, although marks have names.
    #[must_use]
    pub fn without_legend(self) -> Self {
        Self { legend: false, ..self }
    }

    /// One more panel: from left to right, then from top to bottom.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// More panels.
    #[must_use]
    pub fn panels(mut self, panels: impl IntoIterator<Item = Panel>) -> Self {
        self.panels.extend(panels);
        self
    }

    /// As SVG, complete in itself.
    #[must_use]
    pub fn svg(&self) -> String {
        let drawing = draw::figure(self);
        svg::document(&drawing, self)
    }

    /// As PNG with so many dots an inch (72 are one a unit).
    ///
    /// # Errors
    ///
    /// Where the picture would be larger than a hundred million dots.
    pub fn png(&self, dots_an_inch: f64) -> Result<Vec<u8>, PngError> {
        png::image(&draw::figure(self), dots_an_inch / 72.0)
    }
}
