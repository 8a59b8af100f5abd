//! The dimerization system: a fast transient between monomer and dimer, then slow conversion.

mod lanes;
mod path;

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;

use self::path::Path;
use crate::catalogue::{Built, Chosen, Entry, ModelOption};
use crate::limits::{MOST_EVENTS, within};
use crate::times::Times;
use crate::{ModelError, Parameter, Setting};

/// S1 -> 0 at k1, S2 -> S3 at k2, S1 + S1 -> S2 at k3 and S2 -> S1 + S1 at k4, by Gillespie's direct method.
///
/// Two conventions exist for k3; here the propensity is `k3 S1 (S1 - 1) / 2`, one k3 for each pair.
#[derive(Clone, Debug)]
pub struct Dimerization {
    initial: usize,
    times: Times,
    /// Events after which a simulation is given up.
    patience: u64,
}

impl Dimerization {
    /// `initial` of S1 at time 0, observed then and at `count` times in equal ratio from `first` to `to`.
    ///
    /// # Errors
    /// If there is no S1 or too much, fewer than two times or too many, or not `0 < first < to`.
    pub fn new(initial: usize, first: f64, to: f64, count: usize) -> Result<Self, ModelError> {
        let initial = within("initial", initial, (1, 1_000_000_000))?;
        Ok(Self { initial, times: Times::geometric(first, to, count)?, patience: MOST_EVENTS })
    }

    /// Names of the summaries: `S1@0`, ..., `S1@100`, `S2@0`, ..., `S3@100`.
    #[must_use]
    pub fn statistics(&self) -> Vec<String> {
        ["S1", "S2", "S3"].iter().flat_map(|species| self.times.names(species)).collect()
    }
}

impl Simulator for Dimerization {
    fn summaries(&self) -> usize {
        3 * self.times.values().len()
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        Path::start(self, theta, summaries)?.finish(self, rng, summaries)
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        lanes::simulate_rows(self, jobs, feed);
    }
}

const PARAMETERS: &[Parameter] = &[
    Parameter::new("k1", (1e-2, 1e2), 1.0),
    Parameter::new("k2", (1e-3, 1e1), 0.04),
    Parameter::new("k3", (1e-5, 1e-1), 0.002),
    Parameter::new("k4", (1e-3, 1e1), 0.5),
];

pub(crate) const ENTRY: Entry = Entry {
    name: "dimerization",
    options: &[
        ModelOption::new("initial", "molecules of S1 at time 0", 100_000.0),
        ModelOption::new("first", "first observation time after 0", 1e-3),
        ModelOption::new("to", "last observation time", 100.0),
        ModelOption::new("count", "geometrically spaced observation times after 0", 32.0).appendix(16.0),
    ],
    text: Setting::new(PARAMETERS, 50_000, 0.05),
    appendix: Setting::new(PARAMETERS, 50_000, 0.05),
    build,
};

fn build(chosen: &Chosen<'_>) -> Result<Built, ModelError> {
    let [first, to] = [chosen.number("first")?, chosen.number("to")?];
    let model = Dimerization::new(chosen.count("initial")?, first, to, chosen.count("count")?)?;
    let statistics = model.statistics();
    Ok((Box::new(model), statistics))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::endless;
    use crate::oracle::{self, Moments};
    use counterpoise_core::stream::{Seed, Stage};
    use counterpoise_core::table::Table;

    fn small(initial: usize) -> Dimerization {
        Dimerization::new(initial, 0.2, 5.0, 4).unwrap()
    }

    /// S1, S2 and S3 at each time of each row.
    fn states(table: &Table) -> impl Iterator<Item = Vec<[f64; 3]>> {
        let times = table.columns() / 3;
        table
            .iter()
            .map(move |row| (0..times).map(|at| [row[at], row[times + at], row[2 * times + at]]).collect())
    }

    #[test]
    fn conforms() {
        oracle::conformance(&small(500), &[1.0, 0.04, 0.02, 0.5]);
    }

    #[test]
    fn statistics_are_named_species_by_species() {
        let names = Dimerization::new(100_000, 1e-3, 100.0, 32).unwrap().statistics();
        assert_eq!(names.len(), 99);
        let some = [names[0].as_str(), &names[1], &names[32], &names[33], &names[66], &names[98]];
        assert_eq!(some, ["S1@0", "S1@0.001", "S1@100", "S2@0", "S3@0", "S3@100"]);
    }

    #[test]
    fn matter_is_conserved_without_decay_and_never_made() {
        let matter = |[s1, s2, s3]: [f64; 3]| s1 + 2.0 * s2 + 2.0 * s3;
        for (initial, theta) in [
            (1, [0.0, 1.0, 1.0, 1.0]),
            (7, [0.0, 1.0, 1.0, 1.0]),
            (1000, [0.0, 0.2, 0.01, 2.0]),
            (1000, [0.5, 0.2, 0.01, 2.0]),
            (1000, [0.5, 0.0, 0.0, 0.0]),
            (50, [0.0, 0.0, 0.0, 0.0]),
        ] {
            for path in states(&oracle::simulate(&small(initial), &theta, 100)) {
                assert_eq!(path[0], [initial as f64, 0.0, 0.0]);
                assert!(path.iter().flatten().all(|count| count.fract() == 0.0 && *count >= 0.0));
                for pair in path.windows(2) {
                    assert!(pair[1][2] >= pair[0][2], "S3 is never consumed: {path:?}");
                    assert!(matter(pair[1]) <= matter(pair[0]), "{theta:?}: {path:?}");
                    assert!(theta[0] > 0.0 || matter(pair[1]) == matter(pair[0]), "{theta:?}: {path:?}");
                }
            }
        }
    }

    /// Without pairing each S1 decays on its own. Ten comparisons at five standard errors: a correct
    /// simulator fails for fewer than 1 seed in 10^4.
    #[test]
    fn without_pairing_s1_decays_exponentially() {
        let (decay, initial) = (0.7, 1000);
        let table = oracle::simulate(&small(initial), &[decay, 0.3, 0.0, 0.5], 4_000);
        for (at, path) in
            [0.0, 0.2, 0.2 * 25f64.powf(1.0 / 3.0), 0.2 * 25f64.powf(2.0 / 3.0), 5.0].iter().enumerate()
        {
            let survival = (-decay * path).exp();
            let exact = Moments::of_counts(&oracle::binomial(initial, survival));
            oracle::agree(&format!("S1 at {path}"), &table.column(at), exact);
        }
        assert!(states(&table).flatten().all(|[_, s2, s3]| s2 == 0.0 && s3 == 0.0));
    }

    /// Probabilities of all states with at most `initial` monomers, S1 running fastest.
    struct Master {
        initial: usize,
        rates: [f64; 4],
        law: Vec<f64>,
    }

    impl Master {
        fn index(&self, [s1, s2, s3]: [usize; 3]) -> usize {
            s1 + (self.initial + 1) * (s2 + (self.initial / 2 + 1) * s3)
        }

        /// Every state that matter allows.
        fn states(&self) -> Vec<[usize; 3]> {
            let (n, half) = (self.initial, self.initial / 2);
            let all =
                (0..=half).flat_map(|s3| (0..=half).flat_map(move |s2| (0..=n).map(move |s1| [s1, s2, s3])));
            all.filter(|[s1, s2, s3]| s1 + 2 * s2 + 2 * s3 <= n).collect()
        }

        /// The chemical master equation: what flows out of each state flows into another.
        fn slope(&self, law: &[f64]) -> Vec<f64> {
            let [k1, k2, k3, k4] = self.rates;
            let mut slope = vec![0.0; law.len()];
            for state in self.states() {
                let [s1, s2, s3] = state;
                let pairs = (s1 * s1.saturating_sub(1) / 2) as f64;
                for (propensity, to) in [
                    (k1 * s1 as f64, [s1.wrapping_sub(1), s2, s3]),
                    (k2 * s2 as f64, [s1, s2.wrapping_sub(1), s3 + 1]),
                    (k3 * pairs, [s1.wrapping_sub(2), s2 + 1, s3]),
                    (k4 * s2 as f64, [s1 + 2, s2.wrapping_sub(1), s3]),
                ] {
                    if propensity > 0.0 {
                        let flow = propensity * law[self.index(state)];
                        slope[self.index(state)] -= flow;
                        slope[self.index(to)] += flow;
                    }
                }
            }
            slope
        }

        /// Runge and Kutta's fourth order method in steps of about a thousandth.
        fn advance(&mut self, by: f64) {
            let steps = (by * 1000.0).ceil();
            let h = by / steps;
            let moved = |law: &[f64], slope: &[f64], h: f64| -> Vec<f64> {
                law.iter().zip(slope).map(|(p, d)| p + h * d).collect()
            };
            for _ in 0..steps as usize {
                let a = self.slope(&self.law);
                let b = self.slope(&moved(&self.law, &a, h / 2.0));
                let c = self.slope(&moved(&self.law, &b, h / 2.0));
                let d = self.slope(&moved(&self.law, &c, h));
                for (i, p) in self.law.iter_mut().enumerate() {
                    *p += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
                }
            }
        }
    }

    /// From four S1 the master equation has 14 states. Forty-eight comparisons at five standard errors: a
    /// correct simulator fails for fewer than 1 seed in 10^3 (rare counts are not quite normal).
    #[test]
    fn counts_solve_the_chemical_master_equation() {
        for rates in [[0.4, 0.3, 0.5, 0.8], [0.1, 0.6, 2.0, 0.2]] {
            let table = oracle::simulate(&small(4), &rates, 40_000);
            let mut master = Master { initial: 4, rates, law: vec![0.0; 45] };
            let start = master.index([4, 0, 0]);
            master.law[start] = 1.0;
            assert_eq!(master.states().len(), 14);
            let mut now = 0.0;
            for at in 1..=4 {
                let time = 0.2 * 25f64.powf((at - 1) as f64 / 3.0);
                master.advance(time - now);
                now = time;
                assert!((master.law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                for species in 0..3 {
                    let states = master.states();
                    let law: Vec<_> =
                        states.iter().map(|s| (s[species] as f64, master.law[master.index(*s)])).collect();
                    let what = format!("S{} at {time} with {rates:?}", species + 1);
                    oracle::agree(&what, &table.column(5 * species + at), Moments::weighted(&law));
                }
            }
        }
    }

    #[test]
    fn lanes_give_what_each_row_gives_alone() {
        let thetas = [
            vec![1.0, 0.04, 0.02, 0.5],
            vec![100.0, 10.0, 1e-5, 1e-3],
            vec![0.0; 4],
            vec![0.01, 0.001, 0.1, 10.0],
            vec![1.0, f64::NAN, 0.02, 0.5],
        ];
        oracle::rows_are_simulated_as_one_by_one(&small(1000), &thetas);
        oracle::rows_are_simulated_as_one_by_one(&small(3), &thetas);
        // Some of these run out of patience; lanes notice at the end of a block.
        let hasty = Dimerization { patience: 128, ..small(60) };
        oracle::rows_are_simulated_as_one_by_one(&hasty, &thetas);
    }

    #[test]
    fn what_would_never_end_is_declined() {
        let run = |model: &Dimerization, theta: &[f64]| {
            model.simulate(theta, &mut Seed(1).stream(Stage::Simulate, 0, 0), &mut [0.0; 15])
        };
        let hasty = Dimerization { patience: 1000, ..small(100) };
        assert_eq!(run(&hasty, &[0.0, 0.0, 1.0, 100.0]), Err(endless()));
        assert_eq!(run(&hasty, &[1.0, 0.0, 0.0, 0.0]), Ok(()));
        assert_eq!(run(&small(100), &[1.0, 1.0, 1e305, 1.0]), Err(endless()));
        assert_eq!(run(&small(100), &[f64::MAX, 1.0, 1.0, 1.0]), Err(endless()));
    }
}
