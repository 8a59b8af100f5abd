//! Laws that look wrong.

use super::{level3, math, reaction, readable};

/// Warnings about a reaction of A and B in items, or in concentrations in a compartment of size 2.
fn warnings(
    only_amounts: bool,
    reactants: &[(&str, f64)],
    products: &[(&str, f64)],
    law: &str,
) -> Vec<String> {
    let lists = format!(
        r#"<listOfCompartments><c/></listOfCompartments>
        <listOfSpecies><s id="A" initialAmount="10" hasOnlySubstanceUnits="{only_amounts}"/>
        <s id="B" initialAmount="20" hasOnlySubstanceUnits="{only_amounts}"/></listOfSpecies>
        <listOfParameters><p id="k" value="3"/></listOfParameters>
        <listOfReactions>{}</listOfReactions>"#,
        reaction("R", reactants, products, law)
    );
    let model = readable(&level3(&lists));
    model.warnings().iter().map(|warning| warning.message.clone()).collect()
}

#[test]
fn laws_of_counts_are_not_doubted() {
    let (a, b) = (("A", 1.0), ("B", 1.0));
    for only_amounts in [true, false] {
        assert!(warnings(only_amounts, &[a], &[], "(times k A)").is_empty());
        assert!(warnings(only_amounts, &[a, b], &[], "(times k A B)").is_empty());
        assert!(warnings(only_amounts, &[], &[a], "k").is_empty());
        assert!(warnings(only_amounts, &[a], &[("A", 2.0)], "k").is_empty());
        assert!(warnings(only_amounts, &[a], &[b], "(divide (times k A) (plus B A))").is_empty());
    }
    assert!(warnings(true, &[("A", 2.0)], &[b], "(divide (times k A (minus A 1)) 2)").is_empty());
    assert!(warnings(true, &[a, a], &[b], "(times k A (minus A 1))").is_empty());
}

#[test]
fn laws_of_differential_equations_are_named_with_a_remedy() {
    for law in ["(times k A A)", "(times k (power A 2))", "(times A k A)"] {
        for reactants in [&[("A", 2.0)][..], &[("A", 1.0), ("A", 1.0)]] {
            let found = warnings(true, reactants, &[("B", 1.0)], law);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with("reaction \"R\": the law "), "{found:?}");
            assert!(
                found[0].contains("*A*(A - 1) (or half") || found[0].contains("A*k*(A - 1) (or half"),
                "{found:?}"
            );
        }
    }
    let found = warnings(false, &[("A", 2.0)], &[], "(divide (times k A A) 2)");
    assert!(found[0].contains("write k*A*(A - 1/Cell)/2 "), "{found:?}");
    let found = warnings(true, &[("A", 3.0)], &[], "(times k (power A 3))");
    assert!(found[0].contains("write k*A*(A - 1)*(A - 2) "), "{found:?}");
}

#[test]
fn laws_that_do_not_vanish_with_a_reactant() {
    let found = warnings(true, &[("A", 1.0)], &[], "k");
    assert_eq!(
        found,
        [
            "reaction \"R\": the law k does not vanish when only 0 A are left, and the reaction takes 1: the amount may become negative"
        ]
    );
    let found = warnings(true, &[("A", 2.0)], &[], "(times k A)");
    assert!(found[0].contains("when only 1 A are left"), "{found:?}");
    let found = warnings(true, &[("A", 1.0), ("B", 1.0)], &[], "(times k A)");
    assert!(found.len() == 1 && found[0].contains("0 B are left"), "{found:?}");
    assert!(warnings(true, &[("A", 1.0)], &[], "(times k (geq A 1))").is_empty());
    // Where many are taken, those next to enough are looked at.
    let found = warnings(true, &[("A", 30.0)], &[], "(times k (geq A 25))");
    assert!(found.len() == 1 && found[0].contains("only 29 A are left"), "{found:?}");
}

#[test]
fn laws_are_doubted_through_the_rules_they_follow_from() {
    let doubts = |law: &str| {
        let rule = |name: &str, formula: &str| {
            format!("<assignmentRule variable='{name}'>{}</assignmentRule>", math(formula))
        };
        let lists = format!(
            "<listOfCompartments><c/></listOfCompartments><listOfSpecies><amount id='A' initialAmount='10'/></listOfSpecies>
            <listOfParameters><parameter id='y' constant='false'/><parameter id='z' constant='false'/></listOfParameters>
            <listOfRules>{}{}</listOfRules><listOfReactions>{}</listOfReactions>",
            rule("z", "(times 3 y)"),
            rule("y", "(times 2 A)"),
            reaction("R", &[("A", 1.0)], &[], law)
        );
        readable(&level3(&lists)).warnings().len()
    };
    assert_eq!(doubts("z"), 0);
    assert_eq!(doubts("(plus z 1)"), 1);
}
