//! What a program says in the protocol `lines`: pure functions from the bytes of a line to their meaning.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::tail::{excerpt, plain};

/// Statistics that a program may have.
pub const MOST_STATISTICS: usize = 100_000;
/// Bytes of a name.
const LONGEST_NAME: usize = 200;
/// Letters of a program's own reason that are kept.
const LONGEST_REASON: usize = 1_000;

/// The first line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Names of its statistics.
    pub statistics: Vec<String>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Finite numbers, as many as were expected.
    Statistics(Vec<f64>),
    /// The program has no statistics for these parameters, and says why.
    Error(String),
}

/// A line that does not mean what it should.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Garbled {
    /// Not one JSON object with the keys of the protocol.
    #[error("{found} is not {expected}")]
    Garbage {
        /// What the line should have been.
        expected: &'static str,
        /// The beginning of the line.
        found: String,
    },
    /// An answer to something else.
    #[error("its answer has {} and not the id {expected}", found.map_or("no id".into(), |id| format!("the id {id}")))]
    WrongId {
        /// The id of the request.
        expected: u64,
        /// The id of the answer.
        found: Option<f64>,
    },
    /// Too few or too many.
    #[error("it answered {found} statistics and not {expected}")]
    WrongCount {
        /// How many were promised.
        expected: usize,
        /// How many came.
        found: usize,
    },
    /// NaN, infinite, or `null`.
    #[error("statistic {column} is not a finite number")]
    NotFinite {
        /// The first, counted from 0.
        column: usize,
    },
    /// Names that cannot be used.
    #[error("its statistics cannot be used: {0}")]
    Names(String),
}

const READY: &str = "{\"ready\": true, \"statistics\": [\"name\", ...]}";
const ANSWER: &str = "{\"id\": ..., \"statistics\": [...]} or {\"id\": ..., \"error\": \"...\"}";

/// Reads the first line of a program.
///
/// # Errors
/// Where it is not a greeting, or names statistics that cannot be used.
pub fn ready(line: &[u8]) -> Result<Ready, Garbled> {
    #[derive(Deserialize)]
    struct Greeting {
        ready: bool,
        statistics: Vec<String>,
    }
    match serde_json::from_slice(line) {
        Ok(Greeting { ready: true, statistics }) => {
            check_names(&statistics).map_err(Garbled::Names)?;
            Ok(Ready { statistics })
        }
        _ => Err(Garbled::Garbage { expected: READY, found: excerpt(line) }),
    }
}

/// Whether names of statistics can be used, or why not.
pub(super) fn check_names(names: &[String]) -> Result<(), String> {
    if names.is_empty() {
        return Err("there are none".into());
    }
    if names.len() > MOST_STATISTICS {
        return Err(format!("there are {}, more than {MOST_STATISTICS}", names.len()));
    }
    let mut seen = BTreeSet::new();
    for name in names {
        if name.trim().is_empty() {
            return Err("a name is empty".into());
        }
        if name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
            let found = excerpt(name.as_bytes());
            return Err(format!("{found} is longer than {LONGEST_NAME} bytes or has control characters"));
        }
        if !seen.insert(name) {
            return Err(format!("`{name}` is there twice"));
        }
    }
    Ok(())
}

/// Reads the answer to the request `id` of a program that has promised so many statistics.
///
/// JSON has no NaN, but many programs write it: the bare words `NaN`, `Infinity` and the like are read as `null`,
/// which is no finite number.
///
/// # Errors
/// Where it is no answer, the answer to something else, or not the numbers that were promised.
pub fn answer(line: &[u8], id: u64, statistics: usize) -> Result<Answer, Garbled> {
    #[derive(Deserialize)]
    struct Line {
        id: Option<f64>,
        statistics: Option<Vec<Option<f64>>>,
        error: Option<Value>,
    }
    let read = serde_json::from_slice(line).or_else(|_| serde_json::from_slice(&without_nan(line)));
    let garbage = || Garbled::Garbage { expected: ANSWER, found: excerpt(line) };
    let Line { id: found, statistics: values, error } = read.map_err(|_| garbage())?;
    if found != Some(id as f64) {
        // A line that has nothing of an answer is garbage rather than the answer to something else.
        let other = found.is_some() || values.is_some() || error.is_some();
        return Err(if other { Garbled::WrongId { expected: id, found } } else { garbage() });
    }
    match (values, error) {
        (_, Some(reason)) => Ok(Answer::Error(said(&reason))),
        (Some(values), None) => numbers(&values, statistics).map(Answer::Statistics),
        (None, None) => Err(garbage()),
    }
}

fn numbers(values: &[Option<f64>], expected: usize) -> Result<Vec<f64>, Garbled> {
    if values.len() != expected {
        return Err(Garbled::WrongCount { expected, found: values.len() });
    }
    let finite = |(column, value): (usize, &Option<f64>)| {
        value.filter(|value| value.is_finite()).ok_or(Garbled::NotFinite { column })
    };
    values.iter().enumerate().map(finite).collect()
}

fn said(reason: &Value) -> String {
    let text = reason.as_str().map_or_else(|| reason.to_string(), str::to_owned);
    plain(&text).chars().take(LONGEST_REASON).collect()
}

/// The line with `null` for every bare word that stands for NaN or an infinity.
fn without_nan(line: &[u8]) -> Cow<'_, [u8]> {
    let (mut out, mut at, mut quoted) = (Vec::with_capacity(line.len()), 0, false);
    while let Some(&byte) = line.get(at) {
        if quoted || !(byte.is_ascii_alphabetic() || b"+-".contains(&byte)) {
            quoted ^= byte == b'"';
            out.push(byte);
            at += 1;
            if quoted && byte == b'\\' {
                out.extend(line.get(at));
                at += 1;
            }
            continue;
        }
        let sign = usize::from(!byte.is_ascii_alphabetic());
        let letters = line[at + sign..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = line[at + sign..at + sign + letters].to_ascii_lowercase();
        match &*word {
            b"nan" | b"inf" | b"infinity" | b"na" => out.extend_from_slice(b"null"),
            _ => out.extend_from_slice(&line[at..at + sign + letters]),
        }
        at += sign + letters;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Answer, Garbled> {
        answer(line.as_bytes(), 7, 2)
    }

    fn is_garbage(result: &Result<Answer, Garbled>) -> bool {
        matches!(result, Err(Garbled::Garbage { .. }))
    }

    #[test]
    fn answers() {
        let good = Ok(Answer::Statistics(vec![1.0, -2.5e-3]));
        assert_eq!(read("{\"id\": 7, \"statistics\": [1.0, -2.5e-3]}"), good);
        assert_eq!(read(" {\"statistics\":[1,-0.0025],\"more\":{\"a\":[]},\"id\":7.0}\r"), good);
        assert_eq!(
            read("{\"id\": 7, \"error\": \"no \\n\\u0007way\"}"),
            Ok(Answer::Error("no \n way".into()))
        );
        assert_eq!(read("{\"id\": 7, \"error\": {\"code\": 3}}"), Ok(Answer::Error("{\"code\":3}".into())));
        assert_eq!(
            read("{\"id\": 7, \"statistics\": [1, 0.30000000000000004], \"error\": null}"),
            Ok(Answer::Statistics(vec![1.0, 0.1 + 0.2]))
        );
    }

    #[test]
    fn answers_that_are_none() {
        let wrong_id = |found| Err(Garbled::WrongId { expected: 7, found });
        assert_eq!(read("{\"id\": 8, \"statistics\": [1, 2]}"), wrong_id(Some(8.0)));
        assert_eq!(read("{\"statistics\": [1, 2]}"), wrong_id(None));
        assert_eq!(
            read("{\"id\": 7, \"statistics\": [1]}"),
            Err(Garbled::WrongCount { expected: 2, found: 1 })
        );
        for word in ["NaN", "Infinity", "-Infinity", "null", "nan", "-inf", "NA"] {
            let line = format!("{{\"id\": 7, \"statistics\": [1, {word}]}}");
            assert_eq!(read(&line), Err(Garbled::NotFinite { column: 1 }), "{word}");
        }
        let garbage = [
            "",
            "hello",
            "[]",
            "{}",
            "{\"id\": 7}",
            "{\"id\": 7, \"statistics\": [1, 2",
            "{\"id\": 7, \"id\": 7, \"statistics\": [1, 2]}",
            "{\"id\": 7, \"statistics\": [1, \"2\"]}",
            "{\"id\": \"7\", \"statistics\": [1, 2]}",
            "{\"id\": 7, \"statistics\": [1, 2]} {}",
        ];
        for line in garbage {
            assert!(is_garbage(&read(line)), "{line}: {:?}", read(line));
        }
        assert!(is_garbage(&answer(b"{\"id\": 7, \"\xff\": 1, \"statistics\": [1, 2]}", 7, 2)));
        let deep = format!("{{\"id\": 7, \"x\": {}", "[".repeat(1_000_000));
        assert!(is_garbage(&read(&deep)));
        // What looks like NaN inside a text is text.
        let line = "{\"id\": 7, \"a\\\"NaN\": \"NaN\", \"statistics\": [NaN, 1]}";
        assert_eq!(read(line), Err(Garbled::NotFinite { column: 0 }));
    }

    #[test]
    fn greetings() {
        let line = b"{\"ready\": true, \"statistics\": [\"a\", \"b\"]}";
        assert_eq!(ready(line).unwrap().statistics, ["a", "b"]);
        for line in
            ["", "{}", "Welcome to R", "{\"ready\": false, \"statistics\": [\"a\"]}", "{\"ready\": true}"]
        {
            assert!(matches!(ready(line.as_bytes()), Err(Garbled::Garbage { .. })), "{line}");
        }
        let many: Vec<String> = (0..=MOST_STATISTICS).map(|i| format!("\"s{i}\"")).collect();
        let names = [
            ("", "there are none"),
            ("\"a\", \"b\", \"a\"", "`a` is there twice"),
            ("\" \"", "a name is empty"),
            ("\"a\\nb\"", "`a b` is longer than 200 bytes or has control characters"),
            (&many.join(","), "there are 100001, more than 100000"),
        ];
        for (names, reason) in names {
            let line = format!("{{\"ready\": true, \"statistics\": [{names}]}}");
            assert_eq!(ready(line.as_bytes()), Err(Garbled::Names(reason.into())));
        }
    }
    /// Lines that were damaged at random mean something or nothing, and never more than they may.
    #[test]
    fn damaged_lines_do_no_harm() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let whole = [
            &b"{\"id\": 7, \"statistics\": [1.5e3, -Infinity]}"[..],
            b"{\"id\": 7, \"statistics\": [0.25, 2]}",
            b"{\"id\": 7, \"error\": \"no \\\"way\\\" \\u00e9\"}",
            b"{\"ready\": true, \"statistics\": [\"a\", \"b\"]}",
            b"a,b\n1,2\n",
        ];
        let (mut good, mut bad) = (0, 0);
        for _ in 0..50_000 {
            let mut line = whole[random(whole.len())].to_vec();
            for _ in 0..random(4) {
                let at = random(line.len().max(1));
                match random(3) {
                    0 if at < line.len() => line[at] = random(256) as u8,
                    1 => drop(line.drain(at..(at + 1 + random(8)).min(line.len()))),
                    _ => line.insert(at, b"{}[],:\"\\-+.eEnaN0\xff"[random(18)]),
                }
            }
            match answer(&line, 7, 2) {
                Ok(Answer::Statistics(values)) => {
                    assert!(values.len() == 2 && values.iter().all(|value| value.is_finite()));
                    good += 1;
                }
                Ok(Answer::Error(_)) => good += 1,
                Err(_) => bad += 1,
            }
            if let Ok(Ready { statistics }) = ready(&line) {
                assert!(check_names(&statistics).is_ok());
            }
            if let Ok(printed) = super::super::output::output(&line) {
                assert!(printed.names.is_none_or(|names| names.len() == printed.values.len()));
            }
        }
        assert!(good > 5_000 && bad > 5_000, "{good} {bad}");
    }
}
