//! `method.adjust`: how the accepted parameters are corrected.

use counterpoise_core::adjust::{Adjustment, Judged, Regression, Transform};
use serde_json::{Value, json};

use super::reading::Section;

/// Makes a rule with its defaults.
type Make = fn() -> Adjust;

/// Every rule under its name in problem files; the first is the default.
const RULES: [(&str, Make); 4] = [
    ("none", || Adjust::None),
    ("linear", || Adjust::Regression(Regression::default())),
    ("ridge", || Adjust::Regression(Regression { ridge: true, ..Regression::default() })),
    ("auto", || Adjust::Judged),
];
const TRANSFORMS: [(&str, Transform); 2] = [("logit", Transform::Logit), ("none", Transform::None)];

/// A rule with all its options.
#[derive(Clone, Debug, Default)]
pub(crate) enum Adjust {
    #[default]
    None,
    Regression(Regression),
    /// Whichever proves itself.
    Judged,
}

/// The names of all rules.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

/// The rule of a section; the default where a mistake leaves it open.
pub(crate) fn read(mut section: Section<'_>) -> Adjust {
    let Some((_, rule)) = section.rule_of(&RULES) else { return Adjust::default() };
    let Adjust::Regression(regression) = rule() else {
        section.only(&["rule"]);
        return rule();
    };
    section.only(&["rule", "heteroscedastic", "transform"]);
    let heteroscedastic = section.boolean("heteroscedastic").unwrap_or(false);
    let (_, transform) = section.named("transform", &TRANSFORMS).unwrap_or(TRANSFORMS[0]);
    Adjust::Regression(Regression { heteroscedastic, transform, ..regression })
}

impl Adjust {
    /// Particles needed for a regression on so many features.
    pub(crate) fn needs(&self, features: usize) -> usize {
        match self {
            Self::Regression(regression) => regression.particles_for(features),
            Self::None | Self::Judged => 0,
        }
    }

    /// The rule with every option, as a run's description keeps it; one word where there is nothing to say.
    pub(crate) fn describe(&self) -> Value {
        match self {
            Self::None => json!("none"),
            Self::Judged => json!("auto"),
            Self::Regression(regression) => {
                let transform = TRANSFORMS.iter().find(|(_, transform)| *transform == regression.transform);
                json!({
                    "rule": if regression.ridge { "ridge" } else { "linear" },
                    "heteroscedastic": regression.heteroscedastic,
                    "transform": transform.map(|(name, _)| name),
                })
            }
        }
    }

    /// The rule itself.
    pub(crate) fn build(&self) -> Option<Box<dyn Adjustment>> {
        match self {
            Self::None => None,
            Self::Judged => Some(Box::new(Judged)),
            Self::Regression(regression) => Some(Box::new(regression.clone())),
        }
    }
}
