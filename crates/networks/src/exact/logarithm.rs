//! The logarithm of uniform variates, in few operations, four at a time.

use std::f64::consts::{LN_2, SQRT_2};

use counterpoise_core::fours::Fours;

/// `-ln(u)` for four u between 0 and 1. Off by less than 1e-10 of its value, and the same bits everywhere.
///
/// The mantissa m, moved to lie around 1, by the series of `2 atanh((m - 1) / (m + 1))`; a division costs less than
/// a table in memory, whose numbers would have to be gathered lane by lane.
#[inline(always)]
pub(super) fn minus_ln<F: Fours>(fours: F, u: F::Four) -> F::Four {
    /// The bits of 2^52 + 2^51: added to a small whole number they make it a float's mantissa.
    const MAGIC: u64 = 0x4338_0000_0000_0000;
    const OF_MAGIC: f64 = 6_755_399_441_055_744.0;
    /// Added to exponents, so that none is negative: vectors have no shift that keeps a sign.
    const BIAS: u64 = 2_048;
    const MANTISSA: u64 = (1 << 52) - 1;
    let half = (0.5 * SQRT_2).to_bits();
    let moved = fours.sum(fours.bits_of(u), fours.splat_bits((BIAS << 52).wrapping_sub(half)));
    let m = fours.and(moved, fours.splat_bits(MANTISSA));
    let m = fours.of_bits(fours.sum(m, fours.splat_bits(half)));
    let exponent = fours.of_bits(fours.or(fours.down::<52>(moved), fours.splat_bits(MAGIC)));
    let exponent = fours.subtract(exponent, fours.splat(OF_MAGIC + BIAS as f64));
    let one = fours.splat(1.0);
    let f = fours.divide(fours.subtract(m, one), fours.add(m, one));
    let s = fours.multiply(f, f);
    let s2 = fours.multiply(s, s);
    // Pairs of terms: half as many operations wait for each other.
    let first = pair(fours, 1.0, 1.0 / 3.0, s);
    let later = fours.multiply(s2, pair(fours, 1.0 / 9.0, 1.0 / 11.0, s));
    let later = fours.add(pair(fours, 1.0 / 5.0, 1.0 / 7.0, s), later);
    let series = fours.add(first, fours.multiply(s2, later));
    let of_mantissa = fours.multiply(fours.multiply(fours.splat(-2.0), f), series);
    fours.subtract(of_mantissa, fours.multiply(exponent, fours.splat(LN_2)))
}

/// `a + b s`. A function, since closures are not compiled for the vectors of the machine.
#[inline(always)]
fn pair<F: Fours>(fours: F, a: f64, b: f64, s: F::Four) -> F::Four {
    fours.add(fours.splat(a), fours.multiply(s, fours.splat(b)))
}

#[cfg(test)]
mod tests {
    use counterpoise_core::fours::Plain;

    use super::*;

    #[test]
    fn logarithms_are_those_of_the_library() {
        let smallest = 0.5 * f64::EPSILON;
        let mut u = smallest;
        let mut worst: f64 = 0.0;
        while u < 1.0 {
            for u in [u, 1.0 - u] {
                let [found, ..] = minus_ln(Plain, [u; 4]);
                worst = worst.max((found / -libm::log(u) - 1.0).abs());
            }
            u *= 1.000_37;
        }
        assert!(worst < 1e-10, "off by {worst}");
    }
}
