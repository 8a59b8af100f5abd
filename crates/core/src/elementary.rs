//! Logarithms made of plain operations, without branches or library calls: a loop over them is compiled for the vectors of
//! the machine, and gives the same bits on all.

/// The natural logarithm of a positive number that is not denormal, to some 1e-14 of its size or of one, the larger: the
/// mantissa, moved to lie around one, by the series of `2 atanh((m - 1) / (m + 1))`.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    use std::f64::consts::LN_2;
    /// The bits of 2^52 + 2^51: a small whole number added to them is a float's mantissa.
    const MAGIC: u64 = 0x4338_0000_0000_0000;
    const OF_MAGIC: f64 = 6_755_399_441_055_744.0;
    /// Added to exponents, so that none is negative: vectors have no shift that keeps a sign.
    const BIAS: u64 = 2_048;
    const MANTISSA: u64 = (1 << 52) - 1;
    const HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    let moved = x.to_bits().wrapping_add((BIAS << 52).wrapping_sub(HALF));
    let m = f64::from_bits((moved & MANTISSA) + HALF);
    let exponent = f64::from_bits((moved >> 52) | MAGIC) - (OF_MAGIC + BIAS as f64);
    let f = (m - 1.0) / (m + 1.0);
    let s = f * f;
    // No larger than 0.0295: what is left out is below 1e-17 of the whole.
    let mut series = 1.0 / 19.0;
    for inverse in [1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 0.2, 1.0 / 3.0, 1.0]
    {
        series = series * s + inverse;
    }
    2.0 * f * series + exponent * LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_the_library() {
        let mut x = f64::MIN_POSITIVE;
        while x < 1e300 {
            for x in [x, 1.0 + x.min(1.0)] {
                let expected = libm::log(x);
                assert!(
                    (ln(x) - expected).abs() < 4e-16 * expected.abs().max(1.0),
                    "{x}: {} {expected}",
                    ln(x)
                );
            }
            x *= 1.037;
        }
    }
}
