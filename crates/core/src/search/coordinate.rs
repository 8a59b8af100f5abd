//! Coordinate search: one weight at a time, up and down, with steps that shrink.

use super::{Best, Search, Task};
use crate::stream::Stream;

/// Cycles through the coordinates, tries a step up and a step down, and halves the step after a cycle without
/// success.
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// First step.
    pub step: f64,
}

impl Default for Coordinate {
    fn default() -> Self {
        Self { step: 2.0 }
    }
}

impl Search for Coordinate {
    fn maximise(&self, mut task: Task<'_>, _: &mut Stream) -> Best {
        let mut best = task.start.clone();
        let mut point = best.point.clone();
        let mut step = self.step;
        loop {
            let before = best.value;
            for j in 0..point.len() {
                for direction in [step, -step] {
                    let here = best.value;
                    point.copy_from_slice(&best.point);
                    point[j] += direction;
                    task.clamp(&mut point);
                    if task.try_point(&point, &mut best).is_none() {
                        return best;
                    }
                    if best.value > here {
                        break;
                    }
                }
            }
            if best.value <= before {
                step /= 2.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn conforms() {
        super::super::conformance(&super::Coordinate::default());
    }
}
