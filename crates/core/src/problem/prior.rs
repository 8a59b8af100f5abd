//! The prior: named, perhaps truncated laws, independent unless a joint law ties them, and the unit space they span.
//!
//! Kernels, neighbour distances and densities all live in unit space: the latent value of each parameter
//! (its logarithm where the law says so), shifted and scaled to mean 0 and standard deviation 1 under the
//! prior. A particle *is* its unit-space point; the natural values are a function of it.

use std::sync::{Arc, OnceLock};

use rand::RngExt;

use super::joint::{self, Joint};
use super::law::{Law, Scale};
use super::unit_scale::UnitScale;
use crate::digits;
use crate::stream::Stream;

/// Points of the quadrature that finds the moments of a truncated law.
const QUADRATURE: usize = 2_000;

/// One named parameter: its law, cut to an interval, standardised.
#[derive(Debug)]
pub struct Marginal {
    name: String,
    law: Box<dyn Law>,
    /// Latent interval.
    low: f64,
    high: f64,
    /// Probability below `low` and inside the interval under the uncut law.
    below: f64,
    mass: f64,
    truncated: bool,
    centre: f64,
    spread: f64,
    /// Log of the unit-space density over the law's own.
    ln_factor: f64,
    /// The unit-space log density, where it is the same everywhere.
    ln_flat: Option<f64>,
}

/// Why a law cannot be cut as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PriorError {
    /// The interval is reversed.
    #[error("low must be below high, found low = {low} and high = {high}")]
    Reversed {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The law gives the interval no probability.
    #[error("the law gives no probability to [{low}, {high}]")]
    Empty {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
}

impl Marginal {
    /// A parameter that follows `law` on the whole of its support.
    #[must_use]
    pub fn new(name: impl Into<String>, law: Box<dyn Law>) -> Self {
        let (low, high) = law.support();
        let (centre, spread) = law.moments();
        let marginal = Self {
            name: name.into(),
            law,
            low,
            high,
            below: 0.0,
            mass: 1.0,
            truncated: false,
            centre,
            spread,
            ln_factor: libm::log(spread),
            ln_flat: None,
        };
        Self { ln_flat: marginal.flat(), ..marginal }
    }

    /// The log density of any point inside the support, if all have the same.
    fn flat(&self) -> Option<f64> {
        self.law.is_flat().then(|| self.law.ln_density(0.5 * (self.low + self.high)) + self.ln_factor)
    }

    /// The same, cut to the natural interval `[low, high]`; either end may be infinite.
    ///
    /// # Errors
    /// If the interval is reversed or has no probability.
    pub fn truncated(
        name: impl Into<String>,
        law: Box<dyn Law>,
        low: f64,
        high: f64,
    ) -> Result<Self, PriorError> {
        if low.is_nan() || high.is_nan() || low >= high {
            return Err(PriorError::Reversed { low, high });
        }
        let mut marginal = Self::new(name, law);
        let latent = |end: f64, otherwise: f64| {
            let value = marginal.law.scale().latent(end);
            if value.is_nan() { otherwise } else { value }
        };
        let (first, last) = match marginal.law.scale() {
            Scale::Whole => (low.ceil() - 0.5, high.floor() + 0.5),
            Scale::Linear | Scale::Log => (latent(low, f64::NEG_INFINITY), latent(high, f64::NEG_INFINITY)),
        };
        let (cut_low, cut_high) = (first.max(marginal.low), last.min(marginal.high));
        if cut_low >= cut_high {
            return Err(PriorError::Empty { low, high });
        }
        if (cut_low, cut_high) == (marginal.low, marginal.high) {
            return Ok(marginal);
        }
        marginal.below = marginal.law.cdf(cut_low);
        marginal.mass = marginal.law.cdf(cut_high) - marginal.below;
        if marginal.mass.is_nan() || marginal.mass < 1e-12 {
            return Err(PriorError::Empty { low, high });
        }
        (marginal.low, marginal.high, marginal.truncated) = (cut_low, cut_high, true);
        (marginal.centre, marginal.spread) = marginal.cut_moments();
        marginal.ln_factor = libm::log(marginal.spread) - libm::log(marginal.mass);
        marginal.ln_flat = marginal.flat();
        Ok(marginal)
    }

    fn cut_moments(&self) -> (f64, f64) {
        let values: Vec<f64> = self.quadrature().collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt())
    }

    /// Latent values at equally spaced probabilities.
    fn quadrature(&self) -> impl Iterator<Item = f64> {
        (0..QUADRATURE).map(|i| self.quantile((i as f64 + 0.5) / QUADRATURE as f64))
    }

    fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(self.below + p * self.mass).clamp(self.low, self.high)
    }

    /// The parameter's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How latent and natural values correspond.
    #[must_use]
    pub fn scale(&self) -> Scale {
        self.law.scale()
    }

    /// The interval of natural values; may be infinite.
    #[must_use]
    pub fn support(&self) -> (f64, f64) {
        let scale = self.law.scale();
        if scale == Scale::Whole {
            return ((self.low + 0.5).ceil(), (self.high - 0.5).floor());
        }
        (scale.natural(self.low), scale.natural(self.high))
    }

    /// The interval in unit space; may be infinite.
    #[must_use]
    pub fn unit_support(&self) -> (f64, f64) {
        let unit = |latent: f64| (latent - self.centre) / self.spread;
        (unit(self.low), unit(self.high))
    }

    /// The interval in unit space; an infinite end is cut where the prior has a probability of 0.001 beyond it.
    #[must_use]
    pub fn unit_range(&self) -> (f64, f64) {
        let end = |end: f64, p: f64| if end.is_finite() { end } else { self.quantile(p) };
        let unit = |latent: f64| (latent - self.centre) / self.spread;
        (unit(end(self.low, 0.001)), unit(end(self.high, 0.999)))
    }

    /// The natural bounds that somebody chose: `None` where the support is infinite, or ends by the nature of the law.
    #[must_use]
    pub fn chosen_bounds(&self) -> (Option<f64>, Option<f64>) {
        let (first, last) = self.law.support();
        let (low, high) = self.support();
        let chosen = |cut: bool, bound: f64| {
            (bound.is_finite() && (cut || !self.law.has_natural_ends())).then_some(bound)
        };
        (chosen(self.low > first, low), chosen(self.high < last, high))
    }

    /// Unit-space distance that one step of the latent value covers.
    #[must_use]
    pub fn unit_of_latent(&self) -> f64 {
        1.0 / self.spread
    }

    /// The natural value of a unit-space coordinate, to 34 binary digits of the prior's width, or of how far it is from an end of the
    /// prior where that is less: what lies near nothing has as many digits. Whole numbers are whole.
    #[must_use]
    pub fn natural(&self, unit: f64) -> f64 {
        let natural = self.natural_to_all_digits(unit);
        let latent = self.latent(unit);
        let width = self.spread.min(latent - self.low).min(self.high - latent);
        match self.law.scale() {
            Scale::Whole => natural,
            Scale::Linear => digits::within(natural, width),
            Scale::Log => digits::within(natural, width * natural),
        }
    }

    /// The same to all digits: a density may depend on them.
    pub(crate) fn natural_to_all_digits(&self, unit: f64) -> f64 {
        let natural = self.law.scale().natural(self.latent(unit));
        // The very end of the latent interval would round to the whole number beyond it.
        if self.law.scale() == Scale::Whole {
            natural.clamp(self.support().0, self.support().1)
        } else {
            natural
        }
    }

    fn latent(&self, unit: f64) -> f64 {
        (self.centre + self.spread * unit).clamp(self.low, self.high)
    }

    /// The unit-space coordinate of a natural value.
    #[must_use]
    pub fn unit(&self, natural: f64) -> f64 {
        self.unit_scale().unit(natural)
    }

    /// All that is needed to find the unit-space coordinate of a natural value.
    #[must_use]
    pub fn unit_scale(&self) -> UnitScale {
        UnitScale { scale: self.law.scale(), centre: self.centre, spread: self.spread }
    }

    /// Draws a unit-space coordinate.
    pub fn draw(&self, rng: &mut Stream) -> f64 {
        let latent = if self.truncated { self.quantile(rng.random()) } else { self.law.draw(rng) };
        (latent - self.centre) / self.spread
    }

    /// Log density in unit space; negative infinity outside the support.
    #[must_use]
    pub fn ln_density(&self, unit: f64) -> f64 {
        let latent = self.centre + self.spread * unit;
        // A draw at the very end of the interval may be moved past it by rounding.
        let slack = 4.0 * f64::EPSILON * self.centre.abs().max(self.spread);
        if latent.is_nan() || latent < self.low - slack || latent > self.high + slack {
            return f64::NEG_INFINITY;
        }
        if let Some(ln) = self.ln_flat {
            return ln;
        }
        // Some densities are infinite at the very end of their interval, where rounding may put a draw.
        // Two neighbouring numbers leave nothing between them: no clamp, which would panic.
        self.law.ln_density(latent.max(self.low.next_up()).min(self.high.next_down())) + self.ln_factor
    }

    /// Probability of a unit-space coordinate at or below `unit`.
    #[must_use]
    pub fn cdf(&self, unit: f64) -> f64 {
        let latent = (self.centre + self.spread * unit).clamp(self.low, self.high);
        ((self.law.cdf(latent) - self.below) / self.mass).clamp(0.0, 1.0)
    }

    /// The mean of the unit-space density under itself, by quadrature.
    fn mean_density(&self) -> f64 {
        let ln = self.quadrature().map(|x| libm::exp(self.ln_density((x - self.centre) / self.spread)));
        ln.sum::<f64>() / QUADRATURE as f64
    }
}

/// The parameters, in the order of the problem: independent, or under a joint law.
#[derive(Debug)]
pub struct Prior {
    marginals: Vec<Marginal>,
    joint: Option<Arc<dyn Joint>>,
    /// Computed once, by quadrature.
    mean_density: OnceLock<f64>,
}

impl Prior {
    /// # Panics
    /// If there is no parameter.
    #[must_use]
    pub fn new(marginals: Vec<Marginal>) -> Self {
        assert!(!marginals.is_empty(), "a prior has at least one parameter");
        Self { marginals, joint: None, mean_density: OnceLock::new() }
    }

    /// Parameters under a joint law. The marginals give them names and span unit space, and need not be those of the
    /// law: they should be about as wide. What lies outside their support has no density.
    ///
    /// # Panics
    /// If there is no parameter.
    #[must_use]
    pub fn joint(marginals: Vec<Marginal>, joint: Arc<dyn Joint>) -> Self {
        Self { joint: Some(joint), ..Self::new(marginals) }
    }

    /// Whether the density is known with its constant: that of a joint law is what somebody else says.
    #[must_use]
    pub fn is_normalised(&self) -> bool {
        self.joint.is_none()
    }

    /// The parameters, in order.
    #[must_use]
    pub fn marginals(&self) -> &[Marginal] {
        &self.marginals
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.marginals.iter().map(|marginal| marginal.name().to_owned()).collect()
    }

    /// How natural values of each become unit-space coordinates.
    #[must_use]
    pub fn unit_scales(&self) -> Vec<UnitScale> {
        self.marginals.iter().map(Marginal::unit_scale).collect()
    }

    /// Number of parameters.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.marginals.len()
    }

    /// Draws a unit-space point.
    pub fn draw(&self, rng: &mut Stream, unit: &mut [f64]) {
        if let Some(joint) = &self.joint {
            joint::draw(&**joint, &self.marginals, rng, unit);
            return;
        }
        for (value, marginal) in unit.iter_mut().zip(&self.marginals) {
            *value = marginal.draw(rng);
        }
    }

    /// Log density of a unit-space point; negative infinity outside the support.
    #[must_use]
    pub fn ln_density(&self, unit: &[f64]) -> f64 {
        if let Some(joint) = &self.joint {
            return joint::ln_density(&**joint, &self.marginals, unit);
        }
        unit.iter().zip(&self.marginals).map(|(&value, marginal)| marginal.ln_density(value)).sum()
    }

    /// Writes the natural values of a unit-space point.
    pub fn natural(&self, unit: &[f64], theta: &mut [f64]) {
        for ((value, &unit), marginal) in theta.iter_mut().zip(unit).zip(&self.marginals) {
            *value = marginal.natural(unit);
        }
    }

    /// `integral of density^2` over unit space.
    #[must_use]
    pub fn mean_density(&self) -> f64 {
        *self.mean_density.get_or_init(|| match &self.joint {
            Some(joint) => joint::mean_density(&**joint, &self.marginals),
            None => self.marginals.iter().map(Marginal::mean_density).product(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::{Beta, Exponential, Gamma, Integer, LogUniform, Normal, Uniform};
    use super::*;
    use crate::stream::{Seed, Stage};

    #[test]
    fn log_uniform_unit_space_is_a_centred_interval_of_half_width_root_three() {
        let marginal = Marginal::new("k", Box::new(LogUniform::new(1e-3, 1e3).unwrap()));
        assert!(marginal.unit(1.0).abs() < 1e-12);
        assert!((marginal.unit(1e3) - 3f64.sqrt()).abs() < 1e-12);
        assert!((marginal.natural_to_all_digits(marginal.unit(0.1)) - 0.1).abs() < 1e-12);
        // Half a step of a power of two that is no more than 2^-34 of the width there.
        let half = 0.5 * marginal.spread * 0.1 * 2.0_f64.powi(-34);
        assert!((marginal.natural(marginal.unit(0.1)) - 0.1).abs() <= half);
        assert!((marginal.ln_density(0.3) + libm::log(2.0 * 3f64.sqrt())).abs() < 1e-12);
        assert_eq!(marginal.ln_density(1.8), f64::NEG_INFINITY);
        assert!((marginal.mean_density() - 1.0 / 12f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn truncated_normal_agrees_with_scipy() {
        // scipy.stats.truncnorm(-0.5, 1, loc=1, scale=2): logpdf(2.5), mean, std
        let law = Box::new(Normal::new(1.0, 2.0).unwrap());
        let marginal = Marginal::truncated("x", law, 0.0, 3.0).unwrap();
        let density = marginal.ln_density(marginal.unit(2.5)) - libm::log(marginal.spread);
        assert!((density + 1.2637400812117545).abs() < 1e-12, "{density}");
        assert!((marginal.centre - 1.4132624361230661).abs() < 1e-6);
        assert!((marginal.spread - 0.8313200565040955).abs() < 1e-5);
        assert_eq!(marginal.support(), (0.0, 3.0));
    }

    #[test]
    fn every_draw_of_a_cut_law_stays_inside_and_has_a_density() {
        let cut: Vec<(Box<dyn Law>, f64, f64)> = vec![
            (Box::new(Gamma::new(2.0, 1.0).unwrap()), 1.0, 4.0),
            (Box::new(Beta::new(2.0, 2.0).unwrap()), 0.5, f64::INFINITY),
            (Box::new(Exponential::new(1.0).unwrap()), 3.0, 5.0),
            (Box::new(Uniform::new(0.0, 1.0).unwrap()), 0.25, 0.5),
            (Box::new(Normal::new(0.0, 1.0).unwrap()), 3.0, 4.0),
        ];
        for (law, low, high) in cut {
            let marginal = Marginal::truncated("x", law, low, high).unwrap();
            let mut rng = Seed(3).stream(Stage::Propose, 0, 0);
            for _ in 0..1000 {
                let unit = marginal.draw(&mut rng);
                let natural = marginal.natural(unit);
                assert!(low <= natural && natural <= high, "{marginal:?} drew {natural}");
                assert!(marginal.ln_density(unit).is_finite());
            }
            let (width, points) = (16.0 / 32_000.0, 32_000);
            let total: f64 = (0..points)
                .map(|i| libm::exp(marginal.ln_density(-8.0 + (f64::from(i) + 0.5) * width)) * width)
                .sum();
            assert!((total - 1.0).abs() < 2e-3, "{marginal:?}: the density sums to {total}");
        }
    }

    #[test]
    fn integers_are_whole_and_reach_both_ends() {
        let marginal = Marginal::truncated("n", Box::new(Integer::new(1.0, 9.0).unwrap()), 2.0, 4.0).unwrap();
        assert_eq!(marginal.support(), (2.0, 4.0));
        let mut rng = Seed(3).stream(Stage::Propose, 0, 0);
        let mut seen: Vec<f64> = (0..200).map(|_| marginal.natural(marginal.draw(&mut rng))).collect();
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        assert_eq!(seen, [2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_density_that_is_infinite_at_a_bound_is_finite_for_every_draw() {
        for (alpha, beta) in [(2.0, 0.1), (0.05, 1.0), (1.0, 1.0)] {
            let marginal = Marginal::new("p", Box::new(Beta::new(alpha, beta).unwrap()));
            let mut rng = Seed(3).stream(Stage::Propose, 0, 0);
            for _ in 0..2000 {
                let density = marginal.ln_density(marginal.draw(&mut rng));
                assert!(density.is_finite(), "Beta({alpha}, {beta}): {density}");
            }
        }
    }

    #[test]
    fn what_lies_near_an_end_keeps_its_digits() {
        let laws: [Box<dyn Law>; 3] = [
            Box::new(Gamma::new(0.05, 1.0).unwrap()),
            Box::new(Beta::new(0.05, 1.0).unwrap()),
            Box::new(Uniform::new(0.0, 1e-3).unwrap()),
        ];
        for law in laws {
            let marginal = Marginal::new("x", law);
            let mut rng = Seed(3).stream(Stage::Propose, 0, 0);
            for _ in 0..2_000 {
                let unit = marginal.draw(&mut rng);
                let (all, kept) = (marginal.natural_to_all_digits(unit), marginal.natural(unit));
                assert!((kept - all).abs() <= all.abs() * 2.0_f64.powi(-34), "{all} {kept}");
            }
        }
    }

    #[test]
    fn impossible_cuts_are_refused() {
        let law = || Box::new(Exponential::new(1.0).unwrap());
        assert!(matches!(Marginal::truncated("x", law(), 3.0, 2.0), Err(PriorError::Reversed { .. })));
        assert!(matches!(Marginal::truncated("x", law(), -3.0, -2.0), Err(PriorError::Empty { .. })));
    }
}
