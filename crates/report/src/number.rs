//! Numbers and durations short enough to read.

/// `value` with about this many significant digits, in scientific notation where it is very large or small.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "-".into();
    }
    if value == 0.0 || value.is_infinite() {
        return format!("{value}");
    }
    let rounded = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        return trim(&format!("{value:.decimals$}"));
    }
    format!("{}e{exponent}", trim(mantissa))
}

/// Without zeros at the end of the decimals.
fn trim(text: &str) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text.into() }
}

/// A number of seconds in the units a person would use.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "-".into();
    }
    let whole = seconds.round() as u64;
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{} µs", significant(s * 1e6, 3)),
        s if s < 1.0 => format!("{} ms", significant(s * 1e3, 3)),
        s if s < 59.5 => format!("{} s", significant(s, 2)),
        s if s < 3_599.5 => format!("{} min {} s", whole / 60, whole % 60),
        s if s < 172_800.0 => format!("{} h {} min", whole / 3_600, whole % 3_600 / 60),
        _ => format!("{} days", significant(seconds / 86_400.0, 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_matter() {
        let pairs = [
            (0.1, "0.1"),
            (0.123456, "0.1235"),
            (-12.0, "-12"),
            (99999.6, "100000"),
            (1234567.0, "1.235e6"),
            (0.00001234, "1.234e-5"),
            (0.001, "0.001"),
            (9.99996, "10"),
            (0.0, "0"),
            (f64::NAN, "-"),
            (f64::NEG_INFINITY, "-inf"),
            (5e-324, "4.941e-324"),
        ];
        for (value, expected) in pairs {
            assert_eq!(significant(value, 4), expected);
        }
    }

    #[test]
    fn durations_in_units_of_people() {
        let pairs = [
            (2.5e-8, "25 ns"),
            (1.234e-5, "12.3 µs"),
            (0.25, "250 ms"),
            (3.17, "3.2 s"),
            (75.0, "1 min 15 s"),
            (7_325.0, "2 h 2 min"),
            (1e6, "12 days"),
            (f64::NAN, "-"),
        ];
        for (seconds, expected) in pairs {
            assert_eq!(duration(seconds), expected);
        }
    }
}
