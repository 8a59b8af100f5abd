//! What a program is told: parameters and seed, so written that every reader gets the same bits.

use serde_json::Value;

/// Whole numbers up to this size are written without a point, so that a count reads as one.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// A number as text, the shortest that reads back to the same bits; whole numbers have no point.
pub(super) fn number(value: f64) -> String {
    let whole = value.fract() == 0.0 && value.abs() <= WHOLE && !(value == 0.0 && value.is_sign_negative());
    // JSON has no other numbers; none other comes from a prior.
    if whole { format!("{value:.0}") } else { Value::from(value).to_string() }
}

/// Names as they stand in a request, which are the same for every row.
#[derive(Debug)]
pub(super) struct Request {
    /// Each name as a JSON text, with the colon.
    names: Vec<String>,
}

impl Request {
    pub(super) fn new(parameters: &[String]) -> Self {
        Self { names: parameters.iter().map(|name| format!("{}: ", Value::from(name.as_str()))).collect() }
    }

    /// The line for one simulation, with its end.
    pub(super) fn line(&self, id: u64, seed: u32, theta: &[f64]) -> String {
        let mut line = format!("{{\"id\": {id}, \"seed\": {seed}, \"parameters\": {{");
        for (at, (name, &value)) in self.names.iter().zip(theta).enumerate() {
            if at > 0 {
                line += ", ";
            }
            line += name;
            line += &number(value);
        }
        line += "}}\n";
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_line_of_json_as_the_contract_has_it() {
        let names = ["k", "a \"b\"\n"].map(str::to_owned);
        let line = Request::new(&names).line(7, 1_234_567, &[0.1, 20.0]);
        assert_eq!(
            line,
            "{\"id\": 7, \"seed\": 1234567, \"parameters\": {\"k\": 0.1, \"a \\\"b\\\"\\n\": 20}}\n"
        );
        assert!(serde_json::from_str::<Value>(&line).is_ok());
    }

    #[test]
    fn numbers_come_back_to_the_bit() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        let some = [0.0, -0.0, 1.0, -3.0, 1e-300, 5e-324, 1.797e308, WHOLE, 2.0 * WHOLE, 0.1 + 0.2];
        let random = (0..100_000).map(|_| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(bits)
        });
        for value in some.into_iter().chain(random).filter(|value| value.is_finite()) {
            let text = number(value);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
            assert!(text.len() < 26, "{text}");
        }
        assert_eq!(number(4.0), "4");
        assert_eq!(number(-0.0), "-0.0");
    }
}
