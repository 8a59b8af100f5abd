//! Reactions from text, one a line: `A + 2 B -> C @ k`.

use std::collections::BTreeSet;
use std::ops::Range;

use super::lexer::{Lexeme, Token, tokens};
use super::line::{Line, Term};
use super::parser::parse;
use super::{Mistake, Names, Scope};
use crate::{Counting, Rate, Reaction};

/// Reactions of a network.
pub(crate) const MOST_REACTIONS: usize = 10_000;
/// Molecules that mass action picks at once: more ways of picking than numbers can hold come of more.
pub(crate) const MOST_PICKS: u32 = 100;
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
                Ok(found) => match Line::read(text, found.clone()) {
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
            return Err(vec![
                Mistake::new(self.span.clone(), "this reaction changes nothing")
                    .with_hint("both sides are the same: remove it, or correct one of them"),
            ]);
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
                            .with_hint("what stands in braces is the whole rate")
                    }
                    None => Mistake::new(open.span.clone(), "this `{` is not closed on its line")
                        .with_hint("a rate stands on one line: @ { ... }"),
                }])
            }
            constant => {
                let end = constant.last().map_or(self.end, |last| last.span.end);
                let constant = parse(constant, end, &context.constant)?;
                let picks: u32 = reactants.iter().map(|(_, count)| count).sum();
                if picks > MOST_PICKS {
                    let message =
                        format!("mass action picks at most {MOST_PICKS} molecules at once, found {picks}");
                    let hint = "give its rate in braces: @ { ... }";
                    return Err(vec![Mistake::new(self.span.clone(), message).with_hint(hint)]);
                }
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
