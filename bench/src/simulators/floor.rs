//! What no direct method can do without: two uniforms and a logarithm an event, in lanes.

use cpu_time::ThreadTime;
use pulp::{Arch, NullaryFnOnce};

const LANES: usize = 16;

type Words = [u64; LANES];
type Lanes = [f64; LANES];

/// So many events in every lane.
struct Events {
    steps: usize,
}

impl NullaryFnOnce for Events {
    /// The sum of the waits over the sum of the marks.
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let [mut a, mut b, mut c, mut d] = seeds();
        let (mut now, mut marks): (Lanes, Lanes) = ([0.0; LANES], [0.0; LANES]);
        for _ in 0..self.steps {
            for l in 0..LANES {
                let mut state = [a[l], b[l], c[l], d[l]];
                now[l] -= ln(uniform(next(&mut state)));
                marks[l] += uniform(next(&mut state));
                [a[l], b[l], c[l], d[l]] = state;
            }
        }
        now.iter().sum::<f64>() / marks.iter().sum::<f64>()
    }
}

fn seeds() -> [Words; 4] {
    let mut word = 0x9e37_79b9_7f4a_7c15_u64;
    std::array::from_fn(|_| {
        std::array::from_fn(|_| {
            word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        })
    })
}

/// xoshiro256++.
#[inline(always)]
fn next([a, b, c, d]: &mut [u64; 4]) -> u64 {
    let drawn = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
    let shifted = *b << 17;
    *c ^= *a;
    *d ^= *b;
    *b ^= *c;
    *a ^= *d;
    *c ^= shifted;
    *d = d.rotate_left(45);
    drawn
}

const ONE: u64 = 0x3ff0_0000_0000_0000;

/// Uniform in (0, 1], by the bits of a number from 1 to 2.
#[inline(always)]
fn uniform(word: u64) -> f64 {
    2.0 - f64::from_bits((word >> 12) | ONE)
}

/// The natural logarithm of an ordinary positive number, to about 1e-11.
#[inline(always)]
fn ln(x: f64) -> f64 {
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    // 2^52, whose low bits are whole numbers, and the bias of exponents.
    const WHOLE: u64 = 0x4330_0000_0000_0000;
    const BIASED: f64 = 4_503_599_627_370_496.0 + 1023.0;
    // An exponent, and a mantissa from sqrt(1/2) to sqrt(2).
    let bits = x.to_bits().wrapping_add(ONE - ROOT_HALF);
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) + ROOT_HALF);
    let exponent = f64::from_bits((bits >> 52) | WHOLE) - BIASED;
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let q = s * s;
    let series = q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q * (1.0 / 13.0))));
    let series = 1.0 + q * (1.0 / 3.0 + q * (0.2 + series));
    exponent * std::f64::consts::LN_2 + 2.0 * s * series
}

/// Seconds an event, over so many.
pub fn turn(events: usize) -> f64 {
    let steps = events.div_ceil(LANES);
    let clock = ThreadTime::now();
    std::hint::black_box(Arch::new().dispatch(Events { steps }));
    clock.elapsed().as_secs_f64() / (steps * LANES) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_one() {
        for power in 0..40 {
            let x = 0.7f64.powi(power);
            assert!((ln(x) - x.ln()).abs() < 1e-10, "{x}: {}", ln(x));
        }
    }

    #[test]
    fn waits_and_marks_have_their_means() {
        // 1 and 1/2
        assert!((Events { steps: 100_000 }.call() - 2.0).abs() < 0.02);
    }
}
