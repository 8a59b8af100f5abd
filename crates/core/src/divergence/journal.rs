//! What repairs of neighbour lists have overwritten, so that they can be taken back.

use super::neighbours::Key;

/// Lists as they were before they were first touched, and the rows that left.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    slots: Vec<u32>,
    keys: Vec<Key>,
    filled: Vec<u32>,
    reach: Vec<f32>,
    /// Rows that left, after the slots they had, in order.
    pub(super) gone: Vec<(u32, u32)>,
    /// The round in which a slot was last touched.
    touched: Vec<u32>,
    round: u32,
}

impl Journal {
    /// Forgets everything; the next round is about `slots` lists.
    pub(super) fn clear(&mut self, slots: usize) {
        self.slots.clear();
        self.keys.clear();
        self.filled.clear();
        self.reach.clear();
        self.gone.clear();
        self.touched.resize(slots, 0);
        self.round += 1;
    }

    /// Whether a list is touched for the first time in this round.
    #[inline(always)]
    pub(super) fn is_new(&mut self, slot: usize) -> bool {
        std::mem::replace(&mut self.touched[slot], self.round) != self.round
    }

    /// Writes a list down.
    #[inline(always)]
    pub(super) fn note(&mut self, slot: usize, list: &[Key], filled: u32, reach: f32) {
        self.slots.push(slot as u32);
        self.keys.extend_from_slice(list);
        self.filled.push(filled);
        self.reach.push(reach);
    }

    /// Writes the lists back.
    pub(super) fn restore(&self, width: usize, keys: &mut [Key], filled: &mut [u32], reach: &mut [f32]) {
        for (at, &slot) in self.slots.iter().enumerate() {
            let slot = slot as usize;
            let list = &self.keys[at * width..(at + 1) * width];
            keys[slot * width..(slot + 1) * width].copy_from_slice(list);
            filled[slot] = self.filled[at];
            reach[slot] = self.reach[at];
        }
    }
}
