//! `method.proposal`: where the next parameters come from.

use counterpoise_core::propose::{self, Adaptive, Covariance, Gaussian, Local};
use serde_json::{Value, json};

use super::reading::Section;

/// How a rule is made, and the number it is made of where it takes one.
#[derive(Clone, Copy, Debug)]
struct Kind {
    number: Option<Number>,
    build: fn(f64) -> Box<dyn propose::Proposal>,
}

/// A number that a rule takes.
#[derive(Clone, Copy, Debug)]
struct Number {
    key: &'static str,
    default: fn() -> f64,
    expected: &'static str,
    fits: fn(f64) -> bool,
}

const SD: Number =
    Number { key: "sd", default: || 0.25, expected: "a number above 0", fits: |sd| sd > 0.0 && sd <= 1e6 };
const SHARE: Number = Number {
    key: "share",
    default: || Local::default().share,
    expected: "a share above 0 and at most 1",
    fits: |share| share > 0.0 && share <= 1.0,
};

const GAUSSIAN: (&str, Kind) = ("gaussian", Kind { number: Some(SD), build: |sd| Box::new(Gaussian { sd }) });
const COVARIANCE: (&str, Kind) = ("covariance", Kind { number: None, build: |_| Box::new(Covariance) });
const ADAPTIVE: (&str, Kind) = ("adaptive", Kind { number: None, build: |_| Box::new(Adaptive) });
/// Every rule under its name in problem files.
const KINDS: [(&str, Kind); 4] = [
    GAUSSIAN,
    COVARIANCE,
    ADAPTIVE,
    ("local", Kind { number: Some(SHARE), build: |share| Box::new(Local { share }) }),
];

/// A rule with its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal {
    rule: &'static str,
    kind: Kind,
    value: f64,
}

impl Default for Proposal {
    fn default() -> Self {
        let (rule, kind) = COVARIANCE;
        Self { rule, kind, value: f64::NAN }
    }
}

impl Proposal {
    /// Steps of one size.
    pub(crate) fn gaussian(sd: f64) -> Self {
        let (rule, kind) = GAUSSIAN;
        Self { rule, kind, value: sd }
    }

    /// What `auto` takes.
    pub(crate) fn adaptive() -> Self {
        let (rule, kind) = ADAPTIVE;
        Self { rule, kind, value: f64::NAN }
    }

    /// The rule and its number, as a run's description keeps them.
    pub(crate) fn describe(&self) -> Value {
        let mut described = json!({ "rule": self.rule });
        if let Some(number) = self.kind.number {
            described[number.key] = json!(self.value);
        }
        described
    }

    /// The rule itself.
    pub(crate) fn build(&self) -> Box<dyn propose::Proposal> {
        (self.kind.build)(self.value)
    }
}

/// The names of all rules.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

/// The rule of a section; the default where a mistake leaves it open.
pub(crate) fn read(mut section: Section<'_>) -> Proposal {
    let Some((rule, kind)) = section.rule_of(&KINDS) else { return Proposal::default() };
    let Some(Number { key, default, expected, fits }) = kind.number else {
        section.only(&["rule"]);
        return Proposal { rule, kind, value: f64::NAN };
    };
    section.only(&["rule", key]);
    let value = section.number_that(key, expected, fits).unwrap_or_else(default);
    Proposal { rule, kind, value }
}
