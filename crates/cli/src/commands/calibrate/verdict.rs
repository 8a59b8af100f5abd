//! What a calibration says in words, and what to try.

use serde_json::Value;

use super::{Coverage, From, JUDGED};

/// Standard errors beyond which the judged intervals are wrong, and beyond which others are: there are three of these.
const FAR: f64 = 2.0;
const FAR_ELSEWHERE: f64 = 2.5;

/// What was calibrated.
pub(super) struct Calibrated<'a> {
    pub(super) from: From,
    /// The method, as a run describes it.
    pub(super) method: &'a Value,
    pub(super) keep: usize,
    pub(super) datasets: usize,
    pub(super) parameters: usize,
}

/// The verdict: about the judged intervals; about others where those are right.
pub(super) fn verdict(coverage: &[Coverage], of: &Calibrated<'_>) -> String {
    let off = |level: &Coverage| (level.covered - level.level) / of.error_if_right(level);
    let judged = &coverage[JUDGED];
    let place = match of.from {
        From::Prior | From::Reused => "",
        From::Posterior | From::Accepted => "near the observation, ",
    };
    let says = |level: &Coverage| {
        format!("{:.0} % intervals cover {:.0} %", 100.0 * level.level, (100.0 * level.covered).round())
    };
    if off(judged).abs() > FAR {
        return format!("{place}{}: {}", says(judged), of.remedy(off(judged)));
    }
    let elsewhere = coverage.iter().filter(|level| off(level).abs() > FAR_ELSEWHERE);
    if let Some(worst) = elsewhere.max_by(|a, b| off(a).abs().total_cmp(&off(b).abs())) {
        return format!("{place}{}, but {}: {}", says(judged), says(worst), of.remedy(off(worst)));
    }
    let seen = 100.0 * FAR * of.error_if_right(judged);
    format!(
        "{place}{}: no sign of trouble; with {} datasets an error beyond about {seen:.0} points would have shown",
        says(judged),
        of.datasets
    )
}

impl Calibrated<'_> {
    /// The standard error of a coverage that is what it should be. Parameters of one dataset are not independent: how much they
    /// tell together is seen from the error that was found, beside that of one parameter.
    fn error_if_right(&self, found: &Coverage) -> f64 {
        let of_one = |share: f64| (share * (1.0 - share) / self.datasets as f64).sqrt();
        let single = of_one(found.covered);
        let least = 1.0 / (self.parameters as f64).sqrt();
        of_one(found.level) * if single > 0.0 { (found.error / single).clamp(least, 1.0) } else { 1.0 }
    }

    fn remedy(&self, off: f64) -> String {
        if off > 0.0 {
            return "wider than they need be; more generations or a smaller keep would narrow them"
                .to_owned();
        }
        let (weighting, adjust) = (&self.method["weighting"], &self.method["adjust"]);
        let mut remedies = Vec::new();
        if weighting["cross_fit"] == Value::Bool(false) {
            remedies.push("cross_fit = true".to_owned());
        } else if weighting["rule"] == "paper" {
            remedies.push("weighting = \"hellinger\"".to_owned());
        }
        if !adjust.is_null() && adjust != "none" {
            remedies.push("adjust = \"none\"".to_owned());
        }
        remedies.push(format!("keep = {}", 2 * self.keep));
        let last = remedies.pop().unwrap_or_default();
        let others = remedies.join(", ");
        let or = if others.is_empty() { "" } else { " or " };
        format!("too narrow; try {others}{or}{last}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(covered: [f64; 4], datasets: usize, method: &Value) -> String {
        let coverage: Vec<Coverage> = super::super::LEVELS
            .iter()
            .zip(covered)
            .map(|(&level, covered)| {
                let error = (covered * (1.0 - covered) / (datasets as f64 - 1.0)).sqrt();
                Coverage { level, covered, error }
            })
            .collect();
        verdict(&coverage, &Calibrated { from: From::Prior, method, keep: 250, datasets, parameters: 1 })
    }

    #[test]
    fn a_verdict_for_every_outcome() {
        let plain = json!({ "weighting": { "rule": "uniform" }, "adjust": "none" });
        assert_eq!(
            said([0.5, 0.8, 0.78, 0.95], 100, &plain),
            "90 % intervals cover 78 %: too narrow; try keep = 500"
        );
        assert!(said([0.5, 0.8, 0.97, 0.95], 100, &plain).contains("cover 97 %: wider than they need be"));
        let fine = said([0.5, 0.8, 0.88, 0.95], 100, &plain);
        assert!(fine.ends_with(
            "no sign of trouble; with 100 datasets an error beyond about 6 points would have shown"
        ));
    }

    /// 48 of 60, where 54 are expected with a standard deviation of 2.3, are too few, although the spread that such a share has by itself
    /// reaches up to 90 %.
    #[test]
    fn a_share_is_judged_by_the_spread_it_would_have_if_all_were_well() {
        let plain = json!({ "weighting": { "rule": "uniform" }, "adjust": "none" });
        assert!(said([0.5, 0.8, 0.8, 0.95], 60, &plain).contains("too narrow"));
        assert_eq!(
            said([0.33, 0.8, 0.9, 0.95], 60, &plain),
            "90 % intervals cover 90 %, but 50 % intervals cover 33 %: too narrow; try keep = 500"
        );
    }

    #[test]
    fn remedies_fit_the_method() {
        let of = |method: Value| said([0.5, 0.8, 0.7, 0.95], 100, &method);
        let in_sample = json!({ "weighting": { "rule": "hellinger", "cross_fit": false }, "adjust": "none" });
        assert!(of(in_sample).ends_with("try cross_fit = true or keep = 500"));
        let paper = json!({ "weighting": { "rule": "paper" }, "adjust": { "rule": "linear" } });
        assert!(of(paper).ends_with("try weighting = \"hellinger\", adjust = \"none\" or keep = 500"));
        let crossed = json!({ "weighting": { "rule": "hellinger", "cross_fit": true }, "adjust": "none" });
        assert!(of(crossed).ends_with("try keep = 500"));
    }

    /// Two parameters that always agree are worth one.
    #[test]
    fn parameters_that_agree_are_not_counted_twice() {
        let coverage = |error: f64| Coverage { level: 0.9, covered: 0.8, error };
        let of =
            Calibrated { from: From::Prior, method: &Value::Null, keep: 1, datasets: 100, parameters: 2 };
        assert!((of.error_if_right(&coverage(0.04)) - 0.03).abs() < 1e-12);
        assert!((of.error_if_right(&coverage(0.04 / 2.0_f64.sqrt())) - 0.03 / 2.0_f64.sqrt()).abs() < 1e-12);
    }
}
