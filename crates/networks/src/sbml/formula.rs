//! Formulas of a document: expressions whose symbols are the document's quantities.

use crate::{Expression, Function, Symbol};

/// An expression in which `Symbol::Parameter(q)` is quantity q of the document, whatever it will be in a network.
pub(super) type Formula = Expression;

/// The symbol of a quantity.
pub(super) const fn quantity(index: usize) -> Formula {
    Expression::parameter(index)
}

/// The quantities that a formula mentions.
pub(super) fn mentions(formula: &Formula, visit: &mut dyn FnMut(usize)) {
    formula.symbols(&mut |symbol| {
        if let Symbol::Parameter(index) = symbol {
            visit(index);
        }
    });
}

/// Whether a formula mentions the time.
pub(super) fn depends_on_time(formula: &Formula) -> bool {
    let mut found = false;
    formula.symbols(&mut |symbol| found |= symbol == Symbol::Time);
    found
}

/// A function of arguments, as a number where they are numbers.
pub(super) fn folded(function: Function, arguments: Vec<Expression>) -> Expression {
    let mut numbers = [f64::NAN; 3];
    for (number, argument) in numbers.iter_mut().zip(&arguments) {
        match argument {
            Expression::Number(value) => *number = *value,
            _ => return Expression::Call(function, arguments),
        }
    }
    Expression::Number(function.value(numbers))
}

/// The formula with an expression in the place of each symbol.
pub(super) fn replaced(formula: &Formula, with: &mut dyn FnMut(Symbol) -> Expression) -> Expression {
    match formula {
        Expression::Number(value) => Expression::Number(*value),
        Expression::Symbol(symbol) => with(*symbol),
        Expression::Call(function, arguments) => {
            folded(*function, arguments.iter().map(|argument| replaced(argument, with)).collect())
        }
    }
}

/// The value of a formula.
pub(super) fn value(formula: &Formula, of: &dyn Fn(Symbol) -> f64) -> f64 {
    match formula {
        Expression::Number(value) => *value,
        Expression::Symbol(symbol) => of(*symbol),
        Expression::Call(function, arguments) => {
            let mut numbers = [f64::NAN; 3];
            for (number, argument) in numbers.iter_mut().zip(arguments) {
                *number = value(argument, of);
            }
            function.value(numbers)
        }
    }
}

/// `first`, `operands` and so on joined by a function of two, in the order given. Long lists are joined in
/// groups, so that the depth of the result grows with the logarithm of their number.
pub(super) fn joined(function: Function, mut operands: Vec<Formula>, none: f64) -> Formula {
    while operands.len() > GROUP {
        operands = operands.chunks(GROUP).map(|group| joined(function, group.to_vec(), none)).collect();
    }
    let join = |left, right| Expression::call(function, [left, right]);
    operands.into_iter().reduce(join).unwrap_or(Expression::Number(none))
}

/// Operands joined without regrouping.
pub(super) const GROUP: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sums_stay_shallow() {
        fn depth(formula: &Formula) -> usize {
            match formula {
                Expression::Call(_, arguments) => 1 + arguments.iter().map(depth).max().unwrap_or(0),
                _ => 0,
            }
        }
        let sum = joined(Function::Add, (0..100_000).map(|n| f64::from(n).into()).collect(), 0.0);
        assert_eq!(value(&sum, &|_| f64::NAN), 4_999_950_000.0);
        assert!(depth(&sum) < 4 * GROUP);
        assert_eq!(joined(Function::Multiply, Vec::new(), 1.0), Expression::Number(1.0));
        assert_eq!(replaced(&sum, &mut |_| 0.0.into()), Expression::Number(4_999_950_000.0));
    }
}
