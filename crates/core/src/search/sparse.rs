//! Sparse mutation: a (1+1) search that changes few coordinates at a time.

use rand::RngExt;
use rand::distr::Distribution;

use super::{Best, Search, Task};
use crate::stream::Stream;
use crate::variates::StandardNormal;

/// Moves about two coordinates at a time by steps of very different sizes, and stays where it is no worse.
///
/// Few coordinates, because most weights do not matter and because an objective can follow a change of one
/// weight much faster than a change of all. Equal values are taken, to drift across plateaus.
#[derive(Clone, Debug)]
pub struct SparseMutation {
    /// Coordinates changed at a time, on average.
    pub coordinates: f64,
    /// Smallest and largest typical step; each mutation draws its own between them, evenly in the logarithm.
    pub steps: (f64, f64),
}

impl Default for SparseMutation {
    fn default() -> Self {
        Self { coordinates: 2.0, steps: (0.2, 3.0) }
    }
}

impl Search for SparseMutation {
    fn maximise(&self, mut task: Task<'_>, rng: &mut Stream) -> Best {
        let mut best = task.start.clone();
        let d = best.point.len();
        let chance = (self.coordinates / d as f64).min(1.0);
        let (low, high) = (libm::log(self.steps.0), libm::log(self.steps.1));
        let mut point = best.point.clone();
        loop {
            point.copy_from_slice(&best.point);
            let size = libm::exp(rng.random_range(low..=high));
            let always = rng.random_range(0..d);
            for (j, value) in point.iter_mut().enumerate() {
                if j == always || rng.random::<f64>() < chance {
                    let step: f64 = StandardNormal.sample(rng);
                    *value += size * step;
                }
            }
            task.clamp(&mut point);
            if task.try_point(&point, &mut best).is_none() {
                return best;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn conforms() {
        super::super::conformance(&super::SparseMutation::default());
    }
}
