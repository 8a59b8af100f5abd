//! The problems of Harrison and Baker, simulated exactly, with the settings the paper gives for each.
//!
//! [`builtin`] turns a name and options into a [`Model`]; [`setting`] gives the prior, the truth and the
//! budget the paper used for it. Where the paper's text and its appendix disagree, [`Preset`] chooses.
//!
//! ```
//! use counterpoise_core::problem::Simulator;
//! use counterpoise_core::stream::{Seed, Stage};
//! use counterpoise_models::{Preset, builtin, setting};
//!
//! let model = builtin("death", Preset::Text, &[("initial".into(), 20.0)])?;
//! let truth = setting("death", Preset::Text)?.truth();
//! let mut summaries = vec![0.0; model.statistics.len()];
//! let mut rng = Seed(1).stream(Stage::Observe, 0, 0);
//! model.simulator.simulate(&truth, &mut rng, &mut summaries).expect("the truth can be simulated");
//! assert_eq!((model.statistics[1].as_str(), summaries[0]), ("A@0.625", 20.0));
//! # Ok::<(), counterpoise_models::ModelError>(())
//! ```

mod catalogue;
mod death;
mod diffusion;
mod dimerization;
mod error;
pub mod exact;
mod limits;
mod reactions;
mod setting;
mod toy;

#[cfg(test)]
mod oracle;

pub use catalogue::{Model, ModelOption, NAMES, builtin, options};
pub use error::ModelError;
pub use setting::{Parameter, Preset, Setting, setting};
pub use toy::Toy;
