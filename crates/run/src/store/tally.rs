//! Sizes and checksums of files: XXH3 in 64 bits, which finds accidents and is no seal against forgers.

use std::hash::Hasher;
use std::io::{self, Read, Write};

use serde_json::{Value, json};
use twox_hash::XxHash3_64;

/// Bytes that share a checksum, so that damage can be told to a place.
const BLOCK: usize = 1 << 20;

/// The checksum of some bytes.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// A checksum as it is written.
pub(super) fn text(checksum: u64) -> String {
    format!("xxh3:{checksum:016x}")
}

/// Reads a checksum back.
pub(super) fn from_text(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("xxh3:")?, 16).ok()
}

/// What a file must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    /// The checksum of each [`BLOCK`].
    pub(super) blocks: Vec<u64>,
}

impl Tally {
    pub(super) fn to_json(&self) -> Value {
        let blocks: Vec<String> = self.blocks.iter().map(|&block| text(block)).collect();
        json!({ "bytes": self.bytes, "block": BLOCK, "checksums": blocks })
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let blocks = value["checksums"].as_array()?.iter().map(|block| from_text(block.as_str()?));
        (value["block"].as_u64()? == BLOCK as u64).then_some(())?;
        Some(Self { bytes: value["bytes"].as_u64()?, blocks: blocks.collect::<Option<_>>()? })
    }

    /// Reads all of a file, however long it is, in bounded memory.
    pub(super) fn of(mut reader: impl Read) -> io::Result<Self> {
        let mut writer = Tallied::new(io::sink());
        io::copy(&mut reader, &mut writer)?;
        Ok(writer.finish().1)
    }

    /// The ranges of bytes in which a file differs from what it must be; none where it is whole.
    pub(super) fn differences(&self, found: &Self) -> Vec<std::ops::Range<u64>> {
        let mut ranges: Vec<std::ops::Range<u64>> = Vec::new();
        for at in 0..self.blocks.len().max(found.blocks.len()) {
            if self.blocks.get(at) == found.blocks.get(at) {
                continue;
            }
            let start = (at * BLOCK) as u64;
            let end = (start + BLOCK as u64).min(self.bytes.max(found.bytes));
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => ranges.push(start..end),
            }
        }
        ranges
    }
}

/// Passes bytes on, and keeps account of them.
pub(super) struct Tallied<W> {
    inner: W,
    tally: Tally,
    hasher: XxHash3_64,
    /// Bytes of the last block, which is not complete.
    open: usize,
}

impl<W: Write> Tallied<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, tally: Tally::default(), hasher: XxHash3_64::new(), open: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.tally.bytes
    }

    pub(super) fn finish(mut self) -> (W, Tally) {
        if self.open > 0 {
            self.tally.blocks.push(self.hasher.finish());
        }
        (self.inner, self.tally)
    }

    fn account(&mut self, mut bytes: &[u8]) {
        self.tally.bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.open));
            self.hasher.write(now);
            self.open += now.len();
            bytes = later;
            if self.open == BLOCK {
                self.tally.blocks.push(self.hasher.finish());
                (self.hasher, self.open) = (XxHash3_64::new(), 0);
            }
        }
    }
}

impl<W: Write> Write for Tallied<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.inner.write(bytes)?;
        self.account(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::single_range_in_vec_init)]
    fn a_changed_byte_is_found_in_its_block() {
        let mut bytes = vec![7u8; 3 * BLOCK + 5];
        let whole = Tally::of(&bytes[..]).unwrap();
        assert_eq!((whole.bytes, whole.blocks.len()), (3 * BLOCK as u64 + 5, 4));
        assert_eq!(whole.blocks[3], checksum(&[7; 5]));
        assert_eq!(Tally::from_json(&whole.to_json()), Some(whole.clone()));
        bytes[BLOCK] ^= 1;
        bytes[2 * BLOCK] ^= 1;
        let changed = Tally::of(&bytes[..]).unwrap();
        let block = BLOCK as u64;
        assert_eq!(whole.differences(&changed), vec![block..3 * block]);
        let cut = Tally::of(&vec![7u8; 3 * BLOCK][..]).unwrap();
        assert_eq!(whole.differences(&cut), vec![3 * block..3 * block + 5]);
        assert_eq!(whole.differences(&whole), []);
    }
}
