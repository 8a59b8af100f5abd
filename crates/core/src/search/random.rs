//! Uniform points in the box: the paper's best of random starts, since its gradient steps cannot move.

use rand::RngExt;

use super::{Best, Search, Task};
use crate::stream::Stream;

/// Tries points of the box at random.
#[derive(Clone, Debug)]
pub struct Random;

impl Search for Random {
    fn maximise(&self, mut task: Task<'_>, rng: &mut Stream) -> Best {
        let mut best = task.start.clone();
        let mut point = best.point.clone();
        loop {
            for (value, &(low, high)) in point.iter_mut().zip(task.bounds) {
                *value = rng.random_range(low..=high);
            }
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
        super::super::conformance(&super::Random);
    }
}
