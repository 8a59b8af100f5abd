//! The importance mass of rows and of their neighbourhoods.

use super::Space;
use super::neighbours::{Key, label};
use crate::propose::Importance;

/// Importance weights of rows on a common scale, remembered.
pub(super) struct Mass<'a> {
    importance: &'a Importance<'a>,
    /// Log weight that counts as one.
    one: Option<f64>,
    known: Vec<f64>,
}

impl<'a> Mass<'a> {
    pub(super) fn new(space: &Space, importance: &'a Importance<'a>) -> Self {
        let known = if importance.is_equal() { Vec::new() } else { vec![f64::NAN; space.rows()] };
        Self { importance, one: None, known }
    }

    pub(super) fn learn(&mut self, rows: &[u32]) {
        if self.known.is_empty() {
            return;
        }
        let one = *self.one.get_or_insert_with(|| self.importance.ln(rows[0]));
        for &row in rows {
            let known = &mut self.known[row as usize];
            if known.is_nan() {
                *known = libm::exp((self.importance.ln(row) - one).min(600.0));
            }
        }
    }

    pub(super) fn of(&self, row: u32) -> f64 {
        if self.known.is_empty() { 1.0 } else { self.known[row as usize] }
    }

    pub(super) fn total(&self, rows: &[u32]) -> f64 {
        if self.known.is_empty() { rows.len() as f64 } else { rows.iter().map(|&row| self.of(row)).sum() }
    }

    /// Mass of the neighbours of `row` as a share of all mass but its own; `None` when all weigh the same.
    pub(super) fn share(&self, row: u32, list: &[Key], total: f64) -> Option<f64> {
        if self.known.is_empty() {
            return None;
        }
        let near: f64 = list.iter().map(|&key| self.of(label(key))).sum();
        // Not below what is near, should rounding leave nothing of the rest beside a particle with all the mass.
        Some((near / (total - self.of(row)).max(near)).max(f64::MIN_POSITIVE))
    }
}
