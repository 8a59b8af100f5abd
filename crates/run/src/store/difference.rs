//! What two descriptions of a run differ in, and which of it may differ.

use serde_json::{Map, Value};

use super::tally::checksum;

/// Parts of a description that do not show in any simulation: a run may go on with others.
const FREE: [&str; 3] = ["name", "method.generations", "method.stop"];
/// The version that made a run; a release that changes results changes its first two numbers.
const VERSION: &str = "version";

/// Parts whose order counts: it is that of the columns.
const ORDERED: [&str; 2] = ["parameters", "observed"];

/// Differences, a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Those that make it another run.
    pub refused: Vec<String>,
    /// Those that leave it the same run.
    pub allowed: Vec<String>,
    /// Whether the run may end elsewhere than it did.
    pub moves_end: bool,
}

/// Compares the description of a stored run with that of the present one.
#[must_use]
pub fn differences(stored: &Value, given: &Value) -> Differences {
    let mut found = Differences::default();
    compare("", stored, given, &mut found);
    found
}

/// Numbers that tell runs apart: equal for descriptions that differ in free parts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The one that is written.
    pub(super) number: u64,
    /// The one that the first versions of format 2 wrote, which depended on the order of all keys.
    former: u64,
}

impl Identity {
    pub(super) fn of(description: &Value) -> Self {
        let mut description = description.clone();
        for path in FREE.into_iter().chain([VERSION]) {
            let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
            let mut at = Some(&mut description);
            for key in parents.split('.').filter(|key| !key.is_empty()) {
                at = at.and_then(|value| value.get_mut(key));
            }
            if let Some(Value::Object(map)) = at {
                map.shift_remove(last);
            }
        }
        let number = |value: &Value| checksum(value.to_string().as_bytes());
        Self { former: number(&description), number: number(&canonical("", description)) }
    }

    /// Whether a file with this number is of the run.
    pub(super) fn is(self, number: u64) -> bool {
        number == self.number || number == self.former
    }
}

/// The same value for all that [`compare`] finds no difference in: keys sorted where their order does not count, and
/// without those that have no value.
fn canonical(at: &str, value: Value) -> Value {
    let Value::Object(map) = value else { return value };
    let present = map.into_iter().filter(|(_, value)| !value.is_null());
    let mut pairs: Vec<(String, Value)> =
        present.map(|(key, value)| (key.clone(), canonical(&below(at, &key), value))).collect();
    if !ORDERED.contains(&at) {
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    Value::Object(pairs.into_iter().collect())
}

fn below(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

fn compare(at: &str, stored: &Value, given: &Value, found: &mut Differences) {
    if let (Value::Object(stored), Value::Object(given)) = (stored, given) {
        let mut keys: Vec<&String> = stored.keys().chain(given.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let side = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
            compare(&below(at, key), &side(stored), &side(given), found);
        }
        let in_order = |map: &Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
        let (before, now) = (in_order(stored), in_order(given));
        let ordered = ORDERED.contains(&at) && before.len() == now.len();
        if ordered && before != now && before.iter().all(|key| given.contains_key(key)) {
            found.refused.push(format!("{at} are in another order"));
        }
    } else if stored != given {
        let (before, now) = excerpts(&shown(stored), &shown(given));
        let line = format!("{at} was {before} and is now {now}");
        let free =
            |part: &str| at.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if let Some(part) = FREE.into_iter().find(|part| free(part)) {
            found.moves_end |= part != "name";
            found.allowed.push(line);
        } else if at == VERSION && series(stored).is_some() && series(stored) == series(given) {
            found.allowed.push(line);
        } else {
            found.refused.push(line);
        }
    }
}

/// The first two numbers of a version.
fn series(version: &Value) -> Option<(&str, &str)> {
    let mut parts = version.as_str()?.split('.');
    Some((parts.next()?, parts.next()?))
}

/// A value in a line.
fn shown(value: &Value) -> String {
    if value.is_null() { "not given".to_owned() } else { value.to_string() }
}

/// Two texts that differ; where one is long, both around the first place in which they do.
fn excerpts(before: &str, now: &str) -> (String, String) {
    const LONGEST: usize = 100;
    const LEAD: usize = 20;
    if before.chars().count().max(now.chars().count()) <= LONGEST {
        return (before.to_owned(), now.to_owned());
    }
    let same = before.chars().zip(now.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(LEAD);
    let cut = |text: &str| {
        let part: String = text.chars().skip(from).take(LONGEST).collect();
        let (lead, tail) = (if from > 0 { "..." } else { "" }, text.chars().count() > from + LONGEST);
        format!("{lead}{part}{}", if tail { "..." } else { "" })
    };
    (cut(before), cut(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn description(generations: u32, version: &str, high: f64) -> Value {
        json!({ "name": "x", "version": version, "parameters": { "k": { "high": high } },
                "method": { "generations": generations, "stop": { "ess": null } } })
    }

    fn identity(description: &Value) -> u64 {
        Identity::of(description).number
    }

    /// Where no difference is found the identity is the same, and the other way round.
    #[test]
    fn identities_agree_with_differences() {
        let base = json!({ "model": { "a": 1, "b": { "c": 2, "d": null } }, "observed": { "x": 1, "y": 2 },
                           "parameters": { "k": { "low": 1, "high": 2 } } });
        let others = [
            (
                json!({ "observed": { "x": 1, "y": 2 }, "parameters": { "k": { "high": 2, "low": 1 } },
                     "model": { "b": { "c": 2 }, "a": 1, "e": null } }),
                true,
            ),
            (
                json!({ "model": { "a": 1, "b": { "c": 2, "d": null } }, "observed": { "y": 2, "x": 1 },
                     "parameters": { "k": { "low": 1, "high": 2 } } }),
                false,
            ),
            (
                json!({ "model": { "a": 1, "b": { "c": 2, "d": 0 } }, "observed": { "x": 1, "y": 2 },
                     "parameters": { "k": { "low": 1, "high": 2 } } }),
                false,
            ),
        ];
        for (other, same) in others {
            assert_eq!(differences(&base, &other).refused.is_empty(), same, "{other}");
            assert_eq!(identity(&base) == identity(&other), same, "{other}");
        }
        // What the first versions wrote: the text as it stands, without its free parts.
        let former = checksum(base.to_string().as_bytes());
        assert!(Identity::of(&base).is(former) && former != identity(&base));
    }

    #[test]
    fn what_ends_a_run_is_free_and_the_rest_is_not() {
        let found = differences(&description(3, "0.1.0", 1.0), &description(5, "0.1.7", 1.0));
        assert_eq!(
            found.allowed,
            ["method.generations was 3 and is now 5", r#"version was "0.1.0" and is now "0.1.7""#]
        );
        assert!(found.refused.is_empty() && found.moves_end);
        let found = differences(&description(3, "0.1.0", 1.0), &description(3, "0.2.0", 2.0));
        assert_eq!(found.refused.len(), 2);
        assert_eq!(found.refused[0], "parameters.k.high was 1.0 and is now 2.0");
        assert_eq!(identity(&description(3, "0.1.0", 1.0)), identity(&description(4, "0.2.0", 1.0)));
        assert_ne!(identity(&description(3, "0.1.0", 1.0)), identity(&description(3, "0.1.0", 2.0)));
        let (long, other) =
            ("x".repeat(500) + "A" + &"y".repeat(500), "x".repeat(500) + "B" + &"y".repeat(500));
        let found = differences(&json!({ "model": long }), &json!({ "model": other }));
        let line = &found.refused[0];
        assert!(line.contains("xxAyy") && line.contains("xxByy") && line.len() < 300, "{line}");
        let turned = differences(
            &json!({ "observed": { "a": 1, "b": 2 } }),
            &json!({ "observed": { "b": 2, "a": 1 } }),
        );
        assert_eq!(turned.refused, ["observed are in another order"]);
    }
}
