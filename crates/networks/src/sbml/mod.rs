//! Models in SBML.
