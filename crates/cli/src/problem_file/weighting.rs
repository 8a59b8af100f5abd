//! `method.weighting`: how the distance weights are chosen.

use counterpoise_core::divergence::Exponent;
use counterpoise_core::weigh::{self, ByFormula, Deviation, Formula, Informed, Median, Uniform};
use serde_json::{Value, json};

use super::hellinger::{self, Hellinger, MOST_EVALUATIONS};
use super::reading::Section;

/// Reads the options of a rule.
type Read = fn(&mut Section<'_>) -> Plan;

/// Every rule under its name in problem files.
const RULES: [(&str, Read); 8] = [
    ("auto", |section| plain(section, auto)),
    ("uniform", |section| plain(section, || by(Uniform))),
    ("sd", |section| plain(section, || by(Deviation))),
    ("mad", |section| plain(section, || by(Median::default()))),
    ("informed", |section| plain(section, || by(Informed::default()))),
    ("hellinger", |section| Plan::Hellinger(hellinger::read(section))),
    ("genetic", |section| plain(section, || Box::new(weigh::Genetic::default()))),
    ("paper", read_paper),
];

const EXPONENTS: [(&str, Exponent); 2] = [("corrected", Exponent::Corrected), ("printed", Exponent::Printed)];

/// A rule with all its options.
#[derive(Clone, Debug)]
pub(crate) struct Weighting {
    rule: &'static str,
    plan: Plan,
}

#[derive(Clone, Debug)]
enum Plan {
    /// A rule without options.
    Plain(fn() -> Box<dyn weigh::Weighting>),
    /// The corrected search.
    Hellinger(Hellinger),
    /// The search of the paper.
    Paper { exponent: (&'static str, Exponent), starts: usize, neighbours: usize, order: f64 },
}

impl Default for Weighting {
    fn default() -> Self {
        Self { rule: "auto", plan: Plan::Plain(auto) }
    }
}

fn auto() -> Box<dyn weigh::Weighting> {
    Box::new(weigh::Auto::default())
}

fn by(formula: impl Formula + 'static) -> Box<dyn weigh::Weighting> {
    Box::new(ByFormula(Box::new(formula)))
}

/// The names of all rules.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

/// The rule of a section; the default where a mistake leaves it open.
pub(crate) fn read(mut section: Section<'_>) -> Weighting {
    match section.rule_of(&RULES) {
        Some((rule, read)) => Weighting { rule, plan: read(&mut section) },
        None => Weighting::default(),
    }
}

fn plain(section: &mut Section<'_>, build: fn() -> Box<dyn weigh::Weighting>) -> Plan {
    section.only(&["rule"]);
    Plan::Plain(build)
}

fn read_paper(section: &mut Section<'_>) -> Plan {
    section.only(&["rule", "exponent", "starts", "neighbours", "order"]);
    Plan::Paper {
        exponent: section.named("exponent", &EXPONENTS).unwrap_or(EXPONENTS[0]),
        starts: section.whole("starts", 1..=MOST_EVALUATIONS).unwrap_or(300) as usize,
        neighbours: hellinger::read_neighbours(section).unwrap_or(5),
        order: hellinger::read_order(section).unwrap_or(0.5),
    }
}

impl Weighting {
    /// Whether everything is left to us.
    pub(crate) fn is_auto(&self) -> bool {
        self.rule == "auto"
    }

    /// Neighbours that the rule's own estimator cannot do without, and the fewest particles it looks among.
    pub(crate) fn neighbours(&self, keep: usize) -> Option<(usize, usize)> {
        match &self.plan {
            Plan::Plain(_) => None,
            Plan::Hellinger(options) => options.neighbours(keep),
            // The audit of the paper's rule is made on halves.
            Plan::Paper { neighbours, .. } => Some((*neighbours, keep / 2)),
        }
    }

    /// The rule with every option, as a run's description keeps it.
    pub(crate) fn describe(&self) -> Value {
        let mut described = json!({ "rule": self.rule });
        match &self.plan {
            Plan::Plain(_) => {}
            Plan::Hellinger(options) => options.describe(&mut described),
            Plan::Paper { exponent: (exponent, _), starts, neighbours, order } => {
                described["exponent"] = json!(exponent);
                described["starts"] = json!(starts);
                described["neighbours"] = json!(neighbours);
                described["order"] = json!(order);
            }
        }
        described
    }

    /// The rule itself.
    pub(crate) fn build(&self) -> Box<dyn weigh::Weighting> {
        match &self.plan {
            Plan::Plain(build) => build(),
            Plan::Hellinger(options) => Box::new(options.build()),
            Plan::Paper { exponent: (_, exponent), starts, neighbours, order } => {
                Box::new(weigh::Paper::new(*starts, *neighbours, *order, *exponent))
            }
        }
    }
}
