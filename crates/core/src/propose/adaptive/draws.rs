//! Draws from a smoothed population.

use super::estimate::{NEIGHBOURS, Patch, Sample, Shape};
use crate::population::Population;
use crate::problem::Prior;
use crate::propose::ProposeError;
use crate::propose::covariance::add_step;
use crate::stream::{Seed, Stage};
use crate::table::Table;
use crate::trials::systematic;

/// Particles that estimates are compared by, at the most.
const COMPARED: usize = 1_000;
/// Widths tried around the rule of thumb, for one covariance and for local ones.
const SHARED: [f64; 3] = [0.5, 1.0, 1.5];
const LOCAL: [f64; 2] = [0.7, 1.3];
/// The least log density that counts when estimates are compared.
const FLOOR: f64 = -50.0;

/// Equally weighted draws from a population, no two alike: each particle as often as its weight says. One that is drawn once
/// stays where it is; copies are moved by a step of the density estimate that predicts the particles best. Steps widen the
/// whole, so centres are first drawn together by as much (West 1993): all to their mean, or each to that of its neighbours.
///
/// # Errors
/// If the population is too degenerate to perturb.
pub fn draws(
    prior: &Prior,
    population: &Population,
    count: usize,
    seed: Seed,
) -> Result<Table, ProposeError> {
    const TRIES: usize = 100;
    let shape = best_shape(&Sample::of(population, COMPARED)?)?;
    let sample = Sample::whole(population)?;
    let d = sample.units.columns();
    let (mut thetas, mut unit) = (Table::filled(count, d, 0.0), vec![0.0; d]);
    let mut streams = seed.streams(Stage::Draw, 0);
    let scale = |width: f64, points: f64| sample.scale(width, points).min(1.0);
    let all = Patch { middle: sample.middle.clone(), root: sample.root.clone() };
    let mut last: Option<(usize, Patch)> = None;
    let ancestors = systematic(&sample.weights, count);
    let is_alone = |slot: usize| {
        let is_copy = |other: usize| ancestors.get(other) == Some(&ancestors[slot]);
        !is_copy(slot + 1) && !slot.checked_sub(1).is_some_and(is_copy)
    };
    for (slot, &ancestor) in ancestors.iter().enumerate() {
        if is_alone(slot) {
            prior.natural(sample.units.row(ancestor), thetas.row_mut(slot));
            continue;
        }
        let (Patch { middle, root }, scale) = match shape {
            Shape::Single(width) => (&all, width.min(1.0)),
            Shape::Shared(width) => (&all, scale(width, sample.effective())),
            Shape::Local(share, width) => {
                let count = sample.neighbours(share).unwrap_or(sample.units.rows());
                if last.as_ref().is_none_or(|(at, _)| *at != ancestor) {
                    last = Some((ancestor, sample.around(ancestor, count)?));
                }
                (last.as_ref().map_or(&all, |(_, around)| around), scale(width, count as f64))
            }
        };
        let (step, together) = (root * scale, (1.0 - scale * scale).sqrt());
        let mut rng = streams.at(slot as u64);
        for tried in 0..=TRIES {
            let own = sample.units.row(ancestor);
            for (x, (own, middle)) in unit.iter_mut().zip(own.iter().zip(middle)) {
                *x = middle + together * (own - middle);
            }
            // What keeps falling outside the prior stays where it is.
            if tried == TRIES {
                unit.copy_from_slice(own);
                break;
            }
            add_step(&step, &mut rng, &mut unit);
            if prior.ln_density(&unit) > f64::NEG_INFINITY {
                break;
            }
        }
        prior.natural(&unit, thetas.row_mut(slot));
    }
    Ok(thetas)
}

/// The shape under which each particle is likeliest given the others.
fn best_shape(sample: &Sample) -> Result<Shape, ProposeError> {
    let local = NEIGHBOURS.into_iter().filter(|&share| sample.neighbours(share).is_some());
    let local = local.flat_map(|share| LOCAL.map(|width| Shape::Local(share, width)));
    // One Gaussian for all is what a step as wide as the whole amounts to, and best where the posterior is one.
    let others: Vec<Shape> = [Shape::Single(1.0)].into_iter().chain(local).collect();
    let shapes = [&SHARED.map(Shape::Shared)[..], &others].concat();
    let together = |width: f64| sample.left_out_together(sample.scale(width, sample.effective()).min(1.0));
    let densities = [SHARED.map(together).to_vec(), sample.left_out(&others)?].concat();
    let score = |ln: &Vec<f64>| -> f64 {
        ln.iter().zip(&sample.weights).map(|(ln, weight)| weight * ln.max(FLOOR)).sum()
    };
    let scores: Vec<f64> = densities.iter().map(score).collect();
    let best = (0..shapes.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best });
    Ok(shapes[best])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::LogWeights;

    #[test]
    fn what_is_drawn_once_stays_and_copies_are_moved() {
        let (prior, mut population) = crate::propose::testing::population(60, 2);
        population.weights = LogWeights::new(vec![0.0; 60]).unwrap();
        let mut natural = population.units.clone();
        population.units.iter().enumerate().for_each(|(i, unit)| prior.natural(unit, natural.row_mut(i)));
        assert_eq!(draws(&prior, &population, 60, Seed(1)).unwrap(), natural);
        let copies = draws(&prior, &population, 180, Seed(1)).unwrap();
        let mut rows: Vec<&[f64]> = copies.iter().collect();
        rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert!(rows.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
