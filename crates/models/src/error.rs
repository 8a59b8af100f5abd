//! Why a built-in model cannot be made as asked.

/// A request that no built-in model can satisfy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There is no model of this name.
    #[error("expected a built-in model ({}), found '{found}'", crate::NAMES.join(", "))]
    UnknownModel {
        /// What was given.
        found: String,
    },
    /// There is no preset of this name.
    #[error("expected a preset (text, appendix), found '{found}'")]
    UnknownPreset {
        /// What was given.
        found: String,
    },
    /// The model has no option of this name.
    #[error("model {model}: expected an option among {}, found '{found}'", known.join(", "))]
    UnknownOption {
        /// Which model was asked for.
        model: &'static str,
        /// What was given.
        found: String,
        /// The options it has.
        known: Vec<&'static str>,
    },
    /// An option is given more than once.
    #[error("model {model}: expected option {option} once, found it again")]
    RepeatedOption {
        /// Which model was asked for.
        model: &'static str,
        /// Which option.
        option: &'static str,
    },
    /// An option's value is not one the model can use.
    #[error("option {option}: expected {expected}, found {found}")]
    OutOfRange {
        /// Which option.
        option: &'static str,
        /// What it may be.
        expected: String,
        /// What was given.
        found: f64,
    },
    /// The options give observation times that cannot be used.
    #[error(transparent)]
    Times(#[from] counterpoise_networks::TimesError),
}
