//! Reading one table of a problem file: typed values, with a mistake noted for each that is not as it should be.

use std::ops::RangeInclusive;

use counterpoise_networks::language::near_miss;

use super::source::{Mistakes, Place, suggestion};
use super::tree::{Entry, Node, Table, Value};
use super::written::Written;

/// A number as it would be written: without a hundred zeros.
fn shown(number: f64) -> String {
    let size = number.abs();
    if size >= 1e15 || size != 0.0 && size < 1e-5 { format!("{number:e}") } else { format!("{number}") }
}

/// A table, what to call it, and where its mistakes go.
pub(crate) struct Section<'a> {
    name: String,
    place: Place,
    table: &'a Table,
    mistakes: &'a mut Mistakes,
    /// Whether a text was written in place of a table with a `rule`.
    short: bool,
}

impl<'a> Section<'a> {
    /// The whole file, which begins at `place`.
    pub(crate) fn root(table: &'a Table, place: Place, mistakes: &'a mut Mistakes) -> Self {
        Self { name: String::new(), place, table, mistakes, short: false }
    }

    /// The keys, in the order of the file.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.table.entries.iter().map(|entry| entry.key.clone()).collect()
    }

    /// Whether the key is there.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Where the value of a key stands; the section itself where there is none.
    pub(crate) fn value_place(&self, key: &str) -> Place {
        self.table.get(key).map_or(self.place, |entry| entry.node.place)
    }

    /// Where a key stands; the section itself where there is none.
    pub(crate) fn key_place(&self, key: &str) -> Place {
        self.table.get(key).map_or(self.place, |entry| entry.place)
    }

    /// Where the section stands.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// The full name of a key.
    pub(crate) fn path(&self, key: &str) -> String {
        match &*self.name {
            "" => key.to_owned(),
            // A rule that was written as a text has no key of its own.
            name if self.short => name.to_owned(),
            name => format!("{name}.{key}"),
        }
    }

    /// Where mistakes go.
    pub(crate) fn mistakes(&mut self) -> &mut Mistakes {
        self.mistakes
    }

    /// Notes a mistake about the value of a key.
    pub(crate) fn mistake(&mut self, key: &str, message: impl Into<String>, hint: impl Into<Option<String>>) {
        let place = self.value_place(key);
        self.mistakes.add(place, message, hint);
    }

    /// Notes that a key is missing.
    pub(crate) fn missing(&mut self, key: &str, hint: impl Into<Option<String>>) {
        let path = self.path(key);
        self.mistakes.add(self.place, format!("`{path}` is missing"), hint);
    }

    /// Notes every key that is not among `known`.
    pub(crate) fn only(&mut self, known: &[&str]) {
        self.only_or(known, |_| None);
    }

    /// The same, with hints of its own for some keys.
    pub(crate) fn only_or(&mut self, known: &[&str], hint: impl Fn(&str) -> Option<String>) {
        for entry in &self.table.entries {
            if !known.contains(&entry.key.as_str()) {
                let here = if self.name.is_empty() { "the file".into() } else { format!("`{}`", self.name) };
                let suggestion = || suggestion(&entry.key, "known keys", known.iter().copied());
                let hint = hint(&entry.key).unwrap_or_else(suggestion);
                self.mistakes.add(entry.place, format!("unknown key `{}` in {here}", entry.key), hint);
            }
        }
    }

    fn wrong(&mut self, entry: &Entry, expected: &str) {
        let path = self.path(&entry.key);
        let found = entry.node.value.kind();
        self.mistakes.add(entry.node.place, format!("`{path}` must be {expected}, found {found}"), None);
    }

    /// A text, if the key is there and is one.
    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        let entry = self.table.get(key)?;
        match &entry.node.value {
            Value::Text(text) => Some(text.clone()),
            _ => {
                self.wrong(entry, "text");
                None
            }
        }
    }

    /// A text with its place, if the key is there and is one.
    pub(crate) fn written(&mut self, key: &str) -> Option<Written> {
        let text = self.text(key)?;
        Some(Written { text, place: self.value_place(key), path: self.path(key) })
    }

    /// What a list holds, if the key is there and is one.
    pub(crate) fn list(&mut self, key: &str, expected: &str) -> Option<&'a [Node]> {
        let entry = self.table.get(key)?;
        match &entry.node.value {
            Value::List(list) => Some(list),
            _ => {
                self.wrong(entry, expected);
                None
            }
        }
    }

    /// What stands at a key.
    pub(crate) fn value(&self, key: &str) -> Option<&'a Value> {
        self.table.get(key).map(|entry| &entry.node.value)
    }

    /// A finite number, if the key is there and is one.
    pub(crate) fn number(&mut self, key: &str) -> Option<f64> {
        let entry = self.table.get(key)?;
        let number = match &entry.node.value {
            Value::Number(number) => *number,
            Value::Whole(whole) => *whole as f64,
            _ => {
                self.wrong(entry, "a number");
                return None;
            }
        };
        if number.is_finite() {
            return Some(number);
        }
        let path = self.path(key);
        self.mistakes.add(
            entry.node.place,
            format!("`{path}` must be a finite number, found {number}"),
            None,
        );
        None
    }

    /// A number within open or closed limits that the caller states in words.
    pub(crate) fn number_that(
        &mut self,
        key: &str,
        expected: &str,
        fits: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        let number = self.number(key)?;
        if fits(number) {
            return Some(number);
        }
        let path = self.path(key);
        self.mistake(key, format!("`{path}` must be {expected}, found {}", shown(number)), None);
        None
    }

    /// A whole number within limits, if the key is there and is one.
    pub(crate) fn whole(&mut self, key: &str, limits: RangeInclusive<u64>) -> Option<u64> {
        let entry = self.table.get(key)?;
        let path = self.path(key);
        let (low, high) = (*limits.start(), *limits.end());
        let found = match &entry.node.value {
            Value::Whole(whole) => match u64::try_from(*whole) {
                Ok(number) if limits.contains(&number) => return Some(number),
                _ => whole.to_string(),
            },
            // 5e3 is a fair way to write 5000.
            Value::Number(number)
                if number.fract() == 0.0 && *number >= low as f64 && *number <= high as f64 =>
            {
                return Some(*number as u64);
            }
            Value::Number(number) => number.to_string(),
            other => other.kind().to_owned(),
        };
        let range =
            if high >= u64::MAX / 2 { format!("of at least {low}") } else { format!("from {low} to {high}") };
        let message = format!("`{path}` must be a whole number {range}, found {found}");
        self.mistakes.add(entry.node.place, message, None);
        None
    }

    /// True or false, if the key is there and is one.
    pub(crate) fn boolean(&mut self, key: &str) -> Option<bool> {
        let entry = self.table.get(key)?;
        match &entry.node.value {
            Value::Boolean(boolean) => Some(*boolean),
            _ => {
                self.wrong(entry, "true or false");
                None
            }
        }
    }

    /// One of the names `known`, if the key is there and is one.
    pub(crate) fn choice<'k>(&mut self, key: &str, known: &[&'k str]) -> Option<&'k str> {
        let found = self.text(key)?;
        let chosen = known.iter().copied().find(|name| *name == found);
        if chosen.is_none() {
            let path = self.path(key);
            let message = format!("`{path}` must be one of {}, found `{found}`", known.join(", "));
            let hint = near_miss(&found, known.iter().copied()).map(|name| format!("did you mean `{name}`?"));
            self.mistake(key, message, hint);
        }
        chosen
    }

    /// The entry of `table` that a key names, if the key is there and names one.
    pub(crate) fn named<'k, T: Copy>(&mut self, key: &str, table: &[(&'k str, T)]) -> Option<(&'k str, T)> {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        let chosen = self.choice(key, &names)?;
        table.iter().copied().find(|(name, _)| *name == chosen)
    }

    /// The entry of `table` that the key `rule` names, which must be there.
    pub(crate) fn rule_of<'k, T: Copy>(&mut self, table: &[(&'k str, T)]) -> Option<(&'k str, T)> {
        if !self.has("rule") {
            let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
            self.missing("rule", format!("rules: {}", names.join(", ")));
        }
        self.named("rule", table)
    }

    /// The table below a key, if it is there and is one.
    pub(crate) fn section(&mut self, key: &str) -> Option<Section<'_>> {
        let entry = self.table.get(key)?;
        let Value::Table(table) = &entry.node.value else {
            self.wrong(entry, "a table");
            return None;
        };
        Some(Section {
            name: self.path(key),
            place: entry.place,
            table,
            mistakes: self.mistakes,
            short: false,
        })
    }

    /// The table below a key; where there is a text instead, a table with that text as its `rule`.
    pub(crate) fn rule<'s>(&'s mut self, key: &str, made: &'s mut Table) -> Option<Section<'s>> {
        let entry = self.table.get(key)?;
        if let Value::Text(_) = &entry.node.value {
            let rule = Entry { key: "rule".into(), ..entry.clone() };
            made.entries = vec![rule];
            let (name, place) = (self.path(key), entry.place);
            return Some(Section { name, place, table: made, mistakes: self.mistakes, short: true });
        }
        if let Value::Table(_) = &entry.node.value {
            return self.section(key);
        }
        self.wrong(entry, "text or a table");
        None
    }
}
