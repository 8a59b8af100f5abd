//! Reactions from text, one a line: `A + 2 B -> C @ k`.

use std::collections::BTreeSet;
use std::ops::Range;

use super::lexer::{Lexeme, Token, tokens};
use super::parser::parse;
use super::{Mistake, Names, Scope};
use crate::{Counting, Rate, Reaction};

/// Of one species on one side of a reaction.
const MOST_OF_ONE: u32 = 1_000;
/// Terms on one side of a reaction.
const MOST_TERMS: usize = 100;
/// Lines of a text that are reactions.
const MOST_REACTIONS: usize = 10_000;
/// Mistakes after which no more are looked for.
const MOST_MISTAKES: usize = 60;

/// Reactions whose sides are read, and whose rates wait for the names to be known.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    lines: Vec<Line<'a>>,
    species: Vec<(&'a str, Range<usize>)>,
    /// Names on the sides of reactions that cannot be read.
    perhaps: Vec<&'a str>,
    mistakes: Vec<Mistake>,
}

/// A reaction as it is written.
#[derive(Clone, Debug)]
struct Line<'a> {
    label: Option<&'a str>,
    /// The bytes of the sides and the arrow.
    span: Range<usize>,
    left: Vec<Term<'a>>,
    right: Vec<Term<'a>>,
    reversible: bool,
    /// What follows the `@`, and where the line ends.
    rates: Vec<Lexeme<'a>>,
    end: usize,
    text: &'a str,
}

/// So many of a species.
#[derive(Clone, Debug)]
struct Term<'a> {
    species: &'a str,
    count: u32,
    span: Range<usize>,
}

impl<'a> Draft<'a> {
    /// Reads the sides of every reaction; mistakes are kept until the rates are read.
    #[must_use]
    pub fn read(text: &'a str) -> Self {
        let mut draft =
            Self { lines: Vec::new(), species: Vec::new(), perhaps: Vec::new(), mistakes: Vec::new() };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let span = at..at + line.find('#').unwrap_or(line.len());
            at += line.len();
            if draft.mistakes.len() >= MOST_MISTAKES {
                break;
            }
            match tokens(text, span.clone()) {
                Ok(found) if found.is_empty() => {}
                Ok(found) if draft.lines.len() >= MOST_REACTIONS => {
                    let message = format!("a network may have {MOST_REACTIONS} reactions, this has more");
                    draft.mistakes.push(Mistake::new(found[0].span.clone(), message));
                    break;
                }
                Ok(found) => match Reader::line(text, found.clone()) {
                    Ok(line) => draft.lines.push(line),
                    Err(mistake) => {
                        draft.mistakes.push(mistake);
                        let sides = found.iter().take_while(|lexeme| !lexeme.is("@"));
                        draft.perhaps.extend(sides.filter_map(|lexeme| match lexeme.token {
                            Token::Name(name) => Some(name),
                            _ => None,
                        }));
                    }
                },
                Err(mistake) => draft.mistakes.push(mistake),
            }
        }
        let mut seen = BTreeSet::new();
        let terms = draft.lines.iter().flat_map(|line| line.left.iter().chain(&line.right));
        let first = terms.filter(|term| seen.insert(term.species));
        draft.species = first.map(|term| (term.species, term.span.clone())).collect();
        draft
    }

    /// The species, in the order in which they first appear, and where they do.
    #[must_use]
    pub fn species(&self) -> &[(&'a str, Range<usize>)] {
        &self.species
    }

    /// Adds what may be species in reactions that cannot be read, so that only the reactions are mistakes and not
    /// every use of their species elsewhere.
    pub fn guess(&self, names: &mut Names) {
        for name in &self.perhaps {
            // What is another name already is no species.
            names.species(name).unwrap_or_default();
        }
    }

    /// Whether no line is a reaction, nor tries to be one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.mistakes.is_empty()
    }

    /// The reactions, with `unknown` as a hint for unknown names. Reactions of species that are not among
    /// `names` are left out: adding the species was a mistake already.
    ///
    /// # Errors
    /// Every mistake in the text.
    pub fn reactions(
        &self,
        names: &Names,
        counting: Counting,
        unknown: &str,
    ) -> Result<Vec<Reaction>, Vec<Mistake>> {
        let (mut reactions, mut mistakes) = (Vec::new(), self.mistakes.clone());
        let braces = Some("a rate that is no constant stands in braces: @ { ... }");
        let context = Context {
            names,
            counting,
            any: names.scope().unknown(unknown),
            constant: names.scope().unknown(unknown).constant("the constant of mass action", braces),
        };
        for line in &self.lines {
            if mistakes.len() >= MOST_MISTAKES {
                break;
            }
            match line.reactions(&context) {
                Ok(made) => reactions.extend(made),
                Err(more) => mistakes.extend(more),
            }
        }
        mistakes.sort_by_key(|mistake| mistake.span.start);
        if mistakes.is_empty() { Ok(reactions) } else { Err(mistakes) }
    }
}

/// What rates are read with: all names, and those that a constant may have.
struct Context<'n> {
    names: &'n Names,
    counting: Counting,
    any: Scope<'n>,
    constant: Scope<'n>,
}

impl Line<'_> {
    fn reactions(&self, context: &Context<'_>) -> Result<Vec<Reaction>, Vec<Mistake>> {
        let rates = self.split_rates().map_err(|mistake| vec![mistake])?;
        let counted = |terms: &[Term<'_>]| counted(terms, context.names);
        let (Some(left), Some(right)) = (counted(&self.left), counted(&self.right)) else {
            // The rates may have mistakes of their own.
            let read = |rate: &&[Lexeme<'_>]| self.rate(rate, &[], context).err();
            return match rates.iter().filter_map(read).flatten().collect::<Vec<_>>() {
                mistakes if mistakes.is_empty() => Ok(Vec::new()),
                mistakes => Err(mistakes),
            };
        };
        let changes = difference(&left, &right);
        if changes.is_empty() {
            return Err(vec![Mistake::new(self.span.clone(), "this reaction changes nothing")]);
        }
        let back = changes.iter().map(|&(species, change)| (species, -change)).collect();
        let text = self.label.unwrap_or_else(|| self.text[self.span.clone()].trim());
        let names_of_both = [text.to_owned(), format!("{text} (backwards)")];
        let directions = [(left, changes), (right, back)].into_iter().zip(names_of_both).zip(&rates);
        let (mut made, mut mistakes) = (Vec::new(), Vec::new());
        for (((reactants, changes), name), rate) in directions {
            match self.rate(rate, &reactants, context) {
                Ok(rate) => made.push(Reaction { name, changes, rate }),
                Err(more) => mistakes.extend(more),
            }
        }
        if mistakes.is_empty() { Ok(made) } else { Err(mistakes) }
    }

    /// The tokens of each rate, as many as the arrow takes.
    fn split_rates(&self) -> Result<Vec<&[Lexeme<'_>]>, Mistake> {
        let (mut depth, mut begin) = (0_i32, 0);
        let mut rates = Vec::new();
        for (at, lexeme) in self.rates.iter().enumerate() {
            match lexeme.token {
                Token::Sign("(" | "{") => depth += 1,
                Token::Sign(")" | "}") => depth -= 1,
                Token::Sign(",") if depth <= 0 => {
                    rates.push(&self.rates[begin..at]);
                    begin = at + 1;
                }
                _ => {}
            }
        }
        rates.push(&self.rates[begin..]);
        if let Some(first) = self.rates.first()
            && let Some(last) = self.rates.last()
            && rates.len() != 1 + usize::from(self.reversible)
        {
            let span = first.span.start..last.span.end;
            let (message, hint) = match self.reversible {
                true => ("takes two rates", "write them as @ forward, backward"),
                false => ("takes one rate", "a reversible reaction is written A <-> B @ forward, backward"),
            };
            let arrow = if self.reversible { "<->" } else { "->" };
            let message = format!("a reaction with `{arrow}` {message}, found {}", rates.len());
            return Err(Mistake::new(span, message).with_hint(hint));
        }
        Ok(rates)
    }

    fn rate(
        &self,
        rate: &[Lexeme<'_>],
        reactants: &[(usize, u32)],
        context: &Context<'_>,
    ) -> Result<Rate, Vec<Mistake>> {
        match rate {
            [] => {
                // The mark of the end is put after the last thing there is.
                let end = self.rates.last().map_or(self.end, |last| last.span.end);
                Err(vec![Mistake::new(end..end, "expected a rate, found none").with_hint("for example @ k")])
            }
            [open, inner @ .., close] if open.is("{") && close.is("}") => {
                parse(inner, close.span.start, &context.any).map(Rate::Expression)
            }
            [open, rest @ ..] if open.is("{") => {
                Err(vec![match rest.iter().position(|lexeme| lexeme.is("}")) {
                    Some(at) => {
                        Mistake::new(rest[at + 1].span.clone(), "expected the end of the line after `}`")
                    }
                    None => Mistake::new(open.span.clone(), "this `{` is not closed on its line"),
                }])
            }
            constant => {
                let end = constant.last().map_or(self.end, |last| last.span.end);
                let constant = parse(constant, end, &context.constant)?;
                Ok(Rate::MassAction { constant, reactants: reactants.to_vec(), counting: context.counting })
            }
        }
    }
}

/// Each species once, with how many there are; `None` where one is not among `names`.
fn counted(terms: &[Term<'_>], names: &Names) -> Option<Vec<(usize, u32)>> {
    let mut counted: Vec<(usize, u32)> = Vec::new();
    for term in terms {
        let index = names.species_index(term.species)?;
        match counted.iter_mut().find(|(species, _)| *species == index) {
            Some((_, count)) => *count += term.count,
            None => counted.push((index, term.count)),
        }
    }
    Some(counted)
}

/// What becomes of each species whose number changes.
fn difference(left: &[(usize, u32)], right: &[(usize, u32)]) -> Vec<(usize, f64)> {
    let of = |side: &[(usize, u32)], species: usize| {
        side.iter().find(|(other, _)| *other == species).map_or(0.0, |(_, count)| f64::from(*count))
    };
    let only_right = right.iter().filter(|(species, _)| of(left, *species) == 0.0);
    let all = left.iter().chain(only_right).map(|(species, _)| *species);
    all.map(|species| (species, of(right, species) - of(left, species)))
        .filter(|(_, change)| *change != 0.0)
        .collect()
}

/// Reads the tokens of one line from the left.
struct Reader<'a> {
    text: &'a str,
    tokens: Vec<Lexeme<'a>>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn line(text: &'a str, tokens: Vec<Lexeme<'a>>) -> Result<Line<'a>, Mistake> {
        let end = tokens.last().map_or(0, |last| last.span.end);
        let mut reader = Self { text, tokens, at: 0 };
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
        Ok(Line { label, span: start..finish, left, right, reversible, rates, end, text })
    }

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
