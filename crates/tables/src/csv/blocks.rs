//! A text in blocks of whole records, so that each can be parsed by itself.

use std::io::Read;

use memchr::{memchr, memchr2_iter, memrchr};

use crate::LONGEST_LINE;
use crate::error::Fault;

/// Bytes of a block, unless a record is longer.
const BLOCK: usize = 1 << 20;

/// Reads blocks that end where a record ends.
pub(super) struct Blocks<R> {
    inner: R,
    /// What was read and not given yet.
    rest: Vec<u8>,
    spare: Vec<Vec<u8>>,
    started: bool,
    finished: bool,
    /// Line ends of the header.
    lines: u64,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, rest: Vec::new(), spare: Vec::new(), started: false, finished: false, lines: 0 }
    }

    pub(super) fn into_inner(self) -> R {
        self.inner
    }

    /// Line ends up to and with the header's.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Takes a block back, whose memory serves again.
    pub(super) fn reuse(&mut self, mut block: Vec<u8>) {
        block.clear();
        self.spare.push(block);
    }

    /// The first line that is not blank; blank ones before it are dropped.
    pub(super) fn line(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let mut from = 0;
        loop {
            let end = record_end(&self.rest[from..]).map(|end| from + end);
            let (end, next) = match end {
                Some(end) => (end, end + 1),
                None if self.finished && from == self.rest.len() => return Ok(None),
                None if self.finished => (self.rest.len(), self.rest.len()),
                None if self.rest.len() - from > LONGEST_LINE => return Err(Fault::LongLine),
                None => {
                    self.fill(BLOCK)?;
                    continue;
                }
            };
            let line = &self.rest[from..end];
            self.lines += memchr::memchr_iter(b'\n', &self.rest[from..next]).count() as u64;
            if !line.trim_ascii().is_empty() {
                let line = line.to_vec();
                self.rest.drain(..next);
                return Ok(Some(line));
            }
            from = next;
        }
    }

    /// The next block of whole records.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        loop {
            if !self.finished && self.rest.len() < BLOCK {
                self.fill(BLOCK - self.rest.len())?;
                continue;
            }
            let cut = if self.finished { Some(self.rest.len()) } else { last_end(&self.rest) };
            match cut {
                Some(0) => return Ok(None),
                Some(cut) => {
                    let mut next = self.spare.pop().unwrap_or_default();
                    next.extend_from_slice(&self.rest[cut..]);
                    self.rest.truncate(cut);
                    let block = std::mem::replace(&mut self.rest, next);
                    // The last one may be a single line of any length.
                    let long = block.len() > LONGEST_LINE && memchr(b'\n', &block).is_none();
                    return if long { Err(Fault::LongLine) } else { Ok(Some(block)) };
                }
                None if self.rest.len() > LONGEST_LINE => return Err(Fault::LongLine),
                None => self.fill(BLOCK)?,
            }
        }
    }

    /// Reads up to so many bytes more.
    fn fill(&mut self, more: usize) -> Result<(), Fault> {
        let read = self.inner.by_ref().take(more as u64).read_to_end(&mut self.rest).map_err(Fault::Io)?;
        self.finished = read < more;
        if !self.started {
            self.started = true;
            if self.rest.starts_with("\u{feff}".as_bytes()) {
                self.rest.drain(..3);
            }
        }
        Ok(())
    }
}

/// Where the first record ends: at a line end outside quotes.
pub(super) fn record_end(text: &[u8]) -> Option<usize> {
    let end = memchr(b'\n', text)?;
    if memchr(b'"', &text[..end]).is_none() {
        return Some(end);
    }
    let mut quoted = false;
    memchr2_iter(b'"', b'\n', text).find(|&at| {
        let quote = text[at] == b'"';
        quoted ^= quote;
        !quote && !quoted
    })
}

/// Where the last whole record of a text ends, behind its line end.
fn last_end(text: &[u8]) -> Option<usize> {
    if memchr(b'"', text).is_none() {
        return memrchr(b'\n', text).map(|at| at + 1);
    }
    let (mut quoted, mut last) = (false, None);
    for at in memchr2_iter(b'"', b'\n', text) {
        if text[at] == b'"' {
            quoted = !quoted;
        } else if !quoted {
            last = Some(at + 1);
        }
    }
    last
}
