//! A dense row-major matrix: one row a particle, one column a quantity.

/// Rows of `f64` with a fixed number of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: usize,
    data: Vec<f64>,
}

impl Table {
    /// A table of `rows` rows filled with `value`.
    ///
    /// # Panics
    /// If `columns` is zero.
    #[must_use]
    pub fn filled(rows: usize, columns: usize, value: f64) -> Self {
        assert!(columns > 0, "a table has at least one column");
        Self { columns, data: vec![value; rows * columns] }
    }

    /// Wraps row-major `data`.
    ///
    /// # Panics
    /// If `columns` is zero or `data` is not a whole number of rows.
    #[must_use]
    pub fn from_rows(columns: usize, data: Vec<f64>) -> Self {
        assert!(columns > 0, "a table has at least one column");
        assert_eq!(data.len() % columns, 0, "ragged table");
        Self { columns, data }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.data.len() / self.columns
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row `i`.
    #[must_use]
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// Row `i`, writable.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// One value.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.data[row * self.columns + column]
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.data.chunks_exact(self.columns)
    }

    /// All values, row by row.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.data
    }

    /// The same, writable.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Column `j`, copied.
    #[must_use]
    pub fn column(&self, j: usize) -> Vec<f64> {
        self.data.iter().skip(j).step_by(self.columns).copied().collect()
    }

    /// The chosen rows, in the order given.
    #[must_use]
    pub fn select(&self, rows: &[u32]) -> Self {
        let mut data = Vec::with_capacity(rows.len() * self.columns);
        rows.iter().for_each(|&i| data.extend_from_slice(self.row(i as usize)));
        Self { columns: self.columns, data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_columns_and_selection_agree() {
        let table = Table::from_rows(2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!((table.rows(), table.columns()), (3, 2));
        assert_eq!(table.column(1), [2.0, 4.0, 6.0]);
        assert_eq!(table.select(&[2, 0]).values(), [5.0, 6.0, 1.0, 2.0]);
        assert_eq!(table.at(1, 0), 3.0);
    }
}
