//! The network language: reactions, or every mistake with its place.

use counterpoise_networks::Network;
use counterpoise_networks::language::reaction_text;

use super::{Target, shape};

pub const TARGET: Target = Target {
    name: "network",
    about: "reactions in the network language",
    seeds: || SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect(),
    words: &[
        "->",
        "<->",
        "@",
        "{",
        "}",
        "0",
        "2 S1",
        "k1",
        "k2",
        "S1",
        "S2",
        "time",
        "exp(",
        "log(",
        "min(",
        "max(",
        "piecewise(",
        "if",
        "sqrt(",
        "^",
        "**",
        " and ",
        " or ",
        "not ",
        "<=",
        "==",
        "%",
        "#",
        "(",
        ")",
        "e",
        "pi",
    ],
    run,
};

const SEEDS: [&str; 4] = [
    "S1 -> 0 @ k1\nS2 -> S3 @ k2\nS1 + S1 -> S2 @ k3\nS2 -> S1 + S1 @ k4\n",
    "2 S1 <-> S2 @ k3, k4 # both ways\nS2 -> P @ { k2 * S2 / (50 + S2) }\n",
    "0 -> M @ { k1 * 10 ^ 2 / (10 ^ 2 + P ^ 2) }\nM -> M + P @ k2\nP -> 0 @ 0.5 * k3\n",
    "S -> S + S @ { if time < 5 then k1 * S else 0 }\nS -> 0 @ { max(k2, 1e-3) * S * exp(-time / 3) }\n",
];

fn run(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else { return "not UTF-8".into() };
    match Network::parse(text, &["k1", "k2", "k3", "k4"], &[("S1", 100.0)]) {
        Ok(network) => {
            let printed = network.reactions.iter().map(|one| reaction_text(one, &network).len()).max();
            format!("{} reactions, {:?}", network.reactions.len().min(8), printed.map(usize::ilog2))
        }
        Err(mistakes) => {
            for mistake in &mistakes {
                assert!(
                    text.get(mistake.span.clone()).is_some(),
                    "{mistake:?} points at no place of the text"
                );
            }
            mistakes.iter().take(3).map(|one| shape(&one.message)).collect::<Vec<_>>().join("\n")
        }
    }
}
