//! What is wrong with a document, and where.

use std::fmt;

use super::xml::Node;

/// Something in a document that cannot be used, or that the user should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, with the element and its id, and what to do about it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Problem {}

/// Messages with the places they speak of, as offsets into the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Vec<(usize, String)>);

impl Notes {
    /// Notes a message about an element.
    pub(super) fn add(&mut self, node: Node<'_>, message: impl Into<String>) {
        self.at(node.range().start, message);
    }

    /// Notes a message about a place.
    pub(super) fn at(&mut self, offset: usize, message: impl Into<String>) {
        self.0.push((offset, message.into()));
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The messages in the order of the text, each once, with lines and columns.
    pub(super) fn placed(mut self, text: &str) -> Vec<Problem> {
        self.0.sort();
        self.0.dedup();
        let (mut line, mut column, mut reached) = (1, 1, 0);
        let mut place = |(offset, message): (usize, String)| {
            for letter in text.get(reached..offset).unwrap_or_default().chars() {
                (line, column) = if letter == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            reached = offset.max(reached);
            Problem { line, column, message }
        };
        self.0.into_iter().map(&mut place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_placed_in_order_and_once() {
        let mut notes = Notes::default();
        notes.at(9, "c");
        notes.at(0, "a");
        notes.at(9, "c");
        notes.at(4, "b");
        let text: Vec<String> = notes.placed("é\n\nab\n cd").iter().map(Problem::to_string).collect();
        assert_eq!(text, ["1:1: a", "3:1: b", "4:3: c"]);
    }
}
