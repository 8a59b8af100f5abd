//! Tables looked at as one: rows of several, one below another, and beside them columns of one more.

use crate::packed::Packed;
use crate::table::Table;

/// A table as somebody keeps it.
#[derive(Clone, Copy, Debug)]
pub enum Layer<'a> {
    /// As it is.
    Plain(&'a Table),
    /// Packed: rows are unpacked into room of whoever reads them.
    Packed(&'a Packed),
}

impl<'a> From<&'a Table> for Layer<'a> {
    fn from(table: &'a Table) -> Self {
        Self::Plain(table)
    }
}

impl<'a> From<&'a Packed> for Layer<'a> {
    fn from(packed: &'a Packed) -> Self {
        Self::Packed(packed)
    }
}

impl<'a> Layer<'a> {
    /// Number of rows.
    #[must_use]
    pub fn rows(self) -> usize {
        match self {
            Self::Plain(table) => table.rows(),
            Self::Packed(packed) => packed.rows(),
        }
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(self) -> usize {
        match self {
            Self::Plain(table) => table.columns(),
            Self::Packed(packed) => packed.columns(),
        }
    }

    /// One value.
    #[must_use]
    #[inline(always)]
    pub fn at(self, row: usize, column: usize) -> f64 {
        match self {
            Self::Plain(table) => table.at(row, column),
            Self::Packed(packed) => packed.at(row, column),
        }
    }

    /// Row `i`, in `room` if it must be unpacked.
    ///
    /// # Panics
    /// If `room` has not as many places.
    #[must_use]
    #[inline(always)]
    pub fn row<'b>(self, i: usize, room: &'b mut [f64]) -> &'b [f64]
    where
        'a: 'b,
    {
        match self {
            Self::Plain(table) => table.row(i),
            Self::Packed(packed) => {
                packed.write(i, room);
                room
            }
        }
    }

    /// The chosen rows, in the order given, as a table.
    #[must_use]
    pub fn select(self, rows: &[u32]) -> Table {
        Stacked::from(self).select(rows)
    }
}

/// Tables of equally many rows one below another, the rows of which others keep, and, where there is one, a table beside
/// all of them. Nothing is copied.
#[derive(Clone, Copy, Debug)]
pub struct Stacked<'a> {
    first: Layer<'a>,
    rest: &'a [Layer<'a>],
    beside: Option<&'a Table>,
    /// Rows of each table, and columns of all but the one beside.
    each: u32,
    own: usize,
}

/// One row of [`Stacked`] tables.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    layer: Layer<'a>,
    i: usize,
    own: usize,
    beside: &'a [f64],
}

impl<'a, L: Into<Layer<'a>>> From<L> for Stacked<'a> {
    fn from(layer: L) -> Self {
        let first = layer.into();
        Self { first, rest: &[], beside: None, each: first.rows() as u32, own: first.columns() }
    }
}

impl<'a> Stacked<'a> {
    /// One below another.
    ///
    /// # Panics
    /// If there is none, or if they differ in rows or columns.
    #[must_use]
    pub fn new(layers: &'a [Layer<'a>]) -> Self {
        let (first, rest) = layers.split_first().expect("at least one table");
        let shape = (first.rows(), first.columns());
        assert!(rest.iter().all(|layer| (layer.rows(), layer.columns()) == shape), "tables of other shapes");
        Self { rest, ..Self::from(*first) }
    }

    /// The same with another table beside them.
    ///
    /// # Panics
    /// If there is one already, or if it has not as many rows.
    #[must_use]
    pub fn with(self, beside: &'a Table) -> Self {
        assert!(self.beside.is_none() && beside.rows() == self.rows(), "one table of as many rows");
        Self { beside: Some(beside), ..self }
    }

    /// The tables themselves, and what stands beside them, each with the column it begins with: their rows are in one piece.
    pub fn parts(self) -> impl Iterator<Item = (usize, Self)> {
        let beside = self.beside.map(|beside| (self.own, beside.into()));
        std::iter::once((0, Self { beside: None, ..self })).chain(beside)
    }

    /// The part that has all of some columns, or else the whole, and the column it begins with.
    #[must_use]
    pub fn around(self, columns: &[usize]) -> (usize, Self) {
        let has_all = |(first, part): &(usize, Self)| {
            columns.iter().all(|column| (*first..first + part.columns()).contains(column))
        };
        self.parts().find(has_all).unwrap_or((0, self))
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.each as usize * (1 + self.rest.len())
    }

    /// Rows of each of the tables.
    #[must_use]
    pub fn each(&self) -> usize {
        self.each as usize
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.own + self.beside.map_or(0, Table::columns)
    }

    /// Row `i`.
    #[must_use]
    #[inline]
    pub fn row(&self, i: usize) -> Row<'a> {
        let (layer, at) = self.place(i);
        Row { layer, i: at, own: self.own, beside: self.beside.map_or(&[], |table| table.row(i)) }
    }

    #[inline(always)]
    fn place(&self, i: usize) -> (Layer<'a>, usize) {
        let i = i as u32;
        if i < self.each {
            return (self.first, i as usize);
        }
        (self.rest[(i / self.each) as usize - 1], (i % self.each) as usize)
    }

    /// One value.
    #[must_use]
    #[inline(always)]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        match self.beside {
            Some(beside) if column >= self.own => beside.at(row, column - self.own),
            _ => {
                let (layer, i) = self.place(row);
                layer.at(i, column)
            }
        }
    }

    /// What the tables themselves have in some rows; those that are packed are unpacked into `room`. For some rows at a
    /// time: as many as stay near the processor.
    #[must_use]
    pub fn read<'b>(&self, mut rows: &[u32], room: &'b mut Vec<f64>) -> Vec<&'b [f64]>
    where
        'a: 'b,
    {
        let is_packed = |layer: &Layer<'_>| matches!(layer, Layer::Packed(_));
        if is_packed(&self.first) || self.rest.iter().any(is_packed) {
            room.resize(room.len().max(rows.len() * self.own), 0.0);
        }
        let (mut left, mut read) = (&mut room[..], Vec::with_capacity(rows.len()));
        while let Some((layer, top, run)) = self.run(rows) {
            match layer {
                Layer::Plain(table) => read.extend(run.iter().map(|row| table.row((row - top) as usize))),
                Layer::Packed(packed) => {
                    let here;
                    (here, left) = left.split_at_mut(run.len() * self.own);
                    packed.write_all(run, top, here);
                    read.extend(here.chunks_exact(self.own));
                }
            }
            rows = &rows[run.len()..];
        }
        read
    }

    /// The table, where it is one, as it is, and nothing beside it.
    #[must_use]
    pub fn as_table(&self) -> Option<&'a Table> {
        match self {
            Self { first: Layer::Plain(table), rest: [], beside: None, .. } => Some(table),
            _ => None,
        }
    }

    /// Goes through what the tables themselves have in some rows, in the order given.
    #[must_use]
    pub fn pass<'b>(&self, rows: &'b [u32]) -> Pass<'a, 'b> {
        Pass { of: Self { beside: None, ..*self }, rows, unpacked: Table::from_rows(self.own, Vec::new()) }
    }

    /// Adds the values of a column in some rows, in the order given.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, column: usize, mut rows: &[u32], into: &mut Vec<f64>) {
        if column >= self.own {
            let beside = Self::from(self.beside.expect("one of the columns"));
            return beside.column(column - self.own, rows, into);
        }
        while let Some((layer, top, run)) = self.run(rows) {
            let here = run.iter().map(|row| (row - top) as usize);
            match layer {
                Layer::Plain(table) => into.extend(here.map(|row| table.at(row, column))),
                Layer::Packed(packed) => packed.column(column, here, into),
            }
            rows = &rows[run.len()..];
        }
    }

    /// The first of some rows, as long as they follow one another in one of the tables themselves: that table, and which row
    /// its first one is.
    fn run<'b>(&self, rows: &'b [u32]) -> Option<(Layer<'a>, u32, &'b [u32])> {
        let &row = rows.first()?;
        let (layer, at) = self.place(row as usize);
        let top = row - at as u32;
        if self.rest.is_empty() {
            return Some((layer, top, rows));
        }
        let end = rows.iter().position(|row| row.wrapping_sub(top) >= self.each);
        Some((layer, top, &rows[..end.unwrap_or(rows.len())]))
    }

    /// All rows in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Row<'a>> {
        (0..self.rows()).map(move |i| self.row(i))
    }

    /// The chosen rows, in the order given, as a table.
    #[must_use]
    pub fn select(&self, rows: &[u32]) -> Table {
        let mut table = Table::filled(rows.len(), self.columns(), 0.0);
        rows.iter().enumerate().for_each(|(at, &i)| self.row(i as usize).write(table.row_mut(at)));
        table
    }
}

/// Rows that are read at once where they are packed.
const BLOCK: usize = 64;
/// Their places.
const PLACES: [u32; BLOCK] = {
    let (mut places, mut at) = ([0; BLOCK], 0);
    while at < BLOCK {
        places[at] = at as u32;
        at += 1;
    }
    places
};

/// A pass over many rows, some at a time.
#[derive(Debug)]
pub struct Pass<'a, 'b> {
    of: Stacked<'a>,
    rows: &'b [u32],
    unpacked: Table,
}

impl Pass<'_, '_> {
    /// The next rows, if there are more: a table that has them, which row the first of that table is, and which rows. Rows of
    /// a plain table come all at once, others a block at a time and by their places in that.
    pub fn more(&mut self) -> Option<(&Table, u32, &[u32])> {
        let layer = self.of.place(*self.rows.first()? as usize).0;
        let packed = match layer {
            Layer::Plain(table) => {
                let (_, top, run) = self.of.run(self.rows)?;
                self.rows = &self.rows[run.len()..];
                return Some((table, top, run));
            }
            Layer::Packed(packed) => packed,
        };
        let (_, top, run) = self.of.run(&self.rows[..self.rows.len().min(BLOCK)])?;
        self.rows = &self.rows[run.len()..];
        if self.unpacked.rows() == 0 {
            self.unpacked = Table::filled(BLOCK, self.of.own, 0.0);
        }
        packed.write_all(run, top, &mut self.unpacked.values_mut()[..run.len() * self.of.own]);
        Some((&self.unpacked, 0, &PLACES[..run.len()]))
    }
}

impl Row<'_> {
    /// One value.
    #[must_use]
    #[inline]
    pub fn at(&self, column: usize) -> f64 {
        if column < self.own { self.layer.at(self.i, column) } else { self.beside[column - self.own] }
    }

    /// All values in order.
    #[must_use]
    pub fn to_vec(self) -> Vec<f64> {
        let mut values = vec![0.0; self.own + self.beside.len()];
        self.write(&mut values);
        values
    }

    /// Writes all values.
    ///
    /// # Panics
    /// If `into` has not as many places.
    pub fn write(self, into: &mut [f64]) {
        let (own, beside) = into.split_at_mut(self.own);
        match self.layer {
            Layer::Plain(table) => own.copy_from_slice(table.row(self.i)),
            Layer::Packed(packed) => packed.write(self.i, own),
        }
        beside.copy_from_slice(self.beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to read stacked tables, held to one table that has all of it.
    fn are_read_as_one(layers: &[Layer<'_>], beside: Option<&Table>, whole: &Table) {
        let all = Stacked::new(layers);
        let all = beside.map_or(all, |beside| all.with(beside));
        let (rows, columns) = (whole.rows(), whole.columns());
        assert_eq!((all.rows(), all.columns()), (rows, columns));
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
        for (i, row) in all.iter().enumerate() {
            assert_eq!(bits(&row.to_vec()), bits(whole.row(i)), "row {i}");
            for j in 0..columns {
                let expected = whole.at(i, j).to_bits();
                assert_eq!((row.at(j).to_bits(), all.at(i, j).to_bits()), (expected, expected));
            }
        }
        // Backwards, across the tables and back, some twice.
        let some: Vec<u32> =
            (0..rows as u32).rev().chain((0..rows as u32).step_by(3)).chain([0, 0]).collect();
        assert_eq!(bits(all.select(&some).values()), bits(whole.select(&some).values()));
        for j in 0..columns {
            let mut read = Vec::new();
            all.column(j, &some, &mut read);
            assert_eq!(bits(&read), bits(&whole.select(&some).column(j)), "column {j}");
        }
        let table = layers.len() == 1 && beside.is_none() && matches!(layers[0], Layer::Plain(_));
        assert_eq!(all.as_table().is_some(), table);
        let mut room = Vec::new();
        for (first, part) in all.parts() {
            let expected = |row: u32| bits(&whole.row(row as usize)[first..first + part.columns()]);
            for some in some.chunks(70) {
                let read = part.read(some, &mut room);
                assert_eq!(read.len(), some.len());
                read.iter().zip(some).for_each(|(read, &row)| assert_eq!(bits(read), expected(row)));
            }
            let (mut pass, mut left) = (part.pass(&some), some.iter());
            while let Some((table, top, rows)) = pass.more() {
                for (&row, &passed) in rows.iter().zip(left.by_ref()) {
                    assert_eq!(bits(table.row((row - top) as usize)), expected(passed));
                }
            }
            assert_eq!(left.len(), 0, "all are passed");
        }
        for wanted in [&[1, 0][..], &[columns - 1], &[0, columns - 1]] {
            let (first, part) = all.around(wanted);
            let own = columns - beside.map_or(0, Table::columns);
            let expected =
                if wanted[0] >= own { own..columns } else { 0..if wanted == [1, 0] { own } else { columns } };
            assert_eq!((first, part.columns()), (expected.start, expected.len()));
            assert_eq!(bits(&part.row(rows - 1).to_vec()), bits(&whole.row(rows - 1)[expected]));
        }
    }

    #[test]
    fn stacked_tables_are_read_as_one_packed_or_not() {
        let (rows, columns) = (150, 11);
        let value = |seed: usize, i: usize, j: usize| match j {
            // A failed simulation has no numbers at all.
            _ if i == 7 * seed => f64::NAN,
            4 => 0.1 * (i + seed) as f64,
            7 => -(((i * i) % 700) as f64),
            _ => ((i * (j + 3) + seed) % 11) as f64 - 2.0,
        };
        let table = |seed: usize| {
            let row = |i: usize| (0..columns).map(move |j| value(seed, i, j));
            Table::from_rows(columns, (0..rows).flat_map(row).collect())
        };
        let tables = [table(1), table(2), table(3)];
        let packed: Vec<Packed> = tables.iter().map(|table| Packed::of(table).unwrap()).collect();
        let beside = Table::from_rows(2, (0..6 * rows).map(|at| 0.3 * at as f64).collect());
        let pairs = tables.iter().flat_map(|table| table.iter()).zip(beside.iter());
        let wide =
            Table::from_rows(columns + 2, pairs.flat_map(|(own, beside)| [own, beside].concat()).collect());
        let own =
            Table::from_rows(columns, tables.iter().flat_map(|table| table.values().to_vec()).collect());
        for mask in 0..8 {
            let layer = |at: usize| match mask >> at & 1 {
                0 => Layer::from(&tables[at]),
                _ => Layer::from(&packed[at]),
            };
            let layers = [layer(0), layer(1), layer(2)];
            are_read_as_one(&layers, None, &own);
            are_read_as_one(&layers, Some(&beside), &wide);
            are_read_as_one(&layers[..1], None, &tables[0]);
        }
    }
}
