//! Numbers four at a time, in whatever the machine has for it.
//!
//! The compiler makes vectors of plain arrays, too, but it tears them to pieces when they are carried from one turn of a
//! loop to the next, or makes vectors of what lies across them.

/// What is done with fours, lane by lane: the same bits everywhere.
#[allow(missing_docs, reason = "the names say it")]
pub trait Fours: Copy {
    /// Four numbers.
    type Four: Copy;
    /// Four whole numbers, or the bits of four numbers.
    type Bits: Copy;

    fn load(self, lanes: &[f64; 4]) -> Self::Four;
    fn store(self, four: Self::Four) -> [f64; 4];
    fn splat(self, value: f64) -> Self::Four;
    fn add(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn subtract(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn multiply(self, a: Self::Four, b: Self::Four) -> Self::Four;
    fn divide(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// 1 where `a` is at least `b`, and 0 elsewhere.
    fn at_least(self, a: Self::Four, b: Self::Four) -> Self::Four;

    fn load_bits(self, lanes: &[u64; 4]) -> Self::Bits;
    fn store_bits(self, bits: Self::Bits) -> [u64; 4];
    fn splat_bits(self, bits: u64) -> Self::Bits;
    fn bits_of(self, four: Self::Four) -> Self::Bits;
    fn of_bits(self, bits: Self::Bits) -> Self::Four;
    fn xor(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    fn and(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    fn or(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// Sums as whole numbers, which wrap around.
    fn sum(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    fn up<const BY: i32>(self, bits: Self::Bits) -> Self::Bits;
    fn down<const BY: i32>(self, bits: Self::Bits) -> Self::Bits;
    /// One more where `a` is at least `b`.
    fn count(self, counts: Self::Bits, a: Self::Four, b: Self::Four) -> Self::Bits;
}

/// A loop over fours, with all that it needs. `run` must be `#[inline(always)]`, and so must all that it calls: only what is
/// inlined is compiled for the vectors of the machine. Closures of more than a few operations are not, at twenty times the time.
pub trait Work {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run<F: Fours>(self, fours: F) -> Self::Output;
}

/// Does the work with the vectors of the machine.
pub fn in_fours<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(vectors) = pulp::x86::V3::try_new() {
        return vectors.vectorize(avx2::Inlined(work, vectors));
    }
    work.run(Plain)
}

/// Arrays, of which the compiler makes what it can.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// The functions of a trait that do the same to every lane.
macro_rules! each {
    ($($name:ident ( $($from:ident),+ : $type:ty ) -> $to:ty = $lane:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($from: [$type; 4]),+) -> [$to; 4] {
            std::array::from_fn(|k| $lane($($from[k]),+))
        }
    )*};
}

impl Fours for Plain {
    type Four = [f64; 4];
    type Bits = [u64; 4];

    each! {
        add(a, b: f64) -> f64 = |a, b| a + b;
        subtract(a, b: f64) -> f64 = |a, b| a - b;
        multiply(a, b: f64) -> f64 = |a, b| a * b;
        divide(a, b: f64) -> f64 = |a, b| a / b;
        at_least(a, b: f64) -> f64 = |a, b| if a >= b { 1.0 } else { 0.0 };
        store(a: f64) -> f64 = |a| a;
        store_bits(a: u64) -> u64 = |a| a;
        bits_of(a: f64) -> u64 = f64::to_bits;
        of_bits(a: u64) -> f64 = f64::from_bits;
        xor(a, b: u64) -> u64 = |a, b| a ^ b;
        and(a, b: u64) -> u64 = |a, b| a & b;
        or(a, b: u64) -> u64 = |a, b| a | b;
        sum(a, b: u64) -> u64 = u64::wrapping_add;
    }

    #[inline(always)]
    fn load(self, lanes: &[f64; 4]) -> [f64; 4] {
        *lanes
    }

    #[inline(always)]
    fn splat(self, value: f64) -> [f64; 4] {
        [value; 4]
    }

    #[inline(always)]
    fn load_bits(self, lanes: &[u64; 4]) -> [u64; 4] {
        *lanes
    }

    #[inline(always)]
    fn splat_bits(self, bits: u64) -> [u64; 4] {
        [bits; 4]
    }

    #[inline(always)]
    fn up<const BY: i32>(self, bits: [u64; 4]) -> [u64; 4] {
        bits.map(|bits| bits << BY)
    }

    #[inline(always)]
    fn down<const BY: i32>(self, bits: [u64; 4]) -> [u64; 4] {
        bits.map(|bits| bits >> BY)
    }

    #[inline(always)]
    fn count(self, counts: [u64; 4], a: [f64; 4], b: [f64; 4]) -> [u64; 4] {
        std::array::from_fn(|k| counts[k] + u64::from(a[k] >= b[k]))
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

    /// The functions of a trait that are those of the vectors by another name.
    macro_rules! named {
        ($($name:ident ( $($from:ident),+ : $type:ty ) -> $to:ty = $there:ident;)*) => {$(
            #[inline(always)]
            fn $name(self, $($from: $type),+) -> $to {
                self.$there($($from),+)
            }
        )*};
    }

    impl Fours for V3 {
        type Four = f64x4;
        type Bits = u64x4;

        named! {
            add(a, b: f64x4) -> f64x4 = add_f64s;
            subtract(a, b: f64x4) -> f64x4 = sub_f64s;
            multiply(a, b: f64x4) -> f64x4 = mul_f64s;
            divide(a, b: f64x4) -> f64x4 = div_f64s;
            splat(value: f64) -> f64x4 = splat_f64s;
            splat_bits(value: u64) -> u64x4 = splat_u64s;
            bits_of(four: f64x4) -> u64x4 = transmute_u64s_f64s;
            of_bits(bits: u64x4) -> f64x4 = transmute_f64s_u64s;
            xor(a, b: u64x4) -> u64x4 = xor_u64s;
            and(a, b: u64x4) -> u64x4 = and_u64s;
            or(a, b: u64x4) -> u64x4 = or_u64s;
            sum(a, b: u64x4) -> u64x4 = add_u64s;
        }

        #[inline(always)]
        fn load(self, &[a, b, c, d]: &[f64; 4]) -> f64x4 {
            f64x4(a, b, c, d)
        }

        #[inline(always)]
        fn store(self, f64x4(a, b, c, d): f64x4) -> [f64; 4] {
            [a, b, c, d]
        }

        #[inline(always)]
        fn load_bits(self, &[a, b, c, d]: &[u64; 4]) -> u64x4 {
            u64x4(a, b, c, d)
        }

        #[inline(always)]
        fn store_bits(self, u64x4(a, b, c, d): u64x4) -> [u64; 4] {
            [a, b, c, d]
        }

        #[inline(always)]
        fn at_least(self, a: f64x4, b: f64x4) -> f64x4 {
            let mask = self.greater_than_or_equal_f64s(a, b);
            self.select_f64s(mask, self.splat_f64s(1.0), self.splat_f64s(0.0))
        }

        #[inline(always)]
        fn up<const BY: i32>(self, bits: u64x4) -> u64x4 {
            self.shl_const_u64x4::<BY>(bits)
        }

        #[inline(always)]
        fn down<const BY: i32>(self, bits: u64x4) -> u64x4 {
            self.shr_const_u64x4::<BY>(bits)
        }

        #[inline(always)]
        fn count(self, counts: u64x4, a: f64x4, b: f64x4) -> u64x4 {
            // A mask is -1 as a number.
            self.sub_u64s(counts, self.transmute_u64s_m64s(self.greater_than_or_equal_f64s(a, b)))
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn everything<F: Fours>(fours: F, a: [f64; 4], b: [f64; 4]) -> Vec<[u64; 4]> {
        let (x, y) = (fours.load(&a), fours.load(&b));
        let (v, w) = (fours.bits_of(x), fours.load_bits(&b.map(f64::to_bits)));
        let zero = fours.splat_bits(0);
        let numbers = [
            fours.add(x, y),
            fours.subtract(x, y),
            fours.multiply(x, y),
            fours.divide(x, y),
            fours.at_least(x, y),
            fours.splat(a[0]),
            fours.of_bits(w),
        ];
        let whole = [
            fours.xor(v, w),
            fours.and(v, w),
            fours.or(v, w),
            fours.sum(v, w),
            fours.up::<17>(v),
            fours.down::<45>(w),
            fours.count(fours.count(zero, x, y), y, x),
        ];
        // What is no number has many bits that all mean the same.
        let bits = |value: f64| if value.is_nan() { u64::MAX } else { value.to_bits() };
        let numbers = numbers.into_iter().map(|four| fours.store(four).map(bits));
        numbers.chain(whole.map(|bits| fours.store_bits(bits))).collect()
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
