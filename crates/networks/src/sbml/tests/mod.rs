//! Documents for tests, and what is said of them.

mod features;
mod hostile;
mod laws;
mod refusals;

use super::{Model, read};
use crate::{Expression, Symbol};

/// A Level 3 document around the lists of a model, which may leave out what Level 3 requires of common elements.
pub(super) fn level3(lists: &str) -> String {
    let lists = lists
        .replace("<c/>", r#"<compartment id="Cell" size="2" constant="true"/>"#)
        .replace("<s ", r#"<species compartment="Cell" boundaryCondition="false" constant="false" "#)
        .replace("<amount ", r#"<species compartment="Cell" hasOnlySubstanceUnits="true" boundaryCondition="false" constant="false" "#)
        .replace("<p ", r#"<parameter constant="true" "#)
        .replace("<r ", r#"<reaction reversible="false" "#)
        .replace("</r>", "</reaction>")
        .replace("<ref ", r#"<speciesReference constant="true" "#)
        .replace("<math>", r#"<math xmlns="http://www.w3.org/1998/Math/MathML">"#);
    format!(
        r#"<sbml xmlns="http://www.sbml.org/sbml/level3/version2/core" level="3" version="2"><model id="m">{lists}</model></sbml>"#
    )
}

/// A Level 2 document around the lists of a model.
pub(super) fn level2(lists: &str) -> String {
    let lists = lists.replace("<math>", r#"<math xmlns="http://www.w3.org/1998/Math/MathML">"#);
    format!(
        r#"<sbml xmlns="http://www.sbml.org/sbml/level2/version4" level="2" version="4"><model id="m">{lists}</model></sbml>"#
    )
}

/// MathML of a formula in prefix form: words are names, numbers are numbers, `(plus a b)` applies an operator.
pub(super) fn math(formula: &str) -> String {
    let mut text = String::from("<math>");
    let spaced = formula.replace('(', " ( ").replace(')', " ) ");
    let mut operator = false;
    for token in spaced.split_whitespace() {
        text += &match token {
            "(" => "<apply>".to_owned(),
            ")" => "</apply>".to_owned(),
            "time" => r#"<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time">t</csymbol>"#.into(),
            _ if operator && token.starts_with(char::is_uppercase) => format!("<ci>{token}</ci>"),
            _ if operator => format!("<{token}/>"),
            _ if token.parse::<f64>().is_ok() => format!("<cn>{token}</cn>"),
            _ => format!("<ci> {token} </ci>"),
        };
        operator = token == "(";
    }
    text + "</math>"
}

/// A reaction: its id, what it takes, what it makes, its law.
pub(super) fn reaction(id: &str, reactants: &[(&str, f64)], products: &[(&str, f64)], law: &str) -> String {
    let side = |side: &[(&str, f64)]| {
        let one =
            |(species, count): &(&str, f64)| format!(r#"<ref species="{species}" stoichiometry="{count}"/>"#);
        side.iter().map(one).collect::<String>()
    };
    format!(
        r#"<r id="{id}"><listOfReactants>{}</listOfReactants><listOfProducts>{}</listOfProducts><kineticLaw>{}</kineticLaw></r>"#,
        side(reactants),
        side(products),
        math(law)
    )
}

/// A model that must be readable.
#[track_caller]
pub(super) fn readable(text: &str) -> Model {
    read(text).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The messages of a document that must be refused.
#[track_caller]
pub(super) fn refused(text: &str) -> Vec<String> {
    read(text).expect_err("it is refused").into_iter().map(|problem| problem.message).collect()
}

/// Names as owned strings.
pub(super) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// An expression of a network as text: `s0`, `p0`, `r0` for species, parameters and rules by place.
pub(super) fn shown(expression: &Expression) -> String {
    expression.text(&|symbol| match symbol {
        Symbol::Species(at) => format!("s{at}"),
        Symbol::Parameter(at) => format!("p{at}"),
        Symbol::Rule(at) => format!("r{at}"),
        Symbol::Time => "time".into(),
    })
}
