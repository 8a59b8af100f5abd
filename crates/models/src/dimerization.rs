//! The dimerization system: a fast transient between monomer and dimer, then slow conversion.

use counterpoise_networks::Simulation;

use crate::catalogue::{Built, Chosen, Entry, ModelOption};
use crate::limits::within;
use crate::reactions::{Reactions, geometric_times};
use crate::{ModelError, Parameter, Setting};

/// Two conventions exist for k3; here its propensity is `k3 S1 (S1 - 1) / 2`, one k3 for each pair.
const REACTIONS: &str = "
    S1 -> 0     @ k1
    S2 -> S3    @ k2
    2 S1 -> S2  @ k3
    S2 -> 2 S1  @ k4";

/// `initial` of S1 at time 0, observed then and at `count` times in equal ratio from `first` to `to`: `S1@0`, ...,
/// `S1@100`, `S2@0`, ..., `S3@100`.
///
/// # Errors
/// If there is no S1 or too much, fewer than two times or too many, or not `0 < first < to`.
fn dimerization(initial: usize, first: f64, to: f64, count: usize) -> Result<Simulation, ModelError> {
    let initial = [("S1", within("initial", initial, (1, 1_000_000_000))?)];
    let parameters = &["k1", "k2", "k3", "k4"];
    let reactions = Reactions { text: REACTIONS, parameters, initial: &initial };
    Ok(reactions.simulation(geometric_times(first, to, count)?, None))
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
    let model = dimerization(chosen.count("initial")?, first, to, chosen.count("count")?)?;
    let statistics = model.statistics().to_vec();
    Ok((Box::new(model), statistics))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::parameters;
    use crate::oracle::{self, Moments};
    use counterpoise_core::problem::{Failure, Simulator};
    use counterpoise_core::stream::Stream;
    use counterpoise_core::table::Table;
    use counterpoise_core::variates::Exp1;
    use rand::RngExt;

    fn small(initial: usize) -> Simulation {
        dimerization(initial, 0.2, 5.0, 4).unwrap()
    }

    /// What [`small`] simulates, without a network: all propensities at each event.
    struct ByHand {
        initial: f64,
    }

    impl Simulator for ByHand {
        fn summaries(&self) -> usize {
            15
        }

        fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
            let [decay, convert, pair, split] = parameters(["k1", "k2", "k3", "k4"], theta)?;
            let ([mut s1, mut s2, mut s3], mut now) = ([self.initial, 0.0, 0.0], 0.0);
            let times = [0.0, 0.2, 0.2 * 25f64.powf(1.0 / 3.0), 0.2 * 25f64.powf(2.0 / 3.0), 5.0];
            let mut next = 0;
            loop {
                let below_convert = decay * s1;
                let below_pair = below_convert + convert * s2;
                let below_split = below_pair + 0.5 * pair * s1 * (s1 - 1.0);
                let total = below_split + split * s2;
                // Infinite when nothing can happen any more.
                now += rng.sample::<f64, _>(Exp1) / total;
                while times[next] < now {
                    (summaries[next], summaries[5 + next], summaries[10 + next]) = (s1, s2, s3);
                    next += 1;
                    if next == times.len() {
                        return Ok(());
                    }
                }
                let mark = rng.random::<f64>() * total;
                (s1, s2, s3) = match mark {
                    _ if mark < below_convert => (s1 - 1.0, s2, s3),
                    _ if mark < below_pair => (s1, s2 - 1.0, s3 + 1.0),
                    _ if mark < below_split => (s1 - 2.0, s2 + 1.0, s3),
                    _ => (s1 + 2.0, s2 - 1.0, s3),
                };
            }
        }
    }

    /// 45 statistics, two comparisons each at five standard errors: a correct simulator fails for fewer than 1 seed
    /// in 10^3 (rare counts are not quite normal).
    #[test]
    fn the_network_simulates_as_one_does_by_hand() {
        for (initial, theta) in
            [(500, [1.0, 0.04, 0.02, 0.5]), (60, [0.1, 0.5, 0.1, 3.0]), (5, [0.3, 0.3, 1.0, 0.5])]
        {
            oracle::alike(&small(initial), &ByHand { initial: initial as f64 }, &theta, 10_000);
        }
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
        let model = dimerization(100_000, 1e-3, 100.0, 32).unwrap();
        let names = model.statistics();
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
        // Some of these make the clock stand still, at the start or later.
        let hasty = [&thetas[..], &[vec![1e15, 0.0, 0.0, 0.0], vec![0.0, 0.0, 1.0, 1e14]]].concat();
        oracle::rows_are_simulated_as_one_by_one(&small(60), &hasty);
    }

    #[test]
    fn rates_at_which_the_clock_stands_still_are_declined() {
        let declined = |theta: &[f64]| oracle::declined(&small(100), theta);
        let still = "reactions became faster than 9.007199254740993e14 a unit of time, where the clock no longer moves";
        assert_eq!(declined(&[1e15, 1.0, 1.0, 1.0]), still);
        assert_eq!(declined(&[0.0, 0.0, 1e12, 1.0]), still);
        // Not at the start, but as soon as there is an S2.
        assert_eq!(declined(&[0.0, 0.0, 1.0, 1e15]), still);
        assert_eq!(declined(&[1.0, 1.0, 1e300, 1.0]), still);
        assert_eq!(declined(&[f64::MAX, 1.0, 1.0, 1.0]), "the rate of `S1 -> 0` became inf");
    }
}
