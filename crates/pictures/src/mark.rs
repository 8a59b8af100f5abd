//! What a panel shows.

use crate::colour::Colour;

/// Data, and how it is drawn. Values that are not finite, or not positive on a logarithmic axis, are left out.
#[derive(Clone, Debug)]
pub struct Mark {
    pub(crate) kind: Kind,
    pub(crate) colour: Colour,
    pub(crate) opacity: f64,
    pub(crate) dashed: bool,
    pub(crate) scale: f64,
    pub(crate) name: Option<String>,
    pub(crate) tips: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Line { x: Vec<f64>, y: Vec<f64> },
    Area { x: Vec<f64>, y: Vec<f64> },
    Steps { edges: Vec<f64>, heights: Vec<f64> },
    Bars { edges: Vec<f64>, heights: Vec<f64> },
    Band { x: Vec<f64>, low: Vec<f64>, high: Vec<f64> },
    Points { x: Vec<f64>, y: Vec<f64> },
    ErrorsY { x: Vec<f64>, y: Vec<f64>, low: Vec<f64>, high: Vec<f64> },
    ErrorsX { x: Vec<f64>, y: Vec<f64>, low: Vec<f64>, high: Vec<f64> },
    Columns { heights: Vec<f64> },
    Rows { lengths: Vec<f64> },
    Vertical { x: f64 },
    Horizontal { y: f64 },
    Cells { columns: usize, values: Vec<f64> },
}

impl Mark {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            colour: Colour::Series(0),
            opacity: 1.0,
            dashed: false,
            scale: 1.0,
            name: None,
            tips: vec![],
        }
    }

    /// A line through points.
    #[must_use]
    pub fn line(x: &[f64], y: &[f64]) -> Self {
        Self::new(Kind::Line { x: x.into(), y: y.into() })
    }

    /// A curve, filled down to the lower end of the axis: a density.
    #[must_use]
    pub fn area(x: &[f64], y: &[f64]) -> Self {
        Self::new(Kind::Area { x: x.into(), y: y.into() })
    }

    /// The outline of a histogram: one edge more than heights.
    #[must_use]
    pub fn steps(edges: &[f64], heights: &[f64]) -> Self {
        Self::new(Kind::Steps { edges: edges.into(), heights: heights.into() })
    }

    /// A histogram: one edge more than heights.
    #[must_use]
    pub fn bars(edges: &[f64], heights: &[f64]) -> Self {
        Self::new(Kind::Bars { edges: edges.into(), heights: heights.into() })
    }

    /// The area between two lines.
    #[must_use]
    pub fn band(x: &[f64], low: &[f64], high: &[f64]) -> Self {
        Self { opacity: 0.25, ..Self::new(Kind::Band { x: x.into(), low: low.into(), high: high.into() }) }
    }

    /// Points.
    #[must_use]
    pub fn points(x: &[f64], y: &[f64]) -> Self {
        Self::new(Kind::Points { x: x.into(), y: y.into() })
    }

    /// Points with a bar up and down, from `low` to `high` on the axis.
    #[must_use]
    pub fn errors_y(x: &[f64], y: &[f64], low: &[f64], high: &[f64]) -> Self {
        Self::new(Kind::ErrorsY { x: x.into(), y: y.into(), low: low.into(), high: high.into() })
    }

    /// Points with a bar to the left and right, from `low` to `high` on the axis.
    #[must_use]
    pub fn errors_x(x: &[f64], y: &[f64], low: &[f64], high: &[f64]) -> Self {
        Self::new(Kind::ErrorsX { x: x.into(), y: y.into(), low: low.into(), high: high.into() })
    }

    /// A bar a name of the axis below.
    #[must_use]
    pub fn columns(heights: &[f64]) -> Self {
        Self::new(Kind::Columns { heights: heights.into() })
    }

    /// A bar a name of the axis at the left.
    #[must_use]
    pub fn rows(lengths: &[f64]) -> Self {
        Self::new(Kind::Rows { lengths: lengths.into() })
    }

    /// A reference line from bottom to top.
    #[must_use]
    pub fn vertical(x: f64) -> Self {
        Self { colour: Colour::Ink, ..Self::new(Kind::Vertical { x }) }
    }

    /// A reference line from left to right.
    #[must_use]
    pub fn horizontal(y: f64) -> Self {
        Self { colour: Colour::Ink, ..Self::new(Kind::Horizontal { y }) }
    }

    /// Squares whose depth is the size of values between -1 and 1, row by row; negative ones in another colour.
    #[must_use]
    pub fn cells(columns: usize, values: &[f64]) -> Self {
        Self::new(Kind::Cells { columns, values: values.into() })
    }

    /// Its colour; series 0, or ink for reference lines, unless told.
    #[must_use]
    pub fn colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// From 0, invisible, to 1.
    #[must_use]
    pub fn opacity(self, opacity: f64) -> Self {
        Self { opacity: opacity.clamp(0.0, 1.0), ..self }
    }

    /// A broken line.
    #[must_use]
    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }

    /// Thicker lines and larger points, as a factor.
    #[must_use]
    pub fn scale(self, scale: f64) -> Self {
        Self { scale, ..self }
    }

    /// Its name in the legend.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// A text for each value, shown by a page when the pointer is over it (bars, points, error bars, cells).
    #[must_use]
    pub fn tips(self, tips: Vec<String>) -> Self {
        Self { tips, ..self }
    }

    /// All values along an axis, for its range.
    pub(crate) fn extent(&self, across: bool) -> Vec<f64> {
        let names = |count: usize| vec![-0.5, count as f64 - 0.5];
        let with_zero = |values: &[f64]| [values, &[0.0]].concat();
        match (&self.kind, across) {
            (Kind::Line { x, .. } | Kind::Area { x, .. } | Kind::Points { x, .. }, true) => x.clone(),
            (Kind::Line { y, .. } | Kind::Points { y, .. }, false) => y.clone(),
            (Kind::Area { y, .. }, false) => with_zero(y),
            (Kind::Steps { edges, .. } | Kind::Bars { edges, .. }, true) => edges.clone(),
            (Kind::Steps { heights, .. } | Kind::Bars { heights, .. }, false) => with_zero(heights),
            (Kind::Band { x, .. } | Kind::ErrorsY { x, .. }, true) => x.clone(),
            (Kind::Band { low, high, .. }, false) => [&low[..], high].concat(),
            (Kind::ErrorsY { y, low, high, .. }, false) => [&y[..], low, high].concat(),
            (Kind::ErrorsX { x, low, high, .. }, true) => [&x[..], low, high].concat(),
            (Kind::ErrorsX { y, .. }, false) => y.clone(),
            (Kind::Columns { heights }, true) => names(heights.len()),
            (Kind::Columns { heights }, false) => with_zero(heights),
            (Kind::Rows { lengths }, true) => with_zero(lengths),
            (Kind::Rows { lengths }, false) => names(lengths.len()),
            (Kind::Vertical { x }, true) => vec![*x],
            (Kind::Horizontal { y }, false) => vec![*y],
            (Kind::Vertical { .. }, false) | (Kind::Horizontal { .. }, true) => vec![],
            (Kind::Cells { columns, .. }, true) => names(*columns),
            (Kind::Cells { columns, values }, false) => names(values.len().div_ceil((*columns).max(1))),
        }
    }

    /// Whether zero is an end that its axis should keep without a margin.
    pub(crate) fn stands_on_zero(&self, across: bool) -> bool {
        match self.kind {
            Kind::Area { .. } | Kind::Steps { .. } | Kind::Bars { .. } | Kind::Columns { .. } => !across,
            Kind::Rows { .. } => across,
            _ => false,
        }
    }
}
