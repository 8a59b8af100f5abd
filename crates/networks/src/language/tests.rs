//! The language against hand values, and every mistake with its exact text.

use counterpoise_core::stream::{Seed, Stage};
use rand::RngExt;

use super::*;
use crate::{Function, Rate, Symbol};

/// A value by walking the tree; x = 3, y = 5, time = 7.
fn value(expression: &Expression) -> f64 {
    match expression {
        Expression::Number(number) => *number,
        Expression::Symbol(Symbol::Parameter(at)) => [3.0, 5.0][*at],
        Expression::Symbol(_) => 7.0,
        Expression::Call(function, arguments) => {
            let mut values = [f64::NAN; 3];
            assert_eq!(arguments.len(), function.arity());
            for (place, argument) in values.iter_mut().zip(arguments) {
                *place = value(argument);
            }
            function.value(values)
        }
    }
}

fn xy() -> Names {
    let mut names = Names::default();
    names.parameter("x").unwrap();
    names.parameter("y").unwrap();
    names.constant("volume", 2.0).unwrap();
    names.species("Sun").unwrap();
    names
}

#[test]
fn operators_bind_as_in_mathematics() {
    let (names, cases) = (
        xy(),
        [
            ("-x^2", -9.0),
            ("(-x)^2", 9.0),
            ("2^3^2", 512.0),
            ("2^-1", 0.5),
            ("2^-x^2", 1.0 / 512.0),
            ("2^-1 * 4", 2.0),
            ("x - y - 1", -3.0),
            ("x / y / 2", 0.3),
            ("x + y * 2", 13.0),
            ("(x + y) * 2", 16.0),
            ("-x * -y", 15.0),
            ("x--y", 8.0),
            ("2*-x", -6.0),
            ("x / y * 2", 1.2),
            ("1_000 + 1e-3 + .5 + 5.", 1005.501),
            ("1E+2", 100.0),
            ("hill(x, 3, 4)", 0.5),
            ("min(x, y) + max(x, y) * 10", 53.0),
            ("exp(0) + ln(1)", 1.0),
            ("log10(1000) + sqrt(4) + abs(-1)", 6.0),
            ("floor(2.7) + ceil(2.2)", 5.0),
            ("sin(0) + cos(0) + tan(0) + tanh(0)", 1.0),
            ("x < y", 1.0),
            ("x > y", 0.0),
            ("x <= 3", 1.0),
            ("x >= y", 0.0),
            ("x == 3", 1.0),
            ("x != 3", 0.0),
            ("select(x < y and not x == 2, 10, 20)", 10.0),
            ("x > y or x + 2 == y and y > 6", 0.0),
            ("not x < y", 0.0),
            ("time + volume", 9.0),
            ("x\n+ y", 8.0),
        ],
    );
    for (text, expected) in cases {
        let parsed = expression(text, &names.scope()).unwrap();
        assert_eq!(value(&parsed), expected, "{text}");
        let network = xy().into_network(Vec::new(), Vec::new());
        let again = expression_text(&parsed, &network);
        assert_eq!(expression(&again, &names.scope()).unwrap(), parsed, "{text} became {again}");
    }
}

fn told(text: &str) -> Vec<(String, String)> {
    let names = xy();
    let scope = names.scope().unknown("add it");
    let mistakes = expression(text, &scope).unwrap_err();
    mistakes.iter().map(|mistake| (text[mistake.span.clone()].to_owned(), mistake.to_string())).collect()
}

#[test]
fn each_mistake_in_an_expression_has_its_words_and_its_place() {
    let functions = "exp, ln, log10, sqrt, abs, floor, ceil, sin, cos, tan, tanh, min, max, hill, select";
    let no_function = format!("there is no function `frobnicate` (functions: {functions})");
    let cases = [
        ("", "", "expected a number or a name, found the end"),
        ("x +", "", "expected a number or a name, found the end"),
        ("x + * y", "*", "expected a number or a name, found `*`"),
        ("x y", "y", "expected an operator, found `y` (a product is written a * b)"),
        ("x 2", "2", "expected an operator, found `2` (a product is written a * b)"),
        ("2x", "x", "expected an operator, found `x` (a product is written a * b)"),
        ("2 (x)", "(", "expected an operator, found `(` (a product is written a * b)"),
        ("x = y", "=", "expected an operator, found `=` (a comparison is written a == b)"),
        ("(x", "(", "this `(` is not closed"),
        ("x)", ")", "expected an operator, found `)`"),
        ("exp(x", "exp", "the `(` of `exp` is not closed"),
        ("z + x", "z", "`z` is not known (add it)"),
        ("volme", "volme", "`volme` is not known (did you mean `volume`?)"),
        ("something", "something", "`something` is not known (add it)"),
        ("exp + x", "exp", "`exp` is not known (the function is written exp(...))"),
        ("hill(x, y)", "hill", "`hill` takes 3 arguments, found 2"),
        ("exp()", "exp", "`exp` takes 1 argument, found 0"),
        (
            "log(x)",
            "log",
            "`log` has two meanings (write ln for the natural logarithm, log10 for the one to base 10)",
        ),
        ("Sun(x)", "Sun", "`Sun` is not a function (a product is written Sun * (...))"),
        ("sqr(x)", "sqr", "there is no function `sqr` (did you mean `sqrt`?)"),
        ("frobnicate(x)", "frobnicate", &no_function),
        ("x < y < 3", "<", "comparisons cannot be chained (write a < b and b < c)"),
        ("x ** 2", "**", "there is no operator `**` (a power is written a ^ b)"),
        ("x && y", "&&", "there is no operator `&&` (write `and`)"),
        ("x $ y", "$", "unexpected `$`"),
        ("x \u{1} y", "\u{1}", "unexpected character U+0001"),
        ("1e999", "1e999", "the number 1e999 is too large"),
        (".", ".", "unexpected `.`"),
    ];
    for (text, place, message) in cases {
        assert_eq!(told(text), [(place.to_owned(), message.to_owned())], "{text}");
    }
    assert_eq!(told("foo1 + bar22 * exp(x, y)").len(), 3, "all at once");
}

#[test]
fn expressions_are_bounded() {
    let deep = |n: usize| format!("{}x{}", "(".repeat(n), ")".repeat(n));
    let scope = xy();
    assert!(expression(&deep(190), &scope.scope()).is_ok());
    for text in [deep(300), deep(300_000), "-".repeat(100_000), "2^".repeat(100_000), "exp(".repeat(100_000)]
    {
        let mistakes = expression(&text, &scope.scope()).unwrap_err();
        assert_eq!(mistakes[0].message, "this is nested more than 200 deep");
    }
    let long = |n: usize| vec!["x"; n].join(" + ");
    assert!(expression(&long(1_001), &scope.scope()).is_ok());
    let mistakes = expression(&long(1_002), &scope.scope()).unwrap_err();
    assert_eq!(mistakes[0].message, "an expression may have 1000 operations, this has more");
}

#[test]
fn observables_have_names() {
    let names = xy();
    let scope = names.scope();
    assert_eq!(observable(" Sun ", &scope), Ok(("Sun".into(), Expression::species(0))));
    let (name, total) = observable("total = Sun + 2*x", &scope).unwrap();
    assert_eq!((name.as_str(), value(&total)), ("total", 13.0));
    let told = |text: &str| observable(text, &scope).unwrap_err()[0].to_string();
    assert_eq!(
        told(" Sun + x "),
        "an expression that is observed needs a name (name it, as in \"total = Sun + x\")"
    );
    assert_eq!(told("total ="), "expected a number or a name, found the end");
    assert_eq!(told("Sum"), "`Sum` is not known (did you mean `Sun`?)");
}

#[test]
fn a_network_is_read_and_written() {
    let text = "# dimerization\nS1 -> 0 @ k1\r\n\n S2 -> S3 @ 2*k2 # decay\nbind: S1 + S1 -> S2 @ k3\n\
                2*S1 + 0x <-> S1 + 2S2 + S1 @ { k4 * S1 / (1 + S1) }, 0.5\n-> S1 @ k1\n∅ -> S3 @ { 2 + time }";
    let text = text.replace(" + 0x", "");
    let network = Network::parse(&text, &["k1", "k2", "k3", "k4"], &[("S1", 100.0), ("free", 1.0)]).unwrap();
    let names: Vec<&str> = network.species.iter().map(|species| species.name.as_str()).collect();
    assert_eq!(names, ["S1", "S2", "S3", "free"]);
    assert_eq!(network.species[0].initial, Expression::Number(100.0));
    assert_eq!(network.species[1].initial, Expression::Number(0.0));
    let reactions: Vec<String> =
        network.reactions.iter().map(|reaction| reaction_text(reaction, &network)).collect();
    assert_eq!(
        reactions,
        [
            "S1 -> 0 @ k1",
            "S2 -> S3 @ 2*k2",
            "2 S1 -> S2 @ k3",
            "0 -> 2 S2 @ { k4*S1/(1 + S1) }",
            "2 S1 + 2 S2 -> 2 S1 @ 0.5",
            "0 -> S1 @ k1",
            "0 -> S3 @ { 2 + time }",
        ]
    );
    let called: Vec<&str> = network.reactions.iter().map(|reaction| reaction.name.as_str()).collect();
    assert_eq!(called[0], "S1 -> 0");
    assert_eq!(called[2], "bind");
    assert_eq!(called[4], "2*S1 <-> S1 + 2S2 + S1 (backwards)");
    assert_eq!(network.reactions[2].changes, [(0, -2.0), (1, 1.0)]);
    let Rate::MassAction { reactants, .. } = &network.reactions[4].rate else { panic!() };
    assert_eq!(reactants[..], [(0, 2), (1, 2)]);
    let again = Network::parse(&reactions.join("\n"), &["k1", "k2", "k3", "k4"], &[("S1", 100.0)]).unwrap();
    for (one, other) in network.reactions.iter().zip(&again.reactions) {
        assert_eq!((&one.changes, &one.rate), (&other.changes, &other.rate));
    }
}

#[test]
fn rules_that_cannot_change_stand_for_their_expressions() {
    let mut names = xy();
    for (name, text) in [("back", "x * volume"), ("total", "Sun + back")] {
        let value = expression(text, &names.scope()).unwrap();
        names.rule(name, value).unwrap();
    }
    let draft = Draft::read("Sun -> 0 @ back\nSun -> 0 @ { total }");
    let reactions = draft.reactions(&names, Counting::Permutations, "").unwrap();
    let times = Expression::call(Function::Multiply, [Expression::parameter(0), Expression::Number(2.0)]);
    let rate =
        Rate::MassAction { constant: times, reactants: vec![(0, 1)], counting: Counting::Permutations };
    assert_eq!(reactions[0].rate, rate);
    assert_eq!(reactions[1].rate, Rate::Expression(Expression::Symbol(Symbol::Rule(0))));
    let network = names.into_network(Vec::new(), reactions);
    assert_eq!(network.rules.len(), 1);
    assert_eq!(expression_text(&network.rules[0].value, &network), "Sun + x*2");
}

fn refused(text: &str) -> Vec<(String, String)> {
    let mistakes = Network::parse(text, &["k", "kf"], &[]).unwrap_err();
    mistakes.iter().map(|mistake| (text[mistake.span.clone()].to_owned(), mistake.to_string())).collect()
}

#[test]
fn each_mistake_in_a_reaction_has_its_words_and_its_place() {
    let written = "(a reaction is written A + 2 B -> C @ k)";
    let cases = [
        ("A B -> C @ k", "B", format!("expected `+` or `->`, found `B` {written}")),
        ("A - B -> C @ k", "-", format!("expected `+` or `->`, found `-` {written}")),
        ("A + B", "", format!("expected `+` or `->`, found the end of the line {written}")),
        ("@ k", "@", format!("expected a species or `->`, found `@` {written}")),
        ("A -> B", "A -> B", "this reaction has no rate (write it after an @: A -> B @ k)".into()),
        ("A -> B k", "k", "expected `+` or `@`, found `k`".into()),
        ("A -> B @", "", "expected a rate, found none (for example @ k)".into()),
        ("A -> B @ # k", "", "expected a rate, found none (for example @ k)".into()),
        ("A + -> B @ k", "->", "expected a species, found `->`".into()),
        ("A => B @ k", "=>", "there is no operator `=>` (an arrow is written ->)".into()),
        ("1.5 A -> B @ k", "1.5", "expected a whole number from 1 to 1000 of a species, found 1.5".into()),
        ("0 A -> B @ k", "0", "expected a whole number from 1 to 1000 of a species, found 0".into()),
        (
            "A -> 1_001 B @ k",
            "1_001",
            "expected a whole number from 1 to 1000 of a species, found 1_001".into(),
        ),
        ("600 A + 600 A -> B @ k", "A", "more than 1000 of `A` on one side".into()),
        (
            "A + B -> B + A @ k",
            "A + B -> B + A",
            "this reaction changes nothing (both sides are the same: remove it, or correct one of them)"
                .into(),
        ),
        (
            "x: A -> A @ k",
            "A -> A",
            "this reaction changes nothing (both sides are the same: remove it, or correct one of them)"
                .into(),
        ),
        (
            "A -> B @ k * A",
            "A",
            "`A` changes in time, and the constant of mass action must not \
             (a rate that is no constant stands in braces: @ { ... })"
                .into(),
        ),
        (
            "A -> B @ time",
            "time",
            "`time` changes in time, and the constant of mass action must not \
             (a rate that is no constant stands in braces: @ { ... })"
                .into(),
        ),
        ("A -> B @ { k * C }", "C", "`C` is not known (add it to the parameters)".into()),
        ("A -> B @ speed", "speed", "`speed` is not known (add it to the parameters)".into()),
        (
            "A -> B @ { k * A",
            "{",
            "this `{` is not closed on its line (a rate stands on one line: @ { ... })".into(),
        ),
        (
            "A -> B @ { k } k",
            "k",
            "expected the end of the line after `}` (what stands in braces is the whole rate)".into(),
        ),
        ("A -> B @ k k", "k", "expected an operator, found `k` (a product is written a * b)".into()),
        (
            "A -> B @ k, kf",
            "k, kf",
            "a reaction with `->` takes one rate, found 2 \
             (a reversible reaction is written A <-> B @ forward, backward)"
                .into(),
        ),
        (
            "A <-> B @ k",
            "k",
            "a reaction with `<->` takes two rates, found 1 (write them as @ forward, backward)".into(),
        ),
        ("k -> B @ kf", "k", "`k` is a parameter and cannot be a species too".into()),
        ("time -> B @ k", "time", "`time` is the simulated time and cannot be another name".into()),
        ("exp -> B @ k", "exp", "`exp` is a function and cannot be another name".into()),
        ("A -> not @ k", "not", "expected a species, found `not`".into()),
    ];
    for (text, place, message) in &cases {
        assert_eq!(refused(text), [((*place).to_owned(), message.clone())], "{text}");
    }
    let all = refused("A -> B @ speed\nA B\nA -> 0 @ { foo1 + bar22 }");
    assert_eq!(all.len(), 4, "every mistake at once: {all:?}");
    assert!(all[1].1.starts_with("expected `+` or `->`"), "in the order of the text: {all:?}");
    let only = refused("A -> C\nA -> B @ { k * C }");
    assert_eq!(only.len(), 1, "a reaction without a rate has species all the same: {only:?}");
    let elsewhere = Network::parse("A -> 0 @ k", &["k", "k", "k-1"], &[("k", 3.0)]).unwrap_err();
    let messages: Vec<String> = elsewhere.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "`k` is a parameter already",
            "`k-1` cannot be a name in a network (names are made of letters, digits and _, and begin with no digit)",
            "`k` is a parameter and cannot be a species too",
        ]
    );
}

#[test]
fn reactions_are_bounded() {
    let mistakes = Network::parse(&"A -> 0 @ k\n".repeat(10_001), &["k"], &[]).unwrap_err();
    assert_eq!(mistakes[0].message, "a network may have 10000 reactions, this has more");
    let told = |text: &str| Network::parse(text, &["k"], &[]).unwrap_err()[0].message.clone();
    let expected = |picks: u32| format!("mass action picks at most 100 molecules at once, found {picks}");
    assert_eq!(told("1000 A -> 0 @ k"), expected(1000));
    assert_eq!(told("60 A + 41 B -> 0 @ k"), expected(101));
    assert_eq!(told("0 <-> 101 A @ k, k"), expected(101));
    for fine in ["100 A -> 0 @ k", "0 -> 1000 A @ k", "1000 A -> 0 @ { k * A }"] {
        Network::parse(fine, &["k"], &[]).unwrap();
    }
    let mistakes = Network::parse(&"A ->\n".repeat(100_000), &["k"], &[]).unwrap_err();
    assert!(mistakes.len() <= 61);
    let mistakes = Network::parse(&format!("{}A -> 0 @ k", "A + ".repeat(100_000)), &["k"], &[]).unwrap_err();
    assert_eq!(mistakes[0].message, "expected at most 100 terms on a side, found `A`");
}

#[test]
fn no_text_panics() {
    const PIECES: [&str; 34] = [
        "A", "B", "k", "->", "<->", "@", "{", "}", "(", ")", "+", "-", "*", "/", "^", "2", "0", "1e9", ":",
        ",", "\n", "#", "∅", "é", "exp", "hill(", "time", "=", "==", "<", " ", "not", "1_", "\u{0}",
    ];
    let mut rng = Seed(5).stream(Stage::Reference, 0, 0);
    let (names, mut good) = (xy(), 0);
    for round in 0..20_000 {
        let length = rng.random_range(0..14);
        let text: String = match round % 4 {
            0 => (0..length).map(|_| char::from(rng.random::<u8>())).collect(),
            _ => (0..length).map(|_| PIECES[rng.random_range(0..PIECES.len())]).collect(),
        };
        let check = |mistakes: Vec<Mistake>| {
            assert!(!mistakes.is_empty());
            assert!(mistakes.iter().all(|mistake| text.get(mistake.span.clone()).is_some()), "{text:?}");
        };
        match Network::parse(&text, &["k"], &[]) {
            Ok(_) => good += 1,
            Err(mistakes) => check(mistakes),
        }
        let _: Option<()> = expression(&text, &names.scope()).err().map(check);
        let _: Option<()> = observable(&text, &names.scope()).err().map(check);
    }
    assert!(good > 100, "{good}");
}
