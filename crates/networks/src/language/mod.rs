//! The language in which networks and expressions are written.
//!
//! ```
//! use counterpoise_networks::Network;
//!
//! let network = Network::parse(
//!     "S1      -> 0   @ k1                       # mass action
//!      2 S1   <-> S2  @ k3, k4
//!      S2      -> P   @ { k2 * S2 / (50 + S2) }  # any rate stands in braces",
//!     &["k1", "k2", "k3", "k4"],
//!     &[("S1", 1000.0)],
//! )
//! .unwrap();
//! assert_eq!(network.species.len(), 3);
//! assert_eq!(network.reactions.len(), 4);
//! ```

mod lexer;
mod line;
mod mistake;
mod names;
mod operators;
mod parser;
mod print;
mod reactions;
mod scope;

pub use mistake::{Mistake, near_miss};
pub use names::Names;
pub use operators::FUNCTIONS;
pub(crate) use operators::binding;
pub use parser::{expression, observable};
pub use print::{expression_text, reaction_text};
pub use reactions::Draft;
pub(crate) use reactions::{MOST_PICKS, MOST_REACTIONS};
pub use scope::Scope;

use crate::{Counting, Expression, Network};

impl Network {
    /// The network of some reactions, one a line; species that `initial` does not name begin at 0.
    ///
    /// # Errors
    /// Every mistake, each with its place in `reactions`; one that is elsewhere has an empty place.
    pub fn parse(
        reactions: &str,
        parameters: &[&str],
        initial: &[(&str, f64)],
    ) -> Result<Self, Vec<Mistake>> {
        let draft = Draft::read(reactions);
        let (mut names, mut mistakes) = (Names::default(), Vec::new());
        let elsewhere = |mistake: Mistake| Mistake { span: 0..0, ..mistake };
        for name in parameters {
            mistakes.extend(names.parameter(name).err().map(elsewhere));
        }
        for (name, span) in draft.species() {
            let here = |mistake| Mistake { span: span.clone(), ..mistake };
            mistakes.extend(names.species(name).err().map(here));
        }
        draft.guess(&mut names);
        for (name, _) in initial {
            if !names.has_species(name) {
                mistakes.extend(names.species(name).err().map(elsewhere));
            }
        }
        let reactions = draft.reactions(&names, Counting::default(), "add it to the parameters");
        let begins = |name: &String| initial.iter().find(|(given, _)| given == name).map_or(0.0, |(_, n)| *n);
        let initial = names.all_species().iter().map(|name| Expression::Number(begins(name))).collect();
        match reactions {
            Ok(reactions) if mistakes.is_empty() => Ok(names.into_network(initial, reactions)),
            Ok(_) => Err(mistakes),
            Err(more) => Err([mistakes, more].concat()),
        }
    }
}

#[cfg(test)]
mod tests;
