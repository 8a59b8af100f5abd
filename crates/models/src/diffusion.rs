//! Diffusion in one dimension: particles jump between neighbouring voxels, and no particle leaves.

use counterpoise_networks::Simulation;

use crate::catalogue::{Built, Chosen, Entry, ModelOption};
use crate::limits::within;
use crate::reactions::{Reactions, even_times};
use crate::{ModelError, Parameter, Setting};

/// S1 <-> S2 <-> ... at rate theta in both directions, with `particles` in each voxel of the left half at time 0,
/// observed then and at `count` even times up to `to`, one voxel after another: `S1@0`, `S1@2.5`, ..., `S8@20`.
///
/// # Errors
/// If the number of voxels is odd, a number is zero or too large, or `to` is not above zero.
fn diffusion(voxels: usize, particles: usize, to: f64, count: usize) -> Result<Simulation, ModelError> {
    if !(2..=1_000).contains(&voxels) || !voxels.is_multiple_of(2) {
        let expected = "an even number from 2 to 1000".into();
        return Err(ModelError::OutOfRange { option: "voxels", expected, found: voxels as f64 });
    }
    let particles = within("particles", particles, (1, 1_000_000))?;
    let names: Vec<String> = (1..=voxels).map(|voxel| format!("S{voxel}")).collect();
    let jumps: Vec<String> =
        names.windows(2).map(|pair| format!("{} <-> {} @ theta, theta", pair[0], pair[1])).collect();
    let initial: Vec<_> = names[..voxels / 2].iter().map(|name| (name.as_str(), particles)).collect();
    let reactions = Reactions { text: &jumps.join("\n"), parameters: &["theta"], initial: &initial };
    Ok(reactions.simulation(even_times(to, count)?, None))
}

pub(crate) const ENTRY: Entry = Entry {
    name: "diffusion",
    options: &[
        ModelOption::new("voxels", "compartments in a row, an even number", 8.0),
        ModelOption::new("particles", "particles in each voxel of the left half at time 0", 10.0),
        ModelOption::new("to", "last observation time", 20.0),
        ModelOption::new("count", "evenly spaced observation times after 0", 8.0),
    ],
    text: Setting::new(&[Parameter::new("theta", (1e-4, 1.0), 0.1)], 50_000, 0.05),
    appendix: Setting::new(&[Parameter::new("theta", (1e-4, 1.0), 0.1)], 50_000, 0.05),
    build,
};

fn build(chosen: &Chosen<'_>) -> Result<Built, ModelError> {
    let [voxels, particles] = [chosen.count("voxels")?, chosen.count("particles")?];
    let model = diffusion(voxels, particles, chosen.number("to")?, chosen.count("count")?)?;
    let statistics = model.statistics().to_vec();
    Ok((Box::new(model), statistics))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::diffusion::{ln_likelihood, transitions};
    use crate::limits::parameters;
    use crate::oracle::{self, Moments};
    use counterpoise_core::problem::{Failure, Simulator};
    use counterpoise_core::stream::Stream;
    use counterpoise_core::variates::Exp1;
    use rand::RngExt;

    fn paper() -> Simulation {
        diffusion(8, 10, 20.0, 8).unwrap()
    }

    /// The same model without a network, with the particles told apart: each of the moves, left or right for every
    /// particle, is as likely as another. A move against a wall is drawn and not taken.
    struct ByHand {
        voxels: usize,
    }

    impl Simulator for ByHand {
        fn summaries(&self) -> usize {
            9 * self.voxels
        }

        fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
            let [rate] = parameters(["theta"], theta)?;
            let starts = (0..self.voxels / 2).flat_map(|voxel| std::iter::repeat_n(voxel, 10));
            let mut places: Vec<usize> = starts.collect();
            let moves = 2 * places.len();
            let wait = 1.0 / (rate * moves as f64);
            summaries.fill(0.0);
            let mut now = wait * rng.sample::<f64, _>(Exp1);
            for time in 0..9 {
                while now <= 2.5 * time as f64 {
                    let jump = rng.random_range(0..moves);
                    let voxel = &mut places[jump / 2];
                    // A step left of voxel 0 saturates, a step right of the last is cut: both stay.
                    *voxel = (*voxel + jump % 2 * 2).saturating_sub(1).min(self.voxels - 1);
                    now += wait * rng.sample::<f64, _>(Exp1);
                }
                for voxel in &places {
                    summaries[voxel * 9 + time] += 1.0;
                }
            }
            Ok(())
        }
    }

    /// 8 voxels in lanes, and 24 by the method for larger networks: 360 statistics, two comparisons each at five
    /// standard errors: a correct simulator fails for fewer than 1 seed in 10^3.
    #[test]
    fn the_network_simulates_as_one_does_by_hand() {
        for theta in [0.1, 0.7] {
            oracle::alike(&paper(), &ByHand { voxels: 8 }, &[theta], 20_000);
        }
        let large = diffusion(24, 10, 20.0, 8).unwrap();
        oracle::alike(&large, &ByHand { voxels: 24 }, &[0.3], 10_000);
    }

    #[test]
    fn conforms() {
        oracle::conformance(&paper(), &[0.1]);
    }

    #[test]
    fn the_modes_solve_the_walk() {
        let (theta, step) = (0.3, 1e-6);
        for (from, row) in transitions(8, theta, step).iter().enumerate() {
            for (to, p) in row.iter().enumerate() {
                let rate = match from.abs_diff(to) {
                    0 if from == 0 || from == 7 => -theta,
                    0 => -2.0 * theta,
                    1 => theta,
                    _ => 0.0,
                };
                let start = if from == to { 1.0 } else { 0.0 };
                assert!(((p - start) / step - rate).abs() < 1e-5, "{from} to {to}");
            }
        }
        // Semigroup: one long move is two short ones.
        let (short, long) = (transitions(8, theta, 2.0), transitions(8, theta, 4.0));
        for (from, to) in [(0, 0), (3, 4), (7, 1)] {
            let two: f64 = (0..8).map(|via| short[from][via] * short[via][to]).sum();
            assert!((two - long[from][to]).abs() < 1e-14);
        }
    }

    #[test]
    fn particles_start_on_the_left_and_are_conserved() {
        for theta in [0.0, 1e-4, 0.1, 10.0] {
            for row in oracle::simulate(&paper(), &[theta], 100).iter() {
                for time in 0..9 {
                    assert_eq!((0..8).map(|voxel| row[voxel * 9 + time]).sum::<f64>(), 40.0);
                }
                for voxel in 0..8 {
                    assert_eq!(row[voxel * 9], if voxel < 4 { 10.0 } else { 0.0 });
                    if theta == 0.0 {
                        assert_eq!(row[voxel * 9 + 8], row[voxel * 9]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_rate_at_which_the_clock_stands_still_is_declined() {
        for theta in [1e14, 1e300, f64::MAX] {
            let declined = oracle::declined(&paper(), &[theta]);
            // A rate of 10 particles at the largest number is infinite.
            let expected = ["reactions became faster than", "the rate of `S1 <-> S2` became inf"];
            assert!(expected.iter().any(|expected| declined.starts_with(expected)), "{declined}");
        }
    }

    /// A count is a sum of independent particles. Eighty comparisons at five standard errors: a correct
    /// simulator fails for fewer than 1 seed in 10^3 (counts of rare voxels are not quite normal).
    #[test]
    fn counts_have_the_moments_of_independent_walks() {
        let theta = 0.1;
        let table = oracle::simulate(&paper(), &[theta], 20_000);
        for time in [1, 2, 4, 6, 8] {
            let moves = transitions(8, theta, 2.5 * time as f64);
            let chance = |particle: usize, voxel: usize| moves[particle / 10][voxel];
            for voxel in 0..8 {
                let law = oracle::sum_of_indicators((0..40).map(|particle| chance(particle, voxel)));
                let what = format!("S{} at {}", voxel + 1, 2.5 * time as f64);
                oracle::agree(&what, &table.column(voxel * 9 + time), Moments::of_counts(&law));
            }
        }
    }

    /// Six particles in four voxels, where the likelihood takes no time. Four comparisons at five standard
    /// errors: fewer than 1 seed in 10^4 fails.
    #[test]
    fn trajectories_have_the_likelihood_of_the_reference_posterior() {
        let model = diffusion(4, 3, 6.0, 3).unwrap();
        for theta in [0.1_f64, 0.4] {
            let table = oracle::simulate(&model, &[theta], 4_000);
            let of = |row: &[f64]| oracle::score(|ln| ln_likelihood(ln.exp(), 4, 2.0, row), theta.ln());
            oracle::information_equality(&format!("theta = {theta}"), table.iter().map(of));
        }
    }
}
