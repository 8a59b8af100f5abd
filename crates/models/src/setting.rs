//! The paper's experiments: prior, truth and budget of each problem, as the text or the appendix has them.

use counterpoise_core::problem::law::LogUniform;
use counterpoise_core::problem::{LawError, Marginal, Prior};

use crate::ModelError;
use crate::catalogue::entry;

/// Which of the paper's two accounts of its experiments to follow where they disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// The body and the figures' captions.
    #[default]
    Text,
    /// The table of hyperparameters in appendix A.
    Appendix,
}

impl Preset {
    /// The preset called `text` or `appendix`.
    ///
    /// # Errors
    /// If `name` is neither.
    pub fn parse(name: &str) -> Result<Self, ModelError> {
        match name {
            "text" => Ok(Self::Text),
            "appendix" => Ok(Self::Appendix),
            _ => Err(ModelError::UnknownPreset { found: name.into() }),
        }
    }
}

/// A parameter with the log-uniform prior the paper gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Lower end of the prior.
    pub low: f64,
    /// Upper end of the prior.
    pub high: f64,
    /// The value behind the paper's synthetic data.
    pub truth: f64,
}

impl Parameter {
    pub(crate) const fn new(name: &'static str, (low, high): (f64, f64), truth: f64) -> Self {
        Self { name, low, high, truth }
    }
}

/// One experiment of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Setting {
    /// What is inferred, in the simulator's order.
    pub parameters: &'static [Parameter],
    /// Simulations a generation.
    pub simulations: usize,
    /// Share of the simulations kept.
    pub keep: f64,
    /// Generations, the first included.
    pub generations: usize,
    /// Standard deviation of the proposal, in log10 of each parameter.
    pub proposal_sd: f64,
}

impl Setting {
    /// Every experiment has five generations and the same proposal.
    pub(crate) const fn new(parameters: &'static [Parameter], simulations: usize, keep: f64) -> Self {
        Self { parameters, simulations, keep, generations: 5, proposal_sd: 0.25 }
    }

    /// The prior: independent and log-uniform.
    ///
    /// # Errors
    /// Never for a setting that [`setting`] gave; only if its intervals were changed to invalid ones.
    pub fn prior(&self) -> Result<Prior, LawError> {
        let marginal = |parameter: &Parameter| {
            let law = LogUniform::new(parameter.low, parameter.high)?;
            Ok(Marginal::new(parameter.name, Box::new(law)))
        };
        Ok(Prior::new(self.parameters.iter().map(marginal).collect::<Result<_, _>>()?))
    }

    /// The parameters behind the paper's synthetic data.
    #[must_use]
    pub fn truth(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| parameter.truth).collect()
    }
}

/// The paper's experiment with the model `name`.
///
/// # Errors
/// If there is no such model.
pub fn setting(name: &str, preset: Preset) -> Result<Setting, ModelError> {
    let entry = entry(name)?;
    Ok(match preset {
        Preset::Text => entry.text,
        Preset::Appendix => entry.appendix,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NAMES;

    /// Intervals, truths, simulations and share kept, in the order of [`NAMES`].
    type Row = (&'static [(f64, f64)], &'static [f64], usize, f64);

    const TEXT: [Row; 5] = [
        (&[(1.0, 100.0)], &[10.0], 50_000, 0.005),
        (&[(1.0, 100.0)], &[10.0], 50_000, 0.005),
        (&[(1e-3, 1e3), (1e-3, 1e3)], &[0.1, 0.01], 50_000, 0.05),
        (DIMERIZATION, &[1.0, 0.04, 0.002, 0.5], 50_000, 0.05),
        (&[(1e-4, 1.0)], &[0.1], 50_000, 0.05),
    ];
    const APPENDIX: [Row; 5] = [
        (&[(1e-4, 1e4)], &[10.0], 50_000, 0.005),
        (&[(1e-4, 1e4)], &[10.0], 50_000, 0.005),
        (&[(1e-4, 1e4), (1e-4, 1e4)], &[0.1, 0.01], 500_000, 0.005),
        (DIMERIZATION, &[1.0, 0.04, 0.002, 0.5], 50_000, 0.05),
        (&[(1e-4, 1.0)], &[0.1], 50_000, 0.05),
    ];
    const DIMERIZATION: &[(f64, f64)] = &[(1e-2, 1e2), (1e-3, 10.0), (1e-5, 1e-1), (1e-3, 10.0)];

    #[test]
    fn settings_are_the_papers() {
        for (preset, rows) in [(Preset::Text, TEXT), (Preset::Appendix, APPENDIX)] {
            for (name, (intervals, truth, simulations, keep)) in NAMES.iter().zip(rows) {
                let setting = setting(name, preset).unwrap();
                let found: Vec<_> = setting.parameters.iter().map(|each| (each.low, each.high)).collect();
                assert_eq!(found, intervals, "{name} {preset:?}");
                assert_eq!(setting.truth(), truth, "{name} {preset:?}");
                assert_eq!((setting.simulations, setting.keep), (simulations, keep), "{name} {preset:?}");
                assert_eq!((setting.generations, setting.proposal_sd), (5, 0.25));
            }
        }
        assert_eq!(
            setting("deth", Preset::Text).unwrap_err().to_string(),
            "expected a built-in model (toy, toy-sorted, death, dimerization, diffusion), found 'deth'"
        );
    }

    #[test]
    fn priors_are_log_uniform_on_the_intervals_and_hold_the_truth() {
        for name in NAMES {
            for preset in [Preset::Text, Preset::Appendix] {
                let setting = setting(name, preset).unwrap();
                let prior = setting.prior().unwrap();
                assert_eq!(prior.dimension(), setting.parameters.len());
                for (marginal, parameter) in prior.marginals().iter().zip(setting.parameters) {
                    assert_eq!(marginal.name(), parameter.name);
                    let (low, high) = marginal.support();
                    assert!((low / parameter.low - 1.0).abs() < 1e-12);
                    assert!((high / parameter.high - 1.0).abs() < 1e-12);
                    // The geometric middle of a log-uniform law is the centre of its unit space.
                    assert!(marginal.unit((parameter.low * parameter.high).sqrt()).abs() < 1e-12);
                    assert!(marginal.ln_density(marginal.unit(parameter.truth)).is_finite());
                }
            }
        }
    }

    #[test]
    fn presets_are_named() {
        assert_eq!(Preset::parse("text"), Ok(Preset::Text));
        assert_eq!(Preset::parse("appendix"), Ok(Preset::Appendix));
        assert_eq!(
            Preset::parse("Text").unwrap_err().to_string(),
            "expected a preset (text, appendix), found 'Text'"
        );
    }
}
