//! What may be made of the simulations nearest to an observation: how many are taken, and how they are adjusted.

use std::sync::OnceLock;

use super::forward::Forward;
use super::modes::Modes;
use super::nested::{Nested, drawn};
use super::regression::kernel;
use super::{Accepted, AdjustError, Regression, Transform};
use crate::near::{Near, Thinned};
use crate::population::{LogWeights, Population};
use crate::stacked::Stacked;
use crate::table::Table;
use crate::trials::{FITTED, STAND_INS, systematic};
use crate::view::View;

/// Particles that a trial of a way that weighs afterwards moves: most of them weigh little, and weighing costs. And those that
/// are moved to the data, to see once how many would be left: of few, the heavy ones do not show.
const WEIGHED: usize = STAND_INS / 2;
const WEIGHED_ONCE: usize = 1_000;

/// A way to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Way {
    pub(super) size: Size,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Size {
    /// Effective size as a multiple of what is kept; infinite for all.
    Effective(f64),
    /// A share of all simulations.
    Share(f64),
    /// So many, whatever lies near: those that a [`Kind::Forward`] was fitted to.
    Fitted(usize),
}

impl Size {
    /// How many of the nearest that is, where so many are kept.
    pub(super) fn of(self, near: &Near<'_>, keep: f64) -> usize {
        match self {
            Self::Effective(size) => near.reaching(size * keep),
            Self::Share(share) => (share * near.all() as f64) as usize,
            Self::Fitted(count) => count,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Linear,
    /// In unit space, without those that leave the prior.
    Within,
    Heteroscedastic,
    /// A regression for each mode.
    ByMode,
    /// A regression in which simulations count the same, wherever they were proposed, and are weighed by where they are
    /// moved to: what is learned is the law of the parameters under the proposal, given the data, and prior over
    /// proposal makes it the posterior. Most simulations near the data weigh little as they were proposed, and a
    /// regression by those that weigh much reaches far.
    WeighedAfter,
    /// The same with a regression for each mode.
    WeighedAfterByMode,
    /// The features by the parameters, and not the parameters by the features: which of those that were fitted.
    Forward(usize),
}

impl Kind {
    pub(super) fn regression(self) -> Option<Regression> {
        let plain = Regression::default();
        match self {
            Self::None | Self::Forward(_) => None,
            Self::Linear | Self::WeighedAfter => Some(plain),
            Self::Within | Self::ByMode | Self::WeighedAfterByMode => {
                Some(Regression { transform: Transform::Within, ..plain })
            }
            Self::Heteroscedastic => Some(Regression { heteroscedastic: true, ..plain }),
        }
    }

    fn is_by_mode(self) -> bool {
        matches!(self, Self::ByMode | Self::WeighedAfterByMode)
    }

    fn is_weighed_after(self) -> bool {
        matches!(self, Self::WeighedAfter | Self::WeighedAfterByMode)
    }
}

/// What all looks at some simulations share.
#[derive(Clone, Copy)]
pub(super) struct Looks<'a> {
    pub(super) accepted: &'a Accepted<'a>,
    pub(super) view: &'a View<'a>,
    pub(super) modes: &'a Modes,
    /// The simulations' parameters on the scale of log odds, once somebody has asked for them.
    pub(super) logits: &'a OnceLock<Table>,
    /// Features with a weight.
    pub(super) used: &'a [usize],
    pub(super) forwards: &'a [Forward],
}

impl Looks<'_> {
    pub(super) fn name(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::None => "as accepted",
            Kind::Linear => "linear",
            Kind::Within => "linear, unbounded",
            Kind::Heteroscedastic => "linear, heteroscedastic",
            Kind::ByMode => "linear, by mode",
            Kind::WeighedAfter => "linear, weighed after",
            Kind::WeighedAfterByMode => "linear, by mode, weighed after",
            Kind::Forward(which) => self.forwards[which].name,
        }
    }

    /// A name that is the same in every generation.
    pub(super) fn key(&self, way: &Way) -> String {
        let name = self.name(way.kind);
        match (way.kind, way.size) {
            (Kind::Forward(which), _) => format!("{name}, {which}"),
            (_, Size::Effective(size)) => format!("{name}, {size} kept"),
            (_, Size::Share(share)) => format!("{name}, {share} of all"),
            (_, Size::Fitted(_)) => name.to_owned(),
        }
    }

    /// A look at what is nearest to an observation; `observed` has all features, `seen` those of the view.
    pub(super) fn at<'b>(&'b self, near: &'b Near<'b>, observed: &'b [f64], seen: &'b [f64]) -> Look<'b> {
        let nested = Nested::new(self.view.features, self.used, seen);
        Look { looks: self, near, observed, some: None, nested }
    }

    fn logits(&self) -> &Table {
        self.logits.get_or_init(|| Transform::Logit.table(self.accepted.prior, self.view.units))
    }

    /// The effective size that the `size` nearest would be left with when they are adjusted to the data.
    pub(super) fn left(&self, near: &Near<'_>, size: usize, kind: Kind) -> f64 {
        let observed = self.accepted.observed;
        let found = self.at(near, observed, observed).some_of(size, kind, WEIGHED_ONCE);
        found.map_or(0.0, |(_, effective)| effective)
    }

    /// The `size` nearest, adjusted to the data.
    pub(super) fn population(
        &self,
        near: &Near<'_>,
        size: usize,
        kind: Kind,
        thetas: Stacked<'_>,
    ) -> Result<Population, AdjustError> {
        let nothing = || AdjustError::NoVariation;
        if let Kind::Forward(which) = kind {
            let forward = &self.forwards[which];
            return forward.population(self.view, self.accepted).ok_or_else(nothing);
        }
        let mut population = near.population(size, thetas).ok_or_else(nothing)?;
        let Some(plan) = kind.regression() else { return Ok(population) };
        if kind.is_weighed_after() {
            population.weights = LogWeights::new(vec![0.0; population.len()]).ok_or_else(nothing)?;
        }
        let (first, part) = self.view.features.around(self.used);
        let columns = first..first + part.columns();
        let nearby = Accepted {
            prior: self.accepted.prior,
            population: &population,
            features: &part.select(&population.rows),
            observed: &self.accepted.observed[columns.clone()],
            distance_weights: &self.accepted.distance_weights[columns],
        };
        let one = Modes::default();
        let mut moved = plan.correct(&nearby, if kind.is_by_mode() { self.modes } else { &one })?;
        if kind.is_weighed_after() {
            let there = self.view.importance.ln_at(&moved.units);
            let ln = there.iter().zip(moved.weights.ln()).map(|(there, ln)| ln + there).collect();
            moved.weights = LogWeights::new(ln).ok_or_else(nothing)?;
        }
        Ok(moved)
    }
}

/// What is nearest to one observation. Ways of one trial share what they look at: smaller samples are the first of larger
/// ones.
pub(super) struct Look<'a> {
    looks: &'a Looks<'a>,
    near: &'a Near<'a>,
    observed: &'a [f64],
    some: Option<Sample>,
    nested: Nested<'a>,
}

/// Every so manieth of the nearest.
struct Sample {
    size: usize,
    step: usize,
    points: Thinned,
}

impl Look<'_> {
    /// Equally weighted points that stand for the `size` nearest, adjusted to the observation, and the effective size of
    /// these.
    pub(super) fn stand_ins(&mut self, size: usize, kind: Kind) -> Option<(Table, f64)> {
        if let Kind::Forward(which) = kind {
            return self.looks.forwards[which].stand_ins(self.looks.accepted.prior, self.observed, STAND_INS);
        }
        self.some_of(size, kind, WEIGHED)
    }

    fn some_of(&mut self, size: usize, kind: Kind, weighed: usize) -> Option<(Table, f64)> {
        let looks = self.looks;
        let Some(plan) = kind.regression() else {
            let (some, count, effective) = self.sample(size, usize::MAX);
            let picked = drawn(&some.weights[..count], STAND_INS);
            let rows: Vec<u32> = picked.into_iter().map(|at| some.rows[at]).collect();
            return Some((looks.view.units.select(&rows), effective));
        };
        let one = Modes::default();
        let modes = if kind.is_by_mode() { looks.modes } else { &one };
        let needed = plan.particles_for(looks.used.len());
        let (some, count, effective) = self.sample(size, FITTED.max(2 * needed * modes.count()));
        let equal = vec![1.0; if kind.is_weighed_after() { count } else { 0 }];
        let weights = if kind.is_weighed_after() { &equal } else { &some.weights[..count] };
        let kernel = kernel(&some.distances[..count], weights);
        if !kind.is_weighed_after() {
            return Some((self.moved(modes, &plan, &kernel, STAND_INS)?, effective));
        }
        let units = self.moved(modes, &plan, &kernel, weighed)?;
        let weights = LogWeights::new(looks.view.importance.ln_at(&units))?;
        let picked = systematic(weights.normalised(), weighed).into_iter().map(|at| at as u32);
        // Under the kernel some two thirds of the sample count.
        let effective = weights.effective_sample_size() / weighed as f64 * size as f64 * 2.0 / 3.0;
        Some((units.select(&picked.collect::<Vec<u32>>()), effective))
    }

    /// Every so manieth of the `size` nearest, so that there are no more than `most`: the first so many of some points, and
    /// the effective size of all that they stand for.
    fn sample(&mut self, size: usize, most: usize) -> (&Thinned, usize, f64) {
        let step = size.div_ceil(most).max(1);
        let serves =
            |there: &Sample| there.step == step && (there.size == size || step == 1 && there.size > size);
        if !self.some.as_ref().is_some_and(serves) {
            self.some = Some(Sample { size, step, points: self.near.thinned(size, most) });
        }
        let Sample { points, .. } = self.some.as_ref().expect("a sample");
        if step > 1 {
            return (points, points.rows.len(), points.effective);
        }
        (points, size.min(points.rows.len()), self.near.effective(size))
    }

    /// So many of the present sample's points in unit space, moved to the observation, each mode by its own regression.
    fn moved(&mut self, modes: &Modes, plan: &Regression, kernel: &[f64], wanted: usize) -> Option<Table> {
        let (looks, nested) = (self.looks, &mut self.nested);
        let rows = &self.some.as_ref()?.points.rows[..kernel.len()];
        let targets = if plan.transform == Transform::Logit { looks.logits() } else { looks.view.units };
        let needed = plan.particles_for(looks.used.len());
        let mut regress = |rows: &[u32], kernel: &[f64], picked: &[usize]| {
            if rows.len() < needed {
                return None;
            }
            nested.gather(rows, targets);
            nested.moved(kernel, picked, plan.heteroscedastic)
        };
        let picked = drawn(kernel, wanted);
        let points = if modes.is_one() {
            regress(rows, kernel, &picked)?
        } else {
            let mode_of: Vec<usize> =
                rows.iter().map(|&row| modes.of(looks.view.units.row(row as usize))).collect();
            let mut points = Table::filled(picked.len(), targets.columns(), 0.0);
            for mode in 0..modes.count() {
                let members: Vec<usize> = (0..rows.len()).filter(|&at| mode_of[at] == mode).collect();
                let slots: Vec<usize> = (0..picked.len()).filter(|&at| mode_of[picked[at]] == mode).collect();
                if slots.is_empty() {
                    continue;
                }
                let place = |&slot: &usize| members.partition_point(|&at| at < picked[slot]);
                let moved = regress(
                    &members.iter().map(|&at| rows[at]).collect::<Vec<u32>>(),
                    &members.iter().map(|&at| kernel[at]).collect::<Vec<f64>>(),
                    &slots.iter().map(place).collect::<Vec<usize>>(),
                );
                for (at, &slot) in slots.iter().enumerate() {
                    // A mode with too few for a regression of its own stays where it is.
                    let own = targets.row(rows[picked[slot]] as usize);
                    points.row_mut(slot).copy_from_slice(moved.as_ref().map_or(own, |moved| moved.row(at)));
                }
            }
            points
        };
        Some(plan.transform.units(looks.accepted.prior, points))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::Space;
    use crate::divergence::testing::{gaussian, normal_prior};
    use crate::near::{Extent, Field};
    use crate::problem::Prior;
    use crate::propose::{Importance, Kernel};
    use crate::reduce::Estimates;
    use crate::stream::{Seed, Stream};
    use crate::view::standard_deviations;
    use crate::workers::Serial;

    /// Looks at simulations that a kernel proposed, of which the 400 nearest to an observation are kept.
    fn looking<T>(
        (prior, kernel): (&Prior, &dyn Kernel),
        (units, features): (&Table, &Table),
        observed: &[f64],
        see: impl FnOnce(&Looks<'_>, &Near<'_>) -> T,
    ) -> T {
        let rows: Vec<u32> = (0..units.rows() as u32).collect();
        let weights = vec![1.0; observed.len()];
        let view = View {
            units,
            features: features.into(),
            observed,
            rows: &rows,
            spread: &standard_deviations(features, &rows),
            importance: &Importance::new(prior, kernel, units),
            space: &Space::new(prior, units, Seed(1), 100),
            learned: Estimates::default(),
            adjusts: false,
            keep: 400,
            previous: None,
            tried: &[],
            workers: &Serial,
        };
        let field = Field::of(&view, 1);
        let near = field.near((observed, &weights), None, Extent::of(f64::INFINITY));
        let kept = near.population(400, units.into()).unwrap();
        let accepted = Accepted {
            prior,
            population: &kept,
            features: &features.select(&kept.rows),
            observed,
            distance_weights: &weights,
        };
        let looks = Looks {
            accepted: &accepted,
            view: &view,
            modes: &Modes::find(&kept.units, kept.weights.normalised()),
            logits: &OnceLock::from(units.clone()),
            used: &(0..observed.len()).collect::<Vec<usize>>(),
            forwards: &[],
        };
        see(&looks, &near)
    }

    /// Normal about `CENTRE` with standard deviation 0.8 in each of two parameters.
    struct OffCentre;
    const CENTRE: f64 = 1.0;

    impl Kernel for OffCentre {
        fn draw(&self, _: &mut Stream, _: &mut [f64]) {}

        fn ln_density(&self, unit: &[f64]) -> f64 {
            let square: f64 = unit.iter().map(|x| ((x - CENTRE) / 0.8).powi(2)).sum();
            -0.5 * square - 2.0 * libm::log(0.8 * std::f64::consts::TAU.sqrt())
        }
    }

    #[test]
    fn weights_of_where_particles_are_moved_to_make_up_for_the_proposal() {
        // Two parameters, standard normal, each seen with a noise of 0.5: at 0.8 the posterior has mean 0.64 and
        // standard deviation 0.447. Under the proposal they would be 0.856 and 0.424.
        let (count, prior) = (8_000, normal_prior(2));
        let units = gaussian(count, 2, CENTRE, 0.8, 1);
        let mut features = gaussian(count, 2, 0.0, 0.5, 2);
        for row in 0..count {
            features.row_mut(row).iter_mut().zip(units.row(row)).for_each(|(s, theta)| *s += theta);
        }
        let observed = [0.8, 0.8];
        looking((&prior, &OffCentre), (&units, &features), &observed, |looks, near| {
            let size = Size::Share(0.5).of(near, 400.0);
            let found = looks.population(near, size, Kind::WeighedAfter, (&units).into()).unwrap();
            let (w, x) = (found.weights.normalised(), found.units.column(0));
            let mean: f64 = w.iter().zip(&x).map(|(w, x)| w * x).sum();
            let sd = w.iter().zip(&x).map(|(w, x)| w * (x - mean).powi(2)).sum::<f64>().sqrt();
            // An effective size of some 1,500: standard errors of 0.012 and 0.01.
            assert!((mean - 0.64).abs() < 0.05 && (sd - 0.447).abs() < 0.04, "{mean} {sd}");
            let (points, effective) =
                looks.at(near, &observed, &observed).some_of(size, Kind::WeighedAfter, WEIGHED).unwrap();
            let middle = points.column(0).iter().sum::<f64>() / points.rows() as f64;
            assert!((middle - 0.64).abs() < 0.2, "{middle}");
            let exact = found.weights.effective_sample_size();
            assert!(effective > 0.6 * exact && effective < 1.6 * exact, "{effective} {exact}");
        });
    }

    /// Normal about nothing with standard deviation 2.
    struct Wide;

    impl Kernel for Wide {
        fn draw(&self, _: &mut Stream, _: &mut [f64]) {}

        fn ln_density(&self, unit: &[f64]) -> f64 {
            -0.125 * unit[0] * unit[0] - libm::log(2.0 * std::f64::consts::TAU.sqrt())
        }
    }

    #[test]
    fn a_mode_with_one_particle_stays_where_it_is() {
        // The size of a standard normal parameter, seen with a noise of 0.1: modes at -1 and 1, of which one has lost all of its
        // simulations but one.
        let (count, prior) = (4_000, normal_prior(1));
        let mut units = gaussian(count, 1, 0.0, 1.0, 1);
        let mut features = gaussian(count, 1, 0.0, 0.1, 2);
        (0..count).for_each(|row| features.row_mut(row)[0] += units.at(row, 0).abs());
        (0..count).for_each(|row| units.row_mut(row)[0] = units.at(row, 0).abs());
        (units.row_mut(7)[0], features.row_mut(7)[0]) = (-0.9, 0.97);
        looking((&prior, &Wide), (&units, &features), &[1.0], |looks, near| {
            let modes = Modes::at(0.0);
            let looks = Looks { modes: &modes, forwards: &[], ..*looks };
            let found = looks.population(near, 400, Kind::ByMode, (&units).into()).unwrap();
            let low: Vec<f64> = found.units.column(0).into_iter().filter(|x| *x < 0.0).collect();
            assert_eq!(low, [-0.9]);
            assert!(looks.at(near, &[1.0], &[1.0]).stand_ins(400, Kind::ByMode).is_some());
        });
    }

    #[test]
    fn each_mode_is_moved_by_its_own_regression_and_weighed_afterwards() {
        // The square of a standard normal parameter, seen as 1 with a noise of 0.1: modes at -1 and 1, each 0.05 wide. The
        // square tells nothing of the parameter's mean, so one regression for both moves nothing.
        let (count, prior) = (8_000, normal_prior(1));
        let units = gaussian(count, 1, 0.0, 2.0, 1);
        let mut features = gaussian(count, 1, 0.0, 0.1, 2);
        (0..count).for_each(|row| features.row_mut(row)[0] += units.at(row, 0).powi(2));
        looking((&prior, &Wide), (&units, &features), &[1.0], |looks, near| {
            assert_eq!(looks.modes.count(), 2);
            let size = Size::Share(0.2).of(near, 400.0);
            let spread = |kind: Kind| {
                let found = looks.population(near, size, kind, (&units).into()).unwrap();
                let (w, x) = (found.weights.normalised(), found.units.column(0));
                let above: f64 = w.iter().zip(&x).filter(|(_, x)| **x > 0.0).map(|(w, _)| w).sum();
                assert!((above - 0.5).abs() < 0.1, "{above}");
                w.iter().zip(&x).map(|(w, x)| w * (x.abs() - 1.0).powi(2)).sum::<f64>().sqrt()
            };
            let (together, apart) = (spread(Kind::WeighedAfter), spread(Kind::WeighedAfterByMode));
            assert!((apart - 0.05).abs() < 0.02 && together > 0.12, "{apart} {together}");
        });
    }
}
