//! Figures for papers and pages: plain data in, SVG or PNG out. Knows nothing of inference.
//!
//! A [`Figure`] is a grid of [`Panel`]s; a panel has two [`Axis`] and [`Mark`]s, drawn in the order in which they were added.
//!
//! ```
//! use counterpoise_pictures::{Axis, Colour, Figure, Mark, Panel, Style, density};
//!
//! let draws = [0.11, 0.09, 0.13, 0.1, 0.07, 0.12];
//! let curve = density(&draws, None, true, None).unwrap();
//! let panel = Panel::new()
//!     .title("posterior of k")
//!     .x(Axis::log("k"))
//!     .y(Axis::linear("density").from(0.0))
//!     .mark(Mark::area(&curve.x, &curve.y).colour(Colour::Series(0)).named("posterior"))
//!     .mark(Mark::vertical(0.1).dashed().named("truth"));
//! let figure = Figure::new(Style::print()).columns(2).panel(panel);
//! let svg: String = figure.svg();
//! let png: Vec<u8> = figure.png(300.0).unwrap();
//! # assert!(svg.starts_with("<svg") && png.starts_with(b"\x89PNG"));
//! ```
//!
//! What there is to draw:
//!
//! | mark | data |
//! |---|---|
//! | [`Mark::line`] | `x`, `y`; values that are not finite interrupt the line |
//! | [`Mark::steps`] | `n + 1` edges and `n` heights: the outline of a histogram |
//! | [`Mark::area`] | `x`, `y`: a curve filled down to the end of the axis, for densities |
//! | [`Mark::band`] | `x`, `low`, `high`: a shaded interval |
//! | [`Mark::points`] | `x`, `y` |
//! | [`Mark::errors_y`], [`Mark::errors_x`] | points with the two ends of a bar, absolute values, up and down or across |
//! | [`Mark::bars`] | `n + 1` edges and `n` heights: a histogram |
//! | [`Mark::columns`], [`Mark::rows`] | one bar a name of an [`Axis::names`] below or at the left |
//! | [`Mark::vertical`], [`Mark::horizontal`] | reference lines |
//! | [`Mark::cells`] | values from -1 to 1 over names at the left and below, row by row |
//!
//! On an axis of names the first is at 0, the second at 1 and so on, so that points, error bars and bands can stand on it too. Names
//! run from left to right and from top to bottom.
//!
//! Ranges of axes follow the data; [`Axis::from`], [`Axis::to`] and [`Axis::between`] fix an end. Ticks are chosen so that their
//! labels do not touch. Marks with a name appear once in the legend, above the panels. All text is escaped. The same input gives the
//! same bytes.
//!
//! [`Style::print`] is for journals: lengths in points, Arial or what stands for it, 7 points for text, lines of half a point or
//! more, [`SINGLE_COLUMN`] or [`DOUBLE_COLUMN`] wide ([`Figure::width`]), on white, colours that the colour-blind can tell apart.
//! [`Style::page`] is for a web page: colours are CSS variables and values can be read by a script.
//!
//! [`density`] and [`histogram`] estimate curves from weighted values.

mod axis;
mod clip;
mod colour;
mod draw;
mod estimate;
mod figure;
mod font;
mod layout;
mod mark;
mod png;
mod shape;
mod style;
mod svg;
mod ticks;

pub use axis::Axis;
pub use colour::Colour;
pub use estimate::{Curve, Histogram, density, histogram};
pub use figure::{Figure, Panel};
pub use mark::Mark;
pub use png::PngError;
pub use style::{DOUBLE_COLUMN, SINGLE_COLUMN, Style};
pub use svg::escaped;
