//! The language of reactions and expressions.
