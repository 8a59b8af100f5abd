//! Expressions as text in the language, which reads them back as they were.

use super::{Expression, Function, Symbol};
use crate::language::{FUNCTIONS, binding};

/// Binds tighter than any operator.
const CLOSED: u8 = u8::MAX;

impl Expression {
    /// The expression in the language, with the names that `name` gives to its symbols.
    #[must_use]
    pub fn text(&self, name: &dyn Fn(Symbol) -> String) -> String {
        let mut text = String::new();
        self.write(&mut text, name, 0);
        text
    }

    /// Writes it where only what binds at least as tightly as `least` stands without parentheses.
    fn write(&self, text: &mut String, name: &dyn Fn(Symbol) -> String, least: u8) {
        let open = self.strength() < least;
        if open {
            text.push('(');
        }
        match self {
            Self::Number(value) => *text += &number(*value),
            Self::Symbol(symbol) => *text += &name(*symbol),
            Self::Call(function, arguments) => match (infix(*function), &arguments[..]) {
                (Some((sign, left, right)), [a, b]) => {
                    a.write(text, name, left);
                    *text += sign;
                    b.write(text, name, right);
                }
                (_, [only]) if *function == Function::Negate => {
                    text.push('-');
                    only.write(text, name, binding::MINUS);
                }
                (_, [only]) if *function == Function::Not => {
                    *text += "not ";
                    only.write(text, name, binding::NOT);
                }
                (_, arguments) => {
                    let known = FUNCTIONS.iter().find(|(_, other)| other == function);
                    *text += known.map_or("?", |(name, _)| name);
                    text.push('(');
                    for (at, argument) in arguments.iter().enumerate() {
                        *text += if at > 0 { ", " } else { "" };
                        argument.write(text, name, 0);
                    }
                    text.push(')');
                }
            },
        }
        if open {
            text.push(')');
        }
    }

    fn strength(&self) -> u8 {
        match self {
            Self::Number(value) if value.is_sign_negative() => binding::MINUS,
            Self::Number(_) | Self::Symbol(_) => CLOSED,
            Self::Call(function, _) => match function {
                Function::Or => binding::OR,
                Function::And => binding::AND,
                Function::Not => binding::NOT,
                Function::Less | Function::LessOrEqual | Function::Equal => binding::COMPARISON,
                Function::Add | Function::Subtract => binding::SUM,
                Function::Multiply | Function::Divide => binding::PRODUCT,
                Function::Negate => binding::MINUS,
                Function::Power => binding::POWER,
                _ => CLOSED,
            },
        }
    }
}

/// The sign of an operator with two sides, and how tightly each side must bind to stand without parentheses.
fn infix(function: Function) -> Option<(&'static str, u8, u8)> {
    Some(match function {
        Function::Or => (" or ", binding::OR, binding::AND),
        Function::And => (" and ", binding::AND, binding::NOT),
        Function::Less => (" < ", binding::SUM, binding::SUM),
        Function::LessOrEqual => (" <= ", binding::SUM, binding::SUM),
        Function::Equal => (" == ", binding::SUM, binding::SUM),
        Function::Add => (" + ", binding::SUM, binding::PRODUCT),
        Function::Subtract => (" - ", binding::SUM, binding::PRODUCT),
        Function::Multiply => ("*", binding::PRODUCT, binding::MINUS),
        Function::Divide => ("/", binding::PRODUCT, binding::MINUS),
        Function::Power => ("^", CLOSED, binding::POWER),
        _ => return None,
    })
}

/// The shortest text that reads back as this number.
pub(crate) fn number(value: f64) -> String {
    let plain = value == 0.0 || (1e-4..1e7).contains(&value.abs()) || !value.is_finite();
    if plain { format!("{value}") } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Function::{Add, And, Divide, Equal, Exp, Less, Multiply, Negate, Not, Or, Power, Select, Subtract};

    fn call(function: Function, arguments: &[Expression]) -> Expression {
        Expression::call(function, arguments)
    }

    #[test]
    fn parentheses_stand_where_they_are_needed() {
        let [a, b, c] = [0, 1, 2].map(Expression::species);
        let name = |symbol: Symbol| match symbol {
            Symbol::Species(at) => ["a", "b", "c"][at].to_owned(),
            _ => "t".into(),
        };
        let sum = call(Add, &[a.clone(), b.clone()]);
        let product = call(Multiply, &[a.clone(), b.clone()]);
        let difference = call(Subtract, &[a.clone(), b.clone()]);
        let quotient = call(Divide, &[a.clone(), b.clone()]);
        let power = call(Power, &[a.clone(), b.clone()]);
        let negative = call(Negate, std::slice::from_ref(&a));
        let less = call(Less, &[a.clone(), b.clone()]);
        let cases = [
            (call(Multiply, &[sum.clone(), c.clone()]), "(a + b)*c"),
            (call(Multiply, &[c.clone(), product.clone()]), "c*(a*b)"),
            (call(Subtract, &[c.clone(), difference.clone()]), "c - (a - b)"),
            (call(Subtract, &[difference, c.clone()]), "a - b - c"),
            (call(Subtract, &[c.clone(), product.clone()]), "c - a*b"),
            (call(Divide, &[c.clone(), product.clone()]), "c/(a*b)"),
            (call(Divide, &[product, c.clone()]), "a*b/c"),
            (call(Divide, &[c.clone(), quotient.clone()]), "c/(a/b)"),
            (call(Multiply, &[c.clone(), quotient]), "c*(a/b)"),
            (call(Power, &[power.clone(), c.clone()]), "(a^b)^c"),
            (call(Power, &[c.clone(), power.clone()]), "c^a^b"),
            (call(Power, &[negative.clone(), 2.0.into()]), "(-a)^2"),
            (call(Negate, &[power]), "-a^b"),
            (call(Power, &[(-2.0).into(), c.clone()]), "(-2)^c"),
            (call(Multiply, &[c.clone(), negative.clone()]), "c*-a"),
            (call(Subtract, &[c.clone(), negative]), "c - -a"),
            (call(Exp, std::slice::from_ref(&sum)), "exp(a + b)"),
            (call(And, &[call(Or, &[less.clone(), c.clone()]), c.clone()]), "(a < b or c) and c"),
            (call(Not, std::slice::from_ref(&less)), "not a < b"),
            (call(Equal, &[less.clone(), c.clone()]), "(a < b) == c"),
            (call(Select, &[less, 1e-9.into(), 2.5e10.into()]), "select(a < b, 1e-9, 2.5e10)"),
            (call(Add, &[Expression::Symbol(Symbol::Time), 0.0.into()]), "t + 0"),
        ];
        for (expression, expected) in cases {
            assert_eq!(expression.text(&name), expected);
        }
    }
}
