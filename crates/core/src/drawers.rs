//! Which of many distances are the least, in their order: sorted by drawers.

use crate::vectors::{Loop, vectorised};

/// Distances of either precision.
pub(crate) trait Distance: Copy + Into<f64> + PartialOrd {
    /// Whether there is more to it than single precision.
    const EXACT: bool;
    fn told(all: Vec<Self>) -> Distances;
    fn single(self) -> f32;
}

impl Distance for f64 {
    const EXACT: bool = true;

    fn told(all: Vec<Self>) -> Distances {
        Distances::Exact(all)
    }

    #[inline(always)]
    fn single(self) -> f32 {
        self as f32
    }
}

impl Distance for f32 {
    const EXACT: bool = false;

    fn told(all: Vec<Self>) -> Distances {
        Distances::Single(all)
    }

    #[inline(always)]
    fn single(self) -> f32 {
        self
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

/// The `count` places with the least distances, all but one, in their order.
pub(crate) fn first_places<D: Distance>(distances: &[D], left_out: Option<usize>, count: usize) -> Vec<u32> {
    let mut places = by_distance(distances, &candidates(distances, left_out, count));
    places.truncate(count);
    places
}

/// Places, all but one, of which the `count` nearest are some, ascending.
fn candidates<D: Distance>(distances: &[D], left_out: Option<usize>, count: usize) -> Vec<u32> {
    /// A few distances tell about where the nearest end.
    const STEP: usize = 16;
    let rank = count / STEP + count / (3 * STEP) + 8;
    if rank < distances.len() / STEP {
        let mut some: Vec<D> = distances.iter().copied().step_by(STEP).collect();
        let order = |a: &D, b: &D| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
        let limit = *some.select_nth_unstable_by(rank, order).1;
        let (mut places, mut found) = (vec![0; distances.len()], 0);
        for (at, distance) in distances.iter().enumerate() {
            // Written in any case and kept or not: a guess which would be lost as often as not.
            places[found] = at as u32;
            found += usize::from(*distance <= limit);
        }
        places.truncate(found);
        let left_out = left_out.and_then(|but| places.binary_search(&(but as u32)).ok());
        left_out.map(|at| places.remove(at));
        if places.len() >= count {
            return places;
        }
    }
    (0..distances.len() as u32).filter(|&at| Some(at as usize) != left_out).collect()
}

/// Places, given in ascending order, by their distances, ties to the lower place: put into drawers by the root of these, about
/// two in each, and in order within a drawer. So the order does not depend on how many are sorted.
fn by_distance<D: Distance>(distances: &[D], places: &[u32]) -> Vec<u32> {
    /// More than so many in one drawer are sorted by themselves.
    const MANY: usize = 16;
    let drawers = places.len() / 2 + 1;
    let mut roots: Vec<f32> = places.iter().map(|&at| distances[at as usize].single()).collect();
    // A number that is not negative has bits in its order; below them stands the place.
    let key = |(at, distance): (&u32, &f32)| u64::from(distance.to_bits()) << 32 | u64::from(*at);
    let keys: Vec<u64> = places.iter().zip(&roots).map(key).collect();
    let mut own = vec![0_u32; places.len()];
    vectorised(Drawers { distances: &mut roots, last: (drawers - 1) as f32, into: &mut own });
    let mut ends = vec![0_u32; drawers + 1];
    own.iter().for_each(|&drawer| ends[drawer as usize + 1] += 1);
    for at in 0..drawers {
        ends[at + 1] += ends[at];
    }
    // The beginning of each moves to its end as it is filled.
    let mut sorted = vec![0_u64; places.len()];
    for (&key, &drawer) in keys.iter().zip(&own) {
        let slot = &mut ends[drawer as usize];
        sorted[*slot as usize] = key;
        *slot += 1;
    }
    let distance = |key: u64| -> f64 { distances[key as u32 as usize].into() };
    let mut first = 0;
    for &end in &ends[..drawers] {
        let drawer = &mut sorted[first as usize..end as usize];
        if D::EXACT {
            drawer.sort_unstable_by(|&a, &b| {
                distance(a).total_cmp(&distance(b)).then((a as u32).cmp(&(b as u32)))
            });
        } else if drawer.len() > MANY {
            drawer.sort_unstable();
        }
        first = end;
    }
    if !D::EXACT {
        for at in 1..sorted.len() {
            let mut slot = at;
            while slot > 0 && sorted[slot - 1] > sorted[slot] {
                sorted.swap(slot - 1, slot);
                slot -= 1;
            }
        }
    }
    sorted.into_iter().map(|key| key as u32).collect()
}

/// Which drawer each distance belongs into.
struct Drawers<'a> {
    distances: &'a mut [f32],
    last: f32,
    into: &'a mut [u32],
}

impl Loop for Drawers<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        /// A small whole number added to this is the lowest bits of the sum.
        const WHOLE: f32 = 8_388_608.0;
        const LANES: usize = 16;
        for distance in self.distances.iter_mut() {
            *distance = if *distance < f32::MAX { distance.sqrt() } else { f32::MAX.sqrt() };
        }
        let mut most = [0.0_f32; LANES];
        for distances in self.distances.chunks(LANES) {
            for (most, &distance) in most.iter_mut().zip(distances) {
                *most = if distance > *most { distance } else { *most };
            }
        }
        let furthest = most.iter().fold(0.0_f32, |a, &b| a.max(b));
        let scale = if furthest > 0.0 { self.last / furthest } else { 0.0 };
        for (into, distance) in self.into.iter_mut().zip(&*self.distances) {
            let share = distance * scale;
            let share = if share < self.last { share } else { self.last };
            *into = (share + WHOLE).to_bits() & 0x7f_ffff;
        }
    }
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
            for count in [0, 1, 20, 700, order.len()] {
                assert_eq!(first_places(&distances, left_out, count), order[..count], "{count}");
                assert_eq!(first_places(&single, left_out, count), order[..count], "{count}");
            }
        }
    }
}
