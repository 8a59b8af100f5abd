//! Which observation time comes next.

/// Stretches of time: as many as fit into a byte, so that none is out of bounds.
const STRETCHES: usize = 256;

/// Observation times, found without a search: how far one would go is anyone's guess, and the processor guesses badly.
#[derive(Clone, Debug)]
pub(crate) struct Finder {
    /// The times, and one that never comes.
    due: Vec<f64>,
    /// The first time in each of equal stretches, or after it.
    first: Box<[First; STRETCHES]>,
    stretches_a_time: f64,
    /// Whether no stretch has two times.
    alone: bool,
}

/// An observation time and its number.
#[derive(Clone, Copy, Debug)]
struct First {
    time: f64,
    number: usize,
}

impl Finder {
    pub(super) fn new(times: &[f64]) -> Self {
        let due: Vec<f64> = times.iter().copied().chain([f64::INFINITY]).collect();
        let end = times[times.len() - 1];
        // The last stretch has nothing but what comes after the end.
        let stretches_a_time = if end > 0.0 { (STRETCHES - 2) as f64 / end } else { 0.0 };
        let stretches_a_time = if stretches_a_time.is_finite() { stretches_a_time } else { 0.0 };
        let of: Vec<u8> = times.iter().map(|&time| stretch(time * stretches_a_time)).collect();
        let first = |stretch: usize| {
            let number = of.iter().position(|&of| usize::from(of) >= stretch).unwrap_or(times.len());
            First { time: due[number], number }
        };
        let first = Box::new(std::array::from_fn(first));
        let alone = of.windows(2).all(|pair| pair[0] < pair[1]) && stretches_a_time > 0.0;
        Self { due, first, stretches_a_time, alone }
    }

    /// An observation time; infinity after the last.
    #[inline(always)]
    pub(crate) fn due(&self, number: usize) -> f64 {
        self.due[number]
    }

    /// Number of the first observation time, from number `next` on, that is not before `now`.
    #[inline(always)]
    pub(crate) fn passed(&self, next: usize, now: f64) -> usize {
        let mut next = next.max(self.near(now).number);
        while self.due[next] < now {
            next += 1;
        }
        next
    }

    /// Whether no stretch of time has two observation times.
    pub(crate) fn is_plain(&self) -> bool {
        self.alone
    }

    /// Number of the first observation time that is not before `now`, where no stretch of time has two.
    #[inline(always)]
    pub(crate) fn passed_plain(&self, now: f64) -> usize {
        let First { time, number } = self.near(now);
        number + usize::from(time < now)
    }

    #[inline(always)]
    fn near(&self, now: f64) -> First {
        self.first[usize::from(stretch(now * self.stretches_a_time))]
    }
}

/// The whole number nearest to a number of stretches, read off the bits of a float so large that its last bit is 1: quicker
/// than a conversion that allows for all floats.
#[inline(always)]
fn stretch(stretches: f64) -> u8 {
    const LARGE: f64 = 4_503_599_627_370_496.0;
    const MOST: f64 = (STRETCHES - 1) as f64;
    // What is no number is not less than the most, either.
    let stretches = if stretches < MOST { stretches } else { MOST };
    (stretches + LARGE).to_bits() as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Times;

    #[test]
    fn times_before_a_moment_are_found_from_anywhere() {
        let grids = [
            (Times::linear(20.0, 32, true), true),
            (Times::linear(1.0, 7, false), true),
            (Times::linear(1.0, 254, true), true),
            (Times::linear(1.0, 1_000, true), false),
            (Times::geometric(1e-3, 100.0, 32, true), false),
            (Times::new(vec![0.0]), false),
            (Times::new(vec![5.0]), true),
            (Times::new(vec![0.0, 1e-300, 1e300]), false),
            (Times::new(vec![0.0, 1e-320]), false),
        ];
        for (times, plain) in grids {
            let values = times.unwrap().values().to_vec();
            let finder = Finder::new(&values);
            assert_eq!(finder.is_plain(), plain, "{values:?}");
            let around = values
                .iter()
                .flat_map(|time| [time.next_down(), *time, time.next_up(), time * 1.01, time * 300.0]);
            for now in around.chain([f64::INFINITY]).filter(|now| *now >= 0.0) {
                let expected = values.iter().filter(|time| **time < now).count();
                for next in 0..=expected {
                    assert_eq!(finder.passed(next, now), expected, "{now} among {values:?} from {next}");
                }
                if plain {
                    assert_eq!(finder.passed_plain(now), expected, "{now} among {values:?}");
                }
            }
        }
    }
}
