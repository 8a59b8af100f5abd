//! Neighbour lists that keep up with a search.

use super::Space;
use super::lists::Lists;

/// Neighbour lists that follow a subset: repaired where it resembles the anchored one, else made anew.
pub(super) struct Followed {
    base: Lists,
    /// Lists made anew for a subset that resembles the base too little.
    fresh: Lists,
    /// Whether the last subset is the base with repairs.
    repaired: bool,
    anchored: bool,
    /// Slot of each row in the base, and the last measurement in which a row was seen.
    slot: Vec<u32>,
    seen: Vec<u32>,
    stamp: u32,
    /// Rows that came, slots they take, and rows that left.
    come: Vec<u32>,
    gone: Vec<u32>,
    left: Vec<u32>,
}

const NO_SLOT: u32 = u32::MAX;
/// Repairing pays while fewer than one row in this many changed.
const REPAIR: usize = 12;

impl Followed {
    pub(super) fn new(space: &Space, wanted: usize) -> Self {
        let lists = Lists::new(space.dimension(), wanted);
        Self {
            base: lists.clone(),
            fresh: lists,
            repaired: false,
            anchored: false,
            slot: vec![NO_SLOT; space.rows()],
            seen: vec![0; space.rows()],
            stamp: 0,
            come: Vec::new(),
            gone: Vec::new(),
            left: Vec::new(),
        }
    }

    pub(super) fn current(&self) -> &Lists {
        if self.repaired { &self.base } else { &self.fresh }
    }

    pub(super) fn follow(&mut self, space: &Space, rows: &[u32]) {
        if self.repaired {
            self.base.undo_repairs(space);
            self.repaired = false;
        }
        if self.anchored && rows.len() == self.base.rows().len() {
            self.compare(rows);
            if self.come.len() * REPAIR <= rows.len() {
                for (&slot, &row) in self.gone.iter().zip(&self.come) {
                    self.base.replace(space, slot as usize, row);
                }
                self.base.mend();
                self.repaired = true;
                return;
            }
        }
        self.fresh.build(space, rows);
    }

    /// Finds which rows came and which slots of the base are free.
    fn compare(&mut self, rows: &[u32]) {
        self.stamp += 1;
        self.come.clear();
        self.gone.clear();
        self.left.clear();
        for &row in rows {
            self.seen[row as usize] = self.stamp;
            if self.slot[row as usize] == NO_SLOT {
                self.come.push(row);
            }
        }
        for (slot, &row) in self.base.rows().iter().enumerate() {
            if self.seen[row as usize] != self.stamp {
                self.gone.push(slot as u32);
                self.left.push(row);
            }
        }
    }

    pub(super) fn anchor(&mut self, space: &Space) {
        if self.repaired {
            for &slot in &self.gone {
                self.slot[self.base.rows()[slot as usize] as usize] = slot;
            }
            for &row in &self.left {
                self.slot[row as usize] = NO_SLOT;
            }
            self.base.keep_repairs();
            self.repaired = false;
        } else {
            for &row in self.base.rows() {
                self.slot[row as usize] = NO_SLOT;
            }
            std::mem::swap(&mut self.base, &mut self.fresh);
            self.base.widen(space);
            for (slot, &row) in self.base.rows().iter().enumerate() {
                self.slot[row as usize] = slot as u32;
            }
        }
        self.anchored = true;
    }
}
