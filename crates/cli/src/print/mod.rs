//! Text for people and JSON for programs.

pub(crate) use counterpoise_report::number;

pub(crate) mod bars;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod plot;
pub(crate) mod posterior;
pub(crate) mod progress;
pub(crate) mod sparkline;
pub(crate) mod table;
pub(crate) mod tally;
