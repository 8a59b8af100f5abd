//! When each reaction will fire next: change one moment, find the first, in a time that grows with the logarithm of their
//! number.

/// Entries below another: those of one fill a line of the cache.
const BRANCHES: usize = 4;

/// Moments by reaction, in a heap whose first is the earliest.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    heap: Vec<Entry>,
    /// Where in the heap each reaction is.
    places: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: f64,
    reaction: u32,
}

impl Queue {
    /// So many reactions, none of which will ever fire.
    pub(super) fn new(count: usize) -> Self {
        let heap = (0..count as u32).map(|reaction| Entry { at: f64::INFINITY, reaction }).collect();
        Self { heap, places: (0..count as u32).collect() }
    }

    /// Sets all moments; which are no NaN.
    pub(super) fn fill(&mut self, moments: impl Iterator<Item = f64>) {
        for (reaction, (entry, at)) in self.heap.iter_mut().zip(moments).enumerate() {
            *entry = Entry { at, reaction: reaction as u32 };
            self.places[reaction] = reaction as u32;
        }
        for place in (0..self.heap.len() / BRANCHES + 1).rev() {
            self.sink(place);
        }
    }

    /// The reaction that fires first, and when; infinity if there is none.
    #[inline(always)]
    pub(super) fn first(&self) -> (usize, f64) {
        self.heap.first().map_or((0, f64::INFINITY), |entry| (entry.reaction as usize, entry.at))
    }

    /// When a reaction fires.
    #[inline(always)]
    pub(super) fn at(&self, reaction: usize) -> f64 {
        self.heap[self.places[reaction] as usize].at
    }

    /// Changes when a reaction fires; no NaN.
    #[inline(always)]
    pub(super) fn set(&mut self, reaction: usize, at: f64) {
        let place = self.places[reaction] as usize;
        let later = at > self.heap[place].at;
        self.heap[place].at = at;
        if later { self.sink(place) } else { self.rise(place) }
    }

    /// Moves an entry down to where none below it is earlier.
    fn sink(&mut self, mut place: usize) {
        let Some(&moving) = self.heap.get(place) else { return };
        loop {
            let below = BRANCHES * place + 1;
            let some = self.heap.get(below..(below + BRANCHES).min(self.heap.len())).unwrap_or(&[]);
            let mut first = (moving.at, usize::MAX);
            for (branch, entry) in some.iter().enumerate() {
                first = if entry.at < first.0 { (entry.at, below + branch) } else { first };
            }
            if first.1 == usize::MAX {
                break;
            }
            self.put(place, self.heap[first.1]);
            place = first.1;
        }
        self.put(place, moving);
    }

    /// Moves an entry up to where the one above it is no later.
    fn rise(&mut self, mut place: usize) {
        let moving = self.heap[place];
        while place > 0 {
            let above = (place - 1) / BRANCHES;
            if !(moving.at < self.heap[above].at) {
                break;
            }
            self.put(place, self.heap[above]);
            place = above;
        }
        self.put(place, moving);
    }

    #[inline(always)]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.reaction as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::stream::{Seed, Stage};

    #[test]
    fn the_first_is_the_first_whatever_changes() {
        let mut rng = Seed(1).stream(Stage::Simulate, 0, 0);
        for count in [1, 2, 4, 5, 6, 21, 22, 300] {
            let mut moments: Vec<f64> = (0..count).map(|_| rng.uniform()).collect();
            let mut queue = Queue::new(count);
            assert_eq!(queue.first().1, f64::INFINITY);
            queue.fill(moments.iter().copied());
            for _ in 0..2_000 {
                let (first, at) = queue.first();
                assert_eq!((at, at), (moments[first], moments.iter().copied().fold(f64::INFINITY, f64::min)));
                let changed = (rng.uniform() * count as f64) as usize;
                let to = if rng.uniform() < 0.2 { f64::INFINITY } else { rng.uniform() };
                moments[changed] = to;
                queue.set(changed, to);
                assert_eq!(queue.at(changed), to);
            }
        }
        assert_eq!(Queue::new(0).first().1, f64::INFINITY);
    }
}
