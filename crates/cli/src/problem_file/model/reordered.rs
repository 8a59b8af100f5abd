//! A simulator that is given its parameters in another order.

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;
use counterpoise_core::table::Table;

/// A simulator whose parameters come in another order than it wants them.
pub(crate) struct Reordered {
    inner: Box<dyn Simulator>,
    /// For each parameter of the simulator, its place among those given.
    order: Vec<usize>,
}

impl Reordered {
    /// `inner`, which wants its parameters as `wanted`, taking them as `given`.
    pub(crate) fn wrap(inner: Box<dyn Simulator>, wanted: &[String], given: &[String]) -> Box<dyn Simulator> {
        if wanted == given {
            return inner;
        }
        let position = |name: &String| given.iter().position(|other| other == name);
        Box::new(Self { inner, order: wanted.iter().filter_map(position).collect() })
    }
}

impl Simulator for Reordered {
    fn summaries(&self) -> usize {
        self.inner.summaries()
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        let ordered: Vec<f64> = self.order.iter().map(|&at| theta[at]).collect();
        self.inner.simulate(&ordered, rng, summaries)
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let turned = jobs.thetas.iter().flat_map(|theta| self.order.iter().map(|&at| theta[at])).collect();
        let thetas = Table::from_rows(self.order.len(), turned);
        self.inner.simulate_rows(&Jobs { thetas: &thetas, ..*jobs }, feed);
    }

    fn is_dear(&self) -> bool {
        self.inner.is_dear()
    }

    fn batch(&self) -> usize {
        self.inner.batch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoise_core::simulate::simulate_rows;
    use counterpoise_core::stream::{Seed, Stage};
    use counterpoise_models::{Preset, builtin};

    #[test]
    fn parameters_reach_the_simulator_in_its_own_order() {
        let death = || builtin("death", Preset::Text, &[]).unwrap();
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let turned = Reordered::wrap(death().simulator, &names(["k", "sigma"]), &names(["sigma", "k"]));
        let run = |simulator: &dyn Simulator, theta: &[f64]| {
            let mut summaries = vec![0.0; simulator.summaries()];
            simulator.simulate(theta, &mut Seed(1).stream(Stage::Simulate, 0, 0), &mut summaries).unwrap();
            summaries
        };
        assert_eq!(run(&*turned, &[0.01, 0.1]), run(&*death().simulator, &[0.1, 0.01]));
    }

    /// A simulator that can only do many rows at once, of which it gives the parameters back.
    struct Together;

    impl Simulator for Together {
        fn summaries(&self) -> usize {
            2
        }

        fn simulate(&self, _: &[f64], _: &mut Stream, _: &mut [f64]) -> Result<(), Failure> {
            Err(Failure::Declined("one by one".into()))
        }

        fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
            while let Some(row) = feed.next() {
                feed.finish(row, jobs.theta(row), Ok(()));
            }
        }
    }

    #[test]
    fn many_rows_stay_together_and_keep_their_numbers() {
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let turned = Reordered::wrap(Box::new(Together), &names(["k", "sigma"]), &names(["sigma", "k"]));
        let thetas = Table::from_rows(2, vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0]);
        let jobs = Jobs { thetas: &thetas, seed: Seed(1), generation: 0, first: 0 };
        let chunk = simulate_rows(&*turned, &jobs, &[2, 0]);
        assert_eq!(chunk.rows, [2, 0]);
        assert_eq!(chunk.outcomes, [Ok(()), Ok(())]);
        assert_eq!(chunk.summaries.values(), [21.0, 20.0, 1.0, 0.0]);
    }
}
