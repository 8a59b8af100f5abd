//! A table in less room, without loss: each column as narrow as its values allow.

use std::ops::Range;

use crate::table::Table;
use crate::vectors::{Loop, vectorised};

/// Rows of `f64`, of which none has lost a bit. Counts and other small whole numbers take a byte each.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed {
    rows: usize,
    columns: Vec<Column>,
    /// What is added to the codes of a column: its least value.
    low: Vec<f64>,
    runs: Vec<Run>,
    bytes: Codes<u8>,
    shorts: Codes<u16>,
    singles: Codes<f32>,
    doubles: Codes<f64>,
    /// Rows that have [`f64::NAN`] in every column, ascending: simulations that failed. Their codes mean nothing.
    blank: Vec<u32>,
}

/// How a column is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Steps from the least value in one byte or in two.
    Byte,
    Short,
    /// The values themselves.
    Single,
    Double,
}

impl Kind {
    const fn size(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Short => 2,
            Self::Single => 4,
            Self::Double => 8,
        }
    }
}

/// A column, and which it is of those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Column {
    kind: Kind,
    place: usize,
}

/// Neighbouring columns of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    kind: Kind,
    columns: Range<usize>,
    place: usize,
}

/// What is kept of the columns of one kind, row by row.
#[derive(Clone, Debug, PartialEq)]
struct Codes<T> {
    width: usize,
    values: Vec<T>,
}

impl<T> Codes<T> {
    fn new(kind: Kind, rows: usize, columns: &[Column]) -> Self {
        let width = columns.iter().filter(|column| column.kind == kind).count();
        Self { width, values: Vec::with_capacity(width * rows) }
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.width..(i + 1) * self.width]
    }
}

/// A packed table takes no more than this share of the room; otherwise reading it is not worth the time.
const SHARE: f64 = 0.5;

impl Packed {
    /// The same table packed, where that saves enough.
    #[must_use]
    pub fn of(table: &Table) -> Option<Self> {
        let is_blank = |row: &[f64]| row.iter().all(|value| value.to_bits() == f64::NAN.to_bits());
        let blank: Vec<u32> =
            (0u32..).zip(table.iter()).filter(|(_, row)| is_blank(row)).map(|(i, _)| i).collect();
        let (low, columns) = vectorised(Survey { table, blank: &blank });
        let size: usize = columns.iter().map(|column| column.kind.size()).sum();
        if size as f64 > SHARE * (columns.len() * size_of::<f64>()) as f64 {
            return None;
        }
        let rows = table.rows();
        let mut packed = Self {
            rows,
            runs: runs(&columns),
            bytes: Codes::new(Kind::Byte, rows, &columns),
            shorts: Codes::new(Kind::Short, rows, &columns),
            singles: Codes::new(Kind::Single, rows, &columns),
            doubles: Codes::new(Kind::Double, rows, &columns),
            columns,
            low,
            blank,
        };
        table.iter().for_each(|row| packed.push(row));
        Some(packed)
    }

    fn push(&mut self, row: &[f64]) {
        for Run { kind, columns, .. } in &self.runs {
            let (values, low) = (&row[columns.clone()], &self.low[columns.clone()]);
            let steps = values.iter().zip(low).map(|(&value, &low)| step(value, low));
            match kind {
                Kind::Byte => self.bytes.values.extend(steps.map(|step| step as u8)),
                Kind::Short => self.shorts.values.extend(steps.map(|step| step as u16)),
                Kind::Single => self.singles.values.extend(values.iter().map(|&value| value as f32)),
                Kind::Double => self.doubles.values.extend_from_slice(values),
            }
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    #[inline(always)]
    fn is_blank(&self, i: usize) -> bool {
        !self.blank.is_empty() && self.blank.binary_search(&(i as u32)).is_ok()
    }

    /// One value.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        if self.is_blank(row) {
            return f64::NAN;
        }
        let Column { kind, place } = self.columns[column];
        match kind {
            Kind::Byte => self.low[column] + f64::from(self.bytes.row(row)[place]),
            Kind::Short => self.low[column] + f64::from(self.shorts.row(row)[place]),
            Kind::Single => f64::from(self.singles.row(row)[place]),
            Kind::Double => self.doubles.row(row)[place],
        }
    }

    /// The values of a column in some rows.
    pub fn column(&self, column: usize, rows: impl Iterator<Item = usize>, mut each: impl FnMut(f64)) {
        let (Column { kind, place }, low) = (self.columns[column], self.low[column]);
        if !self.blank.is_empty() {
            rows.for_each(|row| each(self.at(row, column)));
            return;
        }
        match kind {
            Kind::Byte => rows.for_each(|row| each(low + f64::from(self.bytes.row(row)[place]))),
            Kind::Short => rows.for_each(|row| each(low + f64::from(self.shorts.row(row)[place]))),
            Kind::Single => rows.for_each(|row| each(f64::from(self.singles.row(row)[place]))),
            Kind::Double => rows.for_each(|row| each(self.doubles.row(row)[place])),
        }
    }

    /// Writes row `i`. Inlined, so that loops which read many rows are compiled for wide vectors with it.
    ///
    /// # Panics
    /// If `into` has not as many places.
    #[inline(always)]
    pub fn write(&self, i: usize, into: &mut [f64]) {
        assert_eq!(into.len(), self.columns.len(), "a place for each column");
        for Run { kind, columns, place } in &self.runs {
            let (into, low) = (&mut into[columns.clone()], &self.low[columns.clone()]);
            let places = *place..place + into.len();
            match kind {
                Kind::Byte => add(into, low, &self.bytes.row(i)[places], |&code| f64::from(code)),
                Kind::Short => add(into, low, &self.shorts.row(i)[places], |&code| f64::from(code)),
                Kind::Single => {
                    let codes = &self.singles.row(i)[places];
                    into.iter_mut().zip(codes).for_each(|(value, &code)| *value = f64::from(code));
                }
                Kind::Double => into.copy_from_slice(&self.doubles.row(i)[places]),
            }
        }
        if self.is_blank(i) {
            into.fill(f64::NAN);
        }
    }

    /// All rows as they were.
    #[must_use]
    pub fn unpacked(&self) -> Table {
        let mut table = Table::filled(self.rows, self.columns.len(), 0.0);
        (0..self.rows).for_each(|i| self.write(i, table.row_mut(i)));
        table
    }
}

/// Columns that are unpacked side by side.
const LANES: usize = 8;

#[inline(always)]
fn add<T>(into: &mut [f64], low: &[f64], codes: &[T], value: impl Fn(&T) -> f64) {
    let ((into, into_rest), (low, low_rest)) = (into.as_chunks_mut::<LANES>(), low.as_chunks::<LANES>());
    let (codes, codes_rest) = codes.as_chunks::<LANES>();
    for ((into, low), codes) in into.iter_mut().zip(low).zip(codes) {
        *into = std::array::from_fn(|lane| low[lane] + value(&codes[lane]));
    }
    let rest = into_rest.iter_mut().zip(low_rest).zip(codes_rest);
    rest.for_each(|((into, low), code)| *into = low + value(code));
}

/// How many steps of one a value lies above another, if that is a small whole number; otherwise anything.
#[inline(always)]
fn step(value: f64, low: f64) -> u64 {
    // The last binary digit of sums of this size counts ones.
    const ONES: f64 = (1u64 << 52) as f64;
    (value - low + ONES).to_bits()
}

fn runs(columns: &[Column]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (j, &Column { kind, place }) in columns.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.kind == kind => run.columns.end += 1,
            _ => runs.push(Run { kind, columns: j..j + 1, place }),
        }
    }
    runs
}

/// Finds the least value of each column, and the narrowest kind that gives back every bit of it.
struct Survey<'a> {
    table: &'a Table,
    blank: &'a [u32],
}

impl Loop for Survey<'_> {
    type Output = (Vec<f64>, Vec<Column>);

    #[inline(always)]
    fn run(self) -> Self::Output {
        let width = self.table.columns();
        let is_there =
            |&(i, _): &(u32, &[f64])| self.blank.is_empty() || self.blank.binary_search(&i).is_err();
        let rows = || (0u32..).zip(self.table.iter()).filter(is_there).map(|(_, row)| row);
        let mut low = vec![f64::INFINITY; width];
        for row in rows() {
            low.iter_mut().zip(row).for_each(|(low, &value)| *low = if value < *low { value } else { *low });
        }
        // Bits that are lost.
        let mut lost = vec![[0; 3]; width];
        for row in rows() {
            for ((lost, &value), &low) in lost.iter_mut().zip(row).zip(&low) {
                let (step, bits) = (step(value, low), value.to_bits());
                lost[0] |= (low + f64::from(step as u8)).to_bits() ^ bits;
                lost[1] |= (low + f64::from(step as u16)).to_bits() ^ bits;
                // What is not a number may lose its own digits on the way.
                lost[2] |= (f64::from(value as f32).to_bits() ^ bits) | u64::from(value.is_nan());
            }
        }
        let mut counts = [0; 4];
        let column = |lost: [u64; 3]| {
            let kinds = [Kind::Byte, Kind::Short, Kind::Single, Kind::Double];
            let at = lost.iter().position(|&lost| lost == 0).unwrap_or(3);
            counts[at] += 1;
            Column { kind: kinds[at], place: counts[at] - 1 }
        };
        (low, lost.into_iter().map(column).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Seed, Stage};
    use rand::RngExt;

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// Packs columns, and holds every way to read them to the bits that were there.
    fn packed(columns: &[Vec<f64>]) -> Packed {
        let rows = columns[0].len();
        let data = (0..rows).flat_map(|i| columns.iter().map(move |column| column[i]));
        let table = Table::from_rows(columns.len(), data.collect());
        let packed = Packed::of(&table).expect("it is worth it");
        assert_eq!((packed.rows(), packed.columns()), (rows, columns.len()));
        assert_eq!(bits(packed.unpacked().values()), bits(table.values()));
        let mut row = vec![0.5; columns.len()];
        for i in 0..rows {
            packed.write(i, &mut row);
            assert_eq!(bits(&row), bits(table.row(i)), "row {i}");
            let one_by_one: Vec<f64> = (0..columns.len()).map(|j| packed.at(i, j)).collect();
            assert_eq!(bits(&one_by_one), bits(table.row(i)), "row {i}");
        }
        for (j, column) in columns.iter().enumerate() {
            let mut read = Vec::new();
            packed.column(j, (0..rows).rev(), |value| read.push(value));
            read.reverse();
            assert_eq!(bits(&read), bits(column), "column {j}");
        }
        packed
    }

    fn kinds(packed: &Packed) -> Vec<Kind> {
        packed.columns.iter().map(|column| column.kind).collect()
    }

    const PAYLOAD: f64 = f64::from_bits(0x7ff8_0000_0000_beef);

    /// One of each kind of column, with what the narrower kinds cannot hold; the counts beside them make it worth it.
    fn columns(rows: usize) -> Vec<(Kind, Vec<f64>)> {
        let mut rng = Seed(7).stream(Stage::Weigh, 0, 0);
        let mut of = |kind: Kind, value: &mut dyn FnMut(u32) -> f64, odd: &[f64]| {
            let mut values: Vec<f64> = (0..rows).map(|_| value(rng.random())).collect();
            odd.iter().enumerate().for_each(|(at, &odd)| values[3 * at + 1] = odd);
            (kind, values)
        };
        let whole = |most: u32, first: f64| move |draw: u32| first + f64::from(draw % (most + 1));
        let big = 9_007_199_254_740_000.0;
        let mut all = vec![
            of(Kind::Byte, &mut whole(10, 0.0), &[]),
            of(Kind::Byte, &mut whole(255, 0.0), &[0.0, 255.0]),
            of(Kind::Short, &mut whole(255, 0.0), &[0.0, 256.0]),
            of(Kind::Byte, &mut whole(200, -100.0), &[]),
            of(Kind::Byte, &mut whole(200, big), &[]),
            of(Kind::Byte, &mut whole(9, 0.5), &[]),
            of(Kind::Short, &mut whole(65_535, -7.0), &[-7.0, 65_528.0]),
            of(Kind::Single, &mut whole(65_535, -7.0), &[-7.0, 65_529.0]),
            of(Kind::Single, &mut whole(10, 0.0), &[-0.0, 0.0]),
            of(Kind::Single, &mut whole(10, 0.0), &[f64::INFINITY, f64::NEG_INFINITY]),
            of(Kind::Single, &mut |draw| f64::from(draw as f32 / 3.0), &[]),
            of(Kind::Double, &mut whole(10, 0.0), &[f64::NAN]),
            of(Kind::Double, &mut whole(10, 0.0), &[PAYLOAD, -PAYLOAD]),
            of(Kind::Double, &mut whole(10, 0.0), &[5e-324, 0.1]),
            of(Kind::Double, &mut |draw| 1e300 * f64::from(draw), &[]),
            of(Kind::Byte, &mut |_| 3.0, &[]),
            of(Kind::Single, &mut |_| -0.0, &[]),
            of(Kind::Byte, &mut |_| 0.1, &[]),
            of(Kind::Double, &mut |_| PAYLOAD, &[]),
        ];
        all.extend((0..40).map(|_| of(Kind::Byte, &mut whole(10, 0.0), &[])));
        all
    }

    #[test]
    fn no_bit_is_lost_and_none_is_wasted() {
        let (expected, values): (Vec<Kind>, Vec<Vec<f64>>) = columns(200).into_iter().unzip();
        assert_eq!(kinds(&packed(&values)), expected);
        // The same from the other side: other runs of neighbours.
        let (expected, values): (Vec<Kind>, Vec<Vec<f64>>) = columns(200).into_iter().rev().unzip();
        assert_eq!(kinds(&packed(&values)), expected);
    }

    /// Simulations that failed have no numbers: that makes no column wider.
    #[test]
    fn failed_rows_come_back_as_they_were() {
        let (expected, mut values): (Vec<Kind>, Vec<Vec<f64>>) = columns(200).into_iter().unzip();
        for column in &mut values {
            for row in [0, 17, 18, 199] {
                column[row] = f64::NAN;
            }
        }
        let packed = packed(&values);
        assert_eq!(packed.blank, [0, 17, 18, 199]);
        assert_eq!(kinds(&packed), expected);
        // All of them, and none.
        assert_eq!(self::packed(&[vec![f64::NAN; 3], vec![f64::NAN; 3]]).blank, [0, 1, 2]);
        assert_eq!(self::packed(&[Vec::new(), Vec::new()]).rows(), 0);
    }

    #[test]
    fn what_saves_little_is_left_alone() {
        let table = |wide: usize| {
            let row = |i: usize| (0..10).map(move |j| if j < wide { 0.1 * i as f64 } else { (i % 5) as f64 });
            Table::from_rows(10, (0..50).flat_map(row).collect())
        };
        // 4 x 8 + 6 x 1 of 80 bytes, and 5 x 8 + 5 x 1.
        assert!(Packed::of(&table(4)).is_some() && Packed::of(&table(5)).is_none());
    }
}
