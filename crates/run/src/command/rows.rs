//! Rows that were taken from a feed and are not finished: what a program knows of, and what it does not.

use std::collections::VecDeque;

/// A row that was taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'j> {
    pub(super) row: usize,
    pub(super) theta: &'j [f64],
    pub(super) seed: u32,
    /// Why it must be told alone, if it must.
    pub(super) suspected: Option<Suspicion>,
}

/// What a row may be to blame for, where others were under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// Last words: it failed, and they may be another's.
    Words,
    /// The loss of the program; or the program does not know to read line by line.
    Loss,
}

/// Rows that were taken and not finished.
#[derive(Debug, Default)]
pub(super) struct Rows<'j> {
    /// What the worker does not know of.
    untold: VecDeque<Row<'j>>,
    /// What the worker was told and has not answered.
    told: VecDeque<Row<'j>>,
    /// Whether the worker has known of more than one row at a time since it last had none.
    crowded: bool,
}

impl<'j> Rows<'j> {
    pub(super) fn take(&mut self, row: Row<'j>) {
        self.untold.push_back(row);
    }

    pub(super) fn len(&self) -> usize {
        self.untold.len() + self.told.len()
    }

    /// How many the worker knows of.
    pub(super) fn told(&self) -> usize {
        self.told.len()
    }

    /// The one that is to be answered next.
    pub(super) fn first(&self) -> Option<Row<'j>> {
        self.told.front().copied()
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// The next to be told, where no more than `ahead` may be known. One that must be alone waits until it is, and all
    /// others wait for it.
    pub(super) fn tell(&mut self, ahead: usize) -> Option<Row<'j>> {
        let alone = |row: Option<&Row<'_>>| row.is_some_and(|row| row.suspected.is_some());
        let waits = !self.told.is_empty() && (alone(self.untold.front()) || alone(self.told.front()));
        if waits || self.told.len() >= ahead {
            return None;
        }
        let row = self.untold.pop_front()?;
        self.crowded = !self.told.is_empty();
        self.told.push_back(row);
        Some(row)
    }

    /// The first was answered.
    pub(super) fn answered(&mut self) {
        self.told.pop_front();
    }

    /// The first of those that nobody was told of, where none can be.
    pub(super) fn give_up(&mut self) -> Option<Row<'j>> {
        self.untold.pop_front()
    }

    /// The first is to be told again, alone.
    pub(super) fn again(&mut self) {
        let row = self.told.pop_front();
        self.untold.extend(row.map(|row| Row { suspected: Some(Suspicion::Words), ..row }));
    }

    /// After the loss of a worker: the first of its rows is to blame and dropped, or it is not. The others are to be
    /// told to another worker, the first of them alone where it was not.
    pub(super) fn take_back(&mut self, to_blame: bool) {
        if to_blame {
            self.told.pop_front();
        } else if self.crowded
            && let Some(first) = self.told.front_mut()
        {
            first.suspected = Some(Suspicion::Loss);
        }
        while let Some(row) = self.told.pop_back() {
            self.untold.push_front(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Rows<'static> {
        let mut rows = Rows::default();
        for row in 0..count {
            rows.take(Row { row, theta: &[], seed: 0, suspected: None });
        }
        rows
    }

    fn tell_all(rows: &mut Rows<'_>, ahead: usize) -> Vec<usize> {
        std::iter::from_fn(|| rows.tell(ahead)).map(|row| row.row).collect()
    }

    #[test]
    fn what_failed_with_words_is_told_again_alone() {
        let mut rows = rows(6);
        assert_eq!(tell_all(&mut rows, 4), [0, 1, 2, 3]);
        rows.again();
        // 4 and 5 were taken before it.
        assert_eq!(tell_all(&mut rows, 4), [4]);
        for _ in 0..3 {
            rows.answered();
        }
        assert_eq!(tell_all(&mut rows, 4), [5]);
        assert!(rows.is_crowded());
        rows.answered();
        assert_eq!(tell_all(&mut rows, 4), [0; 0], "5 is under way");
        rows.answered();
        rows.take(Row { row: 6, theta: &[], seed: 0, suspected: None });
        assert_eq!(tell_all(&mut rows, 4), [0], "6 waits for it");
        assert!(!rows.is_crowded());
        rows.answered();
        assert_eq!(tell_all(&mut rows, 4), [6]);
    }

    #[test]
    fn what_a_lost_program_knew_of_is_told_in_order_and_the_first_alone() {
        let mut rows = rows(4);
        assert_eq!(tell_all(&mut rows, 3), [0, 1, 2]);
        rows.answered();
        rows.take_back(false);
        assert_eq!((rows.told(), rows.len()), (0, 3));
        assert_eq!(tell_all(&mut rows, 3), [1]);
        assert_eq!(rows.first().and_then(|row| row.suspected), Some(Suspicion::Loss));
        // It dies of it again.
        rows.take_back(true);
        assert_eq!(tell_all(&mut rows, 3), [2, 3]);
    }
}
