//! The functions and operators of expressions.

use crate::Function;

/// Functions by name.
pub const FUNCTIONS: [(&str, Function); 15] = [
    ("exp", Function::Exp),
    ("ln", Function::Ln),
    ("log10", Function::Log10),
    ("sqrt", Function::Sqrt),
    ("abs", Function::Abs),
    ("floor", Function::Floor),
    ("ceil", Function::Ceiling),
    ("sin", Function::Sin),
    ("cos", Function::Cos),
    ("tan", Function::Tan),
    ("tanh", Function::Tanh),
    ("min", Function::Min),
    ("max", Function::Max),
    ("hill", Function::Hill),
    ("select", Function::Select),
];

/// How tightly operators bind; what binds tighter has a higher number.
pub(crate) mod binding {
    pub(crate) const OR: u8 = 1;
    pub(crate) const AND: u8 = 2;
    pub(crate) const NOT: u8 = 3;
    pub(crate) const COMPARISON: u8 = 4;
    pub(crate) const SUM: u8 = 5;
    pub(crate) const PRODUCT: u8 = 6;
    pub(crate) const MINUS: u8 = 7;
    pub(crate) const POWER: u8 = 8;
}

/// How tightly an operator binds, and the least that binds on its right side.
pub(super) fn strength(sign: &str) -> Option<(u8, u8)> {
    match sign {
        "or" => Some((binding::OR, binding::AND)),
        "and" => Some((binding::AND, binding::NOT)),
        "<" | "<=" | ">" | ">=" | "==" | "!=" => Some((binding::COMPARISON, binding::SUM)),
        "+" | "-" => Some((binding::SUM, binding::PRODUCT)),
        "*" | "/" => Some((binding::PRODUCT, binding::MINUS)),
        // A power to the right goes first.
        "^" => Some((binding::POWER, binding::POWER)),
        _ => None,
    }
}
