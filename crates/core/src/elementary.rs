//! Logarithms and exponentials made of plain operations, without branches or library calls: a loop over them is compiled for the vectors of
//! the machine, and gives the same bits on all.

use crate::vectors::{Loop, vectorised};

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

/// `e^x` to some 1e-15 of its value; for `x` beyond 700 in size, what it is there.
///
/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`, a Taylor polynomial for `e^r`, and `2^n` put together from its bits.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    use std::f64::consts::LOG2_E;
    /// 2^52 + 2^51: a number added to it is rounded to a whole one, in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// The first has so few digits that multiples are exact.
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    /// One over the factorials of 13 and less.
    const FACTORIALS: [f64; 14] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let bounded = x.clamp(-700.0, 700.0);
    let rounded = bounded * LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (bounded - n * LN_2_HIGH) - n * LN_2_LOW;
    let series = FACTORIALS.into_iter().fold(0.0, |series, factor| series * r + factor);
    series * f64::from_bits(rounded.to_bits().wrapping_add(1_023) << 52)
}

/// Takes the exponentials of multiples of numbers.
pub(crate) fn exp_each(values: &mut [f64], factor: f64) {
    vectorised(Exponentials { values, factor });
}

struct Exponentials<'a> {
    values: &'a mut [f64],
    factor: f64,
}

impl Loop for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.values.iter_mut().for_each(|value| *value = exp(self.factor * *value));
    }
}

/// Adds to numbers others, all given by their logarithms. What is added must not be NaN.
pub(crate) fn ln_sum_each(values: &mut [f64], more: &[f64]) {
    vectorised(LogarithmsOfSums { values, more });
}

struct LogarithmsOfSums<'a> {
    values: &'a mut [f64],
    more: &'a [f64],
}

impl Loop for LogarithmsOfSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (value, &more) in self.values.iter_mut().zip(self.more) {
            let (most, least) = if more > *value { (more, *value) } else { (*value, more) };
            let step = least - most;
            // Where both are nothing there is no step.
            *value = most + ln(1.0 + exp(if step > -700.0 { step } else { -700.0 }));
        }
    }
}

/// Takes the logarithms of numbers, of less than `floor` that of it.
pub(crate) fn ln_each(values: &mut [f64], floor: f64) {
    vectorised(Logarithms { values, floor });
}

struct Logarithms<'a> {
    values: &'a mut [f64],
    floor: f64,
}

impl Loop for Logarithms<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.values.iter_mut().for_each(|value| *value = ln(value.max(self.floor)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_those_of_the_library() {
        for i in -70_000..=70_000 {
            let x = f64::from(i) * 0.009_99;
            let expected = libm::exp(x);
            assert!((exp(x) - expected).abs() <= 1e-15 * expected, "{x}: {} {expected}", exp(x));
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!((exp(1e9), exp(-1e9)), (exp(700.0), exp(-700.0)));
        assert!(exp(f64::NAN).is_nan());
    }

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

    #[test]
    fn sums_of_numbers_by_their_logarithms_are_those_of_the_numbers() {
        let nothing = f64::NEG_INFINITY;
        let given = [(0.5, -1.5), (-3.0, 700.0), (2.0, 2.0), (nothing, -4.0), (-4.0, nothing), (1e9, -1e9)];
        let (mut sums, more): (Vec<f64>, Vec<f64>) = given.into_iter().unzip();
        sums.push(nothing);
        ln_sum_each(&mut sums, &[&more[..], &[nothing]].concat());
        for ((a, b), sum) in given.into_iter().zip(&sums) {
            let expected = a.max(b) + libm::log1p(libm::exp(-(a - b).abs()));
            assert!((sum - expected).abs() <= 1e-15 * expected.abs().max(1.0), "{a} {b}: {sum} {expected}");
        }
        assert_eq!(sums.last(), Some(&nothing));
    }
}
