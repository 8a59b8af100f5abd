//! Derivative-free maximisers in a box, one a file.
//!
//! The objective is piecewise constant: gradients are zero and only comparisons help.

mod cma_es;
mod coordinate;
mod nelder_mead;
mod random;
mod sparse;
mod zeros;

pub use cma_es::CmaEs;
pub use coordinate::Coordinate;
pub use nelder_mead::NelderMead;
pub use random::Random;
pub use sparse::SparseMutation;
pub use zeros::Zeros;

use std::fmt::Debug;

use crate::stream::Stream;

/// A function to be maximised, and the box it lives in.
pub struct Task<'a> {
    /// The function.
    pub objective: &'a mut dyn FnMut(&[f64]) -> f64,
    /// Lower and upper end of each coordinate.
    pub bounds: &'a [(f64, f64)],
    /// Where to begin, and the value there.
    pub start: Best,
    /// How often the function may be evaluated.
    pub evaluations: usize,
}

/// A point and the value there.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The point.
    pub point: Vec<f64>,
    /// The objective there.
    pub value: f64,
}

/// A maximiser.
pub trait Search: Debug + Send + Sync {
    /// The best point found within the task's evaluations; never worse than its start.
    fn maximise(&self, task: Task<'_>, rng: &mut Stream) -> Best;
    /// Whether a coordinate at the lower end of the box stands for a weight of zero.
    fn floor_is_zero(&self) -> bool {
        false
    }
}

impl Task<'_> {
    /// Evaluates `point` and keeps it where it is no worse; `None` when the evaluations are used up.
    fn try_point(&mut self, point: &[f64], best: &mut Best) -> Option<f64> {
        self.evaluations = self.evaluations.checked_sub(1)?;
        let value = (self.objective)(point);
        if value >= best.value {
            best.point.copy_from_slice(point);
            best.value = value;
        }
        Some(value)
    }

    fn clamp(&self, point: &mut [f64]) {
        for (value, &(low, high)) in point.iter_mut().zip(self.bounds) {
            *value = value.clamp(low, high);
        }
    }
}

/// What every search must satisfy.
#[cfg(test)]
pub(crate) fn conformance(search: &dyn Search) {
    use crate::stream::{Seed, Stage};

    let bounds = [(-4.0, 4.0), (-4.0, 4.0), (-1.0, 6.0), (-4.0, 4.0)];
    let peak = [1.0, -2.0, 3.0, 0.5];
    // A staircase: piecewise constant, like the real objective.
    let height = |x: &[f64]| {
        let square: f64 = x.iter().zip(&peak).map(|(a, b)| (a - b) * (a - b)).sum();
        -(square * 8.0).floor() / 8.0
    };
    let run = |evaluations: usize, seed: u64| {
        let mut count = 0;
        let mut seen_best = f64::NEG_INFINITY;
        let start = Best { point: vec![0.0; 4], value: height(&[0.0; 4]) };
        let mut objective = |x: &[f64]| {
            count += 1;
            assert!(
                x.iter().zip(&bounds).all(|(v, (low, high))| low <= v && v <= high),
                "{search:?} left the box"
            );
            seen_best = height(x).max(seen_best);
            height(x)
        };
        let task = Task { objective: &mut objective, bounds: &bounds, start: start.clone(), evaluations };
        let best = search.maximise(task, &mut Seed(seed).stream(Stage::Weigh, 0, 0));
        assert!(count <= evaluations, "{search:?}: {count} evaluations of {evaluations}");
        assert_eq!(best.value, height(&best.point), "{search:?} reports another value than its point has");
        assert_eq!(best.value, seen_best.max(start.value), "{search:?} forgot its best point");
        best
    };
    assert_eq!(run(100, 1), run(100, 1), "{search:?} is not reproducible");
    assert_eq!(run(0, 1).point, [0.0; 4], "{search:?} moves without evaluating");
    run(1, 1);
    run(7, 1);
    let reached = (1..=5).map(|seed| run(600, seed).value).sum::<f64>() / 5.0;
    assert!(reached > -1.6, "{search:?} reaches {reached} on average, from {}", height(&[0.0; 4]));
}
