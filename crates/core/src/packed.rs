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

impl<T: Copy> Codes<T> {
    fn new(kind: Kind, rows: usize, columns: &[Column]) -> Self {
        let width = columns.iter().filter(|column| column.kind == kind).count();
        Self { width, values: Vec::with_capacity(width * rows) }
    }

    #[inline(always)]
    fn extend(&mut self, values: &[f64], low: &[f64], code: impl Fn(f64, f64) -> T) {
        self.values.extend(values.iter().zip(low).map(|(&value, &low)| code(value, low)));
    }

    #[inline(always)]
    fn at(&self, row: usize, place: usize) -> T {
        self.values[row * self.width + place]
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
        let rows: Vec<u32> =
            (0..table.rows() as u32).filter(|row| blank.binary_search(row).is_err()).collect();
        let (low, lost) = vectorised(Survey { table, rows: &rows });
        let mut counts = [0; 4];
        let columns: Vec<Column> = (0..low.len())
            .map(|j| {
                let values = || rows.iter().map(|&row| table.at(row as usize, j));
                let kind = if lost[j] == 0 { Kind::Byte } else { wider(low[j], values) };
                counts[kind as usize] += 1;
                Column { kind, place: counts[kind as usize] - 1 }
            })
            .collect();
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
        vectorised(Pack { table, into: &mut packed });
        Some(packed)
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
            Kind::Byte => self.low[column] + f64::from(self.bytes.at(row, place)),
            Kind::Short => self.low[column] + f64::from(self.shorts.at(row, place)),
            Kind::Single => f64::from(self.singles.at(row, place)),
            Kind::Double => self.doubles.at(row, place),
        }
    }

    /// Adds the values of a column in some rows.
    pub fn column(&self, column: usize, rows: impl Iterator<Item = usize>, into: &mut Vec<f64>) {
        let (Column { kind, place }, low) = (self.columns[column], self.low[column]);
        if !self.blank.is_empty() {
            return into.extend(rows.map(|row| self.at(row, column)));
        }
        match kind {
            Kind::Byte => into.extend(rows.map(|row| low + f64::from(self.bytes.at(row, place)))),
            Kind::Short => into.extend(rows.map(|row| low + f64::from(self.shorts.at(row, place)))),
            Kind::Single => into.extend(rows.map(|row| f64::from(self.singles.at(row, place)))),
            Kind::Double => into.extend(rows.map(|row| self.doubles.at(row, place))),
        }
    }

    /// Writes row `i`.
    ///
    /// # Panics
    /// If `into` has not as many places.
    pub fn write(&self, i: usize, into: &mut [f64]) {
        Unpack { packed: self, rows: &[i as u32], top: 0, into }.run();
    }

    /// Writes some rows, one behind the other; `top` is the number of the first row there is.
    ///
    /// # Panics
    /// If `into` has not as many places.
    pub fn write_all(&self, rows: &[u32], top: u32, into: &mut [f64]) {
        vectorised(Unpack { packed: self, rows, top, into });
    }

    /// All rows as they were.
    #[must_use]
    pub fn unpacked(&self) -> Table {
        let mut table = Table::filled(self.rows, self.columns.len(), 0.0);
        (0..self.rows).for_each(|i| self.write(i, table.row_mut(i)));
        table
    }
}

/// Unpacks rows.
struct Unpack<'a> {
    packed: &'a Packed,
    rows: &'a [u32],
    top: u32,
    into: &'a mut [f64],
}

impl Loop for Unpack<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let packed = self.packed;
        assert_eq!(self.into.len(), self.rows.len() * packed.columns.len(), "a place for each value");
        for run in &packed.runs {
            match run.kind {
                Kind::Byte => self.columns(run, &packed.bytes, |code, low| low + f64::from(code)),
                Kind::Short => self.columns(run, &packed.shorts, |code, low| low + f64::from(code)),
                Kind::Single => self.columns(run, &packed.singles, |code, _| f64::from(code)),
                Kind::Double => self.columns(run, &packed.doubles, |code, _| code),
            }
        }
        if !packed.blank.is_empty() {
            let rows = self.rows.iter().zip(self.into.chunks_exact_mut(packed.columns.len()));
            let blank = rows.filter(|(row, _)| packed.is_blank((*row - self.top) as usize));
            blank.for_each(|(_, into)| into.fill(f64::NAN));
        }
    }
}

impl Unpack<'_> {
    /// Some columns at a time of all rows, first as many as there may be side by side.
    #[inline(always)]
    fn columns<T: Copy>(&mut self, run: &Run, codes: &Codes<T>, value: impl Fn(T, f64) -> f64) {
        let mut at = 0;
        while at + 16 <= run.columns.len() {
            self.some::<T, 16>(run, at, codes, &value);
            at += 16;
        }
        while at + 4 <= run.columns.len() {
            self.some::<T, 4>(run, at, codes, &value);
            at += 4;
        }
        while at < run.columns.len() {
            self.some::<T, 1>(run, at, codes, &value);
            at += 1;
        }
    }

    #[inline(always)]
    fn some<T: Copy, const N: usize>(
        &mut self,
        run: &Run,
        at: usize,
        codes: &Codes<T>,
        value: impl Fn(T, f64) -> f64,
    ) {
        let (column, place, width) = (run.columns.start + at, run.place + at, self.packed.columns.len());
        let low: [f64; N] = std::array::from_fn(|lane| self.packed.low[column + lane]);
        for (row, into) in self.rows.iter().zip(self.into.chunks_exact_mut(width)) {
            let codes: &[T; N] = codes.values[(row - self.top) as usize * codes.width + place..]
                .first_chunk()
                .expect("a whole row");
            let into: &mut [f64; N] = into[column..].first_chunk_mut().expect("a whole row");
            *into = std::array::from_fn(|lane| value(codes[lane], low[lane]));
        }
    }
}

/// Packs all rows.
struct Pack<'a> {
    table: &'a Table,
    into: &'a mut Packed,
}

impl Loop for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Packed { runs, low, bytes, shorts, singles, doubles, .. } = self.into;
        for row in self.table.iter() {
            for Run { kind, columns, .. } in &*runs {
                let (values, low) = (&row[columns.clone()], &low[columns.clone()]);
                match kind {
                    Kind::Byte => bytes.extend(values, low, |value, low| step(value, low) as u8),
                    Kind::Short => shorts.extend(values, low, |value, low| step(value, low) as u16),
                    Kind::Single => singles.extend(values, low, |value, _| value as f32),
                    Kind::Double => doubles.extend(values, low, |value, _| value),
                }
            }
        }
    }
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

/// The narrowest kind that gives back every bit of a column which bytes do not.
fn wider<V: Iterator<Item = f64>>(low: f64, values: impl Fn() -> V) -> Kind {
    let is_short = |value: f64| (low + f64::from(step(value, low) as u16)).to_bits() == value.to_bits();
    // What is not a number may lose its own digits on the way.
    let is_single = |value: f64| !value.is_nan() && f64::from(value as f32).to_bits() == value.to_bits();
    if values().all(is_short) {
        Kind::Short
    } else if values().all(is_single) {
        Kind::Single
    } else {
        Kind::Double
    }
}

/// Finds the least value of each column over some rows, and the bits that are lost in bytes.
struct Survey<'a> {
    table: &'a Table,
    rows: &'a [u32],
}

impl Loop for Survey<'_> {
    type Output = (Vec<f64>, Vec<u64>);

    #[inline(always)]
    fn run(self) -> Self::Output {
        let width = self.table.columns();
        let rows = || self.rows.iter().map(|&row| self.table.row(row as usize));
        let mut low = vec![f64::INFINITY; width];
        for row in rows() {
            low.iter_mut().zip(row).for_each(|(low, &value)| *low = if value < *low { value } else { *low });
        }
        let mut lost = vec![0; width];
        for row in rows() {
            for ((lost, &value), &low) in lost.iter_mut().zip(row).zip(&low) {
                *lost |= (low + f64::from(step(value, low) as u8)).to_bits() ^ value.to_bits();
            }
        }
        (low, lost)
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
        let some: Vec<u32> = (0..rows as u32).rev().map(|row| 5 + row).collect();
        let mut all = vec![0.5; rows * columns.len()];
        packed.write_all(&some, 5, &mut all);
        let expected = table.select(&some.iter().map(|row| row - 5).collect::<Vec<u32>>());
        assert_eq!(bits(&all), bits(expected.values()));
        let mut row = vec![0.5; columns.len()];
        for i in 0..rows {
            packed.write(i, &mut row);
            assert_eq!(bits(&row), bits(table.row(i)), "row {i}");
            let one_by_one: Vec<f64> = (0..columns.len()).map(|j| packed.at(i, j)).collect();
            assert_eq!(bits(&one_by_one), bits(table.row(i)), "row {i}");
        }
        for (j, column) in columns.iter().enumerate() {
            let mut read = Vec::new();
            packed.column(j, (0..rows).rev(), &mut read);
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
