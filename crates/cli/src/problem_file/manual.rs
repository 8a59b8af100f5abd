//! The tables of `docs/problem-file.md`, made of the definitions that readers use.

use std::path::Path;

use counterpoise_core::problem::law::KINDS;
use counterpoise_models::{NAMES, Preset, builtin, options};
use serde_json::Value;

use super::keys::{self, Key, Usual};
use super::model::NOISE_LAWS;
use super::{adjust, hellinger, proposal, reduction, weighting};

/// What the guide says of names whose meaning no definition tells.
type Remarks = [(&'static str, &'static str)];

const LAWS: [(&str, &str); 8] = [
    ("uniform", ""),
    ("log-uniform", "uniform in the logarithm"),
    ("normal", ""),
    ("log-normal", "of the natural logarithm"),
    ("gamma", "mean shape x scale"),
    ("beta", "on [0, 1]"),
    ("exponential", "mean 1 / rate"),
    ("integer", "whole numbers, both ends included"),
];

const NOISES: [(&str, &str); 3] = [
    ("normal", "mean x, sd s"),
    ("log-normal", "x times e to the power of a normal variate of sd s"),
    ("poisson", "mean s x; s is 1 unless given: the share that is counted"),
];

const BUILTINS: [(&str, &str); 5] = [
    ("toy", "draws from Uniform(0, theta), as they come"),
    ("toy-sorted", "the same, sorted"),
    ("death", "particles alive at 33 times, and one normal reading with sd sigma"),
    ("dimerization", "three species at 33 times"),
    ("diffusion", "particles in each of 8 voxels at 9 times"),
];

const WEIGHTINGS: [(&str, &str); 8] = [
    (
        "auto",
        "whichever of these tells the parameters of pseudo-observations near the data best, on the statistics or on learned features; leaves reduction, adjustment and proposal to be chosen too ([method.md](method.md))",
    ),
    ("uniform", "one: the statistics' own units decide"),
    ("sd", "one over the standard deviation of each statistic over the simulations"),
    ("mad", "one over the median absolute deviation; over the standard deviation where that is zero"),
    (
        "informed",
        "sensitivity: coefficients of a ridge regression of the parameters on the statistics, near the observation",
    ),
    (
        "hellinger",
        "those that carry the accepted parameters furthest from the prior, learned on one half of the simulations and used in the other",
    ),
    (
        "genetic",
        "bred by a genetic algorithm for good estimates on the simulated datasets nearest to the observation (Jung & Marjoram 2011)",
    ),
    (
        "paper",
        "the same as `hellinger` to the letter of Harrison & Baker: learned on the simulations that are accepted, which is too optimistic; the report says by how much",
    ),
];

const REDUCTIONS: [(&str, &str); 4] = [
    ("none", "the statistics themselves"),
    (
        "semi-automatic",
        "an estimate of each parameter, by regression on the statistics and their powers in the region that a first selection finds (Fearnhead & Prangle 2012)",
    ),
    (
        "learned",
        "estimates of the parameters, their squares and, for up to three, their products, each in units of its error: a ridge regression on transforms of the statistics (themselves, squares, logarithms; means, extremes, spreads and correlations over statistics with equal laws), its penalty chosen by cross-validation",
    ),
    ("subset", "some of the statistics, chosen as `by` says"),
];

const CRITERIA: [(&str, &str); 5] = [
    ("approximate-sufficiency", "Barnes et al. 2012"),
    ("likelihood-ratio", "Joyce & Marjoram 2008"),
    ("entropy", "Nunes & Balding 2010; `trials` is how many subsets"),
    ("two-stage", "Nunes & Balding 2010; `trials` is how many subsets"),
    (
        "bandit",
        "Singh & Hellander 2018: `choose` statistics, anew for every 50 simulations, by the smallest mean distance from the observation; each distance counts as a share of the furthest. `arms`, how they are found, is `halving` or `direct` (Kalyanakrishnan & Stone 2010)",
    ),
];

const ADJUSTMENTS: [(&str, &str); 4] = [
    ("none", "they stay as they were accepted"),
    (
        "linear",
        "each parameter is regressed on the features among the accepted, the nearer counting more, and moved to where it would be at the observation (Beaumont, Zhang & Balding 2002). Refused with more than one feature for ten particles",
    ),
    ("ridge", "the same with coefficients shrunk as much as predicts best what was left out"),
    (
        "auto",
        "none or a linear regression (as above, without bounds, heteroscedastic, or one for each mode), and of how many of the nearest simulations: whichever tells the parameters of pseudo-observations near the data best",
    ),
];

const PROPOSALS: [(&str, &str); 4] = [
    ("gaussian", "steps of one `sd`: in log10 for logarithmic laws, else in prior deviations"),
    ("covariance", "twice the weighted covariance of the particles"),
    (
        "adaptive",
        "a mixture of density estimates of the posterior so far; simulations of all generations are used together",
    ),
    ("local", "the covariance of neighbours; `share` of the particles are neighbours"),
];

/// Every table under its name in the page.
pub(crate) fn tables() -> Vec<(&'static str, String)> {
    let both = |some: &[Key]| keyed(some) + &rows(keys::OBSERVATION);
    let named = |key: &'static str, names: &mut dyn Iterator<Item = &'static str>, remarks: &Remarks| {
        let head = format!("| `{key}` | | options (default) |\n|---|---|---|\n");
        head + &ruled(key, "rule", names, remarks)
    };
    vec![
        ("laws", laws()),
        ("builtins", builtins()),
        ("network", both(keys::NETWORK)),
        ("times", keyed(keys::TIMES)),
        ("noise", noises()),
        ("sbml", both(keys::SBML)),
        ("table", keyed(keys::TABLE)),
        ("command", keyed(keys::COMMAND)),
        ("observed", keyed(keys::OBSERVED)),
        ("method", keyed(keys::METHOD)),
        ("weighting", named("weighting", &mut weighting::names(), &WEIGHTINGS)),
        ("choices", choices()),
        ("reduction", named("reduction", &mut reduction::names(), &REDUCTIONS)),
        (
            "subset",
            "| `by` | | options (default) |\n|---|---|---|\n".to_owned()
                + &ruled("reduction", "by", &mut reduction::criteria(), &CRITERIA),
        ),
        ("adjust", named("adjust", &mut adjust::names(), &ADJUSTMENTS)),
        ("proposal", named("proposal", &mut proposal::names(), &PROPOSALS)),
        ("stop", keyed(keys::STOP)),
    ]
}

/// What is said of a name; a test fails where that is nothing.
fn remark<'a>(remarks: &'a Remarks, name: &str) -> &'a str {
    let found = remarks.iter().find(|(known, _)| *known == name);
    found.map_or("**not described**", |(_, remark)| *remark)
}

fn keyed(keys: &[Key]) -> String {
    "| key | default | |\n|---|---|---|\n".to_owned() + &rows(keys)
}

fn rows(keys: &[Key]) -> String {
    let row = |key: &Key| {
        let usual = match key.usual {
            Usual::Required => String::new(),
            Usual::Words(words) => words.to_owned(),
            Usual::Number(number) => number.to_string(),
        };
        format!("| `{}` | {usual} | {} |\n", key.name, key.means)
    };
    keys.iter().map(row).collect()
}

fn laws() -> String {
    let row = |kind: &counterpoise_core::problem::law::Kind| {
        let keys: Vec<String> = kind.keys.iter().map(|key| format!("`{key}`")).collect();
        format!("| `{}` | {} | {} |\n", kind.name, keys.join(", "), remark(&LAWS, kind.name))
    };
    "| law | numbers | remark |\n|---|---|---|\n".to_owned() + &KINDS.iter().map(row).collect::<String>()
}

fn noises() -> String {
    let row = |(name, _): &(&str, _)| format!("| `{name}` | {} |\n", remark(&NOISES, name));
    "| law | for a true value x and a size s |\n|---|---|\n".to_owned()
        + &NOISE_LAWS.iter().map(row).collect::<String>()
}

fn builtins() -> String {
    let mut table =
        "| builtin | parameters | statistics | options (default) |\n|---|---|---|---|\n".to_owned();
    for name in NAMES {
        let Ok(model) = builtin(name, Preset::Text, &[]) else { continue };
        let (first, last) = (model.statistics.first(), model.statistics.last());
        let options: Vec<String> = options(name)
            .unwrap_or_default()
            .iter()
            .map(|option| format!("`{}` ({})", option.name, option.default(Preset::Text)))
            .collect();
        table += &format!(
            "| `{name}` | {} | {} from {} to {}: {} | {} |\n",
            model.parameters.join(", "),
            model.statistics.len(),
            first.map_or("", String::as_str),
            last.map_or("", String::as_str),
            remark(&BUILTINS, name),
            options.join(", ")
        );
    }
    table
}

/// A row for each rule, with its options and their defaults as the program describes them.
fn ruled(key: &str, by: &str, names: &mut dyn Iterator<Item = &'static str>, remarks: &Remarks) -> String {
    let row = |name: &'static str| {
        let rule = if by == "rule" {
            format!("rule = \"{name}\"")
        } else {
            format!("rule = \"subset\", by = \"{name}\"")
        };
        format!("| `{name}` | {} | {} |\n", remark(remarks, name), options_of(key, &rule, by))
    };
    names.map(row).collect()
}

/// The options of a rule with their defaults, from the description of a problem that names it.
fn options_of(key: &str, rule: &str, by: &str) -> String {
    let text = format!(
        "[model]\nbuiltin = \"toy\"\n[observed]\ntruth = {{ theta = 10 }}\n[method]\n{key} = {{ {rule} }}\n"
    );
    let described = super::read_text(text.as_bytes(), Path::new("")).unwrap_or_default();
    // `by` has a table of its own, in which `raw` would be said once too often.
    let own = |name: &str| !["rule", "by"].contains(&name) && (by == "rule" || name != "raw");
    let options = described["method"][key].as_object().into_iter().flatten();
    let options = options.filter(|(name, _)| own(name)).map(|(name, value)| match value {
        Value::String(text) => format!("`{name}` (`{text}`)"),
        other => format!("`{name}` ({other})"),
    });
    options.collect::<Vec<_>>().join(", ")
}

/// Options of `hellinger` that take a name.
fn choices() -> String {
    let row = |(key, names): &(&str, Vec<&str>)| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        format!("| `{key}` | {} |\n", names.join(", "))
    };
    "| option of `hellinger` | takes one of (the first is the default) |\n|---|---|\n".to_owned()
        + &hellinger::choices().iter().map(row).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_described_and_every_description_has_a_name() {
        for (name, table) in tables() {
            assert!(!table.contains("not described"), "{name}: {table}");
        }
        fn same<'a>(names: impl Iterator<Item = &'a str>, remarks: &Remarks) {
            let names: Vec<&str> = names.collect();
            assert_eq!(names.len(), remarks.len(), "{names:?}");
        }
        same(weighting::names(), &WEIGHTINGS);
        same(reduction::names(), &REDUCTIONS);
        same(reduction::criteria(), &CRITERIA);
        same(adjust::names(), &ADJUSTMENTS);
        same(proposal::names(), &PROPOSALS);
        same(NAMES.iter().copied(), &BUILTINS);
    }

    #[test]
    fn options_have_the_program_s_own_defaults() {
        assert_eq!(options_of("weighting", "rule = \"uniform\"", "rule"), "");
        assert!(options_of("weighting", "rule = \"hellinger\"", "rule").contains("`evaluations` (300)"));
        assert_eq!(
            options_of("reduction", "rule = \"subset\", by = \"bandit\"", "by"),
            "`choose` (5), `arms` (`halving`)"
        );
        assert_eq!(options_of("proposal", "rule = \"gaussian\"", "rule"), "`sd` (0.25)");
    }
}
