//! What an external program prints: the greeting, an answer of the protocol `lines`, or all of `once`.

use counterpoise_run::command::{Answer, Garbled, answer, output, ready};

use super::Target;

pub const TARGET: Target = Target {
    name: "lines",
    about: "what a simulator's program prints",
    seeds: || SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect(),
    words: &[
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"id\"",
        "7",
        "\"statistics\"",
        "\"ready\"",
        "true",
        "\"error\"",
        "NaN",
        "Infinity",
        "-Infinity",
        "null",
        "1e999",
        "-0.0",
        "\\u0000",
        "\"",
        "\\",
        "\n",
        "\t",
        " ",
        "[[[[",
        "{\"id\":",
    ],
    run,
};

const SEEDS: [&str; 8] = [
    r#"{"ready": true, "statistics": ["a", "b"]}"#,
    r#"{"id": 7, "statistics": [1.0, 2.5e-3]}"#,
    r#"{"id": 7, "error": "no such state"}"#,
    r#"{"id": 7, "statistics": [NaN, -Infinity]}"#,
    r#"{"statistics": [1, null], "id": 7, "more": {"a": [1]}}"#,
    "1.0, 2.0\n",
    "a b\n1 2\n",
    "\"a,b\",\"c\"\n1,2\n",
];

fn run(input: &[u8]) -> String {
    let asked = match answer(input, 7, 2) {
        Ok(Answer::Statistics(values)) => {
            assert!(values.len() == 2 && values.iter().all(|value| value.is_finite()), "{values:?}");
            "statistics".into()
        }
        Ok(Answer::Error(why)) => format!("error of {} letters", why.len().min(64)),
        Err(garbled) => kind(&garbled),
    };
    let greeted = match ready(input) {
        Ok(ready) => {
            let mut names = ready.statistics.clone();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), ready.statistics.len(), "names are given twice");
            format!("{} names", names.len().min(8))
        }
        Err(garbled) => kind(&garbled),
    };
    let printed = match output(input) {
        Ok(_) => "numbers".into(),
        Err(garbled) => kind(&garbled),
    };
    [asked, greeted, printed].join("\n")
}

/// Which kind of mistake it is: its message quotes the input.
fn kind(garbled: &Garbled) -> String {
    assert!(garbled.to_string().len() < 4_096, "a message repeats all of a long line");
    format!("{garbled:?}").chars().take_while(|letter| letter.is_alphanumeric()).collect()
}
