//! A panel of figures beside each other, each with a name and a standard error.

use counterpoise_pictures::{Axis, Colour, Mark, Panel};

/// One line for each name, with its mean and standard error; `marked` is a line across all. Beyond zero or where they lie, since what is
/// alike and far from zero could not be told apart otherwise.
pub(crate) fn beside(
    label: &str,
    from_zero: bool,
    lines: &[(String, f64, f64)],
    marked: Option<f64>,
) -> Panel {
    let over = |value: fn(&(String, f64, f64)) -> f64| lines.iter().map(value).collect::<Vec<f64>>();
    let (means, low, high) =
        (over(|line| line.1), over(|line| line.1 - line.2), over(|line| line.1 + line.2));
    let places: Vec<f64> = (0..lines.len()).map(|at| at as f64).collect();
    let axis = match from_zero {
        true => {
            Axis::linear(label).between(0.0, 1.05 * high.iter().copied().chain(marked).fold(0.0, f64::max))
        }
        false => Axis::linear(label),
    };
    Panel::new()
        .x(axis)
        .y(Axis::names(lines.iter().map(|(name, _, _)| name.clone())))
        .height(14.0 * lines.len() as f64 + 10.0)
        .marks(marked.map(|at| Mark::vertical(at).dashed().colour(Colour::Muted)))
        .mark(Mark::errors_x(&means, &places, &low, &high).scale(1.6))
}
