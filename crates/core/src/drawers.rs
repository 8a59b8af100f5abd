//! Which of many distances are the least, in their order: sorted by drawers.

use crate::vectors::{Loop, vectorised};

/// Distances of either precision, which are never negative.
pub(crate) trait Distance: Copy + Into<f64> {
    /// Whether the order is that of all digits; otherwise it is that of levels.
    const EXACT: bool;
    fn told(all: Vec<Self>) -> Distances;
    /// The size to nine binary digits.
    fn level(self) -> u32;
}

impl Distance for f64 {
    const EXACT: bool = true;

    fn told(all: Vec<Self>) -> Distances {
        Distances::Exact(all)
    }

    #[inline(always)]
    fn level(self) -> u32 {
        (self as f32).level()
    }
}

impl Distance for f32 {
    const EXACT: bool = false;

    fn told(all: Vec<Self>) -> Distances {
        Distances::Single(all)
    }

    #[inline(always)]
    fn level(self) -> u32 {
        // Numbers that are not negative have bits in their order.
        self.to_bits() >> 15
    }
}

/// Those of all, as they were computed.
pub(crate) enum Distances {
    Exact(Vec<f64>),
    Single(Vec<f32>),
}

impl Distances {
    pub(crate) fn at(&self, place: u32) -> f64 {
        match self {
            Self::Exact(all) => all[place as usize],
            Self::Single(all) => f64::from(all[place as usize]),
        }
    }
}

/// The `count` places with the least distances, or levels of these, all but one, in their order.
pub(crate) fn first_places<D: Distance>(distances: &[D], left_out: Option<usize>, count: usize) -> Vec<u32> {
    let mut places = by_distance(distances, &candidates(distances, left_out, count));
    places.truncate(count);
    places
}

/// Places, all but one, of which the `count` nearest are some, ascending.
fn candidates<D: Distance>(distances: &[D], left_out: Option<usize>, count: usize) -> Vec<u32> {
    /// A few distances tell about where the nearest end.
    const STEP: usize = 32;
    let rank = count / STEP + count / (3 * STEP) + 8;
    if rank < distances.len() / STEP {
        let mut some: Vec<u32> = distances.iter().step_by(STEP).map(|distance| distance.level()).collect();
        let limit = *some.select_nth_unstable(rank).1;
        let mut words = vec![0; distances.len().div_ceil(WORD)];
        vectorised(Within { distances, limit, words: &mut words });
        let mut places = Vec::with_capacity(words.iter().map(|word| word.count_ones() as usize).sum());
        for (first, mut word) in (0..).step_by(WORD).zip(words) {
            while word != 0 {
                places.push(first + word.trailing_zeros());
                word &= word - 1;
            }
        }
        let left_out = left_out.and_then(|but| places.binary_search(&(but as u32)).ok());
        left_out.map(|at| places.remove(at));
        if places.len() >= count {
            return places;
        }
    }
    (0..distances.len() as u32).filter(|&at| Some(at as usize) != left_out).collect()
}

/// Which distances are no larger than a level: a bit each.
struct Within<'a, D> {
    distances: &'a [D],
    limit: u32,
    words: &'a mut [u64],
}

const WORD: usize = 64;

impl<D: Distance> Loop for Within<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (word, distances) in self.words.iter_mut().zip(self.distances.chunks(WORD)) {
            let bits = distances.iter().zip(0_u64..);
            *word = bits.fold(0, |word, (d, bit)| word | u64::from(d.level() <= self.limit) << bit);
        }
    }
}

/// Places, given in ascending order, by their distances or levels of these, ties to the lower place. So the order does not
/// depend on how many are sorted.
fn by_distance<D: Distance>(distances: &[D], places: &[u32]) -> Vec<u32> {
    // Of a factor of 2 in distance squared there are 256; what is nearer than all of these shares the first.
    let drawers = places.len().next_power_of_two().clamp(512, 4_096) as u32;
    let level = |at: u32| distances[at as usize].level();
    let levels: Vec<u32> = places.iter().map(|&at| level(at)).collect();
    let least = levels.iter().max().map_or(0, |&most| most.saturating_sub(drawers - 1));
    let own = |level: u32| (level.max(least) - least) as usize;
    let mut ends = vec![0_u32; drawers as usize + 1];
    levels.iter().for_each(|&level| ends[own(level) + 1] += 1);
    let mut end = 0;
    for slot in &mut ends {
        end += *slot;
        *slot = end;
    }
    // The beginning of each moves to its end as it is filled.
    let mut sorted = vec![0; places.len()];
    for (&place, &level) in places.iter().zip(&levels) {
        let slot = &mut ends[own(level)];
        sorted[*slot as usize] = place;
        *slot += 1;
    }
    if D::EXACT {
        let distance = |at: u32| distances[at as usize].into();
        let mut first = 0;
        for &end in &ends[..drawers as usize] {
            let order = |&a: &u32, &b: &u32| f64::total_cmp(&distance(a), &distance(b)).then(a.cmp(&b));
            sorted[first as usize..end as usize].sort_unstable_by(order);
            first = end;
        }
    } else {
        sorted[..ends[0] as usize].sort_by_key(|&at| level(at));
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_are_those_of_sorting_all() {
        // Many ties, a long tail, and what has no end.
        let mut distances: Vec<f64> =
            (0..3_000_u32).map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 24).powi(3)).collect();
        distances[17] = f64::INFINITY;
        let single: Vec<f32> = distances.iter().map(|&distance| distance as f32).collect();
        for left_out in [None, Some(40)] {
            let mut order: Vec<u32> = (0..3_000).filter(|&at| Some(at as usize) != left_out).collect();
            order.sort_by(|&a, &b| distances[a as usize].total_cmp(&distances[b as usize]).then(a.cmp(&b)));
            let mut roughly = order.clone();
            roughly.sort_by_key(|&at| (single[at as usize].to_bits() >> 15, at));
            for count in [0, 1, 20, 700, order.len()] {
                assert_eq!(first_places(&distances, left_out, count), order[..count], "{count}");
                assert_eq!(first_places(&single, left_out, count), roughly[..count], "{count}");
            }
        }
    }
}
