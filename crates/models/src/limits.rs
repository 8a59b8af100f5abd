//! What numbers a model accepts: options when it is made, parameters when it is run.

use counterpoise_core::problem::Failure;

use crate::ModelError;

/// The whole number that an option's value stands for.
pub(crate) fn whole(option: &'static str, value: f64) -> Result<usize, ModelError> {
    // Above 2^32 no model's range would admit it, and below the conversion is exact.
    if value.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(&value) {
        Ok(value as usize)
    } else {
        Err(ModelError::OutOfRange { option, expected: "a whole number".into(), found: value })
    }
}

/// `value`, if it lies in `[least, most]`.
pub(crate) fn within(
    option: &'static str,
    value: usize,
    (least, most): (usize, usize),
) -> Result<usize, ModelError> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        let expected = format!("a whole number from {least} to {most}");
        Err(ModelError::OutOfRange { option, expected, found: value as f64 })
    }
}

/// `value`, if it is a finite number above zero.
pub(crate) fn positive(option: &'static str, value: f64) -> Result<f64, ModelError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(ModelError::OutOfRange { option, expected: "a finite number above 0".into(), found: value })
    }
}

/// The parameters as an array, if there are as many as names and all are finite and not negative.
pub(crate) fn parameters<const D: usize>(names: [&str; D], theta: &[f64]) -> Result<[f64; D], Failure> {
    let Ok(values) = <[f64; D]>::try_from(theta) else {
        return Err(Failure::Declined(format!("expected {D} parameters, found {}", theta.len())));
    };
    match values.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
        // A rate of -0 would put the next event at minus infinity.
        None => Ok(values.map(f64::abs)),
        Some(bad) => Err(Failure::Declined(format!(
            "{} must be a finite number of at least 0, found {}",
            names[bad], values[bad]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_refused_with_what_was_expected_and_found() {
        let message = |error: ModelError| error.to_string();
        assert_eq!(whole("count", 3.0), Ok(3));
        for bad in [3.5, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            let expected = format!("option count: expected a whole number, found {bad}");
            assert_eq!(message(whole("count", bad).unwrap_err()), expected);
        }
        assert_eq!(
            message(within("count", 0, (1, 9)).unwrap_err()),
            "option count: expected a whole number from 1 to 9, found 0"
        );
        for bad in [0.0, -2.0, f64::NAN, f64::INFINITY] {
            let expected = format!("option to: expected a finite number above 0, found {bad}");
            assert_eq!(message(positive("to", bad).unwrap_err()), expected);
        }
    }

    #[test]
    fn parameters_are_declined_by_name() {
        assert_eq!(parameters(["a", "b"], &[0.0, 2.0]), Ok([0.0, 2.0]));
        assert!(parameters(["a"], &[-0.0]).unwrap()[0].is_sign_positive());
        let declined = |theta: &[f64]| parameters(["a", "b"], theta).unwrap_err().to_string();
        assert_eq!(
            declined(&[1.0, f64::NAN]),
            "simulator declined: b must be a finite number of at least 0, found NaN"
        );
        assert_eq!(
            declined(&[-1.0, 1.0]),
            "simulator declined: a must be a finite number of at least 0, found -1"
        );
        assert_eq!(declined(&[1.0]), "simulator declined: expected 2 parameters, found 1");
    }
}
