//! What is wrong with a run, in words, each with what to do about it.

use std::fmt::{Display, Formatter};

use crate::digest::Generation;
use crate::problem::Problem;
use crate::problem::law::Scale;

/// Effective sample size below this share of the kept is worth a warning.
const ESS_SHARE: f64 = 0.2;
/// Information below a baseline's by more than this is not noise.
const INFORMATION_SLACK: f64 = 0.02;
/// A posterior leans against a bound when this much of it lies within this many of its own standard deviations of
/// the bound (for whole numbers: at the last one), and so many times what the prior itself has there.
const EDGE_MASS: f64 = 0.1;
const EDGE: f64 = 0.25;
const EDGE_EXCESS: f64 = 1.5;

/// One finding about the last generation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Rows tie at the threshold of acceptance.
    TiedDistances {
        /// Accepted rows that tie with a rejected one.
        count: usize,
        /// Rows kept.
        kept: usize,
    },
    /// Particles share their parameters.
    RepeatedParameters {
        /// Particles that repeat another.
        count: usize,
        /// Rows kept.
        kept: usize,
    },
    /// Statistics were dropped because they never vary.
    ConstantStatistics {
        /// Their names.
        names: Vec<String>,
    },
    /// The observation lies outside what the model produces.
    Unreached {
        /// Names of the statistics.
        names: Vec<String>,
    },
    /// Few particles carry most of the importance weight.
    LowEffectiveSampleSize {
        /// Effective sample size.
        ess: f64,
        /// Rows kept.
        kept: usize,
    },
    /// A simple rule is more informative on simulations that the weights have not seen.
    BelowBaseline {
        /// Information of the chosen weights, held out.
        held_out: f64,
        /// The rule that beats them.
        rule: String,
        /// Its information.
        baseline: f64,
    },
    /// Weights were learned on the simulations they accept, and look better there than elsewhere.
    Optimism {
        /// Information on the simulations the weights were learned from.
        in_sample: f64,
        /// Information on others.
        held_out: f64,
    },
    /// The posterior leans against a bound of the prior.
    AtPriorBound {
        /// Parameter.
        parameter: String,
        /// The bound.
        bound: f64,
        /// What lies beyond it: "smaller" or "larger" values.
        beyond: &'static str,
        /// Probability close to it.
        probability: f64,
    },
    /// Simulations failed.
    FailedSimulations {
        /// How many.
        failed: usize,
        /// Of how many.
        simulations: usize,
        /// An example, with its parameters.
        example: String,
    },
}

impl Display for Warning {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TiedDistances { count, kept } => write!(
                f,
                "{count} of {kept} accepted simulations tie with rejected ones at the threshold; the lower rows were \
                 taken. More simulations a generation make ties rarer"
            ),
            Self::RepeatedParameters { count, kept } => write!(
                f,
                "{count} of {kept} kept particles repeat the parameters of another: the information figures are too \
                 high. Use distinct parameters for each simulation"
            ),
            Self::ConstantStatistics { names } => write!(
                f,
                "{} never varied and {} dropped: {}",
                if names.len() == 1 { "1 statistic".into() } else { format!("{} statistics", names.len()) },
                if names.len() == 1 { "was" } else { "were" },
                listed(names)
            ),
            Self::Unreached { names } => write!(
                f,
                "the observed value of {} lies outside all simulations of the last generation: the model, the prior \
                 or the data may be wrong, and the posterior cannot be trusted",
                listed(names)
            ),
            Self::LowEffectiveSampleSize { ess, kept } => write!(
                f,
                "the effective sample size is {ess:.0} of {kept} kept: few particles carry most of the weight. Keep \
                 more, or use fewer generations"
            ),
            Self::BelowBaseline { held_out, rule, baseline } => write!(
                f,
                "on simulations they have not seen the chosen weights are less informative ({held_out:.3}) than the \
                 rule `{rule}` ({baseline:.3}). Try weighting = \"{rule}\" or more simulations a generation"
            ),
            Self::Optimism { in_sample, held_out } => write!(
                f,
                "the weights were learned on the simulations they accept, which makes posteriors too narrow: \
                 information {in_sample:.3} on the simulations learned from, {held_out:.3} on others, an optimism of \
                 {:.3}. weighting = \"hellinger\" learns on one half and accepts in the other",
                in_sample - held_out
            ),
            Self::AtPriorBound { parameter, bound, beyond, probability } => write!(
                f,
                "{:.0} % of the posterior of {parameter} lies against the prior's bound {}. If {beyond} values are \
                 possible, widen the prior",
                probability * 100.0,
                rounded(*bound)
            ),
            Self::FailedSimulations { failed, simulations, example } => {
                write!(f, "{failed} of {simulations} simulations failed and were never accepted; {example}")
            }
        }
    }
}

/// Six significant digits: a bound that went through a logarithm and back is not quite what the user wrote.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 6;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

/// Findings about the last generation of a run, and the failures of all.
#[must_use]
pub fn diagnose(problem: &Problem, history: &[Generation]) -> Vec<Warning> {
    let Some(last) = history.last() else { return Vec::new() };
    let kept = last.population.len();
    let mut warnings = Vec::new();
    if last.ties.at_threshold > 0 {
        warnings.push(Warning::TiedDistances { count: last.ties.at_threshold, kept });
    }
    if last.ties.parameters > 0 {
        warnings.push(Warning::RepeatedParameters { count: last.ties.parameters, kept });
    }
    if !last.constant.is_empty() {
        let names = last.constant.iter().map(|&j| last.features[j].clone()).collect();
        warnings.push(Warning::ConstantStatistics { names });
    }
    if !last.unreached.is_empty() {
        let names = last.unreached.iter().map(|&j| last.features[j].clone()).collect();
        warnings.push(Warning::Unreached { names });
    }
    let ess = last.population.effective_sample_size();
    if ess < ESS_SHARE * kept as f64 {
        warnings.push(Warning::LowEffectiveSampleSize { ess, kept });
    }
    warnings.extend(information(last));
    warnings.extend(bounds(problem, last));
    warnings.extend(failures(problem, history));
    warnings
}

fn information(last: &Generation) -> Vec<Warning> {
    let information = &last.information;
    let mut warnings = Vec::new();
    if last.in_sample {
        let (in_sample, held_out) = (information.in_sample, information.held_out);
        warnings.push(Warning::Optimism { in_sample, held_out });
    }
    let best = information.baselines.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some(&(ref rule, baseline)) = best
        && baseline > information.held_out + INFORMATION_SLACK
    {
        warnings.push(Warning::BelowBaseline {
            held_out: information.held_out,
            rule: rule.clone(),
            baseline,
        });
    }
    warnings
}

fn bounds(problem: &Problem, last: &Generation) -> Vec<Warning> {
    let weights = last.population.weights.normalised();
    let mut warnings = Vec::new();
    for (j, marginal) in problem.prior.marginals().iter().enumerate() {
        let units = last.population.units.column(j);
        let (low, high) = marginal.unit_range();
        let whole = if marginal.scale() == Scale::Whole { marginal.unit_of_latent() } else { 0.0 };
        let margin = whole.max(EDGE * crate::summary::moments(&units, weights).1);
        let mass = |near: &dyn Fn(f64) -> bool| -> f64 {
            units.iter().zip(weights).filter(|(unit, _)| near(**unit)).map(|(_, weight)| weight).sum()
        };
        let (lower, upper) = marginal.chosen_bounds();
        let ends = [
            (lower, "smaller", mass(&|unit| unit < low + margin), marginal.cdf(low + margin)),
            (upper, "larger", mass(&|unit| unit > high - margin), 1.0 - marginal.cdf(high - margin)),
        ];
        for (bound, beyond, probability, before) in ends {
            if let Some(bound) = bound
                && probability > EDGE_MASS.max(EDGE_EXCESS * before)
            {
                let parameter = marginal.name().to_owned();
                warnings.push(Warning::AtPriorBound { parameter, bound, beyond, probability });
            }
        }
    }
    warnings
}

fn failures(problem: &Problem, history: &[Generation]) -> Option<Warning> {
    let failed: usize = history.iter().map(|generation| generation.failed).sum();
    let (index, example) =
        history.iter().find_map(|g| g.failure.as_ref().map(|failure| (g.index, failure)))?;
    let theta: Vec<String> = problem
        .prior
        .marginals()
        .iter()
        .zip(&example.theta)
        .map(|(marginal, value)| format!("{} = {value}", marginal.name()))
        .collect();
    Some(Warning::FailedSimulations {
        failed,
        simulations: history.iter().map(|generation| generation.simulations).sum(),
        example: format!(
            "for example row {} of generation {index} at {}: {}",
            example.row,
            theta.join(", "),
            example.failure.named(&problem.statistics)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::{Information, Ties};
    use crate::population::{LogWeights, Population};
    use crate::problem::{Marginal, Prior, law};
    use crate::table::Table;

    fn problem() -> Problem {
        let law = Box::new(law::LogUniform::new(1e-3, 1e3).unwrap());
        let prior = Prior::new(vec![Marginal::new("k", law)]);
        Problem { prior: prior.into(), statistics: vec!["a".into(), "b".into()], observed: vec![0.0; 2] }
    }

    /// A generation without fault: 100 particles about the middle of the prior.
    fn sound(problem: &Problem) -> Generation {
        let units: Vec<f64> = (0..100).map(|i| f64::from(i) / 200.0 - 0.25).collect();
        let thetas = units.iter().map(|&unit| problem.prior.marginals()[0].natural(unit)).collect();
        let rows: Vec<u32> = (0..100).collect();
        Generation {
            index: 0,
            simulations: 1000,
            adjusted: None,
            population: Population {
                rows,
                units: Table::from_rows(1, units),
                thetas: Table::from_rows(1, thetas),
                weights: LogWeights::new(vec![0.0; 100]).unwrap(),
                distances: vec![0.0; 100],
            },
            features: problem.statistics.clone(),
            weights: vec![vec![1.0; 2]],
            in_sample: false,
            evidence: Vec::new(),
            evaluations: 0,
            information: Information {
                in_sample: 0.6,
                held_out: 0.6,
                baselines: vec![("uniform".into(), 0.5)],
            },
            spread: vec![1.0; 2],
            influence: vec![0.5; 2],
            constant: Vec::new(),
            unreached: Vec::new(),
            ties: Ties::default(),
            failed: 0,
            failure: None,
        }
    }

    fn found(change: impl Fn(&mut Generation)) -> Vec<String> {
        let problem = problem();
        let mut generation = sound(&problem);
        change(&mut generation);
        diagnose(&problem, &[generation]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_sound_generation_has_no_warning() {
        assert_eq!(found(|_| ()), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_named_once_with_its_numbers() {
        let one = |change: &dyn Fn(&mut Generation), text: &str| {
            let warnings = found(change);
            assert!(warnings.len() == 1 && warnings[0].contains(text), "{warnings:?} should say: {text}");
        };
        one(&|g| g.ties.at_threshold = 7, "7 of 100 accepted simulations tie");
        one(&|g| g.ties.parameters = 3, "3 of 100 kept particles repeat");
        one(&|g| g.constant = vec![1], "1 statistic never varied and was dropped: b");
        one(
            &|g| g.information.baselines[0].1 = 0.7,
            "less informative (0.600) than the rule `uniform` (0.700)",
        );
        one(&|g| g.in_sample = true, "an optimism of 0.000");
        let heavy = |g: &mut Generation| {
            let ln = (0..100).map(|i| if i < 5 { 0.0 } else { -9.0 }).collect();
            g.population.weights = LogWeights::new(ln).unwrap();
        };
        one(&heavy, "the effective sample size is 5 of 100 kept");
        let edge = |g: &mut Generation| {
            for row in 0..30 {
                g.population.units.row_mut(row)[0] = 1.7;
            }
        };
        one(&edge, "30 % of the posterior of k lies against the prior's bound 1000");
    }

    #[test]
    fn a_failure_is_told_with_an_example_to_repeat() {
        let warnings = found(|g| {
            g.failed = 4;
            let failure = crate::problem::Failure::Declined("too hot".into());
            g.failure = Some(crate::digest::FailureExample { row: 12, theta: vec![0.5], failure });
        });
        let text = "4 of 1000 simulations failed and were never accepted; for example row 12 of generation 0 at k = 0.5: \
                    simulator declined: too hot";
        assert_eq!(warnings, [text]);
    }
}
