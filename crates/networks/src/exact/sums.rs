//! Propensities with the sums over them: change one, find one, in a time that grows with the logarithm of their
//! number.

/// Numbers in a group that a number on the next level is the sum of.
const GROUP: usize = 8;

/// Numbers, the sums of groups of them, the sums of groups of those, and so on up to one group. A sum is always that
/// of the numbers below it, added in one order: no error builds up, however often they change.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// The numbers, then each level of sums, all in whole groups.
    values: Vec<f64>,
    /// Where each level begins.
    levels: Vec<usize>,
}

impl Sums {
    /// `count` numbers, all 0.
    pub(super) fn new(count: usize) -> Self {
        let (mut levels, mut length, mut width) = (Vec::new(), 0, count.max(1));
        loop {
            levels.push(length);
            length += width.div_ceil(GROUP) * GROUP;
            if width <= GROUP {
                break;
            }
            width = width.div_ceil(GROUP);
        }
        Self { values: vec![0.0; length], levels }
    }

    /// Sets all numbers.
    pub(super) fn fill(&mut self, numbers: impl Iterator<Item = f64>) {
        self.values.iter_mut().zip(numbers).for_each(|(value, number)| *value = number);
        for level in 1..self.levels.len() {
            let (below, here) = (self.levels[level - 1], self.levels[level]);
            for at in 0..(here - below) / GROUP {
                self.values[here + at] = self.group(below + at * GROUP);
            }
        }
    }

    /// Changes a number; the sums over it are wrong until [`Sums::update`].
    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, value: f64) {
        self.values[at] = value;
    }

    /// Puts the sums over the numbers `changed`, in ascending order, right again.
    #[inline(always)]
    pub(super) fn update(&mut self, changed: &[u32]) {
        let mut shift = 0;
        for level in 1..self.levels.len() {
            shift += GROUP.trailing_zeros();
            let mut last = usize::MAX;
            for &at in changed {
                let at = at as usize >> shift;
                if at != last {
                    self.values[self.levels[level] + at] = self.group(self.levels[level - 1] + at * GROUP);
                    last = at;
                }
            }
        }
    }

    #[inline(always)]
    fn group(&self, start: usize) -> f64 {
        let v = &self.values[start..start + GROUP];
        ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]))
    }

    /// The sum of all; never -0, which would put the next event at minus infinity.
    #[inline(always)]
    pub(super) fn total(&self) -> f64 {
        self.group(self.levels[self.levels.len() - 1]) + 0.0
    }

    /// The number on which `mark` falls, when they lie end to end: never one that is 0.
    #[inline(always)]
    pub(super) fn find(&self, mut mark: f64) -> usize {
        let mut at = 0;
        for &level in self.levels.iter().rev() {
            let group = &self.values[level + at * GROUP..][..GROUP];
            // Counted rather than searched: where the search would end is anyone's guess, and a wrong guess of the
            // processor costs more than all eight comparisons.
            let (mut chosen, mut sum, mut before) = (0, 0.0, 0.0);
            for &value in &group[..GROUP - 1] {
                sum += value;
                let beyond = mark >= sum;
                chosen += usize::from(beyond);
                before = if beyond { sum } else { before };
            }
            mark -= before;
            // Sums and differences round otherwise than the total did: what lies beyond all is in the last.
            if group[chosen] == 0.0 {
                chosen = group.iter().rposition(|&value| value > 0.0).unwrap_or(0);
                mark = group[chosen];
            }
            at = at * GROUP + chosen;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::stream::{Seed, Stage};
    use rand::RngExt;

    #[test]
    fn marks_find_what_they_fall_on() {
        let mut rng = Seed(2).stream(Stage::Propose, 0, 0);
        for count in [1, 2, 7, 8, 9, 64, 65, 500, 4_097] {
            let numbers: Vec<f64> = (0..count)
                .map(|_| f64::from(rng.random_range(0_u8..4)) * rng.random::<f64>().round())
                .collect();
            let mut sums = Sums::new(count);
            sums.fill(numbers.iter().map(|_| 7.0));
            for (at, &number) in numbers.iter().enumerate() {
                sums.set(at, number);
                sums.update(&[at as u32]);
            }
            let mut again = Sums::new(count);
            again.fill(numbers.iter().copied());
            assert_eq!(sums.values, again.values);
            // Small whole numbers are added without rounding.
            let total: f64 = numbers.iter().sum();
            assert_eq!(sums.total(), total);
            let mut start = 0.0;
            for (at, number) in numbers.iter().enumerate().filter(|(_, number)| **number > 0.0) {
                assert_eq!(sums.find(start), at);
                assert_eq!(sums.find(start + number - 0.25), at);
                start += number;
            }
            if total > 0.0 {
                let last = numbers.iter().rposition(|&number| number > 0.0).unwrap();
                assert_eq!(sums.find(total), last, "a mark beyond the end");
            }
        }
    }
}
