//! What is not read, and what is said about it.

use super::{level2, level3, math, reaction, readable, refused};
use crate::sbml::read;

const THINGS: &str = r#"<listOfCompartments><c/></listOfCompartments>
<listOfSpecies><amount id="A" initialAmount="4"/><amount id="B" initialAmount="4"/></listOfSpecies>
<listOfParameters><p id="k" value="1"/><parameter id="x" value="1" constant="false"/></listOfParameters>"#;

#[track_caller]
fn says(lists: &str, expected: &str) {
    let found = refused(&level3(&format!("{THINGS}{lists}")));
    assert!(found.len() == 1 && found[0].contains(expected), "expected {expected}, found {found:?}");
}

fn reactions(inside: &str) -> String {
    format!("<listOfReactions>{inside}</listOfReactions>")
}

fn law(formula: &str) -> String {
    reactions(&reaction("R", &[("A", 1.0)], &[], formula))
}

#[test]
fn rules_and_constraints_without_a_stochastic_meaning() {
    let rule =
        |tag: &str, target: &str| format!("<listOfRules><{tag} {target}>{}</{tag}></listOfRules>", math("k"));
    says(&rule("rateRule", "variable='x'"), "rateRule \"x\": rate rules are not supported");
    says(&rule("algebraicRule", ""), "algebraicRule: algebraic rules are not supported");
    says(&rule("assignmentRule", "variable='k'"), "assignmentRule \"k\": the parameter is constant");
    says(&rule("assignmentRule", "variable='nothing'"), "there is no quantity \"nothing\"");
    says(&rule("otherRule", "variable='x'"), "found <otherRule>");
    says("<listOfConstraints><constraint/></listOfConstraints>", "constraint: constraints are not supported");
    says("<listOfThings/>", "the element <listOfThings> is not supported");
    let both = format!(
        "<listOfInitialAssignments><initialAssignment symbol='x'>{0}</initialAssignment></listOfInitialAssignments>{1}",
        math("k"),
        rule("assignmentRule", "variable='x'")
    );
    says(&both, "there is an initial assignment to it as well");
    let changed = rule("assignmentRule", "variable='A'") + &law("(times k A)");
    says(&changed, "reaction \"R\": it changes the species \"A\", which a rule sets");
}

#[test]
fn reactions_that_cannot_happen_one_by_one() {
    let with = |attributes: &str, formula: &str| {
        reactions(&format!(
            "<reaction id='R' {attributes}><listOfReactants><ref species='A' stoichiometry='1'/></listOfReactants><kineticLaw>{}</kineticLaw></reaction>",
            math(formula)
        ))
    };
    says(
        &with("reversible='false' fast='true'", "(times k A)"),
        "reaction \"R\": fast reactions are not supported",
    );
    says(
        &with("reversible='true'", "(minus (times k A) (times x B))"),
        "split it into two irreversible reactions",
    );
    says(&with("reversible='true'", "(times k (minus A B))"), "split it into two irreversible reactions");
    says(
        &with("reversible='true'", "(plus (times k A) (minus B))"),
        "split it into two irreversible reactions",
    );
    says(&with("", "(times k A)"), "expected an attribute reversible, which Level 3 requires");
    says(&with("reversible='maybe'", "(times k A)"), "expected true or false in reversible, found \"maybe\"");
    let accepted = level3(&format!("{THINGS}{}", with("reversible='true'", "(times k A (minus A 1))")));
    assert!(
        readable(&accepted)
            .warnings()
            .iter()
            .any(|warning| warning.message.contains("taken as irreversible"))
    );
    says(&reactions("<r id='R'/>"), "reaction \"R\": expected a kineticLaw");
    says(
        &reactions(&reaction("R", &[("A", 0.5)], &[], "(times k A)")),
        "speciesReference \"A\": its stoichiometry is 0.5",
    );
    says(&reactions(&reaction("R", &[], &[("A", -1.0)], "k")), "its stoichiometry is -1");
    says(&reactions(&reaction("R", &[("x", 1.0)], &[], "k")), "expected the id of a species");
    let unset = "<r id='R'><listOfReactants><ref species='A'/></listOfReactants><kineticLaw><math><ci>k</ci></math></kineticLaw></r>";
    says(&reactions(unset), "expected a stoichiometry");
    let varying = "<r id='R'><listOfReactants><ref species='A' id='n' stoichiometry='1'/></listOfReactants><kineticLaw><math><ci>k</ci></math></kineticLaw></r>";
    let rule =
        format!("<listOfRules><assignmentRule variable='n'>{}</assignmentRule></listOfRules>", math("B"));
    says(&(rule + &reactions(varying)), "a stoichiometry that changes is not supported");
    let first = format!(
        "<listOfInitialAssignments><initialAssignment symbol='n'>{}</initialAssignment></listOfInitialAssignments>",
        math("B")
    );
    says(&(first + &reactions(varying)), "its stoichiometry is not a constant of the file");
}

#[test]
fn events_that_wait_or_set_what_they_must_not() {
    let event = |inside: &str, target: &str| {
        format!(
            "<listOfEvents><event id='e' useValuesFromTriggerTime='true'><trigger initialValue='true' persistent='true'>{}</trigger>{inside}
            <listOfEventAssignments><eventAssignment variable='{target}'>{}</eventAssignment></listOfEventAssignments></event></listOfEvents>",
            math("(gt time 1)"),
            math("1")
        )
    };
    says(
        &event(&format!("<delay>{}</delay>", math("1")), "x"),
        "delay of event \"e\": events with a delay are not supported",
    );
    says(&event("", "k"), "eventAssignment \"k\": the parameter is constant");
    says(&event("", "Cell"), "eventAssignment \"Cell\": the compartment is constant");
    says(&event("", "q"), "there is no quantity \"q\"");
    let text = level3(&format!("{THINGS}{}", event("", "x"))).replace("initialValue='true' ", "");
    assert!(refused(&text)[0].contains("trigger of event \"e\": expected an attribute initialValue"));
}

#[test]
fn formulas_without_a_meaning() {
    let inside =
        |math: &str| reactions(&format!("<r id='R'><kineticLaw><math>{math}</math></kineticLaw></r>"));
    says(&law("(times k q)"), "kineticLaw of reaction \"R\": there is no quantity \"q\"");
    says(&law("(factorial k)"), "the operator <factorial> is not supported");
    says(&law("(divide k)"), "<divide> takes 2 arguments, found 1");
    says(&law("(Nothing k)"), "there is no function \"Nothing\"");
    says(&inside("<cn>x</cn>"), "expected a finite number");
    says(&inside("<cn>1e999</cn>"), "expected a finite number");
    says(&inside("<cn type='rational'>1<sep/>0</cn>"), "expected a finite number");
    says(&inside("<cn base='16'>10</cn>"), "expected a finite number");
    says(&inside("<cn type='complex-polar'>1<sep/>0</cn>"), "of type complex-polar");
    says(&inside("<matrix/>"), "<matrix> is not supported in formulas");
    says(&inside("<apply/>"), "expected an operator in <apply>");
    says(&inside("<ci>k</ci><ci>k</ci>"), "expected one formula in <math>");
    says(&inside("<piecewise><piece><cn>1</cn></piece></piecewise>"), "expected a value and a condition");
    let symbol =
        |name: &str| format!("<csymbol definitionURL='http://www.sbml.org/sbml/symbols/{name}'>d</csymbol>");
    says(
        &inside(&format!("<apply>{}<ci>A</ci><cn>1</cn></apply>", symbol("delay"))),
        "delays are not supported",
    );
    says(&inside(&format!("<apply>{}<ci>A</ci></apply>", symbol("rateOf"))), "rateOf is not supported");
    says(&inside(&symbol("other")), "is not supported");
    says(&reactions("<r id='R'><kineticLaw/></r>"), "expected a formula in <math>");
}

#[test]
fn declarations_that_contradict_themselves() {
    let species = |attributes: &str| {
        let text = format!(
            "<listOfCompartments><c/></listOfCompartments><listOfSpecies><amount {attributes}/></listOfSpecies>"
        );
        refused(&level3(&text)).join("\n")
    };
    assert!(species("id='A' initialAmount='1' initialConcentration='1'").contains("found both"));
    assert!(
        species("id='A' initialAmount='-1'").contains("expected an initial value of at least 0, found -1")
    );
    assert!(
        species("id='A' initialAmount='INF'")
            .contains("expected a finite number in initialAmount, found \"INF\"")
    );
    assert!(species("id='A' conversionFactor='k'").contains("conversionFactor is not supported"));
    assert!(species("id='1A'").contains("expected letters, digits and _ in id, found \"1A\""));
    assert!(species("").contains("expected an attribute id"));
    assert!(species("id='Cell'").contains("another element has the same id"));
    let text = level3(
        "<listOfCompartments><compartment id='c' constant='true' spatialDimensions='2.5'/></listOfCompartments>",
    );
    assert!(
        refused(&text)[0].contains("compartment \"c\": expected 0, 1, 2 or 3 spatialDimensions, found 2.5")
    );
    let circle = format!(
        "<listOfParameters><p id='a'/><p id='b'/></listOfParameters><listOfInitialAssignments><initialAssignment symbol='a'>{}</initialAssignment>
        <initialAssignment symbol='b'>{}</initialAssignment></listOfInitialAssignments>",
        math("b"),
        math("(plus a 1)")
    );
    assert_eq!(
        refused(&level3(&circle)),
        ["rules and initial values go round in a circle: \"a\" from \"b\" from \"a\""]
    );
}

#[test]
fn levels_and_packages() {
    let fails = |from: &str, to: &str, expected: &str| {
        let found = refused(&level3("").replace(from, to));
        assert!(found[0].contains(expected), "{found:?}");
    };
    fails("level=\"3\"", "level=\"1\"", "SBML Level 1 is not supported");
    fails("level=\"3\"", "level=\"4\"", "found Level 4 Version 2");
    fails("version=\"2\"", "version=\"x\"", "expected whole numbers in the attributes level and version");
    fails("level=\"3\"", "level=\"2\"", "but its namespace is");
    fails(
        "http://www.sbml.org/sbml/level3",
        "http://example.org",
        "expected <sbml> in the namespace of SBML",
    );
    fails("<model id=\"m\"></model>", "", "expected a <model>");
    let package = |name: &str, required: bool| {
        let address = format!("http://www.sbml.org/sbml/level3/version1/{name}/version1");
        level3("").replace("<sbml ", &format!("<sbml xmlns:p=\"{address}\" p:required=\"{required}\" "))
    };
    assert_eq!(
        refused(&package("distrib", true)),
        ["the package \"distrib\" of SBML is not supported and the model says that it needs it"]
    );
    readable(&package("layout", false));
}

/// Every refusal, in the order of the text, with its place.
#[test]
fn all_refusals_at_once() {
    let text = level2(
        "\n<listOfCompartments><compartment id='c' size='x'/></listOfCompartments>\n  <listOfRules>\n   <rateRule variable='c'/>
<algebraicRule/></listOfRules>\n<listOfReactions><reaction id='R' fast='true'/></listOfReactions>",
    );
    let found: Vec<String> = read(&text).unwrap_err().iter().map(ToString::to_string).collect();
    let starts = [
        "2:21: compartment \"c\": expected a finite",
        "4:4: rateRule \"c\": ",
        "5:1: algebraicRule: ",
        "6:18: reaction \"R\": expected a kineticLaw",
        "6:18: reaction \"R\": fast",
    ];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (found, start) in found.iter().zip(starts) {
        assert!(found.starts_with(start), "{found}");
    }
}

#[test]
fn units_that_are_not_items_are_named() {
    let text = level3(THINGS).replace("<model id=\"m\">", "<model id=\"m\" substanceUnits=\"mole\">");
    assert!(
        readable(&text)
            .warnings()
            .iter()
            .any(|warning| warning.message.contains("unit \"mole\" is not item"))
    );
    let units = "<listOfUnitDefinitions><unitDefinition id='substance'><listOfUnits><unit kind='mole' scale='-9'/></listOfUnits></unitDefinition></listOfUnitDefinitions>";
    assert!(
        readable(&level2(units)).warnings().iter().any(|warning| warning.message.contains("is not item"))
    );
    assert_eq!(
        readable(&level2(&units.replace("kind='mole' scale='-9'", "kind='item'"))).warnings().len(),
        1
    );
    let messages = |text: &str| -> Vec<String> {
        let model = readable(text);
        model
            .warnings()
            .iter()
            .filter(|one| one.message.contains("amounts are"))
            .map(|one| one.message.clone())
            .collect()
    };
    let extent = level3(THINGS).replace("<model id=\"m\">", "<model id=\"m\" extentUnits=\"mole\">");
    assert_eq!(
        messages(&extent),
        ["model \"m\": amounts are taken as numbers of molecules, but their unit \"mole\" is not item"]
    );
    // A unit is named once, at the first species that has it.
    let own = level3(THINGS).replace("<species ", "<species substanceUnits=\"mole\" ");
    assert_eq!(
        messages(&own),
        ["species \"A\": amounts are taken as numbers of molecules, but their unit \"mole\" is not item"]
    );
    assert!(messages(&own.replace("\"mole\"", "\"item\"")).is_empty());
    // Level 2 has a default, which is no number of molecules.
    let species = "<listOfCompartments><compartment id='c'/></listOfCompartments><listOfSpecies><species id='A' compartment='c' initialAmount='1'/></listOfSpecies>";
    let found = messages(&level2(species));
    assert!(found.len() == 1 && found[0].contains("their unit is mole in Level 2"), "{found:?}");
    assert!(messages(&level2(&species.replace("id='A'", "id='A' substanceUnits='item'"))).is_empty());
    let items = units.replace("kind='mole' scale='-9'", "kind='item'");
    assert!(messages(&level2(&format!("{items}{species}"))).is_empty());
}

#[test]
fn constant_species_take_no_part_in_reactions() {
    let constant = |boundary: bool| {
        level3(&format!(
            "<listOfCompartments><c/></listOfCompartments><listOfSpecies><species id='A' compartment='Cell' initialAmount='4' hasOnlySubstanceUnits='true' boundaryCondition='{boundary}' constant='true'/></listOfSpecies>
            <listOfParameters><p id='k' value='1'/></listOfParameters>{}",
            law("(times k A)")
        ))
    };
    readable(&constant(true));
    let found = refused(&constant(false));
    assert!(
        found.len() == 1 && found[0].contains("the species \"A\" is constant, and a reaction cannot"),
        "{found:?}"
    );
}
