//! Sizes and checksums of files: XXH3 in 64 bits, which finds accidents and is no seal against forgers.

use std::hash::Hasher;
use std::io::{self, Read, Write};

use serde_json::{Value, json};
use twox_hash::XxHash3_64;

/// Bytes that share a checksum, so that damage can be told to a place.
const BLOCK: u64 = 1 << 15;
/// The largest block that is read; the first versions of format 2 wrote blocks of 2^20 bytes.
const LARGEST_BLOCK: u64 = 1 << 30;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    /// Bytes of a block.
    block: u64,
    /// Where the end of the file begins that says where everything is: a block ends there.
    footer: Option<u64>,
    /// The checksum of each block.
    blocks: Vec<u64>,
}

impl Tally {
    pub(super) fn to_json(&self) -> Value {
        let blocks: Vec<String> = self.blocks.iter().map(|&block| text(block)).collect();
        let mut value = json!({ "bytes": self.bytes, "block": self.block });
        if let Some(footer) = self.footer {
            value["footer"] = footer.into();
        }
        value["checksums"] = blocks.into();
        value
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let blocks = value["checksums"].as_array()?.iter().map(|block| from_text(block.as_str()?));
        let block = value["block"].as_u64().filter(|block| (1..=LARGEST_BLOCK).contains(block))?;
        let (bytes, footer) = (value["bytes"].as_u64()?, value["footer"].as_u64());
        Some(Self { bytes, block, footer, blocks: blocks.collect::<Option<_>>()? })
    }

    /// What some bytes are.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut nothing = Tallied::new(io::sink());
        nothing.account(bytes);
        nothing.finish().1
    }

    /// Reads all of a file, however long it is, in bounded memory, with blocks that can be compared with these.
    pub(super) fn like(&self, mut reader: impl Read) -> io::Result<Self> {
        let mut nothing = Tallied::new(io::sink());
        (nothing.tally.block, nothing.tally.footer) = (self.block, self.footer);
        io::copy(&mut reader, &mut nothing)?;
        Ok(nothing.finish().1)
    }

    /// Where a block begins.
    fn start(&self, block: usize) -> u64 {
        let block = block as u64;
        let before = self.footer.map_or(u64::MAX, |footer| footer.div_ceil(self.block));
        match self.footer {
            Some(footer) if block >= before => {
                footer.saturating_add((block - before).saturating_mul(self.block))
            }
            _ => block.saturating_mul(self.block),
        }
    }

    /// The ranges of bytes in which a file differs from what it must be; none where it is whole.
    pub(super) fn differences(&self, found: &Self) -> Vec<std::ops::Range<u64>> {
        let mut ranges: Vec<std::ops::Range<u64>> = Vec::new();
        for at in 0..self.blocks.len().max(found.blocks.len()) {
            if self.blocks.get(at) == found.blocks.get(at) {
                continue;
            }
            let start = self.start(at);
            let end = self.start(at + 1).min(self.bytes.max(found.bytes));
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
    open: u64,
}

impl<W: Write> Tallied<W> {
    pub(super) fn new(inner: W) -> Self {
        let tally = Tally { bytes: 0, block: BLOCK, footer: None, blocks: Vec::new() };
        Self { inner, tally, hasher: XxHash3_64::new(), open: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.tally.bytes
    }

    /// What follows says where everything is: it begins a block.
    pub(super) fn begin_footer(&mut self) {
        self.close_block();
        self.tally.footer = Some(self.tally.bytes);
    }

    pub(super) fn finish(mut self) -> (W, Tally) {
        self.close_block();
        (self.inner, self.tally)
    }

    fn close_block(&mut self) {
        if self.open > 0 {
            self.tally.blocks.push(self.hasher.finish());
            (self.hasher, self.open) = (XxHash3_64::new(), 0);
        }
    }

    fn account(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let mut room = self.tally.block - self.open;
            if let Some(footer) = self.tally.footer.filter(|&footer| footer > self.tally.bytes) {
                room = room.min(footer - self.tally.bytes);
            }
            let now = room.min(bytes.len() as u64);
            let (now_bytes, later) = bytes.split_at(now as usize);
            self.hasher.write(now_bytes);
            (self.tally.bytes, self.open, bytes) = (self.tally.bytes + now, self.open + now, later);
            if now == room {
                self.close_block();
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
        let size = BLOCK as usize;
        let mut bytes = vec![7u8; 3 * size + 5];
        let whole = Tally::of(&bytes);
        assert_eq!((whole.bytes, whole.blocks.len()), (3 * BLOCK + 5, 4));
        assert_eq!(whole.blocks[3], checksum(&[7; 5]));
        assert_eq!(Tally::from_json(&whole.to_json()), Some(whole.clone()));
        bytes[size] ^= 1;
        bytes[2 * size] ^= 1;
        let changed = Tally::of(&bytes);
        assert_eq!(whole.differences(&changed), vec![BLOCK..3 * BLOCK]);
        let cut = Tally::of(&vec![7u8; 3 * size]);
        assert_eq!(whole.differences(&cut), vec![3 * BLOCK..3 * BLOCK + 5]);
        assert_eq!(whole.differences(&whole), []);
    }

    #[test]
    fn the_end_of_a_file_has_blocks_of_its_own() {
        let size = BLOCK as usize;
        for (before, after) in [(100, 50), (2 * size + 9, size + 3), (size, 1), (0, 4)] {
            let bytes = vec![3u8; before + after];
            let mut tallied = Tallied::new(Vec::new());
            tallied.write_all(&bytes[..before]).unwrap();
            tallied.begin_footer();
            tallied.write_all(&bytes[before..]).unwrap();
            let (_, whole) = tallied.finish();
            assert_eq!(Tally::from_json(&whole.to_json()), Some(whole.clone()));
            assert_eq!(whole.like(&bytes[..]).unwrap(), whole);
            for at in 0..bytes.len() {
                if at % 1000 > 1 && at.abs_diff(before) > 1 {
                    continue;
                }
                let mut changed = bytes.clone();
                changed[at] ^= 1;
                let found = whole.differences(&whole.like(&changed[..]).unwrap());
                let [range] = &found[..] else { panic!("{found:?}") };
                assert!(range.contains(&(at as u64)) && range.end - range.start <= BLOCK, "{at}: {range:?}");
                assert!(range.end <= before as u64 || range.start >= before as u64, "{at}: {range:?}");
            }
        }
    }

    /// Tallies of the first versions had blocks of a mebibyte.
    #[test]
    fn blocks_of_other_sizes_are_compared() {
        let bytes = vec![9u8; (1 << 20) + 5];
        let sums = [text(checksum(&bytes[..1 << 20])), text(checksum(&bytes[1 << 20..]))];
        let old = json!({ "bytes": bytes.len(), "block": 1 << 20, "checksums": sums });
        let old = Tally::from_json(&old).unwrap();
        assert_eq!(old.like(&bytes[..]).unwrap(), old);
        assert_eq!(Tally::from_json(&json!({ "bytes": 0, "block": 0, "checksums": [] })), None);
    }
}
