//! How much each statistic counts for the posterior, whatever the distance compares: distance weights tell it of statistics that are
//! compared as they are, not of features that are made of many, nor where a regression moves what was accepted.

use crate::linear::{Linear, Sample};
use crate::population::Population;
use crate::reduce::{Features, Projection};
use crate::stacked::Stacked;
use crate::table::Table;
use crate::workers::{self, Workers};

/// Simulations that lend their values: so many for all statistics together, and at least and at most for one.
const LENDERS: usize = 16_384;
const FEWEST: usize = 16;
const MOST: usize = 256;

/// By what a step from the observed features is measured.
pub(crate) enum Measure<'a> {
    /// The distance, where what it accepts is the posterior: weights of the features.
    Distance(&'a [f64]),
    /// How far the means of the parameters move, where a regression moves what was accepted: for each parameter its slopes on the
    /// features.
    Regression(Vec<Vec<f64>>),
}

impl Measure<'_> {
    /// The regression of particles, as they were accepted, on the features that have a distance weight, in standard deviations of the
    /// posterior that they were moved to; none where the features do not determine it. Its ridge keeps the slopes small that so many
    /// features have by chance on so few particles.
    pub(crate) fn regression(
        (units, features): (&Table, Stacked<'_>),
        weights: &[f64],
        moved: &Population,
    ) -> Option<Self> {
        let used: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] > 0.0).collect();
        let at = |particle: usize| moved.rows[particle] as usize;
        let sample = Sample {
            count: moved.rows.len(),
            regressors: used.len(),
            targets: moved.units.columns(),
            regress: &|particle, into| {
                into.iter_mut().zip(&used).for_each(|(slot, &j)| *slot = features.at(at(particle), j));
            },
            target: &|particle, into| into.copy_from_slice(units.row(at(particle))),
            weight: &|particle| moved.weights.normalised()[particle],
        };
        let fit = Linear::fit(&sample, None, used.len() as f64 / moved.effective_sample_size())?;
        let of = |parameter: usize| {
            let sd = deviation(moved, parameter);
            let mut slopes = vec![0.0; weights.len()];
            if sd > 0.0 {
                let found = used.iter().zip(fit.slopes(parameter));
                found.for_each(|(&j, slope)| slopes[j] = slope / sd);
            }
            slopes
        };
        Some(Self::Regression((0..moved.units.columns()).map(of).collect()))
    }

    /// How long a step is of the feature at a place, and of those from another place on.
    fn length(&self, (place, alone): (usize, f64), (first, steps): (usize, &[f64])) -> f64 {
        let mut square = 0.0;
        match self {
            Self::Distance(weights) => {
                square += (weights[place] * alone).powi(2);
                let pairs = steps.iter().zip(&weights[first..]);
                pairs.for_each(|(step, weight)| square += (weight * step).powi(2));
            }
            Self::Regression(parameters) => {
                for slopes in parameters {
                    let pairs = steps.iter().zip(&slopes[first..]);
                    let made = pairs.map(|(step, slope)| slope * step).sum::<f64>();
                    square += (slopes[place] * alone + made).powi(2);
                }
            }
        }
        square.sqrt()
    }

    /// Whether one of the features from a place on counts at all.
    fn counts_from(&self, first: usize) -> bool {
        let any = |numbers: &[f64]| numbers[first..].iter().any(|&number| number != 0.0);
        match self {
            Self::Distance(weights) => any(weights),
            Self::Regression(parameters) => parameters.iter().any(|slopes| any(slopes)),
        }
    }
}

/// The standard deviation of a parameter in unit space.
fn deviation(of: &Population, parameter: usize) -> f64 {
    let values = || of.units.iter().map(|unit| unit[parameter]).zip(of.weights.normalised());
    let mean = values().map(|(value, weight)| weight * value).sum::<f64>();
    values().map(|(value, weight)| weight * (value - mean).powi(2)).sum::<f64>().sqrt()
}

/// What is asked for the influence of statistics.
pub(crate) struct Influence<'a> {
    projection: &'a dyn Projection,
    /// Of how many statistics the features begin with: all or none.
    own: usize,
    /// Observed features.
    observed: &'a [f64],
    measure: Measure<'a>,
}

impl<'a> Influence<'a> {
    /// Within the features of a projection, `made` being those of the simulations.
    pub(crate) fn new(
        projection: &'a dyn Projection,
        made: &Features,
        statistics: usize,
        observed: &'a [f64],
        measure: Measure<'a>,
    ) -> Self {
        let own = if matches!(made, Features::Instead(_)) { 0 } else { statistics };
        Self { projection, own, observed, measure }
    }

    /// The share of each statistic: how long the step from the observed data is, in the mean, if the statistic alone were that of a
    /// simulation, over the sum of all. Where statistics are compared as they are, it is the distance weight times the mean size of a
    /// difference.
    pub(crate) fn shares(
        &self,
        observed: &[f64],
        summaries: Stacked<'_>,
        rows: &[u32],
        workers: &dyn Workers,
    ) -> Vec<f64> {
        let statistics = observed.len();
        let count = (LENDERS / statistics.max(1)).clamp(FEWEST, MOST);
        let lenders: Vec<u32> = rows.iter().copied().step_by(rows.len().div_ceil(count).max(1)).collect();
        let lent = summaries.select(&lenders);
        let is_made = self.measure.counts_from(self.own);
        let moved = workers::map(workers, statistics, |j| {
            let made = is_made.then(|| self.made(observed, &lent, j)).flatten();
            let steps = (0..lenders.len()).map(|at| {
                let made = made.as_ref().map_or(&[][..], |made| made.row(at));
                self.step((j, lent.at(at, j)), made)
            });
            steps.filter(|step| step.is_finite()).sum::<f64>()
        });
        let total: f64 = moved.iter().sum();
        moved.into_iter().map(|moved| if total > 0.0 { moved / total } else { 0.0 }).collect()
    }

    /// Features made of data that differ from those observed in one statistic.
    fn made(&self, observed: &[f64], lent: &Table, differing: usize) -> Option<Table> {
        let mut data = Table::from_rows(observed.len(), observed.repeat(lent.rows()));
        (0..lent.rows()).for_each(|at| data.row_mut(at)[differing] = lent.at(at, differing));
        match self.projection.features((&data).into()) {
            Features::Instead(made) | Features::Beside(made) => Some(made),
            Features::Summaries => None,
        }
    }

    /// How far data are away that differ from those observed in one statistic, and in the features made of it.
    fn step(&self, (differing, value): (usize, f64), made: &[f64]) -> f64 {
        let alone = if self.own > 0 { (differing, value - self.observed[differing]) } else { (0, 0.0) };
        let steps: Vec<f64> =
            made.iter().zip(&self.observed[self.own..]).map(|(value, observed)| value - observed).collect();
        self.measure.length(alone, (self.own, &steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;
    use crate::population::LogWeights;
    use crate::reduce::Identity;
    use crate::workers::Serial;

    /// The first statistic and twice the second as one feature, the square of the third as another: instead of the statistics, or
    /// beside them.
    struct Made {
        beside: bool,
    }

    impl Projection for Made {
        fn names(&self, _: &[String], _: &[String]) -> Vec<String> {
            unreachable!("nobody asks")
        }

        fn features(&self, summaries: Stacked<'_>) -> Features {
            let made = |row: usize| {
                let at = |j: usize| summaries.at(row, j);
                [at(0) + 2.0 * at(1), at(2) * at(2)]
            };
            let made = Table::from_rows(2, (0..summaries.rows()).flat_map(made).collect());
            if self.beside { Features::Beside(made) } else { Features::Instead(made) }
        }
    }

    const OBSERVED: [f64; 4] = [0.5, -1.0, 3.0, 0.0];

    fn of(projection: &dyn Projection, weights: &[f64]) -> Vec<f64> {
        by(projection, Measure::Distance(weights))
    }

    fn by(projection: &dyn Projection, measure: Measure<'_>) -> Vec<f64> {
        let summaries = gaussian(200, 4, 0.0, 1.0, 1);
        let made = projection.features((&summaries).into());
        let observed = Table::from_rows(4, OBSERVED.to_vec());
        let features = projection.features((&observed).into());
        let features = features.of((&observed).into()).row(0).to_vec();
        let influence = Influence::new(projection, &made, 4, &features, measure);
        influence.shares(&OBSERVED, (&summaries).into(), &(0..200).collect::<Vec<u32>>(), &Serial)
    }

    /// Shares of the mean sizes of what `step` says of a statistic's values.
    fn shares(step: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let summaries = gaussian(200, 4, 0.0, 1.0, 1);
        let moved = |j: usize| summaries.column(j).into_iter().map(|value| step(j, value).abs()).sum::<f64>();
        let total: f64 = (0..4).map(moved).sum();
        (0..4).map(|j| moved(j) / total).collect()
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(found.len() == expected.len() && apart < 1e-12, "{found:?} {expected:?}");
    }

    #[test]
    fn statistics_as_they_are_count_by_weight_and_difference() {
        let weights = [1.0, 0.5, 2.0, 0.0];
        let expected = shares(|j, value| weights[j] * (value - OBSERVED[j]));
        assert_near(&of(&Identity, &weights), &expected);
        // Beside features that nobody compares they count the same.
        assert_near(&of(&Made { beside: true }, &[1.0, 0.5, 2.0, 0.0, 0.0, 0.0]), &expected);
    }

    #[test]
    fn features_hand_their_weight_on_to_what_they_are_made_of() {
        let step = |j: usize, value: f64| match j {
            0 => 3.0 * (value - 0.5),
            1 => 3.0 * 2.0 * (value + 1.0),
            2 => 0.2 * (value * value - 9.0),
            _ => 0.0,
        };
        assert_near(&of(&Made { beside: false }, &[3.0, 0.2]), &shares(step));
        assert_near(&of(&Made { beside: true }, &[0.0, 0.0, 0.0, 0.0, 3.0, 0.2]), &shares(step));
        let both = shares(|j, value| libm::hypot(step(j, value), if j == 0 { value - 0.5 } else { 0.0 }));
        assert_near(&of(&Made { beside: true }, &[1.0, 0.0, 0.0, 0.0, 3.0, 0.2]), &both);
    }

    #[test]
    fn a_regression_counts_by_what_it_moves() {
        let slopes = vec![vec![1.0, 0.0, -2.0, 0.0], vec![0.5, 3.0, 0.0, 0.0]];
        let expected = shares(|j, value| libm::hypot(slopes[0][j], slopes[1][j]) * (value - OBSERVED[j]));
        assert_near(&by(&Identity, Measure::Regression(slopes)), &expected);
        let made = vec![vec![0.0, 0.0, 0.0, 0.0, 3.0, 0.2], vec![0.0, 0.0, 4.0, 0.0, 0.0, 1.0]];
        let expected = shares(|j, value| {
            let square = value * value - 9.0;
            match j {
                0 => 3.0 * (value - 0.5),
                1 => 6.0 * (value + 1.0),
                2 => libm::hypot(0.2 * square, square + 4.0 * (value - 3.0)),
                _ => 0.0,
            }
        });
        assert_near(&by(&Made { beside: true }, Measure::Regression(made)), &expected);
    }

    /// Two parameters of which one follows a feature and the other is moved by none; a third feature has no distance weight.
    #[test]
    fn slopes_are_those_of_the_particles_in_deviations_of_the_posterior() {
        let features = gaussian(5_000, 3, 0.0, 1.0, 3);
        let noise = gaussian(5_000, 2, 0.0, 1.0, 4);
        let law = |row: usize| [2.0 * features.at(row, 0) + noise.at(row, 0), noise.at(row, 1)];
        let units = Table::from_rows(2, (0..5_000).flat_map(law).collect());
        let rows: Vec<u32> = (0..5_000).filter(|row| row % 4 > 0).collect();
        let moved = |row: &u32| [0.1 * noise.at(*row as usize, 0), 5.0 * noise.at(*row as usize, 1)];
        let moved = Population {
            units: Table::from_rows(2, rows.iter().flat_map(moved).collect()),
            thetas: Table::filled(rows.len(), 2, 0.0),
            weights: LogWeights::new(vec![0.0; rows.len()]).unwrap(),
            distances: vec![0.0; rows.len()],
            rows,
        };
        let measure = Measure::regression((&units, (&features).into()), &[1.0, 0.3, 0.0], &moved);
        let Some(Measure::Regression(slopes)) = measure else { panic!("no regression") };
        // Standard errors of the slopes are 1 / sqrt(3,750), in deviations of .1 and 5.
        assert!((slopes[0][0] - 20.0).abs() < 0.7 && slopes[0][1].abs() < 0.7, "{slopes:?}");
        assert!(slopes[1][0].abs() < 0.014 && slopes[1][1].abs() < 0.014, "{slopes:?}");
        assert_eq!((slopes[0][2], slopes[1][2]), (0.0, 0.0));
        let none = Measure::regression((&units, (&features).into()), &[0.0; 3], &moved);
        assert!(none.is_none(), "nothing to regress on");
    }

    #[test]
    fn nothing_counts_where_nothing_is_compared() {
        assert_eq!(of(&Identity, &[0.0; 4]), [0.0; 4]);
    }
}
