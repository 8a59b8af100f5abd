//! Sizes of a figure.

/// Width of a journal's column, in points (85 mm).
pub const SINGLE_COLUMN: f64 = 85.0 / 25.4 * 72.0;
/// Width of a journal's page, in points (174 mm).
pub const DOUBLE_COLUMN: f64 = 174.0 / 25.4 * 72.0;

/// Sizes of a figure, in its unit of length: points on paper, pixels on a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Height of text.
    pub font: f64,
    /// Width of lines.
    pub line: f64,
    /// Radius of points.
    pub point: f64,
    /// Width of a figure unless told otherwise.
    pub width: f64,
    /// Height of a panel's plotting area unless told otherwise.
    pub height: f64,
    /// Whether colours are CSS variables and values are readable by a script.
    pub(crate) live: bool,
}

impl Style {
    /// For a journal: points, 7 of them for text, the width of a page.
    #[must_use]
    pub fn print() -> Self {
        Self { font: 7.0, line: 0.9, point: 1.2, width: DOUBLE_COLUMN, height: 110.0, live: false }
    }

    /// For a web page: pixels.
    #[must_use]
    pub fn page() -> Self {
        Self { font: 11.0, line: 1.5, point: 2.0, width: 340.0, height: 170.0, live: true }
    }
}
