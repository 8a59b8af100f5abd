//! A text that stands in quotes in a problem file.

use super::source::Place;

/// A text, where it stands with its quotes, and the key whose value it is.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) place: Place,
    pub(crate) path: String,
}

impl Written {
    /// Where byte `at` of the text is in `raw`, which is how it is written; `None` where escapes leave that open.
    pub(super) fn locate(&self, raw: &str, at: usize) -> Option<usize> {
        if raw == self.text {
            return Some(at);
        }
        let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| raw.starts_with(quotes))?;
        let mut inner = raw.strip_prefix(quotes)?.strip_suffix(quotes)?;
        if quotes.len() == 3 {
            // A line that ends right after the quotes is no part of the text.
            inner = inner.strip_prefix("\r\n").or_else(|| inner.strip_prefix('\n')).unwrap_or(inner);
        }
        let begin = raw.len() - quotes.len() - inner.len();
        if inner == self.text {
            return Some(begin + at);
        }
        // Some ends of lines may have lost a carriage return in reading.
        let (mut from, bytes) = (0, inner.as_bytes());
        for (to, byte) in self.text.bytes().enumerate() {
            if byte == b'\n' && bytes[from..].starts_with(b"\r\n") {
                from += 1;
            }
            if to == at {
                return (inner.replace("\r\n", "\n") == self.text).then_some(begin + from);
            }
            if bytes.get(from) != Some(&byte) {
                return None;
            }
            from += 1;
        }
        (from == inner.len()).then_some(begin + from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Mistakes;
    use super::super::tree::{Table, Value};
    use super::*;

    /// Line, column and the line itself that a mistake about the first `!` of the text of `t` shows.
    fn shown(file: &str) -> String {
        let mut mistakes = Mistakes::default();
        let source = mistakes.source("p.toml", file);
        let table = Table::parse(source, &mut mistakes);
        assert!(mistakes.is_empty(), "{}", mistakes.render(false));
        let node = &table.get("t").unwrap().node;
        let Value::Text(text) = &node.value else { panic!() };
        let written = Written { text: text.clone(), place: node.place, path: "t".into() };
        let at = text.find('!').unwrap_or(text.len());
        let place = mistakes.inside(&written, at..at + 1);
        mistakes.add(place, "here", None);
        mistakes.render(false)
    }

    #[test]
    fn places_in_quoted_texts_are_places_in_the_file() {
        let cases = [
            ("t = \"ab!\"", "p.toml:1:8"),
            ("t = 'ab!'", "p.toml:1:8"),
            ("x = 1\nt = \"\"\"\na\n b!c\n\"\"\"", "p.toml:4:3"),
            ("x = 1\nt = '''a\n b!c\n'''", "p.toml:3:3"),
            ("x = 1\r\nt = \"\"\"\r\na\r\n b!c\r\n\"\"\"\r\n", "p.toml:4:3"),
            ("t = \"\"\"é!\"\"\"", "p.toml:1:9"),
            ("t = \"ab\"", "p.toml:1:8"),
        ];
        for (file, place) in cases {
            let text = shown(file);
            assert!(text.contains(&format!("--> {place}\n")), "{file:?}:\n{text}");
        }
    }

    #[test]
    fn a_text_with_escapes_is_shown_as_it_reads() {
        let text = shown("t = \"a\\u0062\\nc!d\"");
        assert!(text.contains("--> p.toml: t:2:2\n") && text.contains("2 | c!d"), "{text}");
    }
}
