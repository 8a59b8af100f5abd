//! `--set key=value`: keys of the problem file given on the command line.

use super::reading::{Entry, Mistakes, Node, Place, Table, Value};

/// A key and value given on the command line, and the option it came with.
#[derive(Clone, Debug)]
pub(crate) struct Override {
    /// The option, for messages.
    pub(crate) option: &'static str,
    /// `key=value`.
    pub(crate) text: String,
}

impl Override {
    /// One argument of `--set`.
    pub(crate) fn set(text: &str) -> Self {
        Self { option: "--set", text: text.into() }
    }

    /// The seed, as `--seed` gives it.
    pub(crate) fn seed(seed: u64) -> Self {
        Self { option: "--seed", text: format!("method.seed={seed}") }
    }
}

/// Puts the given values where the file has, or might have, its own.
pub(crate) fn apply(table: &mut Table, overrides: &[Override], mistakes: &mut Mistakes) {
    for Override { option, text } in overrides {
        let source = mistakes.source(format!("argument {option}"), text.clone());
        let Some((path, node)) = read(source, text, mistakes) else {
            let place = mistakes.place(source, 0..text.len());
            let hint = "for example --set method.seed=2 or --set method.weighting=uniform".to_owned();
            mistakes.add(place, format!("{option} takes key=value, found `{text}`"), hint);
            continue;
        };
        open_rule(table, &path);
        let last = path.last().map_or(node.place, |(_, place)| *place);
        if let Err(obstacle) = table.set(&path, node) {
            let (key, kind) = (&obstacle.key, obstacle.node.value.kind());
            mistakes.add(last, format!("`{key}` is {kind} and has no keys below it"), None);
        }
    }
}

/// The path and the value of an argument; what is no TOML value is taken as text.
fn read(source: usize, text: &str, mistakes: &mut Mistakes) -> Option<(Vec<(String, Place)>, Node)> {
    // A quoted key may hold an equals sign: the key ends at the first one before which there is a key.
    let ends = text.match_indices('=').map(|(at, _)| at);
    let end = ends.into_iter().find(|&at| Table::parses(&format!("{}=0", &text[..at])))?;
    let keys = mistakes.source("key", format!("{}=0", &text[..end]));
    let path = path(&Table::parse(keys, mistakes), source, mistakes);
    if Table::parses(text) {
        let whole = Table::parse(source, mistakes);
        if whole.entries.len() != 1 {
            return None;
        }
        let node = descend(&whole, &path)?.clone();
        return Some((path, node));
    }
    let value = text[end + 1..].trim();
    let begin = end + 1 + (text[end + 1..].len() - text[end + 1..].trim_start().len());
    let place = mistakes.place(source, begin..begin + value.len());
    Some((path, Node { value: Value::Text(value.to_owned()), place }))
}

/// The keys that lead to the only value of `table`, placed in `source`.
fn path(mut table: &Table, source: usize, mistakes: &Mistakes) -> Vec<(String, Place)> {
    let mut path = Vec::new();
    while let Some(Entry { key, place, node }) = table.entries.first() {
        path.push((key.clone(), mistakes.moved(*place, source)));
        match &node.value {
            Value::Table(below) => table = below,
            _ => break,
        }
    }
    path
}

fn descend<'a>(table: &'a Table, path: &[(String, Place)]) -> Option<&'a Node> {
    let ((key, _), rest) = path.split_first()?;
    let node = &table.get(key)?.node;
    match &node.value {
        Value::Table(below) if !rest.is_empty() => descend(below, rest),
        _ => rest.is_empty().then_some(node),
    }
}

/// Turns `weighting = "hellinger"` into a table when a key below it is given, and likewise for other rules.
fn open_rule(table: &mut Table, path: &[(String, Place)]) {
    let keys: Vec<&str> = path.iter().map(|(key, _)| key.as_str()).collect();
    let rule = match keys[..] {
        ["method", "weighting" | "reduction" | "proposal" | "adjust", _] => &keys[..2],
        ["model", "network" | "sbml", "simulator", _] => &keys[..3],
        _ => return,
    };
    if let Some(entry) = entry_mut(table, rule)
        && let Value::Text(_) = entry.node.value
    {
        let inner = Entry { key: "rule".into(), ..entry.clone() };
        entry.node.value = Value::Table(Table { entries: vec![inner] });
    }
}

fn entry_mut<'a>(table: &'a mut Table, path: &[&str]) -> Option<&'a mut Entry> {
    let (key, rest) = path.split_first()?;
    let entry = table.entries.iter_mut().find(|entry| entry.key == *key)?;
    if rest.is_empty() {
        return Some(entry);
    }
    match &mut entry.node.value {
        Value::Table(below) => entry_mut(below, rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(base: &str, arguments: &[&str]) -> (Table, Mistakes) {
        let mut mistakes = Mistakes::default();
        let source = mistakes.source("a.toml", base);
        let mut table = Table::parse(source, &mut mistakes);
        let overrides: Vec<Override> = arguments.iter().map(|text| Override::set(text)).collect();
        apply(&mut table, &overrides, &mut mistakes);
        (table, mistakes)
    }

    fn at<'a>(mut table: &'a Table, path: &[&str]) -> &'a Value {
        for key in &path[..path.len() - 1] {
            let Value::Table(below) = &table.get(key).unwrap().node.value else { panic!("{key}") };
            table = below;
        }
        &table.get(path[path.len() - 1]).unwrap().node.value
    }

    #[test]
    fn values_are_toml_or_else_text() {
        let base = "[method]\nseed = 1\nweighting = \"hellinger\"\n";
        let arguments = [
            "method.seed=2",
            "name=my problem",
            "method.weighting.evaluations = 7",
            "observed.values.\"A=1\"=0.5",
            "method.proposal={rule=\"local\", share=0.3}",
        ];
        let (table, mistakes) = applied(base, &arguments);
        assert!(mistakes.is_empty(), "{}", mistakes.render(false));
        assert!(matches!(at(&table, &["method", "seed"]), Value::Whole(2)));
        assert!(matches!(at(&table, &["name"]), Value::Text(text) if text == "my problem"));
        assert!(
            matches!(at(&table, &["method", "weighting", "rule"]), Value::Text(text) if text == "hellinger")
        );
        assert!(matches!(at(&table, &["method", "weighting", "evaluations"]), Value::Whole(7)));
        assert!(matches!(at(&table, &["observed", "values", "A=1"]), Value::Number(_)));
        assert!(matches!(at(&table, &["method", "proposal", "share"]), Value::Number(_)));
    }

    #[test]
    fn what_is_no_key_and_value_is_a_mistake_in_the_argument() {
        for bad in ["seed", "=3", "", "a b=1", "a=1\nb=2"] {
            let (_, mistakes) = applied("", &[bad]);
            let text = mistakes.render(false);
            assert!(
                text.contains("--set takes key=value") && text.contains("argument --set:1:1"),
                "{bad}: {text}"
            );
        }
        let (_, mistakes) = applied("[method]\nseed = 1\n", &["method.seed.x=3"]);
        let text = mistakes.render(false);
        assert!(text.contains("`seed` is a whole number") && text.contains("argument --set:1:13"), "{text}");
    }
}
