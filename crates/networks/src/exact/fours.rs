//! Numbers four at a time, whatever the machine has for it.
//!
//! The compiler makes vectors of plain arrays, too, but it tears them to pieces when they are carried from one turn of a
//! loop to the next; then each turn waits for the memory that the one before it wrote.

use std::ops::{Deref, DerefMut};

use crate::expression::program::Numbers;

/// A number of every lane, where loads and stores of a four stay within a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Wide<const Q: usize>(pub(super) [[f64; 4]; Q]);

impl<const Q: usize> Wide<Q> {
    pub(super) const fn splat(value: f64) -> Self {
        Self([[value; 4]; Q])
    }
}

impl<const Q: usize> Deref for Wide<Q> {
    type Target = [[f64; 4]; Q];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<const Q: usize> DerefMut for Wide<Q> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<const Q: usize> Numbers for Wide<Q> {
    #[inline(always)]
    fn map([a, b, c]: [Self; 3], f: impl Fn(f64, f64, f64) -> f64) -> Self {
        let mut values = Self::splat(0.0);
        for q in 0..Q {
            for k in 0..4 {
                values[q][k] = f(a[q][k], b[q][k], c[q][k]);
            }
        }
        values
    }
}

/// What is done with fours, lane by lane: the same bits everywhere.
pub(super) trait Fours: Copy {
    type Four: Copy;
    fn load(self, lanes: &[f64; 4]) -> Self::Four;
    fn store(self, four: Self::Four) -> [f64; 4];
    fn splat(self, value: f64) -> Self::Four;
    fn add(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn subtract(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn multiply(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn divide(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// 1 where `a` is at least `b`, and 0 elsewhere.
    fn at_least(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// Four counts.
    type Counts: Copy;
    fn zero(self) -> Self::Counts;
    /// One more where `a` is at least `b`.
    fn count(self, counts: Self::Counts, a: Self::Four, b: Self::Four) -> Self::Counts;
    fn sum(self, a: Self::Counts, b: Self::Counts) -> Self::Counts;
    fn counted(self, counts: Self::Counts) -> [u64; 4];
}

/// A loop over fours, with all that it needs. `run` must be `#[inline(always)]`, and so must all that it calls.
pub(super) trait Work {
    type Output;
    fn run<F: Fours>(self, fours: F) -> Self::Output;
}

/// Does the work with the vectors of the machine.
pub(super) fn in_fours<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(vectors) = pulp::x86::V3::try_new() {
        return vectors.vectorize(avx2::Inlined(work, vectors));
    }
    work.run(Plain)
}

/// Arrays, of which the compiler makes what it can.
#[derive(Clone, Copy)]
struct Plain;

impl Fours for Plain {
    type Four = [f64; 4];

    #[inline(always)]
    fn load(self, lanes: &[f64; 4]) -> [f64; 4] {
        *lanes
    }

    #[inline(always)]
    fn store(self, four: [f64; 4]) -> [f64; 4] {
        four
    }

    #[inline(always)]
    fn splat(self, value: f64) -> [f64; 4] {
        [value; 4]
    }

    #[inline(always)]
    fn add(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k] + b[k])
    }

    #[inline(always)]
    fn subtract(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k] - b[k])
    }

    #[inline(always)]
    fn multiply(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k] * b[k])
    }

    #[inline(always)]
    fn divide(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k] / b[k])
    }

    #[inline(always)]
    fn at_least(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| if a[k] >= b[k] { 1.0 } else { 0.0 })
    }

    type Counts = [u64; 4];

    #[inline(always)]
    fn zero(self) -> [u64; 4] {
        [0; 4]
    }

    #[inline(always)]
    fn count(self, counts: [u64; 4], a: [f64; 4], b: [f64; 4]) -> [u64; 4] {
        std::array::from_fn(|k| counts[k] + u64::from(a[k] >= b[k]))
    }

    #[inline(always)]
    fn sum(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|k| a[k] + b[k])
    }

    #[inline(always)]
    fn counted(self, counts: [u64; 4]) -> [u64; 4] {
        counts
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use pulp::x86::V3;
    use pulp::{NullaryFnOnce, Simd, f64x4, u64x4};

    use super::{Fours, Work};

    pub(super) struct Inlined<W>(pub(super) W, pub(super) V3);

    impl<W: Work> NullaryFnOnce for Inlined<W> {
        type Output = W::Output;

        #[inline(always)]
        fn call(self) -> W::Output {
            self.0.run(self.1)
        }
    }

    impl Fours for V3 {
        type Four = f64x4;

        #[inline(always)]
        fn load(self, &[a, b, c, d]: &[f64; 4]) -> f64x4 {
            f64x4(a, b, c, d)
        }

        #[inline(always)]
        fn store(self, f64x4(a, b, c, d): f64x4) -> [f64; 4] {
            [a, b, c, d]
        }

        #[inline(always)]
        fn splat(self, value: f64) -> f64x4 {
            self.splat_f64s(value)
        }

        #[inline(always)]
        fn add(self, a: f64x4, b: f64x4) -> f64x4 {
            self.add_f64s(a, b)
        }

        #[inline(always)]
        fn subtract(self, a: f64x4, b: f64x4) -> f64x4 {
            self.sub_f64s(a, b)
        }

        #[inline(always)]
        fn multiply(self, a: f64x4, b: f64x4) -> f64x4 {
            self.mul_f64s(a, b)
        }

        #[inline(always)]
        fn divide(self, a: f64x4, b: f64x4) -> f64x4 {
            self.div_f64s(a, b)
        }

        #[inline(always)]
        fn at_least(self, a: f64x4, b: f64x4) -> f64x4 {
            self.select_f64s(
                self.greater_than_or_equal_f64s(a, b),
                self.splat_f64s(1.0),
                self.splat_f64s(0.0),
            )
        }

        type Counts = u64x4;

        #[inline(always)]
        fn zero(self) -> u64x4 {
            self.splat_u64s(0)
        }

        #[inline(always)]
        fn count(self, counts: u64x4, a: f64x4, b: f64x4) -> u64x4 {
            // A mask is -1 as a number.
            self.sub_u64s(counts, self.transmute_u64s_m64s(self.greater_than_or_equal_f64s(a, b)))
        }

        #[inline(always)]
        fn sum(self, a: u64x4, b: u64x4) -> u64x4 {
            self.add_u64s(a, b)
        }

        #[inline(always)]
        fn counted(self, u64x4(a, b, c, d): u64x4) -> [u64; 4] {
            [a, b, c, d]
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn everything<F: Fours>(fours: F, a: [f64; 4], b: [f64; 4]) -> ([[u64; 4]; 6], [u64; 4]) {
        let (x, y) = (fours.load(&a), fours.load(&b));
        let counts = fours.count(fours.count(fours.zero(), x, y), y, x);
        let numbers = [
            fours.add(x, y),
            fours.subtract(x, y),
            fours.multiply(x, y),
            fours.divide(x, y),
            fours.at_least(x, y),
            fours.splat(a[0]),
        ];
        // What is no number has many bits that all mean the same.
        let bits = |value: f64| if value.is_nan() { u64::MAX } else { value.to_bits() };
        (numbers.map(|four| fours.store(four).map(bits)), fours.counted(fours.sum(counts, counts)))
    }

    #[test]
    fn vectors_and_arrays_give_the_same_bits() {
        let Some(vectors) = pulp::x86::V3::try_new() else { return };
        let values = [0.0, -0.0, 1.0, 0.1, -3.7, 1e308, 1e-310, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for shift in 0..values.len() {
            for start in 0..values.len() {
                let a = std::array::from_fn(|k| values[(start + k) % values.len()]);
                let b = std::array::from_fn(|k| values[(start + shift + k) % values.len()]);
                assert_eq!(everything(Plain, a, b), everything(vectors, a, b), "{a:?} and {b:?}");
            }
        }
    }
}
