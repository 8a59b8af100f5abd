//! Observation times, and the names they give to statistics.

/// Observation times a simulation may have.
pub(crate) const MOST_TIMES: usize = 10_000;

/// Ascending times, none below 0, whose six-digit labels differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    values: Vec<f64>,
    labels: Vec<String>,
}

/// Why times cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TimesError {
    /// There are none, or too many.
    #[error("expected 1 to {MOST_TIMES} observation times, found {found}")]
    Count {
        /// How many there are.
        found: usize,
    },
    /// One is negative, infinite or NaN, or not above the one before it.
    #[error("expected observation times of at least 0 in ascending order, found {found} at place {place}")]
    Order {
        /// The time.
        found: f64,
        /// Its place, from 1.
        place: usize,
    },
    /// Two round to the same six digits, and so would their statistics' names.
    #[error("expected observation times that differ in six significant digits, found two at {time}")]
    Coincide {
        /// The shared name.
        time: String,
    },
}

impl Times {
    /// These times.
    ///
    /// # Errors
    /// If there are none or too many, or one is negative, not finite, or too close to the one before it.
    pub fn new(values: Vec<f64>) -> Result<Self, TimesError> {
        if !(1..=MOST_TIMES).contains(&values.len()) {
            return Err(TimesError::Count { found: values.len() });
        }
        let ordered = |at: usize| {
            values[at].is_finite() && values[at] >= 0.0 && (at == 0 || values[at] > values[at - 1])
        };
        if let Some(at) = (0..values.len()).find(|&at| !ordered(at)) {
            return Err(TimesError::Order { found: values[at], place: at + 1 });
        }
        let labels: Vec<String> = values.iter().map(|&time| label(time)).collect();
        match labels.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(Self { values, labels }),
            Some(pair) => Err(TimesError::Coincide { time: pair[0].clone() }),
        }
    }

    /// `count` equal steps up to `to`, with time 0 before them if `zero`.
    ///
    /// # Errors
    /// As for [`Times::new`].
    pub fn linear(to: f64, count: usize, zero: bool) -> Result<Self, TimesError> {
        let count = count.min(MOST_TIMES + 1);
        Self::new((usize::from(!zero)..=count).map(|step| to * step as f64 / count as f64).collect())
    }

    /// `count` times in equal steps from `first` to `to`, both included, with time 0 before them if `zero`.
    ///
    /// # Errors
    /// As for [`Times::new`].
    pub fn linear_from(first: f64, to: f64, count: usize, zero: bool) -> Result<Self, TimesError> {
        Self::spaced(first, to, count, zero, |share| first + (to - first) * share)
    }

    /// `count` times in equal ratio from `first` to `to`, both included, with time 0 before them if `zero`.
    ///
    /// # Errors
    /// As for [`Times::new`].
    pub fn geometric(first: f64, to: f64, count: usize, zero: bool) -> Result<Self, TimesError> {
        let (low, high) = (libm::log(first), libm::log(to));
        Self::spaced(first, to, count, zero, |share| libm::exp(low + (high - low) * share))
    }

    fn spaced(
        first: f64,
        to: f64,
        count: usize,
        zero: bool,
        between: impl Fn(f64) -> f64,
    ) -> Result<Self, TimesError> {
        let count = count.min(MOST_TIMES + 1);
        let last = count.saturating_sub(1);
        let at = |step: usize| match step {
            0 if last > 0 => first,
            step if step == last => to,
            step => between(step as f64 / last as f64),
        };
        Self::new(zero.then_some(0.0).into_iter().chain((0..count).map(at)).collect())
    }

    /// The times, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// `name@time` for each time.
    pub fn names(&self, name: &str) -> impl Iterator<Item = String> {
        self.labels.iter().map(move |label| format!("{name}@{label}"))
    }
}

/// At most six significant digits, without trailing zeros or an exponent.
fn label(time: f64) -> String {
    let rounded = format!("{time:.5e}").parse().unwrap_or(time);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(times: &Times) -> Vec<String> {
        times.names("A").collect()
    }

    #[test]
    fn names_have_at_most_six_digits_and_no_trailing_zeros() {
        let cases = [
            (0.0, "0"),
            (0.625, "0.625"),
            (20.0, "20"),
            (1e-3, "0.001"),
            (0.001_449_693_7, "0.00144969"),
            (47.703_46, "47.7035"),
            (99_999.96, "100000"),
            (1_234_567.0, "1234570"),
            (2e-7, "0.0000002"),
        ];
        for (time, expected) in cases {
            assert_eq!(label(time), expected);
        }
    }

    #[test]
    fn linear_times_end_at_the_end() {
        let times = Times::linear(20.0, 8, true).unwrap();
        assert_eq!(times.values(), [0.0, 2.5, 5.0, 7.5, 10.0, 12.5, 15.0, 17.5, 20.0]);
        assert_eq!(names(&times)[..3], ["A@0", "A@2.5", "A@5"]);
        assert_eq!(names(&Times::linear(1.0, 3, false).unwrap()), ["A@0.333333", "A@0.666667", "A@1"]);
        assert_eq!(Times::linear_from(2.0, 4.0, 3, false).unwrap().values(), [2.0, 3.0, 4.0]);
        assert_eq!(Times::linear_from(2.0, 4.0, 1, true).unwrap().values(), [0.0, 4.0]);
    }

    #[test]
    fn geometric_times_keep_one_ratio() {
        let times = Times::geometric(1e-3, 100.0, 32, true).unwrap();
        let values = times.values();
        assert_eq!((values.len(), values[0], values[1], values[32]), (33, 0.0, 1e-3, 100.0));
        let ratio = libm::pow(1e5, 1.0 / 31.0);
        assert!(values[1..].windows(2).all(|pair| (pair[1] / pair[0] / ratio - 1.0).abs() < 1e-12));
        // numpy.geomspace(1e-3, 100, 32), rounded
        assert_eq!(names(&times)[2..5], ["A@0.00144974", "A@0.00210175", "A@0.00304699"]);
        assert_eq!(Times::geometric(1.0, 4.0, 2, true).unwrap().values(), [0.0, 1.0, 4.0]);
    }

    #[test]
    fn times_that_cannot_be_told_apart_are_refused() {
        let refused = |times: Result<Times, TimesError>| times.unwrap_err().to_string();
        assert_eq!(
            refused(Times::geometric(99.9999, 100.0, 50, true)),
            "expected observation times that differ in six significant digits, found two at 99.9999"
        );
        assert_eq!(
            refused(Times::new(vec![0.0, 2.0, 1.0])),
            "expected observation times of at least 0 in ascending order, found 1 at place 3"
        );
        assert_eq!(refused(Times::new(Vec::new())), "expected 1 to 10000 observation times, found 0");
        assert!(Times::geometric(5.0, 5.0, 4, true).is_err());
        assert!(Times::geometric(0.0, 5.0, 4, true).is_err());
        assert!(Times::linear(f64::NAN, 4, true).is_err());
        assert!(Times::linear(1.0, 0, true).is_err());
        assert!(Times::new(vec![-1.0]).is_err());
        // Even the finest even grid that is allowed has names of its own.
        assert!(Times::linear(20.0, MOST_TIMES - 1, true).is_ok());
        assert!(Times::linear(20.0, MOST_TIMES, true).is_err());
    }
}
