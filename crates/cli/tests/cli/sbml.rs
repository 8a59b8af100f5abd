//! `sbml`: a description of what can be read, and every reason why not.

use super::{Bench, TOY};

pub(super) const DIMERS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<sbml xmlns="http://www.sbml.org/sbml/level2/version4" level="2" version="4">
<model id="dimers">
<listOfCompartments><compartment id="Cell" size="1"/></listOfCompartments>
<listOfSpecies>
<species id="P" compartment="Cell" initialAmount="100" hasOnlySubstanceUnits="true"/>
<species id="P2" compartment="Cell" initialAmount="0" hasOnlySubstanceUnits="true"/>
</listOfSpecies>
<listOfParameters><parameter id="k2" value="0.01"/></listOfParameters>
<listOfReactions>
<reaction id="Binding" reversible="false">
<listOfReactants><speciesReference species="P" stoichiometry="2"/></listOfReactants>
<listOfProducts><speciesReference species="P2"/></listOfProducts>
<kineticLaw><math xmlns="http://www.w3.org/1998/Math/MathML"><apply><times/><ci>k1</ci><ci>P</ci><ci>P</ci></apply></math>
<listOfParameters><parameter id="k1" value="0.001"/></listOfParameters></kineticLaw>
</reaction>
</listOfReactions>
</model>
</sbml>
"#;

#[test]
fn a_model_is_described() {
    let bench = Bench::new(TOY);
    bench.write("dimers.xml", DIMERS);
    let page = bench.run(&["sbml", "dimers.xml"]).exits(0).stdout;
    for expected in [
        "dimers.xml: dimers, SBML Level 2 Version 4",
        "1 compartments, 2 species, 1 parameters, 1 local parameters, 1 reactions",
        "Binding  2 P -> P2 @ k1*P*P",
        "\"Binding.k1\" = { law = \"log-uniform\", low = 0.0001, high = 0.01 }  # 0.001 in the file",
        "# P = { law",
        "[model.sbml]\nfile = \"dimers.xml\"  # relative to the problem file\n",
        "observe = [\"P\", \"P2\"]",
        "warning: 14:1: reaction \"Binding\": the law k1*P*P is that of a differential equation",
    ] {
        assert!(page.contains(expected), "`{expected}` is not in:\n{page}");
    }
    let json = bench.run(&["sbml", "dimers.xml", "--json"]).exits(0).json();
    assert_eq!(json["inferable"]["Binding.k1"], 0.001);
    assert_eq!(json["counts"]["reactions"], 1);
    assert_eq!(json["warnings"][0]["line"], 3, "Level 2 counts in moles");
    assert_eq!(json["warnings"][1]["line"], 14);
    assert_eq!(json["supported"], true);
}

#[test]
fn every_reason_against_a_model_is_given() {
    let bench = Bench::new(TOY);
    let rules =
        "<listOfRules>\n<rateRule variable=\"k2\"/>\n<algebraicRule/>\n</listOfRules>\n<listOfReactions>";
    bench.write("bad.xml", DIMERS.replace("<listOfReactions>", rules));
    let done = bench.run(&["sbml", "bad.xml"]).exits(2);
    let done =
        done.says("error: bad.xml:11:1: rateRule \"k2\": ").says("error: bad.xml:12:1: algebraicRule: ");
    assert!(done.says("2 problems; the model cannot be simulated").stdout.is_empty());
    let json = bench.run(&["sbml", "bad.xml", "--json"]).exits(2).json();
    assert_eq!((&json["supported"], &json["problems"][1]["line"]), (&false.into(), &12.into()));
}

#[test]
fn files_that_are_no_models() {
    let bench = Bench::new(TOY);
    bench.run(&["sbml", "nowhere.xml"]).exits(2).says("error: cannot read nowhere.xml: ");
    bench.run(&["sbml", "."]).exits(2).says("it is a directory");
    bench.run(&["sbml", "p.toml"]).exits(2).says("error: p.toml:1:1: this is not well-formed XML");
    bench.write("bytes.xml", b"<sbml>\xff</sbml>");
    bench.run(&["sbml", "bytes.xml"]).exits(2).says("byte 6 is not UTF-8");
    bench.write("page.xml", "<html/>");
    bench.run(&["sbml", "page.xml"]).exits(2).says("page.xml:1:1: expected <sbml>");
    std::fs::File::create(bench.path("huge.xml")).unwrap().set_len((16 << 20) + 1).unwrap();
    bench.run(&["sbml", "huge.xml"]).exits(2).says("it is larger than 16 MiB");
}
