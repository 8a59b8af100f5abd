//! The simplex of Nelder and Mead, kept in the box by clamping and started anew where it collapses.

use rand::RngExt;

use super::{Best, Search, Task};
use crate::stream::Stream;

/// Nelder & Mead (1965) with the dimension-adaptive factors of Gao & Han (2012).
#[derive(Clone, Debug)]
pub struct NelderMead {
    /// Size of the first simplex.
    pub step: f64,
}

impl Default for NelderMead {
    fn default() -> Self {
        Self { step: 2.0 }
    }
}

impl Search for NelderMead {
    fn maximise(&self, mut task: Task<'_>, rng: &mut Stream) -> Best {
        let mut best = task.start.clone();
        while self.descend(&mut task, &mut best, rng).is_some() {}
        best
    }
}

impl NelderMead {
    /// One simplex from the best point until it collapses; `None` when the evaluations are used up.
    fn descend(&self, task: &mut Task<'_>, best: &mut Best, rng: &mut Stream) -> Option<()> {
        let d = best.point.len();
        let n = d as f64;
        let (expand, contract, shrink) = (1.0 + 2.0 / n, 0.75 - 0.5 / n, (1.0 - 1.0 / n).max(0.5));
        let mut simplex = vec![best.clone()];
        for j in 0..d {
            let mut point = best.point.clone();
            let step = if rng.random() { self.step } else { -self.step };
            let (low, high) = task.bounds[j];
            point[j] += if (low..=high).contains(&(point[j] + step)) { step } else { -step };
            task.clamp(&mut point);
            let value = task.try_point(&point, best)?;
            simplex.push(Best { point, value });
        }
        // The objective has plateaus: a simplex of equal heights is finished as well.
        for _ in 0..50 * (d + 1) {
            simplex.sort_by(|a, b| b.value.total_cmp(&a.value));
            if simplex[0].value - simplex[d].value < 1e-9 {
                break;
            }
            let centre: Vec<f64> =
                (0..d).map(|j| simplex[..d].iter().map(|vertex| vertex.point[j]).sum::<f64>() / n).collect();
            let mut along = |factor: f64, worst: &Best| {
                let mut point: Vec<f64> =
                    centre.iter().zip(&worst.point).map(|(c, w)| c + factor * (c - w)).collect();
                task.clamp(&mut point);
                let value = task.try_point(&point, best)?;
                Some(Best { point, value })
            };
            let worst = simplex[d].clone();
            let reflected = along(1.0, &worst)?;
            let (top, second) = (simplex[0].value, simplex[d - 1].value);
            simplex[d] = if reflected.value > top {
                let expanded = along(expand, &worst)?;
                if expanded.value > reflected.value { expanded } else { reflected }
            } else if reflected.value > second {
                reflected
            } else {
                let factor = if reflected.value > worst.value { contract } else { -contract };
                let contracted = along(factor, &worst)?;
                if contracted.value > worst.value.max(reflected.value) { contracted } else { worst.clone() }
            };
            if simplex[d] == worst {
                let first = simplex[0].point.clone();
                for vertex in &mut simplex[1..] {
                    for (x, anchor) in vertex.point.iter_mut().zip(&first) {
                        *x = anchor + shrink * (*x - anchor);
                    }
                    vertex.value = task.try_point(&vertex.point, best)?;
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn conforms() {
        super::super::conformance(&super::NelderMead::default());
    }
}
