//! The order of the rows of a group: those that are alike beside each other, where that saves more than their numbers cost.
//!
//! Compression looks at one column at a time and does not see that several say almost the same, as counts of one thing at
//! successive times do. In sorted rows it does. No order is free: a row's number, which costs nothing where rows follow each other, has
//! to be told. Columns that tell different things are not worth it.

use super::Values;
use super::layout::{FEW, OFTEN, SAMPLE, entropy};

/// Bits that an order must save beyond what it costs: the estimate is a rough one.
const MARGIN: f64 = 1.0;

/// Columns by which rows are sorted, the most important first.
#[derive(Debug, PartialEq)]
pub(super) struct Order {
    keys: Vec<usize>,
}

impl Order {
    /// The order that suits rows like these, if there is one. From the last column to the first: among counts of one thing at successive
    /// times the last ones tell most of those before them. On the death process (33 counts) the counts take 5.8 bytes a row so, 7.7 from the
    /// first to the last, 7.5 with the most uneven first and 6.3 with the least; every fourth before the others was best, with 5.6.
    pub(super) fn of(examples: &[Values]) -> Option<Self> {
        let reals = examples.iter().enumerate().rev().filter_map(|(at, values)| match values {
            Values::Real(values) => Some((at, &values[..values.len().min(SAMPLE)])),
            _ => None,
        });
        let (mut keys, mut codes) = (Vec::new(), Vec::new());
        for (at, values) in reals {
            let coded = Codes::of(values);
            if (2..=FEW).contains(&coded.different) && coded.different * OFTEN <= values.len() {
                keys.push(at);
                codes.push(coded);
            }
        }
        let rows = codes.first().map_or(0, |codes| codes.cells.len());
        let sorted = sort(rows, &codes);
        let saved = |codes: &Codes| codes.bits(0..rows as u32) - codes.bits(sorted.iter().copied());
        let saved: f64 = codes.iter().map(saved).sum();
        // A difference between row numbers has a sign. In twice as many rows a number costs a bit more, but the next row is closer by one as
        // well: what is saved in the end is what is saved here.
        let cost = 1.0 + (rows.max(1) as f64).log2();
        (saved > cost + MARGIN).then_some(Self { keys })
    }

    /// The rows of a group in the order in which they are written.
    pub(super) fn rows(&self, count: usize, columns: impl Iterator<Item = Values>) -> Vec<u32> {
        let mut codes: Vec<(usize, Codes)> = columns
            .enumerate()
            .filter_map(|(at, values)| {
                let place = self.keys.iter().position(|&key| key == at)?;
                let Values::Real(values) = values else { return Some((place, Codes::default())) };
                Some((place, Codes::of(&values)))
            })
            .collect();
        codes.sort_by_key(|(place, _)| *place);
        sort(count, &codes.into_iter().map(|(_, codes)| codes).collect::<Vec<_>>())
    }
}

/// Which of the numbers of a column each is, in the order in which they come first.
#[derive(Default)]
struct Codes {
    cells: Vec<u8>,
    different: usize,
}

impl Codes {
    fn of(values: &[f64]) -> Self {
        // Twice as many places as codes, so that the right one is found after a step or two.
        let mut slots = [(0u64, u8::MAX); 512];
        let mut different = 0;
        let code = |value: &f64| {
            let bits = value.to_bits();
            let mut slot = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize;
            loop {
                match slots[slot] {
                    (_, u8::MAX) if different < usize::from(u8::MAX) => {
                        slots[slot] = (bits, different as u8);
                        different += 1;
                        return slots[slot].1;
                    }
                    // What comes after as many as there are codes is all the same: only the order suffers.
                    (_, u8::MAX) => return u8::MAX,
                    (known, code) if known == bits => return code,
                    _ => slot = (slot + 1) % slots.len(),
                }
            }
        };
        let cells = values.iter().map(code).collect();
        Self { cells, different }
    }

    /// Bits of a row in some order: what it is, or whether it differs from the row before and what it is then.
    fn bits(&self, order: impl Iterator<Item = u32>) -> f64 {
        let mut often = [0; 256];
        let (mut changes, mut last, mut rows) = (0, None, 0);
        for row in order {
            let code = self.cells[row as usize];
            often[usize::from(code)] += 1;
            changes += usize::from(last.is_some_and(|last| last != code));
            (last, rows) = (Some(code), rows + 1);
        }
        let alone = entropy(&often);
        let in_turn =
            entropy(&[changes, rows - changes]) + alone * changes as f64 / f64::from(rows.max(1) as u32);
        alone.min(in_turn)
    }

    /// Bits that hold a code.
    fn width(&self) -> u32 {
        usize::BITS - self.different.leading_zeros()
    }
}

/// Rows by the first codes, then by the second and so on; those that have the same stay in order.
fn sort(rows: usize, codes: &[Codes]) -> Vec<u32> {
    // As many codes as there is room for in a number, which is compared at once.
    let (mut words, mut room): (Vec<Vec<u64>>, u32) = (Vec::new(), 0);
    for codes in codes.iter().filter(|codes| codes.cells.len() == rows) {
        let width = codes.width();
        if width > room {
            words.push(vec![0; rows]);
            room = u64::BITS;
        }
        room -= width;
        let word = words.last_mut().into_iter().flatten();
        word.zip(&codes.cells).for_each(|(word, &code)| *word = *word << width | u64::from(code));
    }
    let Some((first, rest)) = words.split_first() else { return (0..rows as u32).collect() };
    let mut keyed: Vec<(u64, u32)> = first.iter().copied().zip(0..).collect();
    keyed.sort_unstable_by(|a, b| {
        let later = || rest.iter().map(|word| word[a.1 as usize].cmp(&word[b.1 as usize]));
        a.0.cmp(&b.0).then_with(|| later().find(|order| order.is_ne()).unwrap_or_else(|| a.1.cmp(&b.1)))
    });
    keyed.into_iter().map(|(_, row)| row).collect()
}
