//! `method.reduction`: what the distance compares.

use counterpoise_core::reduce::{
    self, ApproximateSufficiency, Arms, Bandit, Beside, Identity, Learned, LeastEntropy, LikelihoodRatio,
    SemiAutomatic, TwoStage,
};
use serde_json::{Value, json};

use super::reading::Section;

const MOST_TRIALS: u64 = 1_000_000;
const MOST_POWERS: u64 = 8;
const MOST_STATISTICS: u64 = 100_000;

/// Reads the options of a rule.
type Read = fn(&mut Section<'_>) -> Plan;
type ReadSubset = fn(&mut Section<'_>) -> Subset;

/// Every rule under its name in problem files; the first is the default.
const RULES: [(&str, Read); 4] = [
    ("none", |section| {
        section.only(&["rule"]);
        Plan::None
    }),
    ("semi-automatic", |section| {
        section.only(&["rule", "powers", "raw"]);
        let powers = section.whole("powers", 1..=MOST_POWERS).map(|powers| powers as usize);
        Plan::SemiAutomatic { powers: powers.unwrap_or(SemiAutomatic::default().powers) }
    }),
    ("learned", |section| {
        section.only(&["rule", "raw"]);
        Plan::Learned
    }),
    ("subset", |section| {
        let (_, read) = section.named("by", &CRITERIA).unwrap_or(CRITERIA[0]);
        Plan::Subset(read(section))
    }),
];

/// Every way to choose a subset under its name in problem files; the first is the default.
const CRITERIA: [(&str, ReadSubset); 5] = [
    ("approximate-sufficiency", |section| {
        section.only(&["rule", "raw", "by", "margin"]);
        let margin = section.number_that("margin", "a number above 0", |margin| margin > 0.0);
        Subset::ApproximateSufficiency { margin: margin.unwrap_or(ApproximateSufficiency::default().margin) }
    }),
    ("likelihood-ratio", |section| {
        section.only(&["rule", "raw", "by"]);
        Subset::LikelihoodRatio
    }),
    ("entropy", |section| {
        section.only(&["rule", "raw", "by", "trials"]);
        Subset::Entropy { trials: read_trials(section) }
    }),
    ("two-stage", |section| {
        section.only(&["rule", "raw", "by", "trials"]);
        Subset::TwoStage { trials: read_trials(section) }
    }),
    ("bandit", |section| {
        section.only(&["rule", "raw", "by", "choose", "arms"]);
        let choose = section.whole("choose", 1..=MOST_STATISTICS).map(|choose| choose as usize);
        let (_, arms) = section.named("arms", &ARMS).unwrap_or(ARMS[0]);
        Subset::Bandit { choose: choose.unwrap_or(Bandit::default().choose), arms }
    }),
];

/// Every way to find the best arms of a bandit under its name in problem files; the first is the default.
const ARMS: [(&str, Arms); 2] = [("halving", Arms::Halving), ("direct", Arms::Direct)];

fn read_trials(section: &mut Section<'_>) -> usize {
    section.whole("trials", 1..=MOST_TRIALS).map_or(LeastEntropy::default().trials, |trials| trials as usize)
}

/// A rule with all its options.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reduction {
    plan: Plan,
    /// Whether the statistics themselves are compared too.
    raw: bool,
}

#[derive(Clone, Debug, Default)]
enum Plan {
    #[default]
    None,
    SemiAutomatic {
        powers: usize,
    },
    Learned,
    Subset(Subset),
}

#[derive(Clone, Debug)]
enum Subset {
    ApproximateSufficiency { margin: f64 },
    LikelihoodRatio,
    Entropy { trials: usize },
    TwoStage { trials: usize },
    Bandit { choose: usize, arms: Arms },
}

/// The names of all rules.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

/// The names of all ways to choose a subset.
pub(crate) fn criteria() -> impl Iterator<Item = &'static str> {
    CRITERIA.iter().map(|(name, _)| *name)
}

/// The rule of a section; the default where a mistake leaves it open.
pub(crate) fn read(mut section: Section<'_>) -> Reduction {
    match section.rule_of(&RULES) {
        Some((_, read)) => {
            let plan = read(&mut section);
            let raw = !matches!(plan, Plan::None) && section.boolean("raw").unwrap_or(false);
            Reduction { plan, raw }
        }
        None => Reduction::default(),
    }
}

impl Reduction {
    /// What `auto` takes.
    pub(crate) fn learned() -> Self {
        Self { plan: Plan::Learned, raw: true }
    }

    /// How many features it makes of so many statistics and parameters, where that is known beforehand.
    pub(crate) fn features(&self, statistics: usize, parameters: usize) -> Option<usize> {
        let raw = if self.raw { statistics } else { 0 };
        match &self.plan {
            Plan::None => Some(statistics),
            Plan::SemiAutomatic { .. } => Some(parameters + raw),
            Plan::Learned | Plan::Subset(_) => None,
        }
    }

    /// The rule with every option, as a run's description keeps it; one word where there is nothing to say.
    pub(crate) fn describe(&self) -> Value {
        match &self.plan {
            Plan::None => json!("none"),
            Plan::SemiAutomatic { powers } => {
                json!({ "rule": "semi-automatic", "powers": powers, "raw": self.raw })
            }
            Plan::Learned => json!({ "rule": "learned", "raw": self.raw }),
            Plan::Subset(subset) => {
                let (by, options) = match subset {
                    Subset::ApproximateSufficiency { margin } => {
                        ("approximate-sufficiency", vec![("margin", json!(margin))])
                    }
                    Subset::LikelihoodRatio => ("likelihood-ratio", Vec::new()),
                    Subset::Entropy { trials } => ("entropy", vec![("trials", json!(trials))]),
                    Subset::TwoStage { trials } => ("two-stage", vec![("trials", json!(trials))]),
                    Subset::Bandit { choose, arms } => {
                        let arms = ARMS.iter().find(|(_, known)| known == arms).map(|(name, _)| *name);
                        ("bandit", vec![("choose", json!(choose)), ("arms", json!(arms))])
                    }
                };
                let mut described = json!({ "rule": "subset", "by": by, "raw": self.raw });
                for (key, value) in options {
                    described[key] = value;
                }
                described
            }
        }
    }

    /// The rule itself.
    pub(crate) fn build(&self) -> Box<dyn reduce::Reduction> {
        let inner: Box<dyn reduce::Reduction> = match &self.plan {
            Plan::None => Box::new(Identity),
            Plan::SemiAutomatic { powers } => Box::new(SemiAutomatic { powers: *powers }),
            Plan::Learned => Box::new(Learned::default()),
            Plan::Subset(subset) => match subset {
                Subset::ApproximateSufficiency { margin } => {
                    Box::new(ApproximateSufficiency { margin: *margin })
                }
                Subset::LikelihoodRatio => Box::new(LikelihoodRatio::default()),
                Subset::Entropy { trials } => Box::new(LeastEntropy { trials: *trials }),
                Subset::TwoStage { trials } => Box::new(TwoStage { trials: *trials, ..TwoStage::default() }),
                Subset::Bandit { choose, arms } => {
                    Box::new(Bandit { choose: *choose, arms: *arms, ..Bandit::default() })
                }
            },
        };
        if self.raw { Box::new(Beside(inner)) } else { inner }
    }
}
