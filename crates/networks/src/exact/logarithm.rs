//! The logarithm of uniform variates, in plain operations that become vector instructions.

use std::f64::consts::{LN_2, SQRT_2};

/// `-ln(u)` for each u between 0 and 1. Off by less than 1e-10 of its value, and the same bits everywhere.
///
/// The mantissa m, moved to lie around 1, by the series of `2 atanh((m - 1) / (m + 1))`; a division costs less than
/// a table in memory, whose numbers would have to be gathered lane by lane.
#[inline(always)]
pub(super) fn minus_ln<const L: usize>(u: [f64; L]) -> [f64; L] {
    /// The bits of 2^52 + 2^51: added to a small whole number they make it a float's mantissa.
    const MAGIC: u64 = 0x4338_0000_0000_0000;
    /// Added to exponents, so that none is negative: vectors have no shift that keeps a sign.
    const BIAS: u64 = 2_048;
    const MANTISSA: u64 = (1 << 52) - 1;
    let half = (0.5 * SQRT_2).to_bits();
    let mut result = [0.0; L];
    for l in 0..L {
        let bits = u[l].to_bits().wrapping_add((BIAS << 52).wrapping_sub(half));
        let m = f64::from_bits((bits & MANTISSA) + half);
        let exponent = f64::from_bits(MAGIC + (bits >> 52)) - (6_755_399_441_055_744.0 + BIAS as f64);
        let f = (m - 1.0) / (m + 1.0);
        let s = f * f;
        let s2 = s * s;
        // Pairs of terms: half as many operations wait for each other.
        let series = (1.0 + s * (1.0 / 3.0))
            + s2 * ((1.0 / 5.0 + s * (1.0 / 7.0)) + s2 * (1.0 / 9.0 + s * (1.0 / 11.0)));
        result[l] = -2.0 * f * series - exponent * LN_2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_the_library() {
        let smallest = 0.5 * f64::EPSILON;
        let mut u = smallest;
        let mut worst: f64 = 0.0;
        while u < 1.0 {
            for u in [u, 1.0 - u] {
                let [found] = minus_ln([u]);
                worst = worst.max((found / -libm::log(u) - 1.0).abs());
            }
            u *= 1.000_37;
        }
        assert!(worst < 1e-10, "off by {worst}");
        assert_eq!(minus_ln([1.0 - smallest, 0.25])[1], minus_ln([0.25])[0]);
    }
}
