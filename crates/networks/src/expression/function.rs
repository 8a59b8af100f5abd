//! The functions an expression may use.

/// A function of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Function {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a ^ b`
    Power,
    /// `-a`
    Negate,
    /// e to the power of a.
    Exp,
    /// The natural logarithm.
    Ln,
    /// The logarithm to base 10.
    Log10,
    /// The square root.
    Sqrt,
    /// The absolute value.
    Abs,
    /// The largest whole number that is not above a.
    Floor,
    /// The smallest whole number that is not below a.
    Ceiling,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The tangent.
    Tan,
    /// The hyperbolic tangent.
    Tanh,
    /// The smaller of two.
    Min,
    /// The larger of two.
    Max,
    /// `hill(x, k, n)`: `x^n / (k^n + x^n)`.
    Hill,
    /// 1 where a < b.
    Less,
    /// 1 where a <= b.
    LessOrEqual,
    /// 1 where a = b.
    Equal,
    /// 1 where a is 0.
    Not,
    /// 1 where both are not 0.
    And,
    /// 1 where one is not 0.
    Or,
    /// `select(condition, a, b)`: a where the condition is not 0, otherwise b.
    Select,
}

fn truth(value: bool) -> f64 {
    if value { 1.0 } else { 0.0 }
}

impl Function {
    /// Number of arguments.
    #[must_use]
    pub const fn arity(self) -> usize {
        match self {
            Self::Negate
            | Self::Exp
            | Self::Ln
            | Self::Log10
            | Self::Sqrt
            | Self::Abs
            | Self::Floor
            | Self::Ceiling
            | Self::Sin
            | Self::Cos
            | Self::Tan
            | Self::Tanh
            | Self::Not => 1,
            Self::Hill | Self::Select => 3,
            _ => 2,
        }
    }

    /// The value at `[a, b, c]`, of which only the first [`Function::arity`] matter. The same bits everywhere.
    #[must_use]
    #[inline]
    pub fn value(self, [a, b, c]: [f64; 3]) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => power(a, b),
            Self::Negate => -a,
            Self::Exp => libm::exp(a),
            Self::Ln => libm::log(a),
            Self::Log10 => libm::log10(a),
            Self::Sqrt => a.sqrt(),
            Self::Abs => a.abs(),
            Self::Floor => a.floor(),
            Self::Ceiling => a.ceil(),
            Self::Sin => libm::sin(a),
            Self::Cos => libm::cos(a),
            Self::Tan => libm::tan(a),
            Self::Tanh => libm::tanh(a),
            // NaN must not disappear, as it does in f64::min.
            Self::Min if a < b || a.is_nan() => a,
            Self::Max if a > b || a.is_nan() => a,
            Self::Min | Self::Max => b,
            // In this form large powers do not overflow, and 0 needs no rule of its own.
            Self::Hill => 1.0 / (1.0 + power(b / a, c)),
            Self::Less => truth(a < b),
            Self::LessOrEqual => truth(a <= b),
            Self::Equal => truth(a == b),
            Self::Not => truth(a == 0.0),
            Self::And => truth(a != 0.0 && b != 0.0),
            Self::Or => truth(a != 0.0 || b != 0.0),
            Self::Select => {
                if a != 0.0 {
                    b
                } else {
                    c
                }
            }
        }
    }
}

/// `a ^ b`, by multiplication for the small whole powers that rates have.
#[inline]
fn power(a: f64, b: f64) -> f64 {
    match b {
        1.0 => a,
        2.0 => a * a,
        3.0 => a * a * a,
        4.0 => (a * a) * (a * a),
        _ => libm::pow(a, b),
    }
}
