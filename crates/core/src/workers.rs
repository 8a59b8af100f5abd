//! Parallel work without threads of our own: the core asks, the edge provides.
//!
//! Work handed to [`Workers`] only maps: pieces do not see each other, and results are put together in
//! index order, so the number of threads can never show in a result.

use std::sync::OnceLock;

/// Runs independent pieces of work, in any order, perhaps at once.
pub trait Workers: Sync {
    /// Calls `task` once for each index below `count` and returns when all are done.
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync));
}

/// Does everything on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Workers for Serial {
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(task);
    }
}

/// The results of `task` for each index below `count`, in index order.
///
/// # Panics
/// If `workers` breaks its promise to run every index once.
pub fn map<T: Send + Sync>(workers: &dyn Workers, count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let slots: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    workers.run(count, &|index| {
        assert!(slots[index].set(task(index)).is_ok(), "index {index} was run twice");
    });
    slots.into_iter().map(|slot| slot.into_inner().expect("every index was run")).collect()
}

/// The results of `task` for each item, in order; items are handed out in blocks.
pub fn map_slice<A: Sync, T: Send + Sync>(
    workers: &dyn Workers,
    items: &[A],
    task: impl Fn(&A) -> T + Sync,
) -> Vec<T> {
    const BLOCK: usize = 256;
    let blocks = map(workers, items.len().div_ceil(BLOCK), |block| {
        items[block * BLOCK..items.len().min((block + 1) * BLOCK)].iter().map(&task).collect::<Vec<T>>()
    });
    blocks.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_index_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(map_slice(&Serial, &items, |i| i * 2), (0..1000).map(|i| i * 2).collect::<Vec<_>>());
        assert!(map(&Serial, 0, |i| i).is_empty());
    }
}
