//! How columns lie in a Parquet file: types, encodings, compression.

use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Encoding, GzipLevel, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, Type};

use super::Values;

/// Rows that tell how a column is written.
pub(super) const SAMPLE: usize = 1 << 10;
/// A dictionary where at most so many of them differ, and each comes so many times on average.
pub(super) const FEW: usize = 128;
pub(super) const OFTEN: usize = 8;
/// What is left of a column that is worth compressing further.
const WORTH: f64 = 0.9;

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Each of those that differ once, and which one it is for every row; compressed where some come more often.
    Dictionary { uneven: bool },
    /// Their first bytes, then their second bytes and so on: signs and exponents are alike, the rest is noise.
    Split,
}

/// Nobody reads statistics and indices of pages. The death process, 33 counts and three numbers that never repeat, takes 87 bytes a simulation
/// as plain numbers with snappy, and 41 with counts by a dictionary. With gzip for what the dictionary leaves it is 37, and 35 with the others
/// split and compressed too, for half a microsecond of processor time a simulation, most of which gzip spends on beginning a page. Its second
/// level takes half a microsecond more for half a byte; zlib-rs was no faster. It is 29 with rows in another order (`order.rs`) and groups of up to
/// 16,384 of them instead of 8,192, which alone is worth a byte: each has dictionaries and a place in the footer for every column. A dictionary of numbers that hardly repeat takes
/// five times as long as plain ones.
pub(super) fn properties(names: &[String], examples: &[Values]) -> WriterProperties {
    // The level is one of those that there are.
    let gzip = GzipLevel::try_new(1).map_or(Compression::SNAPPY, Compression::GZIP);
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_created_by(format!("counterpoise {}", env!("CARGO_PKG_VERSION")))
        .set_dictionary_enabled(false);
    for (name, values) in names.iter().zip(examples) {
        let path = || ColumnPath::new(vec![name.clone()]);
        properties = match values {
            // Rows in order, mostly.
            Values::Whole(_) => properties.set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED),
            Values::Text(_) => properties.set_column_dictionary_enabled(path(), true),
            Values::Real(values) => match way(values) {
                Way::Dictionary { uneven: false } => properties.set_column_dictionary_enabled(path(), true),
                Way::Dictionary { uneven: true } => properties
                    .set_column_dictionary_enabled(path(), true)
                    .set_column_compression(path(), gzip),
                Way::Split => properties
                    .set_column_encoding(path(), Encoding::BYTE_STREAM_SPLIT)
                    .set_column_compression(path(), gzip),
            },
        };
    }
    properties.build()
}

/// The way that suits numbers like these.
fn way(values: &[f64]) -> Way {
    let mut bits: Vec<u64> = values.iter().take(SAMPLE).map(|value| value.to_bits()).collect();
    let rows = bits.len();
    bits.sort_unstable();
    let often: Vec<usize> = bits.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
    let different = often.len();
    // Bits of a row. The chance that the next number is new is the share of those that came once (Good 1953).
    let width = f64::from(different.max(1).next_power_of_two().ilog2());
    let new = often.iter().filter(|&&often| often == 1).count() as f64 / rows.max(1) as f64;
    let dictionary = width + 64.0 * new;
    if (different <= FEW && different * OFTEN <= rows) || dictionary < split(&bits) {
        return Way::Dictionary { uneven: entropy(&often) < WORTH * width };
    }
    Way::Split
}

/// Bits of a row that has its bytes apart from each other.
fn split(bits: &[u64]) -> f64 {
    let byte = |place: u32| {
        let mut often = [0; 256];
        bits.iter().for_each(|bits| often[usize::from(bits.to_le_bytes()[place as usize])] += 1);
        entropy(&often)
    };
    (0..u64::BITS / u8::BITS).map(byte).sum()
}

/// Bits that one of several needs which come so often.
pub(super) fn entropy(often: &[usize]) -> f64 {
    let total = often.iter().sum::<usize>() as f64;
    let share = often.iter().filter(|&&often| often > 0).map(|&often| often as f64 / total);
    share.map(|share| -share * share.log2()).sum()
}

pub(super) fn field(name: &str, kind: Physical) -> Result<Arc<Type>, ParquetError> {
    let builder = Type::primitive_type_builder(name, kind);
    let builder = match kind {
        Physical::BYTE_ARRAY => {
            builder.with_converted_type(ConvertedType::UTF8).with_repetition(Repetition::OPTIONAL)
        }
        _ => builder.with_repetition(Repetition::REQUIRED),
    };
    builder.build().map(Arc::new)
}
