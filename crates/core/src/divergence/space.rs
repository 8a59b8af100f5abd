//! The parameter points of one generation, prepared for neighbour searches.

use crate::problem::Prior;
use crate::stream::{Seed, Stage};
use crate::table::Table;

/// All proposals of a generation as `f32` points, each coordinate shifted and scaled to the spread of the
/// proposals, so that late, narrow generations keep their precision and no parameter drowns another.
///
/// Divergences do not change under such a map; the prior density carries the factor.
#[derive(Debug)]
pub struct Space {
    dimension: usize,
    points: Vec<f32>,
    /// Prior density in these coordinates, a row each.
    prior: Vec<f64>,
    /// A sample from the prior, in these coordinates.
    reference: Vec<f32>,
    /// Length in unit space of one unit of each coordinate.
    spread: Vec<f64>,
    /// `integral prior^2` in unit space, and the volume of one unit of these coordinates there.
    prior_square: f64,
    volume: f64,
}

impl Space {
    /// Prepares `units`, with a prior sample of `reference` points.
    #[must_use]
    pub fn new(prior: &Prior, units: &Table, seed: Seed, reference: usize) -> Self {
        let d = units.columns();
        let n = units.rows() as f64;
        let mut mean = vec![0.0; d];
        let mut square = vec![0.0; d];
        for unit in units.iter() {
            for j in 0..d {
                mean[j] += unit[j] / n;
            }
        }
        for unit in units.iter() {
            for j in 0..d {
                square[j] += (unit[j] - mean[j]) * (unit[j] - mean[j]) / n;
            }
        }
        let spread: Vec<f64> = square.iter().map(|&v| if v > 0.0 { v.sqrt() } else { 1.0 }).collect();
        let ln_volume: f64 = spread.iter().map(|&s| libm::log(s)).sum();
        let place = |unit: &[f64], into: &mut Vec<f32>| {
            into.extend((0..d).map(|j| ((unit[j] - mean[j]) / spread[j]) as f32));
        };
        let mut points = Vec::with_capacity(units.rows() * d);
        units.iter().for_each(|unit| place(unit, &mut points));
        // Flat priors have one density: it is not computed anew for each row.
        let mut last = (f64::NAN, f64::NAN);
        let mut density = |unit: &[f64]| {
            let ln = prior.ln_density(unit);
            if ln != last.0 {
                last = (ln, libm::exp(ln + ln_volume));
            }
            last.1
        };
        let densities = units.iter().map(&mut density).collect();
        let mut sample = Vec::with_capacity(reference * d);
        let mut unit = vec![0.0; d];
        let mut streams = seed.streams(Stage::Reference, 0);
        for row in 0..reference {
            prior.draw(&mut streams.at(row as u64), &mut unit);
            place(&unit, &mut sample);
        }
        let prior_square = prior.mean_density();
        let volume = libm::exp(ln_volume);
        Self { dimension: d, points, prior: densities, reference: sample, spread, prior_square, volume }
    }

    /// Number of parameters.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of proposals.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.prior.len()
    }

    pub(super) fn point(&self, row: u32) -> &[f32] {
        &self.points[row as usize * self.dimension..(row as usize + 1) * self.dimension]
    }

    /// All points with the distances of unit space, and the prior sample alike.
    pub(super) fn in_unit_space(&self) -> (Vec<f32>, Vec<f32>) {
        let stretch = |values: &[f32]| {
            let scales = self.spread.iter().map(|&spread| spread as f32).cycle();
            values.iter().zip(scales).map(|(value, scale)| value * scale).collect()
        };
        (stretch(&self.points), stretch(&self.reference))
    }

    /// Prior density of each row.
    pub(super) fn prior(&self) -> &[f64] {
        &self.prior
    }

    pub(super) fn reference(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.reference.chunks_exact(self.dimension)
    }

    /// `integral prior^2` in unit space.
    pub(super) fn prior_square(&self) -> f64 {
        self.prior_square
    }

    /// Density in unit space of a density of one in these coordinates, inverted.
    pub(super) fn volume(&self) -> f64 {
        self.volume
    }
}
