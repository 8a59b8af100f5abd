//! A method in one word, as `compare` takes it: `uniform+semi-automatic+linear`.

use super::overrides::Override;
use super::{adjust, reduction, weighting};

const OPTION: &str = "--rules";

/// The keys of `[method]` that a rule gives values to. Its parts, joined by `+`, are names of weighting rules, of reductions and
/// ways to choose a subset, of adjustments, or `key=value` below `method`; what no part names stays as the file has it.
///
/// # Errors
/// The part that is none of these, with all names.
pub(crate) fn overrides(rule: &str) -> Result<Vec<Override>, String> {
    let mut overrides = Vec::new();
    let mut set = |text: String| overrides.push(Override { option: OPTION, text });
    for part in rule.split('+') {
        if part.contains('=') {
            set(format!("method.{part}"));
        } else if weighting::names().any(|name| name == part) {
            set(format!("method.weighting={part}"));
        } else if reduction::names().any(|name| name == part) {
            set(format!("method.reduction={part}"));
        } else if reduction::criteria().any(|name| name == part) {
            set("method.reduction=subset".into());
            set(format!("method.reduction.by={part}"));
        } else if adjust::names().any(|name| name == part) {
            set(format!("method.adjust={part}"));
        } else {
            return Err(part.to_owned());
        }
    }
    Ok(overrides)
}

/// Every name that may be a part of a rule.
pub(crate) fn names() -> Vec<&'static str> {
    let reductions = reduction::names().filter(|name| *name != "none" && *name != "subset");
    let adjustments = adjust::names().filter(|name| *name != "none");
    weighting::names().chain(reductions).chain(reduction::criteria()).chain(adjustments).collect()
}
