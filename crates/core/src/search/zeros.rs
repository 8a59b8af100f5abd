//! Sparse mutation that also switches coordinates off and on.

use rand::RngExt;
use rand::distr::Distribution;

use super::{Best, Search, SparseMutation, Task};
use crate::stream::Stream;
use crate::variates::StandardNormal;

/// Every other move switches a few coordinates off, to the lower end of the box, or on again, to where they began; the others
/// are those of [`SparseMutation`] among the coordinates that are on. The lower end means nothing at all: a weight there is zero.
/// Sparse weights by a search of our own, after no paper.
#[derive(Clone, Debug, Default)]
pub struct Zeros {
    /// How the coordinates that are on move.
    pub moves: SparseMutation,
}

impl Search for Zeros {
    fn maximise(&self, mut task: Task<'_>, rng: &mut Stream) -> Best {
        let (start, mut best) = (task.start.point.clone(), task.start.clone());
        let d = start.len();
        let chance = (self.moves.coordinates / d as f64).min(1.0);
        let (low, high) = (libm::log(self.moves.steps.0), libm::log(self.moves.steps.1));
        let mut point = best.point.clone();
        loop {
            point.copy_from_slice(&best.point);
            let switch = rng.random::<bool>();
            let size = libm::exp(rng.random_range(low..=high));
            let always = rng.random_range(0..d);
            for (j, value) in point.iter_mut().enumerate() {
                if j != always && rng.random::<f64>() >= chance {
                    continue;
                }
                let (floor, step): (f64, f64) = (task.bounds[j].0, StandardNormal.sample(rng));
                let off = *value <= floor;
                *value = match (switch, off) {
                    (true, true) => start[j],
                    (true, false) => floor,
                    (false, true) => floor,
                    (false, false) => *value + size * step,
                };
            }
            if point.iter().zip(task.bounds).all(|(value, (floor, _))| value <= floor) {
                // Something must be left to compare.
                point[always] = start[always];
            }
            task.clamp(&mut point);
            if task.try_point(&point, &mut best).is_none() {
                return best;
            }
        }
    }

    fn floor_is_zero(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Seed, Stage};

    #[test]
    fn conforms() {
        super::super::conformance(&Zeros::default());
    }

    #[test]
    fn coordinates_that_do_harm_are_switched_off() {
        // Only the first of twenty coordinates may be on.
        let bounds = vec![(-7.0, 7.0); 20];
        let on = |x: &[f64]| x[1..].iter().filter(|value| **value > -7.0).count() as f64;
        let mut harm = |x: &[f64]| -on(x) - x[0].abs();
        let start = Best { point: vec![0.0; 20], value: -19.0 };
        let task = Task { objective: &mut harm, bounds: &bounds, start, evaluations: 2_000 };
        let best = Zeros::default().maximise(task, &mut Seed(1).stream(Stage::Weigh, 0, 0));
        assert_eq!(best.value, 0.0);
    }
}
