//! Axes, and where a value lies on them.

/// An axis: its label, scale and range.
#[derive(Clone, Debug)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) kind: AxisKind,
    pub(crate) from: Option<f64>,
    pub(crate) to: Option<f64>,
    pub(crate) quiet: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AxisKind {
    Linear,
    Log,
    Names(Vec<String>),
}

impl Default for Axis {
    fn default() -> Self {
        Self::linear("")
    }
}

impl Axis {
    fn new(label: &str, kind: AxisKind) -> Self {
        Self { label: label.into(), kind, from: None, to: None, quiet: false }
    }

    /// Equal steps are equal differences.
    #[must_use]
    pub fn linear(label: &str) -> Self {
        Self::new(label, AxisKind::Linear)
    }

    /// Equal steps are equal ratios; ticks at powers of ten.
    #[must_use]
    pub fn log(label: &str) -> Self {
        Self::new(label, AxisKind::Log)
    }

    /// Names at 0, 1, 2 and so on, from left to right or from top to bottom.
    #[must_use]
    pub fn names<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::new("", AxisKind::Names(names.into_iter().map(Into::into).collect()))
    }

    /// With a label.
    #[must_use]
    pub fn label(self, label: &str) -> Self {
        Self { label: label.into(), ..self }
    }

    /// Where it begins.
    #[must_use]
    pub fn from(self, from: f64) -> Self {
        Self { from: Some(from), ..self }
    }

    /// Where it ends.
    #[must_use]
    pub fn to(self, to: f64) -> Self {
        Self { to: Some(to), ..self }
    }

    /// Where it begins and ends.
    #[must_use]
    pub fn between(self, from: f64, to: f64) -> Self {
        Self { from: Some(from), to: Some(to), ..self }
    }

    /// Without ticks, labels and grid, as inside a matrix of panels.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { quiet: true, ..self }
    }

    /// Its range for these values; `on_zero` where it ends at a zero without a margin.
    pub(crate) fn range(&self, values: &[f64], on_zero: bool) -> (f64, f64) {
        if let AxisKind::Names(names) = &self.kind {
            return (-0.5, names.len().max(1) as f64 - 0.5);
        }
        let is_log = self.kind == AxisKind::Log;
        // Beyond these, the ends of a range or their difference are no numbers.
        let usable = |value: f64| value.abs() < 1e300 && (!is_log || value > 1e-300);
        let warped = |value: f64| if is_log { value.log10() } else { value };
        let bend = |value: f64| if is_log { 10f64.powf(value) } else { value };
        let fixed = |end: Option<f64>| end.filter(|end| usable(*end)).map(warped);
        let used = values.iter().copied().filter(|value| usable(*value)).map(warped);
        let (low, high) = used
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let margin = if high > low { 0.04 * (high - low) } else { 0.5 * high.abs().max(1.0) };
        let is_zero = |end: f64| on_zero && !is_log && end == 0.0;
        let mut low = fixed(self.from).unwrap_or(if is_zero(low) { 0.0 } else { low - margin });
        let mut high = fixed(self.to).unwrap_or(if is_zero(high) { 0.0 } else { high + margin });
        if high < low {
            (low, high) = (high, low);
        }
        let least = f64::EPSILON * 16.0 * low.abs().max(high.abs()).max(f64::MIN_POSITIVE);
        if high - low <= least {
            let half = 0.5 * high.abs().max(1.0);
            (low, high) = (low - half, high + half);
        }
        (bend(low), bend(high))
    }
}

/// Where values of an axis lie between two places of the figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub(crate) is_log: bool,
    pub(crate) range: (f64, f64),
    pub(crate) ends: (f64, f64),
}

impl Placement {
    /// The place of a value; NaN where it has none.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        let share = if self.is_log {
            (value.log10() - low.log10()) / (high.log10() - low.log10())
        } else {
            (value - low) / (high - low)
        };
        if share.is_finite() {
            // Far outside the figure is far enough: the number stays printable.
            self.ends.0 + share.clamp(-1e4, 1e4) * (self.ends.1 - self.ends.0)
        } else {
            f64::NAN
        }
    }

    /// Its lower end in the figure.
    pub(crate) fn base(&self) -> f64 {
        if self.is_log { self.ends.0 } else { self.at(0.0f64.clamp(self.range.0, self.range.1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_the_data_and_keep_zero() {
        let (low, high) = Axis::linear("").range(&[1.0, 2.0, f64::NAN, f64::INFINITY], false);
        assert!((low - 0.96).abs() < 1e-12 && (high - 2.04).abs() < 1e-12);
        assert_eq!(Axis::linear("").range(&[0.0, 2.0], true).0, 0.0);
        let (low, high) = Axis::log("").range(&[-1.0, 0.0, 1.0, 100.0], true);
        assert!(low > 0.8 && low < 1.0 && high > 100.0 && high < 130.0);
        assert_eq!(Axis::linear("").between(3.0, 1.0).range(&[], false), (1.0, 3.0));
        let (low, high) = Axis::linear("").range(&[5.0], false);
        assert!(low < 5.0 && high > 5.0);
        let (low, high) = Axis::linear("").range(&[], false);
        assert!(low < high);
    }
}
