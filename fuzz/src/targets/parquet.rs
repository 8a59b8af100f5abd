//! Tables in Parquet.

use super::{Target, table};
use crate::corpus;

pub const TARGET: Target = Target {
    name: "parquet",
    about: "tables in Parquet",
    seeds: || corpus::files(&["crates/tables/tests/data"], &[".parquet"]),
    words: &["PAR1", "\u{15}\u{0}", "\u{15}\u{2}", "\u{0}\u{0}\u{0}\u{0}"],
    run: |input| table::read("t.parquet", input),
};
