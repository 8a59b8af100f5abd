//! The last words of a program: the end of what it wrote to its standard error.

use std::collections::VecDeque;

/// Bytes that are kept, and how much of them is shown.
const KEPT: usize = 4_096;
const SHOWN_LINES: usize = 12;
const SHOWN_BYTES: usize = 1_000;

/// The end of a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
}

impl Tail {
    /// Adds bytes, forgetting the oldest.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(KEPT)..];
        let over = (self.bytes.len() + bytes.len()).saturating_sub(KEPT);
        self.bytes.drain(..over);
        self.bytes.extend(bytes);
    }

    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// A sentence with the last lines, each on a line of its own; nothing where there are none.
    pub(super) fn words(&mut self) -> String {
        let text = shown(self.bytes.make_contiguous());
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let lines = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        if lines.is_empty() {
            return String::new();
        }
        format!("; its last words:\n    {}", lines.join("\n    "))
    }
}

/// The end of a text as it may be printed anywhere: no control characters but ends of lines.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(SHOWN_BYTES)..]);
    plain(&text)
}

/// A text without control characters other than tabs and ends of lines, so that it cannot play with a terminal.
pub(super) fn plain(text: &str) -> String {
    let safe = |letter: char| if letter.is_control() && !"\n\t".contains(letter) { ' ' } else { letter };
    text.replace("\r\n", "\n").chars().map(safe).collect()
}

/// The beginning of a line that was not understood.
pub(super) fn excerpt(line: &[u8]) -> String {
    const SHOWN: usize = 120;
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]);
    let more = line.len() > 4 * SHOWN || text.chars().count() > SHOWN;
    let text: String = plain(&text).replace('\n', " ").chars().take(SHOWN).collect();
    format!("`{text}{}`", if more { " ..." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = Tail::default();
        assert_eq!(tail.words(), "");
        tail.push(&[b'x'; 3 * KEPT]);
        tail.push(b"\nTraceback\n\n  oh \x1b[31m no\r\n");
        assert_eq!(tail.bytes.len(), KEPT);
        assert!(tail.words().ends_with("x\n    Traceback\n      oh  [31m no"), "{}", tail.words());
        assert!(tail.words().len() < SHOWN_BYTES + 100);
        tail.clear();
        tail.push(&b"line\n".repeat(100));
        assert_eq!(tail.words().lines().count(), 1 + SHOWN_LINES);
    }

    #[test]
    fn excerpts_are_short() {
        assert_eq!(excerpt(b"hello"), "`hello`");
        assert_eq!(excerpt(&[b'y'; 1000]), format!("`{} ...`", "y".repeat(120)));
        assert_eq!(excerpt(b"a\xff\x07b"), "`a\u{fffd} b`");
    }
}
