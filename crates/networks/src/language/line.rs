//! One reaction as it is written: its sides and arrow, with its rates still to be read.

use std::ops::Range;

use super::Mistake;
use super::lexer::{Lexeme, Token};

/// Of one species on one side of a reaction.
const MOST_OF_ONE: u32 = 1_000;
/// Terms on one side of a reaction.
const MOST_TERMS: usize = 100;

/// A reaction as it is written.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    pub(super) label: Option<&'a str>,
    /// The bytes of the sides and the arrow.
    pub(super) span: Range<usize>,
    pub(super) left: Vec<Term<'a>>,
    pub(super) right: Vec<Term<'a>>,
    pub(super) reversible: bool,
    /// What follows the `@`, and where the line ends.
    pub(super) rates: Vec<Lexeme<'a>>,
    pub(super) end: usize,
    pub(super) text: &'a str,
}

/// So many of a species.
#[derive(Clone, Debug)]
pub(super) struct Term<'a> {
    pub(super) species: &'a str,
    pub(super) count: u32,
    pub(super) span: Range<usize>,
}

/// Reads the tokens of one line from the left.
struct Reader<'a> {
    text: &'a str,
    tokens: Vec<Lexeme<'a>>,
    at: usize,
}

impl<'a> Line<'a> {
    /// The reaction of a line of some tokens; its rates are not looked at.
    pub(super) fn read(text: &'a str, tokens: Vec<Lexeme<'a>>) -> Result<Self, Mistake> {
        let end = tokens.last().map_or(0, |last| last.span.end);
        let mut reader = Reader { text, tokens, at: 0 };
        let label = match &reader.tokens[..] {
            [Lexeme { token: Token::Name(label), .. }, colon, ..] if colon.is(":") => Some(*label),
            _ => None,
        };
        reader.at = if label.is_some() { 2 } else { 0 };
        let start = reader.tokens.get(reader.at).map_or(end, |first| first.span.start);
        let left = reader.side()?;
        let reversible = match reader.tokens.get(reader.at) {
            Some(arrow) if arrow.is("->") => false,
            Some(arrow) if arrow.is("<->") => true,
            _ => {
                let expected = if left.is_empty() { "a species or `->`" } else { "`+` or `->`" };
                return Err(reader.expected(expected).with_hint("a reaction is written A + 2 B -> C @ k"));
            }
        };
        reader.at += 1;
        let right = reader.side()?;
        let finish = reader.tokens[reader.at - 1].span.end;
        match reader.tokens.get(reader.at) {
            Some(mark) if mark.is("@") => {}
            None => {
                let written = &text[start..finish];
                let mistake = Mistake::new(start..finish, "this reaction has no rate");
                return Err(mistake.with_hint(format!("write it after an @: {written} @ k")));
            }
            Some(_) => return Err(reader.expected("`+` or `@`")),
        }
        let rates = reader.tokens.split_off(reader.at + 1);
        Ok(Self { label, span: start..finish, left, right, reversible, rates, end, text })
    }
}

impl<'a> Reader<'a> {
    /// The terms up to what can be none.
    fn side(&mut self) -> Result<Vec<Term<'a>>, Mistake> {
        let ends = |lexeme: Option<&Lexeme<'_>>| {
            lexeme.is_none_or(|lexeme| lexeme.is("->") || lexeme.is("<->") || lexeme.is("@"))
        };
        let nothing = |lexeme: &Lexeme<'_>| lexeme.is("∅") || lexeme.token == Token::Number(0.0);
        let mut terms = Vec::new();
        if ends(self.tokens.get(self.at)) {
            return Ok(terms);
        }
        if self.tokens.get(self.at).is_some_and(nothing) && ends(self.tokens.get(self.at + 1)) {
            self.at += 1;
            return Ok(terms);
        }
        loop {
            if terms.len() == MOST_TERMS {
                return Err(self.expected(&format!("at most {MOST_TERMS} terms on a side")));
            }
            terms.push(self.term()?);
            if !self.tokens.get(self.at).is_some_and(|lexeme| lexeme.is("+")) {
                break;
            }
            self.at += 1;
        }
        let many = |term: &Term<'_>| {
            let same = terms.iter().filter(|other| other.species == term.species);
            same.map(|other| other.count).sum::<u32>() > MOST_OF_ONE
        };
        // One term is checked as it is read; only a sum of several can be too many.
        match terms.iter().find(|term| terms.len() > 1 && many(term)) {
            None => Ok(terms),
            Some(term) => {
                let message = format!("more than {MOST_OF_ONE} of `{}` on one side", term.species);
                Err(Mistake::new(term.span.clone(), message))
            }
        }
    }

    fn term(&mut self) -> Result<Term<'a>, Mistake> {
        let mut count = 1;
        if let Some(Lexeme { token: Token::Number(number), span }) = self.tokens.get(self.at) {
            if number.fract() != 0.0 || !(1.0..=f64::from(MOST_OF_ONE)).contains(number) {
                let found = &self.text[span.clone()];
                let message =
                    format!("expected a whole number from 1 to {MOST_OF_ONE} of a species, found {found}");
                return Err(Mistake::new(span.clone(), message));
            }
            count = *number as u32;
            self.at += 1;
            if self.tokens.get(self.at).is_some_and(|lexeme| lexeme.is("*")) {
                self.at += 1;
            }
        }
        match self.tokens.get(self.at) {
            Some(Lexeme { token: Token::Name(species), span }) => {
                self.at += 1;
                Ok(Term { species, count, span: span.clone() })
            }
            _ => Err(self.expected("a species")),
        }
    }

    /// A mistake at the next token, or at the end of the line.
    fn expected(&self, what: &str) -> Mistake {
        match self.tokens.get(self.at) {
            Some(Lexeme { span, .. }) => {
                Mistake::new(span.clone(), format!("expected {what}, found `{}`", &self.text[span.clone()]))
            }
            None => {
                let end = self.tokens.last().map_or(0, |last| last.span.end);
                Mistake::new(end..end, format!("expected {what}, found the end of the line"))
            }
        }
    }
}
