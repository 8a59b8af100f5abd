//! Models in SBML.

use crate::{Expression, Network};

/// A model that could be read.
#[derive(Clone, Debug)]
pub struct Model {}

/// Why a text is no model that can be used, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, from one.
    pub line: usize,
    /// Column, from one.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads a model.
///
/// # Errors
/// Everything that is wrong with the text or cannot be simulated.
pub fn read(_text: &str) -> Result<Model, Vec<Problem>> {
    Err(vec![Problem { line: 1, column: 1, message: "models in SBML are not read yet".into() }])
}

impl Model {
    /// The network whose parameters of these names are inferred.
    ///
    /// # Errors
    /// Names that are unknown or cannot be inferred, and why.
    pub fn network(&self, _parameters: &[String]) -> Result<Network, Vec<String>> {
        Ok(Network::default())
    }

    /// What a name of the model stands for.
    #[must_use]
    pub fn resolve(&self, _name: &str, _parameters: &[String]) -> Option<Expression> {
        None
    }

    /// Every name of the model.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        Vec::new()
    }
}
