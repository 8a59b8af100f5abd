//! Places in the texts a user wrote, and the mistakes found there.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use counterpoise_networks::language::{self, near_miss};

use super::written::Written;
use crate::print::list::listed;

/// Mistakes shown before the rest is only counted.
const MOST_SHOWN: usize = 50;
/// Lines longer than this are pointed at and not shown.
const LONGEST_LINE: usize = 4_000;

/// A text the user wrote, and what to call it.
#[derive(Debug)]
struct Source {
    name: String,
    text: String,
}

/// A stretch of one of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    source: usize,
    start: usize,
    end: usize,
}

/// Something the user has to change.
#[derive(Debug)]
struct Mistake {
    place: Place,
    message: String,
    hint: Option<String>,
}

/// The texts of a problem and every mistake found in them.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    sources: Vec<Source>,
    list: Vec<Mistake>,
}

impl Mistakes {
    /// Adds a text; its number makes places in it.
    pub(crate) fn source(&mut self, name: impl Into<String>, text: impl Into<String>) -> usize {
        self.sources.push(Source { name: name.into(), text: text.into() });
        self.sources.len() - 1
    }

    /// The text of a source.
    pub(crate) fn text(&self, source: usize) -> &str {
        &self.sources[source].text
    }

    /// The place of bytes `span` in a source, moved into the text and onto whole characters.
    pub(crate) fn place(&self, source: usize, span: Range<usize>) -> Place {
        let text = self.text(source);
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = span.end.clamp(start, text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        Place { source, start, end }
    }

    /// The same stretch in another source.
    pub(crate) fn moved(&self, place: Place, source: usize) -> Place {
        self.place(source, place.start..place.end)
    }

    /// The place of bytes `span` of a text that stands in a source. Where the source writes it with escapes, it
    /// becomes a source of its own.
    pub(crate) fn inside(&mut self, written: &Written, span: Range<usize>) -> Place {
        let Place { source, start, end } = written.place;
        let raw = &self.text(source)[start..end];
        let located = |at: usize| written.locate(raw, at).map(|at| start + at);
        if let (Some(from), Some(to)) = (located(span.start), located(span.end)) {
            return self.place(source, from..to);
        }
        let name = format!("{}: {}", self.sources[source].name, written.path);
        let known = self.sources.iter().position(|source| source.name == name);
        let own = known.unwrap_or_else(|| self.source(name, written.text.clone()));
        self.place(own, span)
    }

    /// Notes a mistake in a text that stands in a source.
    pub(crate) fn add_inside(&mut self, written: &Written, mistake: language::Mistake) {
        let place = self.inside(written, mistake.span);
        self.add(place, mistake.message, mistake.hint);
    }

    /// The place of a line and a column, both from one, in a source.
    pub(crate) fn place_at(&self, source: usize, (line, column): (usize, usize)) -> Place {
        let text = self.text(source);
        let begin = match line {
            0 | 1 => 0,
            _ => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
        };
        let rest = text[begin..].lines().next().unwrap_or_default();
        let within = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
        self.place(source, begin + within..begin + within + 1)
    }

    /// Notes a mistake.
    pub(crate) fn add(&mut self, place: Place, message: impl Into<String>, hint: impl Into<Option<String>>) {
        self.list.push(Mistake { place, message: message.into(), hint: hint.into() });
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether there are more than anyone will read.
    pub(crate) fn are_many(&self) -> bool {
        self.list.len() >= MOST_SHOWN
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// Line and column of a place, both from one; columns count characters.
    pub(crate) fn line_and_column(&self, place: Place) -> (usize, usize) {
        let before = &self.text(place.source)[..place.start];
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[begin..].chars().count() + 1)
    }

    /// All mistakes as text for a program that wrote the texts itself: what is wrong and what to do, a line each.
    pub(crate) fn plain(&self) -> String {
        let mut ordered: Vec<&Mistake> = self.list.iter().collect();
        ordered.sort_by_key(|mistake| mistake.place);
        let line = |mistake: &&Mistake| match &mistake.hint {
            Some(hint) => format!("{} ({hint})", mistake.message),
            None => mistake.message.clone(),
        };
        ordered.iter().take(MOST_SHOWN).map(line).collect::<Vec<_>>().join("\n")
    }

    /// All mistakes as text, in the order of the texts, each with its line and a caret.
    pub(crate) fn render(&self, coloured: bool) -> String {
        let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
        let mut ordered: Vec<&Mistake> = self.list.iter().collect();
        ordered.sort_by_key(|mistake| mistake.place);
        let mut text = String::new();
        for mistake in ordered.iter().take(MOST_SHOWN) {
            text.push_str(&renderer.render(&[self.group(mistake)]));
            text.push_str("\n\n");
        }
        match (ordered.len(), ordered.len().saturating_sub(MOST_SHOWN)) {
            (0 | 1, _) => {}
            (all, 0) => text.push_str(&format!("{all} mistakes; nothing was simulated\n")),
            (all, more) => {
                text.push_str(&format!("{all} mistakes, {more} of them not shown; nothing was simulated\n"));
            }
        }
        text
    }

    fn group<'a>(&'a self, mistake: &'a Mistake) -> Group<'a> {
        let Source { name, text } = &self.sources[mistake.place.source];
        let (line, column) = self.line_and_column(mistake.place);
        let begin = text[..mistake.place.start].rfind('\n').map_or(0, |at| at + 1);
        let finish = text[begin..].find('\n').map_or(text.len(), |at| begin + at);
        let shown = text[begin..finish].trim_end_matches('\r');
        let title = Level::ERROR.primary_title(mistake.message.as_str());
        let span = mistake.place.start - begin
            ..(mistake.place.end.min(finish) - begin).max(mistake.place.start - begin);
        let group = if shown.len() > LONGEST_LINE {
            title.element(Origin::path(name.as_str()).line(line).char_column(column))
        } else {
            let caret = AnnotationKind::Primary.span(span.start.min(shown.len())..span.end.min(shown.len()));
            title.element(Snippet::source(shown).path(name.as_str()).line_start(line).annotation(caret))
        };
        match &mistake.hint {
            Some(hint) => group.element(Level::HELP.with_name("hint").message(hint.as_str())),
            None => group,
        }
    }
}

/// "did you mean ...?" where something is near, otherwise what is known.
pub(crate) fn suggestion<'a>(
    found: &str,
    what: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    const SHOWN: usize = 12;
    if let Some(name) = near_miss(found, known.clone()) {
        return format!("did you mean `{name}`?");
    }
    let all: Vec<&str> = known.into_iter().collect();
    if all.is_empty() {
        return format!("there are no {what}");
    }
    format!("{what}: {}", listed(all, SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_come_in_the_order_of_the_text_with_line_and_column() {
        let mut mistakes = Mistakes::default();
        let source = mistakes.source("a.toml", "x = 1\nπ = twö\n");
        let late = mistakes.place(source, 11..15);
        mistakes.add(late, "late", Some("write two".into()));
        mistakes.add(mistakes.place(source, 0..1), "early", None);
        let text = mistakes.render(false);
        assert!(text.find("early").unwrap() < text.find("late").unwrap(), "{text}");
        assert!(text.contains("a.toml:1:1") && text.contains("a.toml:2:5"), "{text}");
        assert!(text.contains("hint: write two") && text.contains("2 mistakes"), "{text}");
        assert_eq!(mistakes.line_and_column(late), (2, 5));
    }

    #[test]
    fn places_outside_the_text_or_inside_a_character_are_moved() {
        let mut mistakes = Mistakes::default();
        let source = mistakes.source("a.toml", "é\r\n");
        for span in [0..1, 1..1, 1..2, 2..99, 7..9, 4..4] {
            mistakes.add(mistakes.place(source, span), "here", None);
        }
        assert!(mistakes.render(true).contains("a.toml"));
        let empty = mistakes.source("b.toml", "");
        mistakes.add(mistakes.place(empty, 0..0), "empty", None);
        assert!(mistakes.render(false).contains("b.toml:1:1"), "{}", mistakes.render(false));
    }

    #[test]
    fn long_lines_are_named_but_not_shown() {
        let mut mistakes = Mistakes::default();
        let text = format!("\n{}!", "x,".repeat(5_000));
        let source = mistakes.source("long.csv", text.clone());
        mistakes.add(mistakes.place(source, text.len() - 1..text.len()), "there", None);
        let shown = mistakes.render(false);
        assert!(shown.contains("long.csv:2:10001") && shown.len() < 500, "{shown}");
    }

    #[test]
    fn suggestions() {
        assert_eq!(suggestion("Sead", "keys", ["seed", "keep"]), "did you mean `seed`?");
        assert_eq!(suggestion("q", "laws", ["uniform"]), "laws: uniform");
    }
}
