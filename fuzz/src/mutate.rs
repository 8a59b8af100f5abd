//! Ways to break an input.

use counterpoise_core::stream::Stream;
use rand::{Rng, RngExt};

/// Longer inputs are cut: most of them early, since short ones are tried faster.
const SHORT: usize = 8 << 10;
const LONGEST: usize = 256 << 10;

/// Numbers at limits.
const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "1",
    "-1",
    "0.0",
    "1e308",
    "1e309",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "-inf",
    "255",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1e18",
    "0.1",
    "99999999999999999999999999999999",
];

/// Pieces that open something, close it or end it, in any language.
const PIECES: [&str; 30] = [
    "\"", "'", "\"\"\"", "\n", "\r\n", "\r", "\t", ",", ";", ".", "=", "(", ")", "[", "]", "{", "}", "#",
    "\\", "\0", "\u{feff}", "é", "𝛉", "->", "@", "<", ">", "&", "-", "\u{202e}",
];

/// Breaks one of `inputs` in one to eight ways.
pub fn mutate(inputs: &[Vec<u8>], words: &[&str], rng: &mut Stream) -> Vec<u8> {
    let mut input = inputs[rng.random_range(0..inputs.len())].clone();
    let longest = if rng.random_range(0..16) == 0 { LONGEST } else { SHORT };
    for _ in 0..1 << rng.random_range(0..4) {
        once(&mut input, inputs, words, rng);
        input.truncate(longest);
    }
    input
}

fn once(input: &mut Vec<u8>, inputs: &[Vec<u8>], words: &[&str], rng: &mut Stream) {
    let place = rng.random_range(0..=input.len());
    let (from, to) = range(input, rng);
    match rng.random_range(0..16) {
        0 => {
            if let Some(byte) = input.get_mut(place) {
                *byte ^= 1 << rng.random_range(0..8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(place) {
                *byte = [0, 1, 0x7f, 0x80, 0xff, rng.next_u32() as u8][rng.random_range(0..6)];
            }
        }
        2 => input.insert(place, rng.next_u32() as u8),
        3 => drop(input.drain(from..to)),
        4 => {
            let piece = input[from..to].to_vec();
            insert(input, place, &piece);
        }
        5 => insert(input, place, pick(NUMBERS, rng)),
        6 => insert(input, place, pick(PIECES, rng)),
        7 | 8 if !words.is_empty() => {
            insert(input, place, words[rng.random_range(0..words.len())].as_bytes())
        }
        7..=9 => replace_number(input, place, rng),
        10 => input.truncate(place),
        11 => {
            let piece = input[from..to].to_vec();
            let times = 1 << rng.random_range(1..12);
            let most = LONGEST / (piece.len() + 1);
            insert(input, place, &piece.repeat(most.min(times)));
        }
        12 => {
            let other = &inputs[rng.random_range(0..inputs.len())];
            let (from, to) = range(other, rng);
            insert(input, place, &other[from..to]);
        }
        13 => {
            let other = &inputs[rng.random_range(0..inputs.len())];
            input.truncate(place);
            input.extend_from_slice(&other[rng.random_range(0..=other.len())..]);
        }
        14 => swap_lines(input, rng),
        _ => {
            let all = lines(input);
            if !all.is_empty() {
                let (from, to) = all[rng.random_range(0..all.len())];
                input.drain(from..to);
            }
        }
    }
}

fn pick<const N: usize>(from: [&'static str; N], rng: &mut Stream) -> &'static [u8] {
    from[rng.random_range(0..N)].as_bytes()
}

fn insert(input: &mut Vec<u8>, place: usize, piece: &[u8]) {
    drop(input.splice(place..place, piece.iter().copied()));
}

/// A stretch, short more often than long.
fn range(input: &[u8], rng: &mut Stream) -> (usize, usize) {
    let from = rng.random_range(0..=input.len());
    let most = 1usize << rng.random_range(0..11);
    (from, input.len().min(from + rng.random_range(0..=most)))
}

/// The next number behind `place` becomes another.
fn replace_number(input: &mut Vec<u8>, place: usize, rng: &mut Stream) {
    let digit = |byte: &u8| byte.is_ascii_digit() || b".eE+-_".contains(byte);
    let Some(from) = input[place..].iter().position(u8::is_ascii_digit).map(|at| place + at) else { return };
    let to = input[from..].iter().position(|byte| !digit(byte)).map_or(input.len(), |at| from + at);
    drop(input.splice(from..to, pick(NUMBERS, rng).iter().copied()));
}

/// Where each line begins and ends.
fn lines(input: &[u8]) -> Vec<(usize, usize)> {
    let mut from = 0;
    let place = |line: &[u8]| {
        from += line.len();
        (from - line.len(), from)
    };
    input.split_inclusive(|&byte| byte == b'\n').map(place).collect()
}

/// A line is repeated in front of another.
fn swap_lines(input: &mut Vec<u8>, rng: &mut Stream) {
    let all = lines(input);
    if all.is_empty() {
        return;
    }
    let (from, to) = all[rng.random_range(0..all.len())];
    let line = input[from..to].to_vec();
    let place = all[rng.random_range(0..all.len())].0;
    insert(input, place, &line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::stream::{Seed, Stage};

    #[test]
    fn equal_seeds_break_inputs_alike_and_never_beyond_the_limit() {
        let inputs = vec![b"k = 1\nlow = 2.5e3\n".to_vec(), Vec::new(), vec![7; SHORT]];
        let make = |count: u64| {
            let mut rng = Seed(5).stream(Stage::Reference, 0, count);
            mutate(&inputs, &["law"], &mut rng)
        };
        let first: Vec<Vec<u8>> = (0..5_000).map(make).collect();
        assert!(first.iter().all(|input| input.len() <= LONGEST));
        assert!((0..5_000).all(|count| make(count) == first[count as usize]));
        let mut distinct = first;
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() > 2_500, "{} of 5000 are distinct", distinct.len());
    }
}
