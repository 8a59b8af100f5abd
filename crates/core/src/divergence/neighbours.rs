//! Nearest neighbours among a fixed set of points.
//!
//! Points are sorted along the coordinate in which they spread most; a query walks outwards from its own place
//! in blocks, until the gap in that coordinate alone exceeds the worst neighbour found. For one parameter this
//! is two pointers; for more it prunes a slab, and the blocks are plain arrays that vectorise, which beat trees
//! at the sizes met here (bench/README.md).

/// Points a block.
pub(super) const BLOCK: usize = 16;

/// A neighbour: its squared distance above its label, so that keys sort by distance, ties by label.
pub(super) type Key = u64;

/// Puts distance and label into one key; `square` must not be negative.
#[inline(always)]
pub(super) fn key(square: f32, label: u32) -> Key {
    (u64::from(square.to_bits()) << 32) | u64::from(label)
}

/// The squared distance of a key.
#[inline(always)]
pub(super) fn square(key: Key) -> f32 {
    f32::from_bits((key >> 32) as u32)
}

/// The label of a key.
#[inline(always)]
pub(super) fn label(key: Key) -> u32 {
    key as u32
}

/// A key farther than every point.
pub(super) const NOWHERE: Key = 0x7f80_0000_ffff_ffff;

/// Inserts `key` into the ascending `list`, dropping its last.
#[inline(always)]
pub(super) fn insert(list: &mut [Key], key: Key) {
    let mut at = list.len() - 1;
    if key >= list[at] {
        return;
    }
    while at > 0 && list[at - 1] > key {
        list[at] = list[at - 1];
        at -= 1;
    }
    list[at] = key;
}

/// Squared distances of one block of points, column by column, to `query`.
#[inline(always)]
pub(super) fn block_squares(columns: &[f32], stride: usize, start: usize, query: &[f32]) -> [f32; BLOCK] {
    let mut squares = [0.0; BLOCK];
    for (j, &x) in query.iter().enumerate() {
        let column = &columns[j * stride + start..j * stride + start + BLOCK];
        for lane in 0..BLOCK {
            let step = column[lane] - x;
            squares[lane] += step * step;
        }
    }
    squares
}

/// Which lanes of a block are at most `limit`, one bit a lane.
#[inline(always)]
pub(super) fn within(squares: &[f32; BLOCK], limit: f32) -> u32 {
    let mut bits = 0;
    for (lane, &square) in squares.iter().enumerate() {
        bits |= u32::from(square <= limit) << lane;
    }
    bits
}

/// Points sorted along one coordinate, column by column, padded with points at infinity.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    dimension: usize,
    stride: usize,
    count: usize,
    columns: Vec<f32>,
    labels: Vec<u32>,
    /// The coordinate that sorts them.
    axis: usize,
    order: Vec<u64>,
}

impl Sweep {
    /// Replaces the points; `point` gives the coordinates of a label.
    pub(super) fn fill<'a>(
        &mut self,
        d: usize,
        labels: impl Iterator<Item = u32>,
        point: impl Fn(u32) -> &'a [f32],
    ) {
        self.labels.clear();
        self.labels.extend(labels);
        self.axis = widest(d, &self.labels, &point);
        self.order.clear();
        let sortable =
            |label: &u32| (u64::from(ascending(point(*label)[self.axis])) << 32) | u64::from(*label);
        self.order.extend(self.labels.iter().map(sortable));
        self.order.sort_unstable();
        (self.dimension, self.count) = (d, self.order.len());
        self.stride = self.count.next_multiple_of(BLOCK);
        self.columns.clear();
        self.columns.resize(d * self.stride, f32::INFINITY);
        for (i, &entry) in self.order.iter().enumerate() {
            let label = entry as u32;
            self.labels[i] = label;
            for (j, &x) in point(label).iter().enumerate() {
                self.columns[j * self.stride + i] = x;
            }
        }
    }

    /// The labels in sorted order.
    pub(super) fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Coordinates, column by column, each of [`Sweep::stride`] points.
    pub(super) fn columns(&self) -> &[f32] {
        &self.columns
    }

    /// Points a column, padding included.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Where `point` would stand.
    pub(super) fn place(&self, point: &[f32]) -> usize {
        self.sorted().partition_point(|&other| other < point[self.axis])
    }

    /// The sorted coordinate of each point.
    #[inline(always)]
    fn sorted(&self) -> &[f32] {
        &self.columns[self.axis * self.stride..self.axis * self.stride + self.count]
    }

    /// Fills `list` with the nearest points to `query`, which stands at `place`; `except` is left out.
    /// Where there are fewer points than places the rest stays [`NOWHERE`].
    #[inline(always)]
    pub(super) fn nearest(&self, query: &[f32], place: usize, except: u32, list: &mut [Key]) {
        self.search(query, place, except, f32::INFINITY, list);
    }

    /// The same, given a guess of the squared distance of the last neighbour: a good one spares the work of
    /// putting into order points that turn out to be too far.
    #[inline(always)]
    pub(super) fn nearest_guessed(
        &self,
        query: &[f32],
        place: usize,
        except: u32,
        guess: f32,
        list: &mut [Key],
    ) {
        self.search(query, place, except, guess, list);
        if list[list.len() - 1] == NOWHERE {
            self.search(query, place, except, f32::INFINITY, list);
        }
    }

    /// The nearest points within the squared distance `limit`.
    #[inline(always)]
    fn search(&self, query: &[f32], place: usize, except: u32, limit: f32, list: &mut [Key]) {
        list.fill(NOWHERE);
        if self.count == 0 {
            return;
        }
        let (sorted, x) = (self.sorted(), query[self.axis]);
        let last_block = (self.count - 1) / BLOCK;
        let home = (place / BLOCK).min(last_block);
        self.visit(home, query, except, limit, list);
        let (mut left, mut right) = (home, home);
        let (mut left_open, mut right_open) = (true, true);
        while left_open || right_open {
            let worst = square(list[list.len() - 1]).min(limit);
            right_open = right_open && right < last_block && {
                let gap = sorted[(right + 1) * BLOCK] - x;
                gap <= 0.0 || gap * gap <= worst
            };
            if right_open {
                right += 1;
                self.visit(right, query, except, limit, list);
            }
            let worst = square(list[list.len() - 1]).min(limit);
            left_open = left_open && left > 0 && {
                let gap = x - sorted[left * BLOCK - 1];
                gap <= 0.0 || gap * gap <= worst
            };
            if left_open {
                left -= 1;
                self.visit(left, query, except, limit, list);
            }
        }
    }

    #[inline(always)]
    fn visit(&self, block: usize, query: &[f32], except: u32, limit: f32, list: &mut [Key]) {
        let start = block * BLOCK;
        let squares = block_squares(&self.columns, self.stride, start, query);
        let mut bits = within(&squares, square(list[list.len() - 1]).min(limit));
        while bits != 0 {
            let lane = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if start + lane < self.count && self.labels[start + lane] != except {
                insert(list, key(squares[lane], self.labels[start + lane]));
            }
        }
    }
}

/// The coordinate with the largest range.
fn widest<'a>(d: usize, labels: &[u32], point: &impl Fn(u32) -> &'a [f32]) -> usize {
    let range = |j: usize| {
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for &label in labels {
            let x = point(label)[j];
            (low, high) = (low.min(x), high.max(x));
        }
        high - low
    };
    (1..d).fold((0, range(0)), |best, j| if range(j) > best.1 { (j, range(j)) } else { best }).0
}

/// Bits that sort as the floats do.
fn ascending(x: f32) -> u32 {
    let bits = x.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// The oracle: every distance, sorted.
    pub(crate) fn brute_force(points: &[Vec<f32>], query: &[f32], except: u32, count: usize) -> Vec<Key> {
        let mut keys: Vec<Key> = (0..points.len() as u32)
            .filter(|&label| label != except)
            .map(|label| {
                let mut total = 0.0f32;
                for (a, b) in points[label as usize].iter().zip(query) {
                    total += (a - b) * (a - b);
                }
                key(total, label)
            })
            .collect();
        keys.sort_unstable();
        keys.resize(count.max(keys.len()), NOWHERE);
        keys.truncate(count);
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    #[test]
    fn the_sweep_equals_brute_force_exactly() {
        for d in [1, 2, 3, 4, 6, 8] {
            for (count, coarse) in [(3, false), (16, true), (100, false), (700, true)] {
                let table = gaussian(count, d, 0.0, 1.0, 3);
                // Coarse points make many ties.
                let round = |x: f64| if coarse { (x * 4.0).round() / 4.0 } else { x };
                let points: Vec<Vec<f32>> =
                    table.iter().map(|row| row.iter().map(|&x| round(x) as f32).collect()).collect();
                let mut sweep = Sweep::default();
                sweep.fill(d, 0..count as u32, |label| &points[label as usize]);
                let mut list = [0; 12];
                for (i, point) in points.iter().enumerate() {
                    sweep.nearest(point, sweep.place(point), i as u32, &mut list);
                    let exact = testing::brute_force(&points, point, i as u32, 12);
                    assert_eq!(list.to_vec(), exact, "d = {d}");
                    for guess in [0.0, 0.3, 4.0] {
                        sweep.nearest_guessed(point, sweep.place(point), i as u32, guess, &mut list);
                        assert_eq!(list.to_vec(), exact, "d = {d}, guess {guess}");
                    }
                }
                let outside = vec![7.5; d];
                sweep.nearest(&outside, sweep.place(&outside), u32::MAX, &mut list);
                assert_eq!(list.to_vec(), testing::brute_force(&points, &outside, u32::MAX, 12));
            }
        }
    }
}
