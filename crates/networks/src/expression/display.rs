//! Expressions as a person writes them.

use super::{Expression, Function, Symbol};

/// How tightly the parts of an expression hold together; what is looser than its place asks stands in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

impl Expression {
    /// The expression as text, with the names that `name` gives to its symbols.
    #[must_use]
    pub fn text(&self, name: &dyn Fn(Symbol) -> String) -> String {
        let mut text = String::new();
        self.write(&mut text, name, Binding::Or);
        text
    }

    fn write(&self, text: &mut String, name: &dyn Fn(Symbol) -> String, place: Binding) {
        let parentheses = self.binding() < place;
        if parentheses {
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
                (_, [a]) if *function == Function::Negate => {
                    text.push('-');
                    a.write(text, name, Binding::Power);
                }
                _ => {
                    *text += word(*function);
                    text.push('(');
                    for (at, argument) in arguments.iter().enumerate() {
                        *text += if at > 0 { ", " } else { "" };
                        argument.write(text, name, Binding::Or);
                    }
                    text.push(')');
                }
            },
        }
        if parentheses {
            text.push(')');
        }
    }

    fn binding(&self) -> Binding {
        match self {
            Self::Number(value) if value.is_sign_negative() => Binding::Sign,
            Self::Number(_) | Self::Symbol(_) => Binding::Atom,
            Self::Call(function, _) => match function {
                Function::Or => Binding::Or,
                Function::And => Binding::And,
                Function::Less | Function::LessOrEqual | Function::Equal => Binding::Comparison,
                Function::Add | Function::Subtract => Binding::Sum,
                Function::Multiply | Function::Divide => Binding::Product,
                Function::Negate => Binding::Sign,
                Function::Power => Binding::Power,
                _ => Binding::Atom,
            },
        }
    }
}

/// The sign between two arguments, and how tight each of them must be. Sums of sums and products of products
/// need no parentheses on either side.
fn infix(function: Function) -> Option<(&'static str, Binding, Binding)> {
    Some(match function {
        Function::Or => (" or ", Binding::Or, Binding::Or),
        Function::And => (" and ", Binding::And, Binding::And),
        Function::Less => (" < ", Binding::Sum, Binding::Sum),
        Function::LessOrEqual => (" <= ", Binding::Sum, Binding::Sum),
        Function::Equal => (" == ", Binding::Sum, Binding::Sum),
        Function::Add => (" + ", Binding::Sum, Binding::Sum),
        Function::Subtract => (" - ", Binding::Sum, Binding::Product),
        Function::Multiply => ("*", Binding::Product, Binding::Product),
        Function::Divide => ("/", Binding::Product, Binding::Sign),
        Function::Power => ("^", Binding::Atom, Binding::Power),
        _ => return None,
    })
}

fn word(function: Function) -> &'static str {
    match function {
        Function::Exp => "exp",
        Function::Ln => "ln",
        Function::Log10 => "log10",
        Function::Sqrt => "sqrt",
        Function::Abs => "abs",
        Function::Floor => "floor",
        Function::Ceiling => "ceil",
        Function::Sin => "sin",
        Function::Cos => "cos",
        Function::Tan => "tan",
        Function::Tanh => "tanh",
        Function::Min => "min",
        Function::Max => "max",
        Function::Hill => "hill",
        Function::Not => "not",
        Function::Select => "if",
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Power
        | Function::Negate
        | Function::Less
        | Function::LessOrEqual
        | Function::Equal
        | Function::And
        | Function::Or => "",
    }
}

/// The shortest text that reads back as this number.
fn number(value: f64) -> String {
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
            (call(Multiply, &[c.clone(), product.clone()]), "c*a*b"),
            (call(Subtract, &[c.clone(), difference.clone()]), "c - (a - b)"),
            (call(Subtract, &[difference, c.clone()]), "a - b - c"),
            (call(Subtract, &[c.clone(), product.clone()]), "c - a*b"),
            (call(Divide, &[c.clone(), product.clone()]), "c/(a*b)"),
            (call(Divide, &[product, c.clone()]), "a*b/c"),
            (call(Divide, &[c.clone(), quotient.clone()]), "c/(a/b)"),
            (call(Multiply, &[c.clone(), quotient]), "c*a/b"),
            (call(Power, &[power.clone(), c.clone()]), "(a^b)^c"),
            (call(Power, &[c.clone(), power.clone()]), "c^a^b"),
            (call(Power, &[negative.clone(), 2.0.into()]), "(-a)^2"),
            (call(Negate, &[power]), "-a^b"),
            (call(Power, &[(-2.0).into(), c.clone()]), "(-2)^c"),
            (call(Multiply, &[c.clone(), negative.clone()]), "c*-a"),
            (call(Subtract, &[c.clone(), negative]), "c - -a"),
            (call(Exp, std::slice::from_ref(&sum)), "exp(a + b)"),
            (call(And, &[call(Or, &[less.clone(), c.clone()]), c.clone()]), "(a < b or c) and c"),
            (call(Not, std::slice::from_ref(&less)), "not(a < b)"),
            (call(Equal, &[less.clone(), c.clone()]), "(a < b) == c"),
            (call(Select, &[less, 1e-9.into(), 2.5e10.into()]), "if(a < b, 1e-9, 2.5e10)"),
            (call(Add, &[Expression::Symbol(Symbol::Time), 0.0.into()]), "t + 0"),
        ];
        for (expression, expected) in cases {
            assert_eq!(expression.text(&name), expected);
        }
    }
}
