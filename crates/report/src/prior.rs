//! The question of a run, from its description.

use counterpoise_core::problem::law::{KINDS, Scale};
use counterpoise_core::problem::{Marginal, Prior, Problem};
use serde_json::Value;

/// Prior, statistics and observed values; `None` where the description does not say.
pub(crate) fn problem(description: &Value) -> Option<Problem> {
    let parameters = description["parameters"].as_object()?;
    let marginals = parameters.iter().map(|(name, law)| marginal(name, law)).collect::<Option<Vec<_>>>()?;
    let observed = description["observed"].as_object()?;
    if marginals.is_empty() || observed.is_empty() {
        return None;
    }
    Some(Problem {
        prior: Prior::new(marginals).into(),
        statistics: observed.keys().cloned().collect(),
        observed: observed.values().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect(),
    })
}

fn marginal(name: &str, law: &Value) -> Option<Marginal> {
    let kind = KINDS.iter().find(|kind| law["law"] == kind.name)?;
    let number = |key: &str| law[key].as_f64();
    let second = kind.keys.get(1).map_or(Some(f64::NAN), |key| number(key))?;
    let built = (kind.build)(number(kind.keys[0])?, second).ok()?;
    if kind.keys.contains(&"low") || (number("low").is_none() && number("high").is_none()) {
        return Some(Marginal::new(name, built));
    }
    let (low, high) = (number("low").unwrap_or(f64::NEG_INFINITY), number("high").unwrap_or(f64::INFINITY));
    Marginal::truncated(name, built, low, high).ok()
}

/// The density of a prior at a natural value: of the value, or of its decimal logarithm where it is drawn on such an axis.
pub(crate) fn density(marginal: &Marginal, value: f64) -> f64 {
    let unit = marginal.unit(value);
    let a_latent = marginal.ln_density(unit).exp() * marginal.unit_of_latent();
    if marginal.scale() == Scale::Log { a_latent * std::f64::consts::LN_10 } else { a_latent }
}

/// Its law in words.
pub(crate) fn words(law: &Value) -> String {
    let numbers = law.as_object().into_iter().flatten().filter(|(key, _)| *key != "law");
    let numbers: Vec<String> = numbers
        .map(|(key, value)| {
            format!("{key} {}", crate::number::significant(value.as_f64().unwrap_or(f64::NAN), 4))
        })
        .collect();
    format!("{} ({})", law["law"].as_str().unwrap_or("?"), numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_law_comes_back_and_its_density_has_area_one() {
        let laws = json!({
            "a": {"law": "uniform", "low": -1.0, "high": 2.0},
            "b": {"law": "log-uniform", "low": 1e-3, "high": 1e3},
            "c": {"law": "normal", "mean": 1.0, "sd": 2.0},
            "d": {"law": "log-normal", "mean": 0.5, "sd": 0.7},
            "e": {"law": "gamma", "shape": 2.0, "scale": 3.0},
            "f": {"law": "beta", "alpha": 2.0, "beta": 3.0},
            "g": {"law": "exponential", "rate": 0.5},
            "h": {"law": "integer", "low": 1.0, "high": 9.0},
            "i": {"law": "normal", "mean": 0.0, "sd": 1.0, "low": 0.0},
        });
        let problem = problem(&json!({"parameters": laws, "observed": {"s": 1.0}})).unwrap();
        assert_eq!(problem.prior.marginals().len(), 9);
        for marginal in problem.prior.marginals() {
            let (low, high) = marginal.unit_range();
            let warp = |value: f64| if marginal.scale() == Scale::Log { value.log10() } else { value };
            let places: Vec<f64> = (0..=2000)
                .map(|i| low + (high - low) * f64::from(i) / 2000.0)
                .map(|unit| unit / marginal.unit_of_latent())
                .collect();
            // Through the latent value, since whole numbers are rounded on their natural scale.
            let centre = marginal.unit(1.0);
            let natural = |latent: f64| marginal.natural(latent * marginal.unit_of_latent());
            if marginal.scale() == Scale::Whole {
                assert!(density(marginal, 5.0) > 0.1, "{centre}");
                continue;
            }
            let area: f64 = places
                .windows(2)
                .map(|pair| {
                    let (a, b) = (natural(pair[0]), natural(pair[1]));
                    density(marginal, natural((pair[0] + pair[1]) / 2.0)) * (warp(b) - warp(a))
                })
                .sum();
            assert!((area - 1.0).abs() < 0.01, "{}: {area}", marginal.name());
        }
    }

    #[test]
    fn nonsense_is_no_problem() {
        assert!(problem(&json!({})).is_none());
        assert!(problem(&json!({"parameters": {"k": {"law": "magic"}}, "observed": {"s": 1}})).is_none());
    }
}
