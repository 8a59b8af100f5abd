//! How many binary digits of a number are kept. What is drawn or estimated has no meaning in its last digits, which do not
//! repeat and so take room on the disk.

/// Digits of a parameter below the width of its prior: steps of less than 10^-10 of it.
const BELOW_WIDTH: u64 = 34;
/// Bits of a number behind its exponent, and the largest exponent as it is written.
const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
const EXPONENTS: u64 = 0x7ff;
/// Those beyond single precision.
const BEYOND_SINGLE: u32 = f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS;

/// The nearest number that is a whole multiple of a power of two, which is at most 2^-34 of `width`. The number itself where
/// there is no such power.
#[must_use]
pub(crate) fn within(value: f64, width: f64) -> f64 {
    let exponent = (width.to_bits() >> MANTISSA) & EXPONENTS;
    if exponent <= BELOW_WIDTH || exponent == EXPONENTS {
        return value;
    }
    let step = f64::from_bits((exponent - BELOW_WIDTH) << MANTISSA);
    let rounded = (value / step).round_ties_even() * step;
    if rounded.is_finite() { rounded } else { value }
}

/// The nearest number with as many digits as single precision has, whatever its size.
#[must_use]
pub(crate) fn single(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    let half = 1_u64 << (BEYOND_SINGLE - 1);
    let rounded = f64::from_bits((value.to_bits() + half) >> BEYOND_SINGLE << BEYOND_SINGLE);
    if rounded.is_finite() { rounded } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_of_a_power_of_two_that_is_small_beside_the_width() {
        let step = 2.0_f64.powi(-34);
        for value in [0.1, -0.7, 3.0, 1e9 / 7.0, 2_459_000.123_456_789] {
            let found = within(value, 1.9);
            assert_eq!((found / step).fract(), 0.0, "{value}");
            assert!((found - value).abs() <= 0.5 * step, "{value}");
        }
        // The width says how fine, and not the value.
        assert!((within(2_459_000.123_456_789, 1e-4) - 2_459_000.123_456_789).abs() < 1e-14);
        assert_eq!(within(1e300, 1e-300), 1e300);
        for width in [0.0, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE] {
            assert_eq!(within(0.1, width), 0.1);
        }
    }

    #[test]
    fn single_digits_are_those_of_single_precision_and_reach_further() {
        for value in [0.1, -0.7, 1.0 / 3.0, 12_345.678, 1.0 - 1e-12] {
            assert_eq!(single(value), f64::from(value as f32), "{value}");
        }
        assert!((single(1e200 / 3.0) / (1e200 / 3.0) - 1.0).abs() < 6e-8);
        for value in [0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
            assert_eq!(single(value), value);
        }
        for bits in [f64::NAN.to_bits(), u64::MAX, u64::MAX >> 1] {
            assert!(single(f64::from_bits(bits)).is_nan());
        }
    }
}
