//! SBML documents: a model and its network, or every reason against it.

use counterpoise_networks::sbml;

use super::{Target, shape};
use crate::corpus;

pub const TARGET: Target = Target {
    name: "sbml",
    about: "SBML documents",
    seeds: || corpus::files(&["examples", "crates/networks", "crates/cli/tests", "reference"], &[".xml"]),
    words: &[
        "<species ",
        "<reaction ",
        "<kineticLaw>",
        "<math xmlns=\"http://www.w3.org/1998/Math/MathML\">",
        "<apply>",
        "</apply>",
        "<times/>",
        "<plus/>",
        "<power/>",
        "<ci>",
        "</ci>",
        "<cn>",
        "<cn type=\"e-notation\">",
        "<sep/>",
        "<lambda>",
        "<piecewise>",
        "<listOfRules>",
        "<assignmentRule variable=\"",
        "<rateRule variable=\"",
        "<event ",
        "<trigger>",
        "<delay>",
        "stoichiometry=\"",
        "id=\"",
        "hasOnlySubstanceUnits=\"true\"",
        "boundaryCondition=\"true\"",
        "constant=\"false\"",
        "<!DOCTYPE",
        "<!ENTITY",
        "]]>",
        "<![CDATA[",
        "level=\"3\" version=\"2\"",
        "&lt;",
        "initialAmount=\"",
    ],
    run,
};

fn run(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else { return "not UTF-8".into() };
    match sbml::read(text) {
        Err(problems) => {
            problems.iter().take(3).map(|one| shape(&one.message)).collect::<Vec<_>>().join("\n")
        }
        Ok(model) => {
            let names: Vec<String> = model.inferable().into_iter().map(|(name, _)| name).take(3).collect();
            match model.network(&names) {
                Ok(network) => format!(
                    "{} species, {} reactions",
                    network.species.len().min(8),
                    network.reactions.len().min(8)
                ),
                Err(reasons) => reasons.iter().take(3).map(|one| shape(one)).collect::<Vec<_>>().join("\n"),
            }
        }
    }
}
