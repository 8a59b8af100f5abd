//! What is read, and what it becomes.

use super::{level2, level3, math, names, reaction, readable, shown};
use crate::{Counting, Expression, Rate};

fn rate(rate: &Rate) -> String {
    match rate {
        Rate::Expression(expression) => shown(expression),
        Rate::MassAction { constant, reactants, counting } => {
            assert_eq!(*counting, Counting::Permutations);
            format!("{} {reactants:?}", shown(constant))
        }
    }
}

/// Laws of a reaction of A and B, in a compartment of size 2, with k = 3 and K = 4.
fn law(attributes: &str, law: &str) -> String {
    let lists = format!(
        r#"<listOfCompartments><c/></listOfCompartments>
        <listOfSpecies><s id="A" initialAmount="10" {attributes}/><s id="B" initialAmount="20" {attributes}/></listOfSpecies>
        <listOfParameters><p id="k" value="3"/><p id="K" value="4"/></listOfParameters>
        <listOfReactions>{}</listOfReactions>"#,
        reaction("R", &[("A", 1.0), ("B", 1.0)], &[], law)
    );
    let network = readable(&level3(&lists)).network(&names(&["k"])).unwrap();
    assert_eq!(network.reactions[0].changes, [(0, -1.0), (1, -1.0)]);
    rate(&network.reactions[0].rate)
}

#[test]
fn amounts_and_concentrations() {
    let amounts = r#"hasOnlySubstanceUnits="true""#;
    let concentrations = r#"hasOnlySubstanceUnits="false""#;
    assert_eq!(law(amounts, "(times k A B)"), "p0 [(0, 1), (1, 1)]");
    assert_eq!(law(concentrations, "(times k A B)"), "p0/4 [(0, 1), (1, 1)]");
    assert_eq!(law(concentrations, "(times Cell k A)"), "2*p0/2 [(0, 1)]");
    assert_eq!(law(concentrations, "(plus A B)"), "s0/2 + s1/2");
}

#[test]
fn laws_become_mass_action_where_they_are() {
    let amounts = r#"hasOnlySubstanceUnits="true""#;
    let cases = [
        ("k", "p0 []"),
        ("7", "7 []"),
        ("(divide (times k A (minus A 1)) 2)", "p0/2 [(0, 2)]"),
        ("(times A (minus A 2) (minus A 1))", "1 [(0, 3)]"),
        ("(times k K A)", "p0*4 [(0, 1)]"),
        ("(times 2 K A)", "8 [(0, 1)]"),
        ("(times k (minus A 1))", "p0*(s0 - 1)"),
        ("(times k A A)", "p0*s0*s0"),
        ("(times k (power A 2))", "p0*s0^2"),
        ("(divide (times k A) (plus K A))", "p0*s0/(4 + s0)"),
        ("(times k time A)", "p0*time*s0"),
        ("(times -1 A)", "-1*s0"),
    ];
    for (formula, expected) in cases {
        assert_eq!(law(amounts, formula), expected, "{formula}");
    }
}

/// The meaning of attributes that Level 2 may leave out.
#[test]
fn defaults_of_level_2() {
    let text = level2(&format!(
        r#"<listOfCompartments><compartment id="Cell" size="4"/></listOfCompartments>
        <listOfSpecies><species id="A" compartment="Cell" initialConcentration="2.5"/></listOfSpecies>
        <listOfParameters><parameter id="k" value="9"/></listOfParameters>
        <listOfReactions><reaction id="R"><listOfReactants><speciesReference species="A"/></listOfReactants>
        <kineticLaw>{}<listOfParameters><parameter id="k" value="8"/></listOfParameters></kineticLaw></reaction></listOfReactions>"#,
        math("(times k A)")
    ));
    let model = readable(&text);
    let network = model.network(&[]).unwrap();
    assert_eq!(network.species[0].initial, Expression::Number(10.0));
    assert_eq!(network.reactions[0].changes, [(0, -1.0)]);
    // 8, which shadows 9, by the size.
    assert_eq!(rate(&network.reactions[0].rate), "2 [(0, 1)]");
    assert!(model.warnings()[0].message.contains("their unit is mole"), "{:?}", model.warnings());
    assert!(model.warnings()[1].message.contains("reversible"), "{:?}", model.warnings());
    assert_eq!(model.level(), (2, 4));
    let network = model.network(&names(&["R.k", "A", "Cell"])).unwrap();
    assert_eq!(rate(&network.reactions[0].rate), "p0/p2 [(0, 1)]");
    assert_eq!(shown(&network.species[0].initial), "p1");
    let network = model.network(&names(&["Cell"])).unwrap();
    assert_eq!(shown(&network.species[0].initial), "2.5*p0");
}

/// Initial values follow from each other in whatever order they are written.
#[test]
fn initial_assignments_in_any_order() {
    let lists = format!(
        r#"<listOfCompartments><compartment id="Cell" constant="true"/></listOfCompartments>
        <listOfSpecies><s id="A" hasOnlySubstanceUnits="false"/><amount id="B" initialAmount="7"/></listOfSpecies>
        <listOfParameters><p id="a"/><p id="b"/><p id="k" value="3"/><p id="frozen"/></listOfParameters>
        <listOfInitialAssignments>
        <initialAssignment symbol="A">{}</initialAssignment><initialAssignment symbol="a">{}</initialAssignment>
        <initialAssignment symbol="b">{}</initialAssignment><initialAssignment symbol="Cell">{}</initialAssignment>
        <initialAssignment symbol="frozen">{}</initialAssignment>
        </listOfInitialAssignments>
        <listOfReactions>{}{}</listOfReactions>"#,
        math("(times a 5)"),
        math("(plus b 1)"),
        math("(times k 2)"),
        math("(divide k 6)"),
        math("(plus B time)"),
        reaction("R", &[("A", 1.0)], &[("B", 1.0)], "(times a A)"),
        reaction("S", &[("B", 1.0)], &[], "(times frozen B)"),
    );
    let model = readable(&level3(&lists));
    let network = model.network(&[]).unwrap();
    let initial = |name: &str| {
        let found = network.species.iter().find(|species| species.name == name).unwrap();
        shown(&found.initial)
    };
    // b = 6, a = 7, Cell = 1/2, A = 35 / 2.
    assert_eq!(initial("A"), "17.5");
    let place = |name: &str| network.species.iter().position(|species| species.name == name).unwrap();
    assert_eq!(initial("frozen"), format!("s{} + 0", place("B")));
    assert!(place("B") < place("frozen"));
    assert!(network.rules.is_empty());
    assert_eq!(model.resolve("a", &[]), Some(Expression::Number(7.0)));

    let inferring = names(&["k"]);
    let network = model.network(&inferring).unwrap();
    let rules: Vec<_> = network.rules.iter().map(|rule| (rule.name.as_str(), shown(&rule.value))).collect();
    let at = |name: &str| rules.iter().position(|rule| rule.0 == name).unwrap();
    assert_eq!(rules[at("b")].1, "p0*2");
    assert_eq!(rules[at("a")].1, format!("r{} + 1", at("b")));
    let a = network.species.iter().find(|species| species.name == "A").unwrap();
    assert_eq!(shown(&a.initial), format!("r{}*5*r{}", at("a"), at("Cell")));
    assert_eq!(shown(&model.resolve("Cell", &inferring).unwrap()), format!("r{}", at("Cell")));
}

#[test]
fn rules_in_order_with_concentrations_and_rates() {
    let lists = format!(
        r#"<listOfCompartments><compartment id="Cell" size="2" constant="false"/></listOfCompartments>
        <listOfSpecies><amount id="A" initialAmount="4"/>
        <species id="C" compartment="Cell" hasOnlySubstanceUnits="false" boundaryCondition="true" constant="false"/></listOfSpecies>
        <listOfParameters><parameter id="x" constant="false"/><parameter id="flux" constant="false"/></listOfParameters>
        <listOfRules>
        <assignmentRule variable="x">{}</assignmentRule><assignmentRule variable="C">{}</assignmentRule>
        <assignmentRule variable="Cell">{}</assignmentRule><assignmentRule variable="flux">{}</assignmentRule>
        </listOfRules>
        <listOfReactions>{}</listOfReactions>"#,
        math("(plus C 1)"),
        math("(times A 3)"),
        math("(plus time 1)"),
        math("(times R 2)"),
        reaction("R", &[("A", 1.0)], &[("C", 1.0)], "(times x A)"),
    );
    let model = readable(&level3(&lists));
    let network = model.network(&[]).unwrap();
    let rules: Vec<String> =
        network.rules.iter().map(|rule| format!("{} = {}", rule.name, shown(&rule.value))).collect();
    assert_eq!(rules, ["Cell = time + 1", "C = s0*3", "x = r1 + 1", "R = r2*s0", "flux = r3*2"]);
    // C is a boundary and stays as the rule says.
    assert_eq!(network.reactions[0].changes, [(0, -1.0)]);
    assert_eq!(rate(&network.reactions[0].rate), "r2*s0");
    assert_eq!(shown(&model.resolve("C", &[]).unwrap()), "r1*r0");
    assert_eq!(shown(&model.resolve("A", &[]).unwrap()), "s0");
    assert_eq!(model.resolve("nothing", &[]), None);
    assert_eq!(model.rules(), ["Cell = time + 1", "C = A*3", "x = C + 1", "flux = R*2"]);
}

#[test]
fn events_set_amounts_sizes_and_parameters() {
    let lists = format!(
        r#"<listOfCompartments><compartment id="Cell" size="2" constant="false"/></listOfCompartments>
        <listOfSpecies><s id="A" initialAmount="4" hasOnlySubstanceUnits="false"/></listOfSpecies>
        <listOfParameters><parameter id="x" value="5" constant="false"/></listOfParameters>
        <listOfReactions>{}</listOfReactions>
        <listOfEvents>
        <event id="e" useValuesFromTriggerTime="false"><trigger initialValue="false" persistent="false">{}</trigger>
        <priority>{}</priority><listOfEventAssignments><eventAssignment variable="A">{}</eventAssignment>
        <eventAssignment variable="x">{}</eventAssignment></listOfEventAssignments></event>
        <event useValuesFromTriggerTime="true"><trigger initialValue="true" persistent="true">{}</trigger>
        <listOfEventAssignments><eventAssignment variable="Cell">{}</eventAssignment></listOfEventAssignments></event>
        </listOfEvents>"#,
        reaction("R", &[("A", 1.0)], &[], "(times x A)"),
        math("(geq time 5)"),
        math("x"),
        math("7"),
        math("(plus x 1)"),
        math("(lt A 2)"),
        math("(times Cell 2)"),
    );
    let model = readable(&level3(&lists));
    let network = model.network(&[]).unwrap();
    let place = |name: &str| network.species.iter().position(|species| species.name == name).unwrap();
    let (size, a, x) = (place("Cell"), place("A"), place("x"));
    let first = &network.events[0];
    assert_eq!(
        (first.name.as_str(), first.initially, first.persistent, first.values_from_trigger_time),
        ("e", false, false, false)
    );
    assert_eq!(shown(&first.trigger), "5 <= time");
    assert_eq!(shown(first.priority.as_ref().unwrap()), format!("s{x}"));
    let set: Vec<_> = first.assignments.iter().map(|(at, value)| (*at, shown(value))).collect();
    assert_eq!(set, [(a, format!("7*s{size}")), (x, format!("s{x} + 1"))]);
    let second = &network.events[1];
    assert_eq!(
        (second.name.as_str(), second.initially, second.persistent, second.values_from_trigger_time),
        ("event 2", true, true, true)
    );
    assert_eq!(shown(&second.trigger), format!("s{a}/s{size} < 2"));
    assert_eq!(rate(&network.reactions[0].rate), format!("s{x}*(s{a}/s{size})"));
    assert_eq!(model.events()[0], "e: when 5 <= time, A = 7, x = x + 1");
    let error = model.network(&names(&["x", "Cell"])).unwrap_err();
    assert_eq!(
        error,
        [
            "\"x\" cannot be inferred: the event \"e\" changes it",
            "\"Cell\" cannot be inferred: the event \"event 2\" changes it"
        ]
    );
}

#[test]
fn functions_are_put_in_where_they_are_called() {
    let lists = format!(
        r#"<listOfFunctionDefinitions>
        <functionDefinition id="Outer"><math><lambda><bvar><ci> a </ci></bvar><bvar><ci>b</ci></bvar>
        <apply><plus/><apply><ci>Twice</ci><ci>a</ci></apply><ci>b</ci></apply></lambda></math></functionDefinition>
        <functionDefinition id="Twice"><math><lambda><bvar><ci>b</ci></bvar><apply><times/><cn>2</cn><ci>b</ci></apply></lambda></math></functionDefinition>
        </listOfFunctionDefinitions><listOfCompartments><c/></listOfCompartments>
        <listOfSpecies><amount id="A" initialAmount="4"/></listOfSpecies>
        <listOfReactions>{}</listOfReactions>"#,
        reaction("R", &[("A", 1.0)], &[], "(Outer (times 3 A) A)"),
    );
    let model = readable(&level3(&lists));
    assert_eq!(rate(&model.network(&[]).unwrap().reactions[0].rate), "2*(3*s0) + s0");
    assert_eq!(model.counts().functions, 2);
}

#[test]
fn numbers_symbols_and_pieces() {
    let one = |math: &str| {
        let lists = format!(
            r#"<listOfParameters><p id="x"/></listOfParameters><listOfInitialAssignments>
            <initialAssignment symbol="x"><math>{math}</math></initialAssignment></listOfInitialAssignments>"#
        );
        match readable(&level3(&lists)).resolve("x", &[]) {
            Some(Expression::Number(value)) => value,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(one("<cn type='integer'> 7 </cn>"), 7.0);
    assert_eq!(one("<cn type='e-notation'>2<sep/>5</cn>"), 2e5);
    assert_eq!(one("<cn type='rational'>1<sep/>4</cn>"), 0.25);
    assert_eq!(one("<cn>-1.5E3</cn>"), -1500.0);
    assert_eq!(one("<pi/>"), std::f64::consts::PI);
    assert_eq!(one("<exponentiale/>"), std::f64::consts::E);
    assert_eq!(one("<true/>"), 1.0);
    assert_eq!(one("<infinity/>"), f64::INFINITY);
    assert!(one("<notanumber/>").is_nan());
    assert_eq!(
        one("<csymbol encoding='text' definitionURL='http://www.sbml.org/sbml/symbols/avogadro'>N</csymbol>"),
        6.022_141_79e23
    );
    assert_eq!(one("<semantics><cn>3</cn><annotation-xml/></semantics>"), 3.0);
    let piece = |value: u8, truth: &str| format!("<piece><cn>{value}</cn><{truth}/></piece>");
    let pieces = |parts: &str| one(&format!("<piecewise>{parts}</piecewise>"));
    assert_eq!(
        pieces(&format!("{}{}<otherwise><cn>3</cn></otherwise>", piece(1, "false"), piece(2, "true"))),
        2.0
    );
    assert_eq!(pieces(&format!("{}<otherwise><cn>3</cn></otherwise>", piece(1, "false"))), 3.0);
    assert!(pieces(&piece(1, "false")).is_nan());
    assert!((one("<apply><root/><degree><cn>3</cn></degree><cn>8</cn></apply>") - 2.0).abs() < 1e-12);
    assert!((one("<apply><log/><logbase><cn>2</cn></logbase><cn>8</cn></apply>") - 3.0).abs() < 1e-12);
}

#[test]
fn stoichiometries_from_constants() {
    let level_3 = format!(
        r#"<listOfCompartments><c/></listOfCompartments><listOfSpecies><amount id="A" initialAmount="4"/></listOfSpecies>
        <listOfParameters><p id="n" value="2"/><p id="k" value="1"/></listOfParameters>
        <listOfInitialAssignments><initialAssignment symbol="made">{}</initialAssignment></listOfInitialAssignments>
        <listOfReactions><r id="R"><listOfProducts><ref id="made" species="A"/></listOfProducts>
        <kineticLaw>{}</kineticLaw></r></listOfReactions>"#,
        math("(plus n 1)"),
        math("k")
    );
    let model = readable(&level3(&level_3));
    assert_eq!(model.network(&names(&["k"])).unwrap().reactions[0].changes, [(0, 3.0)]);
    let error = model.network(&names(&["n", "made"])).unwrap_err();
    assert_eq!(
        error,
        [
            "\"n\" cannot be inferred: a stoichiometry follows from it",
            "\"made\" cannot be inferred: it is a stoichiometry"
        ]
    );
    let level_2 = format!(
        r#"<listOfCompartments><compartment id="Cell"/></listOfCompartments>
        <listOfSpecies><species id="A" compartment="Cell" initialAmount="4" substanceUnits="item" hasOnlySubstanceUnits="true"/></listOfSpecies>
        <listOfReactions><reaction id="R" reversible="false"><listOfReactants><speciesReference species="A">
        <stoichiometryMath>{}</stoichiometryMath></speciesReference></listOfReactants>
        <kineticLaw>{}</kineticLaw></reaction></listOfReactions>"#,
        math("(times 2 2)"),
        math("(times A (minus A 1) (minus A 2) (minus A 3))")
    );
    let model = readable(&level2(&level_2));
    assert_eq!(model.network(&[]).unwrap().reactions[0].changes, [(0, -4.0)]);
    assert!(model.warnings().is_empty(), "{:?}", model.warnings());
}

/// Species that reactions leave alone are numbers, and reactions that change nothing are left out.
#[test]
fn boundary_and_constant_species_stay() {
    let lists = format!(
        r#"<listOfCompartments><c/></listOfCompartments><listOfSpecies>
        <species id="Food" compartment="Cell" initialAmount="2.5" hasOnlySubstanceUnits="true" boundaryCondition="true" constant="false"/>
        <species id="Waste" compartment="Cell" hasOnlySubstanceUnits="true" boundaryCondition="true" constant="true"/>
        <amount id="A" initialAmount="4"/></listOfSpecies>
        <listOfReactions>{}{}</listOfReactions>"#,
        reaction("R", &[("Food", 1.0)], &[("A", 1.0)], "(times 2 Food)"),
        reaction("S", &[("Food", 1.0)], &[("Waste", 1.0)], "Food"),
    );
    let model = readable(&level3(&lists));
    let network = model.network(&[]).unwrap();
    assert_eq!(network.species.len(), 1);
    assert_eq!(network.reactions.len(), 1);
    assert_eq!(rate(&network.reactions[0].rate), "5 []");
    assert_eq!(model.resolve("Food", &[]), Some(Expression::Number(2.5)));
    assert_eq!(model.resolve("Waste", &[]), None);
    let network = model.network(&names(&["Food"])).unwrap();
    assert_eq!(rate(&network.reactions[0].rate), "2*p0 []");
}

#[test]
fn what_can_be_inferred_and_what_cannot() {
    let lists = format!(
        r#"<listOfCompartments><c/></listOfCompartments>
        <listOfSpecies><s id="A" initialConcentration="4" hasOnlySubstanceUnits="true"/></listOfSpecies>
        <listOfParameters><p id="rate_1" value="2"/><p id="rate_2"/><parameter id="y" constant="false"/></listOfParameters>
        <listOfRules><assignmentRule variable="y">{}</assignmentRule></listOfRules>
        <listOfReactions>{}<r id="S"><listOfReactants><ref species="A" stoichiometry="1"/></listOfReactants>
        <kineticLaw>{}<listOfLocalParameters><localParameter id="own" value="9"/></listOfLocalParameters></kineticLaw></r></listOfReactions>"#,
        math("(times 2 A)"),
        reaction("R", &[("A", 1.0)], &[], "(times rate_1 rate_2 A)"),
        math("(times own A)"),
    );
    let model = readable(&level3(&lists));
    let inferable = model.inferable();
    let expected = [("Cell", 2.0), ("A", 8.0), ("rate_1", 2.0), ("rate_2", f64::NAN), ("S.own", 9.0)];
    assert_eq!(format!("{inferable:?}"), format!("{expected:?}"));
    assert_eq!(model.names(), ["Cell", "A", "rate_1", "rate_2", "y", "R", "S", "S.own"]);
    let error = |wanted: &[&str]| model.network(&names(wanted)).unwrap_err().join("\n");
    assert_eq!(
        error(&[]),
        "the parameter \"rate_2\" has no value in the file: give it one there, or infer it"
    );
    assert_eq!(error(&["rate_2", "rate_2"]), "\"rate_2\" is inferred twice");
    assert_eq!(error(&["y"]), "\"y\" cannot be inferred: an assignment rule sets it");
    assert_eq!(error(&["R"]), "\"R\" cannot be inferred: it is a reaction");
    assert_eq!(error(&["own"]), "there is no quantity \"own\" in the model; did you mean \"S.own\"?");
    assert_eq!(error(&["Rate1"]), "there is no quantity \"Rate1\" in the model; did you mean \"rate_1\"?");
    assert_eq!(error(&["zzz"]), "there is no quantity \"zzz\" in the model");
    let order = names(&["A", "rate_2", "S.own", "rate_1"]);
    let network = model.network(&order).unwrap();
    assert_eq!(network.parameters, order);
    assert_eq!(rate(&network.reactions[0].rate), "p3*p1 [(0, 1)]");
    assert!(
        model
            .warnings()
            .iter()
            .any(|warning| warning.message.starts_with("parameter \"rate_2\": it has no value"))
    );
}

#[test]
fn descriptions_are_readable() {
    let lists = format!(
        r#"<listOfCompartments><c/></listOfCompartments>
        <listOfSpecies><amount id="P" initialAmount="100"/><amount id="P2" initialAmount="0"/></listOfSpecies>
        <listOfParameters><p id="k1" value="0.001"/></listOfParameters>
        <listOfReactions>{}{}</listOfReactions>"#,
        reaction("D", &[("P", 2.0)], &[("P2", 1.0)], "(divide (times k1 P (minus P 1)) 2)"),
        reaction("U", &[], &[("P", 1.0)], "1"),
    );
    let model = readable(&level3(&lists));
    let reactions: Vec<String> = model.reactions().into_iter().map(|(_, text)| text).collect();
    assert_eq!(reactions, ["2 P -> P2 @ k1*P*(P - 1)/2", "0 -> P @ 1"]);
    assert_eq!(model.name(), "m");
    let counts = model.counts();
    assert_eq!((counts.compartments, counts.species, counts.parameters, counts.reactions), (1, 2, 1, 2));
    assert_eq!(model.species(), ["P", "P2"]);
    assert!(model.warnings().is_empty(), "{:?}", model.warnings());
}
