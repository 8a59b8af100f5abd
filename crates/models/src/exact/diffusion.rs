//! The posterior of the diffusion problem, by dynamic programming over counts.

use std::f64::consts::{LN_10, PI};

use super::Density;

/// Steps of the logarithm at which the likelihood is computed; between them it is as good as a cubic.
const STEP: f64 = 0.1;
/// A log likelihood so far below the highest is none.
const BELOW: f64 = 40.0;
/// States of the dynamic programming that are borne: 40 particles in 8 voxels make at most 1.7 million.
const MOST_STATES: usize = 20_000_000;

/// Probabilities of going from voxel to voxel in time `t`: the modes of a walk between two walls.
pub(crate) fn transitions(voxels: usize, theta: f64, t: f64) -> Vec<Vec<f64>> {
    let m = voxels as f64;
    let wave = |mode: usize, voxel: usize| libm::cos(PI * mode as f64 * (voxel as f64 + 0.5) / m);
    let decay = |mode: usize| libm::exp(-2.0 * theta * (1.0 - libm::cos(PI * mode as f64 / m)) * t);
    let probability = |from: usize, to: usize| {
        let modes = (1..voxels).map(|mode| wave(mode, from) * wave(mode, to) * decay(mode));
        (1.0 + 2.0 * modes.sum::<f64>()) / m
    };
    (0..voxels).map(|from| (0..voxels).map(|to| probability(from, to)).collect()).collect()
}

/// Probability of the counts `to` after the counts `from`, by placing one particle after another: the states are all counts
/// below `to`, and the number of particles placed says where the next came from.
pub(crate) fn ln_transition(moves: &[Vec<f64>], from: &[usize], to: &[usize]) -> f64 {
    let origins: Vec<usize> =
        from.iter().enumerate().flat_map(|(voxel, &count)| std::iter::repeat_n(voxel, count)).collect();
    let mut strides = vec![1; to.len()];
    for voxel in 1..to.len() {
        strides[voxel] = strides[voxel - 1] * (to[voxel - 1] + 1);
    }
    let states: usize = to.iter().map(|count| count + 1).product();
    let mut probability = vec![0.0; states];
    probability[0] = 1.0;
    let mut placed = vec![0; to.len()];
    for state in 1..states {
        let first = (0..to.len()).find(|&voxel| placed[voxel] < to[voxel]).unwrap_or(0);
        placed[..first].fill(0);
        placed[first] += 1;
        let moves = &moves[origins[placed.iter().sum::<usize>() - 1]];
        let ways = (0..to.len()).filter(|&voxel| placed[voxel] > 0);
        probability[state] = ways.map(|voxel| moves[voxel] * probability[state - strides[voxel]]).sum();
    }
    libm::log(probability[states - 1])
}

/// The log likelihood of counts, one voxel after another, each at all times.
pub(crate) fn ln_likelihood(theta: f64, voxels: usize, step: f64, row: &[f64]) -> f64 {
    let moves = transitions(voxels, theta, step);
    let series = row.len() / voxels;
    let counts = |time: usize| -> Vec<usize> {
        (0..voxels).map(|voxel| row[voxel * series + time] as usize).collect()
    };
    (1..series).map(|time| ln_transition(&moves, &counts(time - 1), &counts(time))).sum()
}

/// The posterior; nothing where the counts are too many.
pub(super) fn posterior(prior: (f64, f64), voxels: usize, step: f64, row: &[f64]) -> Option<Density> {
    let series = row.len() / voxels;
    for time in 0..series {
        let counts = (0..voxels).map(|voxel| row[voxel * series + time] as usize + 1);
        if counts.fold(1_usize, usize::saturating_mul) > MOST_STATES {
            return None;
        }
    }
    let (low, high) = (libm::log10(prior.0), libm::log10(prior.1));
    let most = ((high - low) / STEP).ceil() as usize;
    let at = |index: usize| low + (high - low) * index as f64 / most as f64;
    let mut known: Vec<Option<f64>> = vec![None; most + 1];
    let mut ln = |index: usize| -> f64 {
        *known[index].get_or_insert_with(|| ln_likelihood(libm::exp(LN_10 * at(index)), voxels, step, row))
    };
    // Uphill from where particles jump once in an interval, and from the top down on both sides.
    let begun = ((-libm::log10(step) - low) / STEP).clamp(0.0, most as f64) as usize;
    let mut top = begun;
    while top < most && ln(top + 1) > ln(top) {
        top += 1;
    }
    while top > 0 && ln(top - 1) > ln(top) {
        top -= 1;
    }
    let (mut first, mut last) = (top, top);
    while first > 0 && ln(first) > ln(top) - BELOW {
        first -= 1;
    }
    while last < most && ln(last) > ln(top) - BELOW {
        last += 1;
    }
    let values: Vec<f64> = (first..=last).map(&mut ln).collect();
    let (start, width) = (at(first), (high - low) / most as f64);
    Some(Density::new(prior, |log10| between(&values, (log10 - start) / width)))
}

/// The cubic through the four values around a place; nothing outside.
fn between(values: &[f64], place: f64) -> f64 {
    if values.len() < 4 || place < 0.0 || place > (values.len() - 1) as f64 {
        return f64::NEG_INFINITY;
    }
    let first = (place.floor() as usize).saturating_sub(1).min(values.len() - 4);
    let t = place - first as f64;
    let term = |i: usize| {
        let others = (0..4).filter(|&j| j != i);
        others.map(|j| (t - j as f64) / (i as f64 - j as f64)).product::<f64>() * values[first + i]
    };
    (0..4).map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_is_met_everywhere() {
        let cubic = |x: f64| 1.0 - 2.0 * x + 0.5 * x * x - 0.1 * x * x * x;
        let values: Vec<f64> = (0..7).map(|x| cubic(f64::from(x))).collect();
        for x in [0.0, 0.3, 1.0, 2.7, 5.9, 6.0] {
            assert!((between(&values, x) - cubic(x)).abs() < 1e-12, "{x}");
        }
        assert_eq!(between(&values, 6.1), f64::NEG_INFINITY);
    }
}
