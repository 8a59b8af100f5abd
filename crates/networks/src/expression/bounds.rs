//! What values an expression can take while the time runs through an interval.

use std::f64::consts::PI;

use super::Function;
use super::program::Operation;

/// All numbers between two, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Nothing is known.
const ANYTHING: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
const MAYBE: Interval = Interval { low: 0.0, high: 1.0 };

impl Interval {
    /// One number.
    pub(crate) const fn point(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// Whether it is one number, or none: NaN.
    fn is_point(self) -> bool {
        self.low == self.high || (self.low.is_nan() && self.high.is_nan())
    }

    fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Of a function that rises.
    fn rising(self, f: impl Fn(f64) -> f64) -> Self {
        Self { low: f(self.low), high: f(self.high) }
    }

    /// The hull of some numbers; anything if one of them is none.
    fn hull(values: [f64; 4]) -> Self {
        if values.iter().any(|value| value.is_nan()) {
            return ANYTHING;
        }
        let low = values.into_iter().fold(f64::INFINITY, f64::min);
        Self { low, high: values.into_iter().fold(f64::NEG_INFINITY, f64::max) }
    }

    /// Of a function of two arguments whose extremes lie in the corners.
    fn corners(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self::hull([
            f(self.low, other.low),
            f(self.low, other.high),
            f(self.high, other.low),
            f(self.high, other.high),
        ])
    }

    /// Whether it is certainly true, certainly false, or neither.
    pub(crate) fn truth(self) -> Option<bool> {
        match (self.low, self.high) {
            (0.0, 0.0) => Some(false),
            (low, high) if low > 0.0 || high < 0.0 || self.is_point() => Some(true),
            _ => None,
        }
    }

    fn from_truth(truth: Option<bool>) -> Self {
        truth.map_or(MAYBE, |truth| Self::point(if truth { 1.0 } else { 0.0 }))
    }
}

impl Function {
    /// An interval that holds every value at arguments in the given ones.
    fn bounds(self, [a, b, c]: [Interval; 3]) -> Interval {
        if a.is_point() && b.is_point() && c.is_point() {
            return Interval::point(self.value([a.low, b.low, c.low]));
        }
        let compares = matches!(self, Self::Less | Self::LessOrEqual | Self::Equal);
        if compares && (a.low.is_nan() || b.low.is_nan()) {
            return Interval::point(0.0);
        }
        let truth = |certain: bool, impossible: bool| {
            Interval::from_truth(if certain { Some(true) } else { impossible.then_some(false) })
        };
        match self {
            Self::Add => Interval { low: a.low + b.low, high: a.high + b.high },
            Self::Subtract => Interval { low: a.low - b.high, high: a.high - b.low },
            Self::Multiply => a.corners(b, |a, b| a * b),
            Self::Divide if b.contains(0.0) => ANYTHING,
            Self::Divide => a.corners(b, |a, b| a / b),
            // Monotone in each argument for a base of at least 0; whole powers of other bases by their own rule.
            Self::Power if a.low >= 0.0 => a.corners(b, |a, b| Self::Power.value([a.abs(), b, 0.0])),
            Self::Power if b.low == b.high && b.low.fract() == 0.0 && b.low > 0.0 => {
                let ends = a.corners(a, |a, _| Self::Power.value([a, b.low, 0.0]));
                if a.contains(0.0) { Interval { low: ends.low.min(0.0), high: ends.high } } else { ends }
            }
            Self::Negate => Interval { low: -a.high, high: -a.low },
            Self::Exp | Self::Floor | Self::Ceiling | Self::Tanh => a.rising(|a| self.value([a, 0.0, 0.0])),
            // What lies outside their domain is found out where it is computed, not here.
            Self::Ln | Self::Log10 | Self::Sqrt if a.high >= 0.0 => {
                a.rising(|a| self.value([a.max(0.0), 0.0, 0.0]))
            }
            Self::Tan if (a.low / PI + 0.5).floor() == (a.high / PI + 0.5).floor() => a.rising(libm::tan),
            Self::Power if b.is_point() && b.low.fract() == 0.0 && b.low < 0.0 && !a.contains(0.0) => {
                a.corners(a, |a, _| self.value([a, b.low, 0.0]))
            }
            Self::Abs if a.contains(0.0) => Interval { low: 0.0, high: a.high.max(-a.low) },
            Self::Abs => a.corners(a, |a, _| a.abs()),
            Self::Sin => wave(a, 0.25, libm::sin),
            Self::Cos => wave(a, 0.0, libm::cos),
            Self::Min => a.corners(b, f64::min),
            Self::Max => a.corners(b, f64::max),
            Self::Hill => ANYTHING,
            Self::Less => truth(a.high < b.low, a.low >= b.high),
            Self::LessOrEqual => truth(a.high <= b.low, a.low > b.high),
            Self::Equal => truth(false, a.high < b.low || b.high < a.low),
            Self::Not => Interval::from_truth(a.truth().map(|a| !a)),
            Self::And => truth(
                a.truth() == Some(true) && b.truth() == Some(true),
                a.truth() == Some(false) || b.truth() == Some(false),
            ),
            Self::Or => truth(
                a.truth() == Some(true) || b.truth() == Some(true),
                a.truth() == Some(false) && b.truth() == Some(false),
            ),
            Self::Select => match a.truth() {
                Some(true) => b,
                Some(false) => c,
                None => Interval { low: b.low.min(c.low), high: b.high.max(c.high) },
            },
            Self::Power | Self::Ln | Self::Log10 | Self::Sqrt | Self::Tan => ANYTHING,
        }
    }
}

/// A sine whose crests lie at `crest` of a turn, and every whole turn from there.
fn wave(a: Interval, crest: f64, f: impl Fn(f64) -> f64) -> Interval {
    const TURN: f64 = std::f64::consts::TAU;
    let passes = |at: f64| (a.high / TURN - at).floor() >= (a.low / TURN - at).ceil();
    let (low, high) = (f(a.low), f(a.high));
    Interval {
        low: if passes(crest + 0.5) { -1.0 } else { low.min(high) },
        high: if passes(crest) { 1.0 } else { low.max(high) },
    }
}

/// Runs operations on intervals.
pub(crate) fn run(operations: &[Operation], registers: &mut [Interval]) {
    for Operation { function, to, from } in operations {
        let bounds = function.bounds(from.map(|register| registers[register as usize]));
        // A bound that is no number bounds nothing; a value that is none is all there is.
        let known = bounds.is_point() || (!bounds.low.is_nan() && !bounds.high.is_nan());
        registers[*to as usize] = if known { bounds } else { ANYTHING };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::stream::{Seed, Stage};
    use rand::RngExt;

    const ALL: [Function; 27] = [
        Function::Add,
        Function::Subtract,
        Function::Multiply,
        Function::Divide,
        Function::Power,
        Function::Negate,
        Function::Exp,
        Function::Ln,
        Function::Log10,
        Function::Sqrt,
        Function::Abs,
        Function::Floor,
        Function::Ceiling,
        Function::Sin,
        Function::Cos,
        Function::Tan,
        Function::Tanh,
        Function::Min,
        Function::Max,
        Function::Hill,
        Function::Less,
        Function::LessOrEqual,
        Function::Equal,
        Function::Not,
        Function::And,
        Function::Or,
        Function::Select,
    ];

    /// Values at random arguments lie within the bounds of random intervals around them.
    #[test]
    fn every_value_lies_within_its_bounds() {
        let mut rng = Seed(8).stream(Stage::Propose, 0, 0);
        let mut useful = [0; ALL.len()];
        for (at, function) in ALL.into_iter().enumerate() {
            for _ in 0..2_000 {
                let mut ends = [0.0; 6];
                for end in &mut ends {
                    *end = 8.0 * rng.random::<f64>() - 2.0;
                    if rng.random::<f64>() < 0.3 {
                        *end = end.round();
                    }
                }
                let interval = |a: f64, b: f64| Interval { low: a.min(b), high: a.max(b) };
                let arguments =
                    [interval(ends[0], ends[1]), interval(ends[2], ends[3]), interval(ends[4], ends[5])];
                let mut registers = vec![Interval::point(0.0); 4];
                registers[1..].copy_from_slice(&arguments);
                run(&[Operation { function, to: 0, from: [1, 2, 3] }], &mut registers);
                let bounds = registers[0];
                useful[at] += usize::from(bounds.low.is_finite() && bounds.high.is_finite());
                for _ in 0..20 {
                    let inside =
                        arguments.map(|each| each.low + (each.high - each.low) * rng.random::<f64>());
                    let value = function.value(inside);
                    let slack = 1e-12 * (1.0 + value.abs()).min(1e30);
                    let within = bounds.low - slack <= value && value <= bounds.high + slack;
                    assert!(
                        value.is_nan() || within,
                        "{function:?} at {inside:?}: {value} not in {bounds:?}"
                    );
                }
            }
            let never = function == Function::Hill;
            assert!(never || useful[at] > 500, "{function:?}: bounds are hardly ever of use");
        }
    }
}
