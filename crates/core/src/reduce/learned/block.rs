//! A block of simulations side by side, and what terms have in common: made once, when first asked for.

use crate::products::BLOCK;

/// One number of each simulation of a block.
pub(super) type Lanes = [f64; BLOCK];

/// Robustly standardised statistics are cut here: no outlier may steer a regression.
pub(super) const CUT: f64 = 10.0;

/// Where a block of simulations is worked on. What lies beyond its last simulation is of no use.
#[derive(Default)]
pub(super) struct Room {
    /// Statistics as they are and standardised.
    raw: Made,
    standard: Made,
    /// Of each group: mean and variance of the members, by their number.
    mean: Made,
    variance: Made,
    /// Mean product of deviations of the members of two groups, and which: neighbouring terms ask for the same.
    joint: (Option<(usize, usize)>, Vec<Lanes>),
    /// The members of one group in order, and which.
    sorted: (Option<usize>, Vec<Lanes>),
}

/// Of several things, those that were made.
#[derive(Default)]
struct Made {
    values: Vec<Lanes>,
    is_there: Vec<bool>,
}

impl Made {
    fn begin(&mut self, count: usize) {
        self.values.resize(count, [0.0; BLOCK]);
        self.is_there.clear();
        self.is_there.resize(count, false);
    }

    /// Whether one must be made, now.
    #[inline(always)]
    fn lacks(&mut self, at: usize) -> bool {
        !std::mem::replace(&mut self.is_there[at], true)
    }
}

/// A block, with the room it is worked on in.
pub(super) struct Block<'a> {
    rows: &'a [&'a [f64]],
    scale: &'a [(f64, f64)],
    groups: &'a [Vec<usize>],
    room: &'a mut Room,
}

impl<'a> Block<'a> {
    /// Of up to [`BLOCK`] simulations; `scale` is median and spread of each statistic.
    pub(super) fn new(
        rows: &'a [&'a [f64]],
        scale: &'a [(f64, f64)],
        groups: &'a [Vec<usize>],
        room: &'a mut Room,
    ) -> Self {
        room.raw.begin(scale.len().next_multiple_of(TOGETHER));
        room.standard.begin(scale.len());
        room.mean.begin(groups.len());
        room.variance.begin(groups.len());
        (room.joint.0, room.sorted.0) = (None, None);
        room.joint.1.resize(1, [0.0; BLOCK]);
        Self { rows, scale, groups, room }
    }

    /// A statistic as it is.
    #[inline(always)]
    pub(super) fn raw(&mut self, j: usize) -> &Lanes {
        let first = j / TOGETHER * TOGETHER;
        if self.room.raw.lacks(first) {
            let into = self.room.raw.values[first..].first_chunk_mut().expect("filled up");
            gather(self.rows, first, into);
        }
        &self.room.raw.values[j]
    }

    /// A statistic, standardised.
    #[inline(always)]
    pub(super) fn standard(&mut self, j: usize) -> &Lanes {
        if self.room.standard.lacks(j) {
            let mut values = *self.raw(j);
            standardise(&mut values, self.scale[j], CUT);
            self.room.standard.values[j] = values;
        }
        &self.room.standard.values[j]
    }

    /// Two of them.
    #[inline(always)]
    pub(super) fn standards(&mut self, a: usize, b: usize) -> (&Lanes, &Lanes) {
        self.standard(a);
        self.standard(b);
        (&self.room.standard.values[a], &self.room.standard.values[b])
    }

    /// A statistic of a group, after all of them were asked for.
    #[inline(always)]
    fn members(&mut self, g: usize) -> impl Iterator<Item = &Lanes> + Clone {
        let group: &'a [usize] = &self.groups[g];
        group.iter().for_each(|&j| {
            self.raw(j);
        });
        let values = &self.room.raw.values;
        group.iter().map(move |&j| &values[j])
    }

    #[inline(always)]
    pub(super) fn mean(&mut self, g: usize) -> &Lanes {
        if self.room.mean.lacks(g) {
            let mut sums = [0.0; BLOCK];
            for values in self.members(g) {
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
            let n = self.groups[g].len() as f64;
            sums.iter_mut().for_each(|sum| *sum /= n);
            self.room.mean.values[g] = sums;
        }
        &self.room.mean.values[g]
    }

    #[inline(always)]
    pub(super) fn least(&mut self, g: usize, into: &mut Lanes) {
        if let (true, Some(end)) = (self.room.sorted.0 == Some(g), self.room.sorted.1.first()) {
            *into = *end;
            return;
        }
        into.fill(f64::INFINITY);
        for values in self.members(g) {
            into.iter_mut().zip(values).for_each(|(least, &x)| *least = if x < *least { x } else { *least });
        }
    }

    #[inline(always)]
    pub(super) fn largest(&mut self, g: usize, into: &mut Lanes) {
        if let (true, Some(end)) = (self.room.sorted.0 == Some(g), self.room.sorted.1.last()) {
            *into = *end;
            return;
        }
        into.fill(f64::NEG_INFINITY);
        for values in self.members(g) {
            into.iter_mut().zip(values).for_each(|(most, &x)| *most = if x > *most { x } else { *most });
        }
    }

    #[inline(always)]
    pub(super) fn variance(&mut self, g: usize) -> &Lanes {
        if self.room.variance.lacks(g) {
            let mut sums = [0.0; BLOCK];
            self.products((g, g), &mut sums);
            self.room.variance.values[g] = sums;
        }
        &self.room.variance.values[g]
    }

    /// The covariance of two groups of equal size, member by member.
    #[inline(always)]
    pub(super) fn joint(&mut self, g: usize, h: usize) -> &Lanes {
        if self.room.joint.0 != Some((g, h)) {
            let mut sums = [0.0; BLOCK];
            self.products((g, h), &mut sums);
            self.room.joint = (Some((g, h)), vec![sums]);
        }
        &self.room.joint.1[0]
    }

    /// Mean products of the deviations from the means of two groups.
    #[inline(always)]
    fn products(&mut self, (g, h): (usize, usize), sums: &mut Lanes) {
        let (m, n) = (*self.mean(g), *self.mean(h));
        for (&a, &b) in self.groups[g].iter().zip(&self.groups[h]) {
            let (a, b) = (&self.room.raw.values[a], &self.room.raw.values[b]);
            for lane in 0..BLOCK {
                sums[lane] += (a[lane] - m[lane]) * (b[lane] - n[lane]);
            }
        }
        let count = self.groups[g].len() as f64;
        sums.iter_mut().for_each(|sum| *sum /= count);
    }

    /// The members of a group in order.
    #[inline(always)]
    pub(super) fn sorted(&mut self, g: usize) -> &[Lanes] {
        if self.room.sorted.0 != Some(g) {
            let mut values = std::mem::take(&mut self.room.sorted.1);
            values.clear();
            values.extend(self.members(g));
            sort(&mut values);
            self.room.sorted = (Some(g), values);
        }
        &self.room.sorted.1
    }

    /// A quantile of the members of a group, between two of them where it falls there.
    #[inline(always)]
    pub(super) fn quantile(&mut self, g: usize, share: f64, into: &mut Lanes) {
        let sorted = self.sorted(g);
        let (place, last) = (share * (sorted.len() - 1) as f64, sorted.len() - 1);
        let (below, above) = (&sorted[place as usize], &sorted[(place as usize + 1).min(last)]);
        let part = place - place.floor();
        for lane in 0..BLOCK {
            into[lane] = below[lane] + part * (above[lane] - below[lane]);
        }
    }
}

/// Statistics that are read together, which are neighbours in a row.
const TOGETHER: usize = 8;

/// Writes neighbouring statistics of some simulations, from the first on.
#[inline(always)]
fn gather(rows: &[&[f64]], first: usize, into: &mut [Lanes; TOGETHER]) {
    for (lane, row) in rows.iter().take(BLOCK).enumerate() {
        let row = &row[first..];
        match row.first_chunk::<TOGETHER>() {
            Some(row) => (0..TOGETHER).for_each(|c| into[c][lane] = row[c]),
            None => row.iter().zip(&mut *into).for_each(|(value, into)| into[lane] = *value),
        }
    }
}

/// Values less a centre in units of a spread, cut off.
#[inline(always)]
pub(super) fn standardise(values: &mut [f64], (centre, spread): (f64, f64), cut: f64) {
    let inverse = 1.0 / spread;
    for value in values {
        *value = ((*value - centre) * inverse).clamp(-cut, cut);
    }
}

/// Sorts each lane by itself, with exchanges that do not depend on the values: Batcher's merge exchange (Knuth, The Art of
/// Computer Programming, 5.2.2, algorithm M).
#[inline(always)]
fn sort(values: &mut [Lanes]) {
    let top = values.len().next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            for i in (0..values.len() - d).filter(|i| i & p == r) {
                let (low, high) = values.split_at_mut(i + d);
                exchange(&mut low[i], &mut high[0]);
            }
            if q == p {
                break;
            }
            (d, r, q) = (q - p, p, q / 2);
        }
        p /= 2;
    }
}

#[inline(always)]
fn exchange(low: &mut Lanes, high: &mut Lanes) {
    for (a, b) in low.iter_mut().zip(high) {
        (*a, *b) = if *b < *a { (*b, *a) } else { (*a, *b) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    #[test]
    fn each_lane_is_sorted() {
        for count in 1..40 {
            let table = gaussian(count, BLOCK, 0.0, 1.0, count as u64);
            let mut values: Vec<Lanes> = table.iter().map(|row| row.try_into().unwrap()).collect();
            sort(&mut values);
            for lane in 0..BLOCK {
                let mut expected = table.column(lane);
                expected.sort_by(f64::total_cmp);
                let found: Vec<f64> = values.iter().map(|values| values[lane]).collect();
                assert_eq!(found, expected, "{count}");
            }
        }
    }
}
