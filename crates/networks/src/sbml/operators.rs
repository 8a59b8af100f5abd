//! The operators of MathML by the functions that expressions have.

use super::formula::{Formula, joined};
use crate::{Expression, Function};
use Function::{
    Add, And, Ceiling, Cos, Divide, Equal, Exp, Floor, Less, LessOrEqual, Ln, Log10, Max, Min, Multiply,
    Negate, Not, Or, Power, Select, Sin, Sqrt, Subtract, Tan,
};

/// Why an operator gives no expression.
#[derive(Debug, PartialEq)]
pub(super) enum Wrong {
    /// Nothing computes it.
    Unsupported,
    /// It takes another number of arguments: this many.
    Arguments(&'static str),
}

/// How often an argument may occur in the result of an operator.
pub(super) fn copies(operator: &str, arguments: usize) -> usize {
    match operator {
        "sinh" | "cosh" | "sech" | "csch" | "coth" | "arcsinh" | "arccosh" | "arctanh" | "rem"
        | "quotient" => 4,
        "xor" => 2,
        "eq" | "lt" | "gt" | "leq" | "geq" if arguments > 2 => 2,
        _ => 1,
    }
}

/// How much deeper than its arguments the result of an operator is, beyond what joining them adds.
pub(super) const ADDED_DEPTH: usize = 8;

/// What an operator makes of its arguments; the qualifier is the degree of a root or the base of a logarithm.
pub(super) fn apply(
    operator: &str,
    arguments: Vec<Formula>,
    qualifier: Option<Formula>,
) -> Result<Formula, Wrong> {
    if let Some((function, none)) = many(operator) {
        return if arguments.is_empty() && none.is_nan() {
            Err(Wrong::Arguments("1 or more"))
        } else {
            Ok(joined(function, arguments, none))
        };
    }
    match operator {
        "eq" | "lt" | "gt" | "leq" | "geq" => comparison(operator, &arguments),
        "xor" => Ok(exclusive(arguments)),
        "minus" => match <[Formula; 1]>::try_from(arguments) {
            Ok(only) => Ok(call(Negate, only)),
            Err(arguments) => {
                two(arguments).map(|both| call(Subtract, both)).map_err(|_| Wrong::Arguments("1 or 2"))
            }
        },
        "divide" => two(arguments).map(|both| call(Divide, both)),
        "power" => two(arguments).map(|both| call(Power, both)),
        "neq" => two(arguments).map(|both| not(call(Equal, both))),
        "implies" => two(arguments).map(|[a, b]| call(Or, [not(a), b])),
        "quotient" => two(arguments).map(|[a, b]| quotient(a, b)),
        "rem" => two(arguments).map(|[a, b]| {
            let whole = quotient(a.clone(), b.clone());
            call(Subtract, [a, call(Multiply, [b, whole])])
        }),
        _ => match <[Formula; 1]>::try_from(arguments) {
            Ok([a]) => single(operator, a, qualifier),
            Err(_) => Err(single(operator, 0.0.into(), None).err().unwrap_or(Wrong::Arguments("1"))),
        },
    }
}

/// Operators of any number of arguments, with their value for none.
fn many(operator: &str) -> Option<(Function, f64)> {
    Some(match operator {
        "plus" => (Add, 0.0),
        "times" => (Multiply, 1.0),
        "and" => (And, 1.0),
        "or" => (Or, 0.0),
        "min" => (Min, f64::NAN),
        "max" => (Max, f64::NAN),
        _ => return None,
    })
}

fn single(operator: &str, a: Formula, qualifier: Option<Formula>) -> Result<Formula, Wrong> {
    let inverse = |a: Formula| call(Divide, [1.0.into(), a]);
    let square = |a: &Formula| call(Multiply, [a.clone(), a.clone()]);
    let exp = |a: &Formula| call(Exp, [a.clone()]);
    let back = |a: &Formula| call(Exp, [call(Negate, [a.clone()])]);
    let half = |a: Formula| call(Divide, [a, 2.0.into()]);
    let sinh = |a: &Formula| half(call(Subtract, [exp(a), back(a)]));
    let cosh = |a: &Formula| half(call(Add, [exp(a), back(a)]));
    Ok(match operator {
        "exp" => call(Exp, [a]),
        "ln" => call(Ln, [a]),
        "log" => match qualifier {
            None => call(Log10, [a]),
            Some(Expression::Number(10.0)) => call(Log10, [a]),
            Some(base) => call(Divide, [call(Ln, [a]), call(Ln, [base])]),
        },
        "root" => match qualifier {
            None => call(Sqrt, [a]),
            Some(Expression::Number(2.0)) => call(Sqrt, [a]),
            Some(degree) => call(Power, [a, inverse(degree)]),
        },
        "abs" => call(Function::Abs, [a]),
        "floor" => call(Floor, [a]),
        "ceiling" => call(Ceiling, [a]),
        "not" => not(a),
        "sin" => call(Sin, [a]),
        "cos" => call(Cos, [a]),
        "tan" => call(Tan, [a]),
        "csc" => inverse(call(Sin, [a])),
        "sec" => inverse(call(Cos, [a])),
        "cot" => inverse(call(Tan, [a])),
        "sinh" => sinh(&a),
        "cosh" => cosh(&a),
        "tanh" => call(Function::Tanh, [a]),
        "csch" => inverse(sinh(&a)),
        "sech" => inverse(cosh(&a)),
        "coth" => inverse(call(Function::Tanh, [a])),
        "arcsinh" => call(Ln, [call(Add, [a.clone(), call(Sqrt, [call(Add, [square(&a), 1.0.into()])])])]),
        "arccosh" => {
            call(Ln, [call(Add, [a.clone(), call(Sqrt, [call(Subtract, [square(&a), 1.0.into()])])])])
        }
        "arctanh" => {
            let share = call(Divide, [call(Add, [1.0.into(), a.clone()]), call(Subtract, [1.0.into(), a])]);
            half(call(Ln, [share]))
        }
        _ => return Err(Wrong::Unsupported),
    })
}

fn call<const N: usize>(function: Function, arguments: [Formula; N]) -> Formula {
    Expression::call(function, arguments)
}

fn not(a: Formula) -> Formula {
    call(Not, [a])
}

fn two(arguments: Vec<Formula>) -> Result<[Formula; 2], Wrong> {
    arguments.try_into().map_err(|_| Wrong::Arguments("2"))
}

/// `a < b < c` is `a < b` and `b < c`.
fn comparison(operator: &str, arguments: &[Formula]) -> Result<Formula, Wrong> {
    if arguments.len() < 2 {
        return Err(Wrong::Arguments("2 or more"));
    }
    let compare = |pair: &[Formula]| {
        let (a, b) = (pair[0].clone(), pair[1].clone());
        match operator {
            "eq" => call(Equal, [a, b]),
            "lt" => call(Less, [a, b]),
            "gt" => call(Less, [b, a]),
            "leq" => call(LessOrEqual, [a, b]),
            _ => call(LessOrEqual, [b, a]),
        }
    };
    Ok(joined(And, arguments.windows(2).map(compare).collect(), 1.0))
}

/// Whether an odd number of them is true.
fn exclusive(arguments: Vec<Formula>) -> Formula {
    let truth = |a: Formula| not(not(a));
    let sum = joined(Add, arguments.into_iter().map(truth).collect(), 0.0);
    // The sum is odd where half of it is no whole number.
    let half = call(Divide, [sum, 2.0.into()]);
    not(call(Equal, [call(Floor, [half.clone()]), half]))
}

/// a / b without its decimals, towards 0.
fn quotient(a: Formula, b: Formula) -> Formula {
    let ratio = call(Divide, [a, b]);
    let negative = call(Less, [ratio.clone(), 0.0.into()]);
    call(Select, [negative, call(Ceiling, [ratio.clone()]), call(Floor, [ratio])])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sbml::formula::value;

    fn at(operator: &str, arguments: &[f64]) -> f64 {
        let formula = apply(operator, arguments.iter().map(|&a| a.into()).collect(), None).unwrap();
        value(&formula, &|_| f64::NAN)
    }

    /// Against the standard library, which the crate itself must not call.
    #[test]
    fn compositions_have_the_values_of_what_they_compose() {
        for x in [-2.5_f64, -0.3, 0.4, 1.7] {
            let pairs = [
                ("sinh", x.sinh()),
                ("cosh", x.cosh()),
                ("tanh", x.tanh()),
                ("sech", 1.0 / x.cosh()),
                ("csch", 1.0 / x.sinh()),
                ("coth", 1.0 / x.tanh()),
                ("tan", x.tan()),
                ("cot", 1.0 / x.tan()),
                ("arcsinh", x.asinh()),
                ("abs", x.abs()),
                ("floor", x.floor()),
                ("ceiling", x.ceil()),
            ];
            for (operator, expected) in pairs {
                let found = at(operator, &[x]);
                assert!(
                    (found - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                    "{operator}({x}) = {found}"
                );
            }
            assert!((at("csc", &[x]) * at("sin", &[x]) - 1.0).abs() < 1e-12);
            assert!((at("sec", &[x]) * at("cos", &[x]) - 1.0).abs() < 1e-12);
        }
        assert!((at("arccosh", &[1.7]) - 1.7_f64.acosh()).abs() < 1e-12);
        assert!((at("arctanh", &[0.4]) - 0.4_f64.atanh()).abs() < 1e-12);
        assert_eq!((at("quotient", &[-7.0, 2.0]), at("rem", &[-7.0, 2.0])), (-3.0, -1.0));
        assert_eq!((at("quotient", &[7.0, 2.0]), at("rem", &[7.0, 2.0])), (3.0, 1.0));
    }

    #[test]
    fn logic_and_comparisons_take_any_number_of_arguments() {
        assert_eq!((at("plus", &[]), at("times", &[]), at("and", &[]), at("or", &[])), (0.0, 1.0, 1.0, 0.0));
        assert_eq!((at("xor", &[]), at("xor", &[3.0]), at("xor", &[1.0, 5.0])), (0.0, 1.0, 0.0));
        assert_eq!((at("xor", &[1.0, 1.0, 1.0]), at("xor", &[0.0, 1.0, 0.0])), (1.0, 1.0));
        assert_eq!((at("lt", &[1.0, 2.0, 3.0]), at("lt", &[1.0, 3.0, 2.0])), (1.0, 0.0));
        assert_eq!((at("geq", &[2.0, 2.0]), at("gt", &[2.0, 2.0]), at("leq", &[2.0, 2.0])), (1.0, 0.0, 1.0));
        assert_eq!(
            (at("neq", &[1.0, 2.0]), at("implies", &[1.0, 0.0]), at("implies", &[0.0, 0.0])),
            (1.0, 0.0, 1.0)
        );
        assert_eq!((at("min", &[3.0, 1.0, 2.0]), at("max", &[3.0, 1.0, 2.0])), (1.0, 3.0));
        assert_eq!(
            (at("minus", &[3.0]), at("minus", &[3.0, 1.0]), at("power", &[2.0, 10.0])),
            (-3.0, 2.0, 1024.0)
        );
    }

    #[test]
    fn qualifiers_and_counts() {
        let log = apply("log", vec![8.0.into()], Some(2.0.into())).unwrap();
        let root = apply("root", vec![27.0.into()], Some(3.0.into())).unwrap();
        assert!((value(&log, &|_| 0.0) - 3.0).abs() < 1e-12 && (value(&root, &|_| 0.0) - 3.0).abs() < 1e-12);
        assert_eq!((at("log", &[1000.0]), at("root", &[9.0])), (3.0, 3.0));
        assert_eq!(apply("divide", vec![1.0.into()], None), Err(Wrong::Arguments("2")));
        assert_eq!(apply("minus", Vec::new(), None), Err(Wrong::Arguments("1 or 2")));
        assert_eq!(apply("exp", Vec::new(), None), Err(Wrong::Arguments("1")));
        assert_eq!(apply("min", Vec::new(), None), Err(Wrong::Arguments("1 or more")));
        assert_eq!(apply("lt", vec![1.0.into()], None), Err(Wrong::Arguments("2 or more")));
        assert_eq!(apply("factorial", vec![1.0.into()], None), Err(Wrong::Unsupported));
    }
}
