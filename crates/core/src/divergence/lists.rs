//! Neighbour lists of a changing subset among itself.
//!
//! A search asks for subsets that differ in a few rows from the last good one. Rebuilding the lists costs a
//! sweep; repairing them costs one pass over the points for each row that left or came.

use super::journal::Journal;
use super::neighbours::{BLOCK, Key, NOWHERE, Sweep, block_squares, insert, key, label, square, within};
use super::space::Space;
use crate::vectors::{Loop, vectorised};

/// Neighbours kept beyond those asked for, so that a few may leave before a list must be made anew.
const SPARE: usize = 7;

/// The squared reach of a list is guessed as this many times that of the list before.
const GENEROUS: f32 = 2.0;

/// For each row of a subset its nearest rows within the subset.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    dimension: usize,
    wanted: usize,
    /// Places in a list.
    width: usize,
    rows: Vec<u32>,
    stride: usize,
    columns: Vec<f32>,
    keys: Vec<Key>,
    /// Filled places of each list.
    filled: Vec<u32>,
    /// Squared radius within which a list is complete.
    reach: Vec<f32>,
    sweep: Sweep,
    query: Vec<f32>,
    own: Vec<Key>,
    journal: Journal,
}

impl Lists {
    pub(super) fn new(dimension: usize, wanted: usize) -> Self {
        Self { dimension, wanted, width: wanted, ..Self::default() }
    }

    /// Rows, in the order of the lists.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The `wanted` nearest neighbours of the row at `slot`, nearest first; fewer rows leave [`NOWHERE`].
    pub(super) fn list(&self, slot: usize) -> &[Key] {
        &self.keys[slot * self.width..slot * self.width + self.wanted]
    }

    /// Makes all lists anew, just long enough to be read.
    pub(super) fn build(&mut self, space: &Space, rows: &[u32]) {
        self.width = self.wanted;
        vectorised(Build { lists: self, space, rows });
    }

    /// Makes the lists longer, so that rows may leave and come.
    pub(super) fn widen(&mut self, space: &Space) {
        if self.width == self.wanted {
            self.width = self.wanted + SPARE;
            let rows = std::mem::take(&mut self.rows);
            vectorised(Build { lists: self, space, rows: &rows });
        }
        self.keep_repairs();
    }

    #[inline(always)]
    fn build_here(&mut self, space: &Space, rows: &[u32]) {
        self.sweep.fill(self.dimension, rows.iter().copied(), |row| space.point(row));
        self.rows.clear();
        self.rows.extend_from_slice(self.sweep.labels());
        self.stride = self.sweep.stride();
        self.columns.clear();
        self.columns.extend_from_slice(self.sweep.columns());
        let count = self.rows.len();
        self.keys.clear();
        self.keys.resize(count * self.width, NOWHERE);
        self.filled.resize(count, 0);
        self.reach.clear();
        self.reach.resize(self.stride, -1.0);
        let mut guess = f32::INFINITY;
        for slot in 0..count {
            let list = &mut self.keys[slot * self.width..(slot + 1) * self.width];
            self.sweep.nearest_guessed(space.point(self.rows[slot]), slot, self.rows[slot], guess, list);
            guess = GENEROUS * square(list[self.width - 1]);
            self.filled[slot] = list.iter().take_while(|&&key| key != NOWHERE).count() as u32;
            self.reach[slot] = square(list[self.width - 1]);
        }
    }

    /// Keeps the repairs made since the last time.
    pub(super) fn keep_repairs(&mut self) {
        self.journal.clear(self.rows.len());
    }

    /// Takes back the repairs made since the last time.
    pub(super) fn undo_repairs(&mut self, space: &Space) {
        for at in (0..self.journal.gone.len()).rev() {
            let (slot, row) = self.journal.gone[at];
            self.put(space, slot as usize, row);
        }
        self.journal.restore(self.width, &mut self.keys, &mut self.filled, &mut self.reach);
        self.keep_repairs();
    }

    /// Writes a list down before it is first changed.
    #[inline(always)]
    fn touch(&mut self, slot: usize) {
        if self.journal.is_new(slot) {
            let list = &self.keys[slot * self.width..(slot + 1) * self.width];
            self.journal.note(slot, list, self.filled[slot], self.reach[slot]);
        }
    }

    /// Puts the point of `row` at `slot`, leaving the lists alone.
    #[inline(always)]
    fn put(&mut self, space: &Space, slot: usize, row: u32) {
        self.rows[slot] = row;
        for (j, &x) in space.point(row).iter().enumerate() {
            self.columns[j * self.stride + slot] = x;
        }
    }

    /// Puts the row `come` in the place of the row at `slot`.
    pub(super) fn replace(&mut self, space: &Space, slot: usize, come: u32) {
        vectorised(Replace { lists: self, space, slot, come });
    }

    #[inline(always)]
    fn replace_here(&mut self, space: &Space, slot: usize, come: u32) {
        let gone = self.rows[slot];
        self.journal.gone.push((slot as u32, gone));
        self.touch(slot);
        self.reach[slot] = -1.0;
        self.visit_reached(space.point(gone), |lists, at, _| lists.remove(at, gone));
        self.put(space, slot, come);
        self.refill(slot, Some(come));
    }

    /// Which lists of a block reach as far as these distances, one bit a lane.
    #[inline(always)]
    fn reached(&self, start: usize, squares: &[f32; BLOCK]) -> u32 {
        let reach = &self.reach[start..start + BLOCK];
        // Hardly any block has one: asking that first costs three instructions, putting bits together twenty.
        let mut any = false;
        for lane in 0..BLOCK {
            any |= squares[lane] <= reach[lane];
        }
        let mut bits = 0;
        if any {
            for lane in 0..BLOCK {
                bits |= u32::from(squares[lane] <= reach[lane]) << lane;
            }
        }
        bits
    }

    /// Calls `act` for each list whose reach holds `point`.
    #[inline(always)]
    fn visit_reached(&mut self, point: &[f32], mut act: impl FnMut(&mut Self, usize, f32)) {
        for start in (0..self.stride).step_by(BLOCK) {
            let squares = block_squares(&self.columns, self.stride, start, point);
            let mut bits = self.reached(start, &squares);
            while bits != 0 {
                let lane = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                act(self, start + lane, squares[lane]);
            }
        }
    }

    #[inline(always)]
    fn remove(&mut self, slot: usize, row: u32) {
        let filled = self.filled[slot] as usize;
        let list = &self.keys[slot * self.width..slot * self.width + filled];
        if let Some(at) = list.iter().position(|&key| label(key) == row) {
            self.touch(slot);
            let list = &mut self.keys[slot * self.width..slot * self.width + filled];
            list.copy_within(at + 1.., at);
            list[filled - 1] = NOWHERE;
            self.filled[slot] -= 1;
            if (filled - 1) < self.wanted {
                // Complete only as far as it goes; made anew when it is next read.
                self.reach[slot] = -1.0;
            }
        }
    }

    #[inline(always)]
    fn add(&mut self, slot: usize, key: Key) {
        self.touch(slot);
        let list = &mut self.keys[slot * self.width..(slot + 1) * self.width];
        insert(list, key);
        self.filled[slot] = (self.filled[slot] + 1).min(self.width as u32);
        if self.filled[slot] as usize == self.width {
            self.reach[slot] = square(list[self.width - 1]);
        }
    }

    /// Makes anew the lists that lost too many.
    pub(super) fn mend(&mut self) {
        for slot in 0..self.rows.len() {
            if self.reach[slot] < 0.0 {
                self.touch(slot);
                vectorised(Refill { lists: self, slot });
            }
        }
    }

    /// Makes one list anew by looking at every point. Where the row has only just `come`, it enters on the way the
    /// lists whose reach holds it.
    #[inline(always)]
    fn refill(&mut self, slot: usize, come: Option<u32>) {
        let count = self.rows.len();
        self.query.clear();
        self.query.extend((0..self.dimension).map(|j| self.columns[j * self.stride + slot]));
        self.own.clear();
        self.own.resize(self.width, NOWHERE);
        // Points are nearly sorted: looked at in order, each would be nearer than the last until the query is
        // passed. A stride that visits every block in a scattered order finds a small reach soon.
        let blocks = self.stride / BLOCK;
        let stride = scattering(blocks);
        for block in 0..blocks {
            let start = block * stride % blocks * BLOCK;
            let squares = block_squares(&self.columns, self.stride, start, &self.query);
            if let Some(row) = come {
                let mut bits = self.reached(start, &squares);
                while bits != 0 {
                    let lane = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    self.add(start + lane, key(squares[lane], row));
                }
            }
            let limit = square(self.own[self.width - 1]);
            let near = squares.iter().fold(false, |near, &square| near | (square <= limit));
            let mut bits = if near { within(&squares, limit) } else { 0 };
            while bits != 0 {
                let lane = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if start + lane < count && start + lane != slot {
                    insert(&mut self.own, key(squares[lane], self.rows[start + lane]));
                }
            }
        }
        let list = &mut self.keys[slot * self.width..(slot + 1) * self.width];
        list.copy_from_slice(&self.own);
        self.filled[slot] = list.iter().take_while(|&&key| key != NOWHERE).count() as u32;
        self.reach[slot] = square(list[self.width - 1]);
    }
}

/// A stride near the golden section of `blocks` that shares no factor with it.
fn scattering(blocks: usize) -> usize {
    let common = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (blocks as f64 * 0.618) as usize;
    (golden.max(1)..).find(|&stride| common(stride, blocks) == 1).unwrap_or(1)
}

struct Build<'a> {
    lists: &'a mut Lists,
    space: &'a Space,
    rows: &'a [u32],
}

impl Loop for Build<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.lists.build_here(self.space, self.rows);
    }
}

struct Replace<'a> {
    lists: &'a mut Lists,
    space: &'a Space,
    slot: usize,
    come: u32,
}

impl Loop for Replace<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.lists.replace_here(self.space, self.slot, self.come);
    }
}

struct Refill<'a> {
    lists: &'a mut Lists,
    slot: usize,
}

impl Loop for Refill<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.lists.refill(self.slot, None);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gaussian, normal_prior};
    use super::*;
    use crate::stream::Seed;

    fn same(lists: &Lists, others: &Lists) {
        for (slot, row) in lists.rows().iter().enumerate() {
            let other = others.rows().iter().position(|other| other == row).unwrap();
            assert_eq!(lists.list(slot), others.list(other), "row {row}");
        }
    }

    /// Repaired lists equal lists made anew, whatever came and went and was taken back.
    #[test]
    fn repair_equals_rebuilding() {
        for (d, count) in [(1, 40), (2, 300), (4, 150)] {
            let units = gaussian(1000, d, 0.0, 1.0, 8);
            let space = Space::new(&normal_prior(d), &units, Seed(1), 4);
            let mut repaired = Lists::new(d, 5);
            repaired.build(&space, &(0..count).collect::<Vec<u32>>());
            let mut kept = repaired.clone();
            repaired.widen(&space);
            for step in 0..200u32 {
                let come = count + (step * 37) % (1000 - count);
                if repaired.rows().contains(&come) {
                    continue;
                }
                repaired.replace(&space, (step * 11 % count) as usize, come);
                repaired.mend();
                let mut rebuilt = Lists::new(d, 5);
                rebuilt.build(&space, repaired.rows());
                same(&repaired, &rebuilt);
                if step % 5 == 0 {
                    repaired.keep_repairs();
                    kept = rebuilt;
                } else if step % 5 == 4 {
                    repaired.undo_repairs(&space);
                    same(&repaired, &kept);
                }
            }
        }
    }
}
