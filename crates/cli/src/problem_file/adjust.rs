//! `method.adjust`: how the accepted parameters are corrected.

use counterpoise_core::adjust::{Adjustment, Regression, Transform};
use serde_json::{Value, json};

use super::reading::Section;

/// Every rule under its name in problem files, and whether it shrinks its coefficients; the first is the default.
const RULES: [(&str, Option<bool>); 3] = [("none", None), ("linear", Some(false)), ("ridge", Some(true))];
const TRANSFORMS: [(&str, Transform); 2] = [("logit", Transform::Logit), ("none", Transform::None)];

/// A rule with all its options; nothing for none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adjust(Option<Regression>);

/// The names of all rules.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

/// The rule of a section; the default where a mistake leaves it open.
pub(crate) fn read(mut section: Section<'_>) -> Adjust {
    let Some((_, ridge)) = section.rule_of(&RULES) else { return Adjust::default() };
    let Some(ridge) = ridge else {
        section.only(&["rule"]);
        return Adjust(None);
    };
    section.only(&["rule", "heteroscedastic", "transform"]);
    let heteroscedastic = section.boolean("heteroscedastic").unwrap_or(false);
    let (_, transform) = section.named("transform", &TRANSFORMS).unwrap_or(TRANSFORMS[0]);
    Adjust(Some(Regression { ridge, heteroscedastic, transform }))
}

impl Adjust {
    /// Particles needed for a regression on so many features.
    pub(crate) fn needs(&self, features: usize) -> usize {
        self.0.as_ref().map_or(0, |regression| regression.particles_for(features))
    }

    /// The rule with every option, as a run's description keeps it; one word where there is nothing to say.
    pub(crate) fn describe(&self) -> Value {
        self.0.as_ref().map_or(json!("none"), |regression| {
            let transform = TRANSFORMS.iter().find(|(_, transform)| *transform == regression.transform);
            json!({
                "rule": if regression.ridge { "ridge" } else { "linear" },
                "heteroscedastic": regression.heteroscedastic,
                "transform": transform.map(|(name, _)| name),
            })
        })
    }

    /// The rule itself.
    pub(crate) fn build(&self) -> Option<Box<dyn Adjustment>> {
        self.0.clone().map(|regression| Box::new(regression) as Box<dyn Adjustment>)
    }
}
