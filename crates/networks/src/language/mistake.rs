//! Something that the writer of a text has to change.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// A mistake, where it is, and what may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The bytes of the text it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Mistake {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl Display for Mistake {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Mistake {}

/// The known name that `found` was probably meant to be.
pub fn near_miss<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = found.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let length = found.chars().count();
    // Of one letter, every other is one step away.
    let alike = |&(distance, name): &(usize, &str)| {
        let shorter = length.min(name.chars().count());
        shorter > 0 && (distance == 0 || shorter >= 2 && distance < shorter)
    };
    let nearest = known.into_iter().map(|name| (distance(name), name)).filter(alike);
    let nearest = nearest.min_by_key(|&(distance, _)| distance);
    nearest.filter(|&(distance, name)| distance <= 1 + name.chars().count() / 4).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses() {
        assert_eq!(near_miss("simulatons", ["keep", "simulations"]), Some("simulations"));
        assert_eq!(near_miss("Sead", ["seed", "keep"]), Some("seed"));
        assert_eq!(near_miss("wheighting", ["generations", "weighting"]), Some("weighting"));
        assert_eq!(near_miss("banana", ["seed", "keep"]), None);
        assert_eq!(near_miss("N", ["I", "S", "In"]), None);
        assert_eq!(near_miss("", ["I", "", "In"]), None);
        assert_eq!(near_miss("i", ["S", "I"]), Some("I"));
        assert_eq!(near_miss("k3", ["k", "k1"]), Some("k1"));
    }
}
