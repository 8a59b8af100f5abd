//! Chains of many species, where every particle is at a stage that it reaches after as many exponential times.

use super::*;

/// S1 -> S2 -> ... at rate k, and S1 begins with 30.
fn chain(species: usize) -> Network {
    let steps: Vec<String> = (1..species).map(|at| format!("S{at} -> S{} @ k", at + 1)).collect();
    network(&steps.join("\n"), &["k"], &[("S1", 30.0)])
}

/// The stage of a particle is one more than a Poisson count with mean k t, up to the last stage.
fn stages(mean: f64, species: usize) -> Vec<f64> {
    let mut law = vec![f64::exp(-mean)];
    (1..species - 1).for_each(|at| law.push(law[at - 1] * mean / at as f64));
    law.push(1.0 - law.iter().sum::<f64>());
    law
}

#[test]
fn chains_have_the_law_of_independent_particles() {
    let times = [0.0, 0.5, 3.0, 10.0];
    for (species, rows, expected) in [(20, 20_000, "Lanes"), (50, 20_000, "Lanes"), (520, 2_000, "Next")] {
        let simulation = observing(chain(species), &times, None);
        assert_eq!(engine(&simulation), expected);
        let rate = 1.7;
        let table = many(&simulation, &[rate], rows);
        for (at, time) in times.into_iter().enumerate().skip(1) {
            let law = stages(rate * time, species);
            let column = |stage: usize| table.column(stage * times.len() + at);
            // Rarer stages have averages that are far from normal.
            for stage in (0..species).filter(|&stage| law[stage] * rows as f64 > 20.0) {
                agree(
                    &format!("stage {stage} of {species} at {time}"),
                    &column(stage),
                    binomial(30.0, law[stage]),
                );
            }
            let both: Vec<f64> = column(2).iter().zip(column(3)).map(|(a, b)| a + b).collect();
            agree(&format!("two stages of {species} at {time}"), &both, binomial(30.0, law[2] + law[3]));
        }
        for row in table.iter() {
            let total = |at: usize| (0..species).map(|stage| row[stage * times.len() + at]).sum::<f64>();
            assert!((0..times.len()).all(|at| total(at) == 30.0));
        }
    }
}

/// A rate of -0 must not put the next event at minus infinity.
#[test]
fn a_negative_zero_is_a_zero() {
    for species in [2, 20, 65, 140, 513] {
        let simulation = observing(chain(species), &[0.0, 1.0], None);
        let row = one(&simulation, &[-0.0]).unwrap();
        assert!(row[..2] == [30.0, 30.0] && row[2..].iter().all(|&count| count == 0.0), "{species}: {row:?}");
    }
    let timed = observing(network("0 -> A @ { k * time }", &["k"], &[]), &[1.0], None);
    assert_eq!(engine(&timed), "Timed");
    assert_eq!(one(&timed, &[-0.0]), Ok(vec![0.0]));
}
