//! Observation times, and the names they give to statistics.

use crate::ModelError;
use crate::limits::{MOST_TIMES, positive, within};

/// Time 0 and then `count` ascending times.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    values: Vec<f64>,
    labels: Vec<String>,
}

impl Times {
    /// Zero and `count` equal steps up to `to`.
    pub(crate) fn even(to: f64, count: usize) -> Result<Self, ModelError> {
        positive("to", to)?;
        within("count", count, (1, MOST_TIMES))?;
        Self::new((0..=count).map(|step| to * step as f64 / count as f64).collect())
    }

    /// Zero and `count` times in equal ratio from `first` to `to`, both included.
    pub(crate) fn geometric(first: f64, to: f64, count: usize) -> Result<Self, ModelError> {
        positive("to", to)?;
        within("count", count, (2, MOST_TIMES))?;
        if positive("first", first)? >= to {
            let expected = format!("a number below to = {to}");
            return Err(ModelError::OutOfRange { option: "first", expected, found: first });
        }
        let (low, high) = (libm::log(first), libm::log(to));
        let at = |step: usize| libm::exp(low + (high - low) * step as f64 / (count - 1) as f64);
        let between = (1..count - 1).map(at);
        Self::new([0.0, first].into_iter().chain(between).chain([to]).collect())
    }

    fn new(values: Vec<f64>) -> Result<Self, ModelError> {
        let labels: Vec<String> = values.iter().map(|&time| label(time)).collect();
        match labels.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(Self { values, labels }),
            Some(pair) => Err(ModelError::TimesCoincide { time: pair[0].clone() }),
        }
    }

    /// The times, ascending from 0.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// `species@time` for each time.
    pub(crate) fn names(&self, species: &str) -> impl Iterator<Item = String> {
        self.labels.iter().map(move |label| format!("{species}@{label}"))
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
    fn even_times_start_at_zero_and_end_at_the_end() {
        let times = Times::even(20.0, 8).unwrap();
        assert_eq!(times.values(), [0.0, 2.5, 5.0, 7.5, 10.0, 12.5, 15.0, 17.5, 20.0]);
        assert_eq!(names(&times)[..3], ["A@0", "A@2.5", "A@5"]);
        assert_eq!(names(&Times::even(1.0, 3).unwrap()), ["A@0", "A@0.333333", "A@0.666667", "A@1"]);
    }

    #[test]
    fn geometric_times_keep_one_ratio() {
        let times = Times::geometric(1e-3, 100.0, 32).unwrap();
        let values = times.values();
        assert_eq!((values.len(), values[0], values[1], values[32]), (33, 0.0, 1e-3, 100.0));
        let ratio = 1e5_f64.powf(1.0 / 31.0);
        assert!(values[1..].windows(2).all(|pair| (pair[1] / pair[0] / ratio - 1.0).abs() < 1e-12));
        // numpy.geomspace(1e-3, 100, 32), rounded
        assert_eq!(names(&times)[2..5], ["A@0.00144974", "A@0.00210175", "A@0.00304699"]);
        assert_eq!(Times::geometric(1.0, 4.0, 2).unwrap().values(), [0.0, 1.0, 4.0]);
    }

    #[test]
    fn times_that_cannot_be_told_apart_are_refused() {
        assert_eq!(
            Times::geometric(99.9999, 100.0, 50).unwrap_err().to_string(),
            "expected observation times that differ in six significant digits, found two at 99.9999"
        );
        assert_eq!(
            Times::geometric(5.0, 5.0, 4).unwrap_err().to_string(),
            "option first: expected a number below to = 5, found 5"
        );
        assert!(Times::geometric(0.0, 5.0, 4).is_err());
        assert!(Times::geometric(1.0, 5.0, 1).is_err());
        assert!(Times::even(f64::NAN, 4).is_err());
        assert!(Times::even(1.0, 0).is_err());
        // Even the finest even grid that is allowed has names of its own.
        assert!(Times::even(20.0, MOST_TIMES).is_ok());
        assert!(Times::even(20.0, MOST_TIMES + 1).is_err());
    }
}
