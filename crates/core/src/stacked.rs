//! Tables looked at as one: rows of several, one below another, and beside them columns of one more.

use std::ops::Index;

use crate::table::Table;

/// Tables of equally many rows one below another, the rows of which others keep, and, where there is one, a table beside
/// all of them. Nothing is copied.
#[derive(Clone, Copy, Debug)]
pub struct Stacked<'a> {
    first: &'a Table,
    rest: &'a [&'a Table],
    beside: Option<&'a Table>,
    /// Rows of each table, and columns of all but the one beside.
    each: u32,
    own: usize,
}

/// One row of [`Stacked`] tables, in two parts.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// What the tables themselves have.
    pub own: &'a [f64],
    /// What stands beside it; often nothing.
    pub beside: &'a [f64],
}

impl<'a> From<&'a Table> for Stacked<'a> {
    fn from(table: &'a Table) -> Self {
        Self { first: table, rest: &[], beside: None, each: table.rows() as u32, own: table.columns() }
    }
}

impl<'a> Stacked<'a> {
    /// One below another.
    ///
    /// # Panics
    /// If there is none, or if they differ in rows or columns.
    #[must_use]
    pub fn new(tables: &'a [&'a Table]) -> Self {
        let (first, rest) = tables.split_first().expect("at least one table");
        let shape = (first.rows(), first.columns());
        assert!(rest.iter().all(|table| (table.rows(), table.columns()) == shape), "tables of other shapes");
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
        Row { own: self.own(i), beside: self.beside.map_or(&[], |table| table.row(i)) }
    }

    /// What the tables themselves have in row `i`.
    #[must_use]
    #[inline(always)]
    pub fn own(&self, i: usize) -> &'a [f64] {
        let (table, i) = self.place(i);
        table.row(i)
    }

    #[inline(always)]
    fn place(&self, i: usize) -> (&'a Table, usize) {
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
                let (table, i) = self.place(row);
                table.at(i, column)
            }
        }
    }

    /// Rows in their order, as long as they follow one another in one of the tables themselves: that table, which row its
    /// first one is, and which rows. A pass over many looks up few tables.
    #[must_use]
    pub fn runs<'b>(&self, mut rows: &'b [u32]) -> Vec<(&'a Table, u32, &'b [u32])> {
        if self.rest.is_empty() {
            return vec![(self.first, 0, rows)];
        }
        let mut runs = Vec::new();
        while let Some(&row) = rows.first() {
            let (table, at) = self.place(row as usize);
            let first = row - at as u32;
            let end = rows.iter().position(|row| row.wrapping_sub(first) >= self.each);
            let (run, others) = rows.split_at(end.unwrap_or(rows.len()));
            runs.push((table, first, run));
            rows = others;
        }
        runs
    }

    /// All rows in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Row<'a>> {
        (0..self.rows()).map(move |i| self.row(i))
    }

    /// The chosen rows, in the order given, as a table.
    #[must_use]
    pub fn select(&self, rows: &[u32]) -> Table {
        let mut data = Vec::with_capacity(rows.len() * self.columns());
        for &i in rows {
            let row = self.row(i as usize);
            data.extend_from_slice(row.own);
            data.extend_from_slice(row.beside);
        }
        Table::from_rows(self.columns(), data)
    }
}

impl<'a> Row<'a> {
    /// All values in order.
    pub fn iter(self) -> impl Iterator<Item = &'a f64> {
        self.own.iter().chain(self.beside)
    }

    /// The same, copied.
    #[must_use]
    pub fn to_vec(self) -> Vec<f64> {
        [self.own, self.beside].concat()
    }

    /// Writes all values.
    ///
    /// # Panics
    /// If `into` has not as many places.
    pub fn write(self, into: &mut [f64]) {
        let (own, beside) = into.split_at_mut(self.own.len());
        own.copy_from_slice(self.own);
        beside.copy_from_slice(self.beside);
    }
}

impl Index<usize> for Row<'_> {
    type Output = f64;

    #[inline]
    fn index(&self, column: usize) -> &f64 {
        match self.own.get(column) {
            Some(value) => value,
            None => &self.beside[column - self.own.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacked_tables_are_read_as_one() {
        let (upper, lower) = (Table::from_rows(2, vec![1.0, 2.0, 3.0, 4.0]), Table::filled(2, 2, 5.0));
        let beside = Table::from_rows(1, vec![6.0, 7.0, 8.0, 9.0]);
        let tables = [&upper, &lower];
        let all = Stacked::new(&tables).with(&beside);
        assert_eq!((all.rows(), all.columns()), (4, 3));
        let whole = Table::from_rows(3, vec![1.0, 2.0, 6.0, 3.0, 4.0, 7.0, 5.0, 5.0, 8.0, 5.0, 5.0, 9.0]);
        assert_eq!(all.select(&[0, 1, 2, 3]), whole);
        for (i, row) in all.iter().enumerate() {
            let mut written = [0.0; 3];
            row.write(&mut written);
            assert_eq!((&row.to_vec()[..], &written[..]), (whole.row(i), whole.row(i)));
            assert!((0..3).all(|j| row[j] == whole.at(i, j) && all.at(i, j) == whole.at(i, j)));
            assert!(row.iter().eq(whole.row(i)));
        }
        let runs = all.runs(&[1, 3, 2, 0]);
        assert_eq!(runs, [(&upper, 0, &[1][..]), (&lower, 2, &[3, 2]), (&upper, 0, &[0])]);
        let around = |columns: &[usize]| {
            let (first, part) = all.around(columns);
            (first, part.row(3).to_vec())
        };
        assert_eq!(around(&[1, 0]), (0, vec![5.0, 5.0]));
        assert_eq!(around(&[2]), (2, vec![9.0]));
        assert_eq!(around(&[1, 2]), (0, vec![5.0, 5.0, 9.0]));
    }
}
