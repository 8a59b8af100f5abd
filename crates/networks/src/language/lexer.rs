//! A text as numbers, names and signs, each with its place.

use std::ops::Range;

use super::Mistake;

/// Signs, the longer ones before those they begin with.
const SIGNS: [&str; 25] = [
    "<->", "->", "<=", ">=", "==", "!=", "+", "-", "*", "/", "^", "(", ")", "{", "}", ",", "<", ">", "=",
    "@", ":", "∅", "and", "or", "not",
];

/// What others write, and what is written here.
const FOREIGN: [(&str, &str); 8] = [
    ("**", "a power is written a ^ b"),
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("=>", "an arrow is written ->"),
    ("-->", "an arrow is written ->"),
    ("→", "an arrow is written ->"),
    ("⇌", "a reversible reaction is written <->"),
    ("−", "write the minus sign of the keyboard, -"),
];

/// The smallest piece of a text that means something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    Sign(&'static str),
}

/// A token, and the bytes it takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lexeme<'a> {
    pub(super) token: Token<'a>,
    pub(super) span: Range<usize>,
}

impl Lexeme<'_> {
    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(self.token, Token::Sign(found) if found == sign)
    }
}

/// Whether a text is a name.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len() && !SIGNS.contains(&text)
}

fn name_length(text: &str) -> usize {
    let begins = |letter: char| letter.is_alphabetic() || letter == '_';
    if !text.starts_with(begins) {
        return 0;
    }
    text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len())
}

/// The tokens in the bytes `span` of a text.
pub(super) fn tokens(text: &str, span: Range<usize>) -> Result<Vec<Lexeme<'_>>, Mistake> {
    let mut found = Vec::new();
    let (mut at, end) = (span.start, span.end);
    loop {
        let rest = &text[at..end];
        at = end - rest.trim_start().len();
        let rest = &text[at..end];
        let Some(first) = rest.chars().next() else { return Ok(found) };
        if let Some((sign, hint)) = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign)) {
            let message = format!("there is no operator `{sign}`");
            return Err(Mistake::new(at..at + sign.len(), message).with_hint(*hint));
        }
        let (token, length) = match name_length(rest) {
            0 => number(rest, at)?.or_else(|| sign(rest)).ok_or_else(|| {
                Mistake::new(at..at + first.len_utf8(), format!("unexpected {}", shown(first)))
            })?,
            // `and`, `or` and `not` are signs that look like names.
            length => match SIGNS.iter().find(|sign| **sign == &rest[..length]) {
                Some(sign) => (Token::Sign(sign), length),
                None => (Token::Name(&rest[..length]), length),
            },
        };
        found.push(Lexeme { token, span: at..at + length });
        at += length;
    }
}

fn shown(letter: char) -> String {
    if letter.is_control() {
        return format!("character U+{:04X}", u32::from(letter));
    }
    // Some signs of other scripts cannot be seen, or look like another.
    if letter.is_ascii() {
        format!("`{letter}`")
    } else {
        format!("`{letter}` (U+{:04X})", u32::from(letter))
    }
}

fn sign(rest: &str) -> Option<(Token<'_>, usize)> {
    let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
    Some((Token::Sign(sign), sign.len()))
}

/// The number that `rest` begins with, and its length.
fn number(rest: &str, at: usize) -> Result<Option<(Token<'_>, usize)>, Mistake> {
    let bytes = rest.as_bytes();
    let whole = digits(bytes, 0);
    let mut length = whole;
    if bytes.get(length) == Some(&b'.') {
        length = digits(bytes, length + 1);
    }
    // A point alone is no number.
    if length == 0 || &bytes[..length] == b"." {
        return Ok(None);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let signed = length + 1 + usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let end = digits(bytes, signed);
        length = if end > signed { end } else { length };
    }
    let value: f64 = rest[..length].replace('_', "").parse().unwrap_or(f64::NAN);
    if value.is_finite() {
        return Ok(Some((Token::Number(value), length)));
    }
    Err(Mistake::new(at..at + length, format!("the number {} is too large", &rest[..length])))
}

/// Where the digits that begin at `at` end; an underscore may stand between two.
fn digits(bytes: &[u8], at: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = at;
    while digit(end) || (end > at && bytes.get(end) == Some(&b'_') && digit(end + 1)) {
        end += 1;
    }
    end
}
