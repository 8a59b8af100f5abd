//! A TOML text as a tree whose every key and value remembers its place.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::source::{Mistakes, Place};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// What can stand in a problem file.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Whole(i128),
    Number(f64),
    Boolean(bool),
    Date,
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// What a person would call it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Whole(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::Boolean(_) => "true or false",
            Self::Date => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// Keys with their values, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

/// A key, where it stands, and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) node: Node,
}

impl Table {
    /// The entry of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Reads a source, noting every mistake of syntax; what could be read is given all the same.
    pub(crate) fn parse(source: usize, mistakes: &mut Mistakes) -> Self {
        let text = mistakes.text(source).to_owned();
        let (table, errors) = DeTable::parse_recoverable(&text);
        for error in &errors {
            let place = mistakes.place(source, error.span().unwrap_or_default());
            mistakes.add(place, format!("this is not TOML: {}", error.message()), None);
        }
        convert(table.get_ref(), &|span| mistakes.place(source, span))
    }

    /// Whether a text is TOML; nothing is noted.
    pub(crate) fn parses(text: &str) -> bool {
        DeTable::parse(text).is_ok()
    }

    /// Puts a node at the end of a path, making tables on the way. The entry in the way, if one is no table.
    pub(crate) fn set(&mut self, path: &[(String, Place)], node: Node) -> Result<(), Entry> {
        let Some(((key, place), rest)) = path.split_first() else { return Ok(()) };
        let at = self.entries.iter().position(|entry| entry.key == *key).unwrap_or_else(|| {
            let empty = Node { value: Value::Table(Self::default()), place: *place };
            self.entries.push(Entry { key: key.clone(), place: *place, node: empty });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[at];
        if rest.is_empty() {
            (entry.place, entry.node) = (*place, node);
            return Ok(());
        }
        match &mut entry.node.value {
            Value::Table(table) => table.set(rest, node),
            _ => Err(entry.clone()),
        }
    }
}

type Locate<'a> = &'a dyn Fn(std::ops::Range<usize>) -> Place;

fn convert(table: &DeTable<'_>, place: Locate<'_>) -> Table {
    let entry = |(key, value): (&Spanned<_>, &Spanned<_>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        Entry { key: name.to_string(), place: place(key.span()), node: node(value, place) }
    };
    let mut entries: Vec<Entry> = table.iter().map(entry).collect();
    // The map is sorted by key; parameters keep the order in which they were written.
    entries.sort_by_key(|entry| entry.place);
    Table { entries }
}

fn node(value: &Spanned<DeValue<'_>>, place: Locate<'_>) -> Node {
    let kind = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(whole) => Value::Whole(whole),
            Err(_) => Value::Number(number.as_str().parse().unwrap_or(f64::INFINITY)),
        },
        DeValue::Float(number) => Value::Number(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(items.iter().map(|item| node(item, place)).collect()),
        DeValue::Table(table) => Value::Table(convert(table, place)),
    };
    Node { value: kind, place: place(value.span()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_places_survive() {
        let mut mistakes = Mistakes::default();
        let source = mistakes.source("a.toml", "[p]\nz = 1_000\na = 0.5\n[q]\nb = 0xff\n");
        let table = Table::parse(source, &mut mistakes);
        assert!(mistakes.is_empty());
        let Value::Table(p) = &table.get("p").unwrap().node.value else { panic!() };
        assert_eq!(p.entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["z", "a"]);
        assert!(matches!(p.entries[0].node.value, Value::Whole(1000)));
        assert_eq!(mistakes.line_and_column(p.entries[1].node.place), (3, 5));
        let Value::Table(q) = &table.get("q").unwrap().node.value else { panic!() };
        assert!(matches!(q.get("b").unwrap().node.value, Value::Whole(255)));
    }

    #[test]
    fn every_mistake_of_syntax_is_noted() {
        let mut mistakes = Mistakes::default();
        let source = mistakes.source("a.toml", "a = \nb = 1\nc = [1,\n\nd = 'x\n");
        Table::parse(source, &mut mistakes);
        let text = mistakes.render(false);
        assert!(text.contains("a.toml:1:") && text.matches("error:").count() >= 2, "{text}");
    }
}
