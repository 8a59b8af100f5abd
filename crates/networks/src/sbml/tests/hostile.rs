//! Documents made to break a reader: each gets a message, and none takes long.

use super::{level3, math, reaction, readable, refused};
use crate::sbml::read;

#[test]
fn entities_and_broken_documents() {
    let laughs = "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;\">]><sbml>&c;</sbml>";
    assert!(refused(laughs)[0].contains("<!DOCTYPE>"));
    assert!(refused("<!DOCTYPE l SYSTEM \"file:///etc/passwd\"><sbml/>")[0].contains("<!DOCTYPE>"));
    let whole = level3(&format!(
        "<listOfCompartments><c/></listOfCompartments><listOfSpecies><amount id='A' initialAmount='1'/></listOfSpecies>
        <listOfReactions>{}</listOfReactions>",
        reaction("R", &[("A", 1.0)], &[], "A")
    ));
    readable(&whole);
    for end in (0..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        assert!(read(&whole[..end]).is_err(), "cut at {end}");
    }
    for start in 1..whole.len() {
        assert!(read(&whole[start..]).is_err(), "cut before {start}");
    }
    assert!(refused("\u{feff}")[0].contains("not well-formed"));
    readable(&format!("\u{feff}{whole}"));
}

#[test]
fn depth() {
    assert!(refused(&("<a>".repeat(100_000)))[0].contains("nested"));
    let deep = |levels: usize| {
        let formula = "(minus ".repeat(levels) + "1" + &")".repeat(levels);
        level3(&format!(
            "<listOfParameters><p id='k'/></listOfParameters><listOfInitialAssignments><initialAssignment symbol='k'>{}</initialAssignment></listOfInitialAssignments>",
            math(&formula)
        ))
    };
    readable(&deep(150)).network(&[]).unwrap();
    assert!(refused(&deep(100_000))[0].contains("nested"));
}

/// Function definitions and what calls one of them.
fn calling(functions: &[(String, String)], call: &str) -> String {
    let definition = |(id, body): &(String, String)| {
        let body = math(body).replace("<math>", "").replace("</math>", "");
        format!(
            "<functionDefinition id='{id}'><math><lambda><bvar><ci>v</ci></bvar>{body}</lambda></math></functionDefinition>"
        )
    };
    level3(&format!(
        "<listOfFunctionDefinitions>{}</listOfFunctionDefinitions><listOfParameters><p id='k'/></listOfParameters>
        <listOfInitialAssignments><initialAssignment symbol='k'>{}</initialAssignment></listOfInitialAssignments>",
        functions.iter().map(definition).collect::<String>(),
        math(call)
    ))
}

#[test]
fn functions_that_call_themselves_or_grow() {
    let pair = |id: &str, body: &str| (id.to_owned(), body.to_owned());
    let itself = calling(&[pair("F", "(F v)")], "(F 1)");
    assert_eq!(refused(&itself), ["functionDefinition \"F\": the function calls itself"]);
    let around = calling(&[pair("F", "(G v)"), pair("G", "(F v)")], "(F 1)");
    assert_eq!(refused(&around), ["functionDefinition \"F\": the function calls itself"]);
    // Each doubles what the one before it made.
    let doubling: Vec<_> =
        (0..60).map(|at| (format!("F{}", at + 1), format!("(plus (F{at} v) (F{at} v))"))).collect();
    let doubling = [&[pair("F0", "(plus v v)")], &doubling[..]].concat();
    assert!(refused(&calling(&doubling, "(F60 1)"))[0].contains("too large"));
    // The same without arguments: what fails is not tried again by each that calls it twice.
    let bare = |text: String| text.replace("<bvar><ci>v</ci></bvar>", "");
    let constant: Vec<_> =
        (0..60).map(|at| (format!("F{}", at + 1), format!("(plus (F{at}) (F{at}))"))).collect();
    let constant = [&[pair("F0", "(plus 1 1)")], &constant[..]].concat();
    let found = refused(&bare(calling(&constant, "(F60)")));
    assert!(found.len() == 1 && found[0].contains("too large"), "{found:?}");
    readable(&bare(calling(&constant, "(F10)")));
    // What fails only at the end of a long way is paid for on the way.
    let many = (0..4_000).map(|_| "(F12)").collect::<Vec<_>>().join(" ");
    let found = refused(&bare(calling(&constant, &format!("(plus (plus {many}) (F60))"))));
    assert!(found.len() == 1 && found[0].contains("too large"), "{found:?}");
    // Each argument is twice what it was.
    let nested = "(F0 ".repeat(100) + "1" + &")".repeat(100);
    assert!(refused(&calling(&doubling[..1], &nested))[0].contains("too large"));
    let hyperbolic = "(sinh ".repeat(100) + "1" + &")".repeat(100);
    assert!(refused(&calling(&[], &hyperbolic))[0].contains("too large"));
    // A long chain of functions, and functions that are deep in functions that are deep.
    let chain: Vec<_> = (0..5_000).map(|at| (format!("F{}", at + 1), format!("(F{at} v)"))).collect();
    let chain = [&[pair("F0", "v")], &chain[..]].concat();
    assert!(refused(&calling(&chain, "(F5000 1)"))[0].contains("nested too deeply"));
    readable(&calling(&chain, "(F50 1)"));
    let tall = pair("F", &("(minus ".repeat(100) + "v" + &")".repeat(100)));
    let nested = "(F ".repeat(100) + "1" + &")".repeat(100);
    assert!(refused(&calling(&[tall], &nested))[0].contains("too deeply"));
}

#[test]
fn long_lists_and_chains() {
    let wide = format!("(plus {})", "1 ".repeat(40_000));
    let initial = |target: &str, formula: &str| {
        format!("<initialAssignment symbol='{target}'>{}</initialAssignment>", math(formula))
    };
    let text = level3(&format!(
        "<listOfParameters><p id='k'/></listOfParameters><listOfInitialAssignments>{}</listOfInitialAssignments>",
        initial("k", &wide)
    ));
    assert_eq!(readable(&text).resolve("k", &[]), Some(40_000.0.into()));
    const LONG: usize = 20_000;
    let parameters: String = (0..LONG).map(|at| format!("<p id='k{at}'/>")).collect();
    let chain = |last: &str| {
        let links: String =
            (1..LONG).map(|at| initial(&format!("k{}", at - 1), &format!("(plus k{at} 1)"))).collect();
        let last = initial(&format!("k{}", LONG - 1), last);
        level3(&format!(
            "<listOfParameters>{parameters}</listOfParameters><listOfInitialAssignments>{links}{last}</listOfInitialAssignments>"
        ))
    };
    assert_eq!(readable(&chain("1")).resolve("k0", &[]), Some((LONG as f64).into()));
    let found = refused(&chain("k0"));
    assert!(found.len() == 1 && found[0].contains("circle") && found[0].len() < 300, "{found:?}");
}

#[test]
fn too_many_reactions() {
    let all: String = (0..10_001).map(|at| reaction(&format!("R{at}"), &[], &[("A", 1.0)], "1")).collect();
    let lists = format!(
        "<listOfCompartments><c/></listOfCompartments><listOfSpecies><amount id='A' initialAmount='1'/></listOfSpecies>
        <listOfReactions>{all}</listOfReactions>"
    );
    let found = refused(&level3(&lists));
    assert_eq!(found, ["reaction \"R10000\": a model may have 10000 reactions, this has 10001"]);
}

#[test]
fn huge_names_and_numbers_are_cut_in_messages() {
    let name = "n".repeat(50_000);
    let found = refused(&level3(&format!("<listOfParameters><p id='k' value='{name}'/></listOfParameters>")));
    assert!(found[0].len() < 300, "{}", found[0].len());
    let found = refused(&level3(&format!(
        "<listOfInitialAssignments><initialAssignment symbol='{name}'>{}</initialAssignment></listOfInitialAssignments>",
        math("1")
    )));
    assert!(found[0].len() < 300, "{}", found[0].len());
}
