//! Draws from a density in up to three dimensions: cells that are split where the mass is, and rejection within them.

use counterpoise_core::stream::Stream;

/// Cells with less of the peak's log density than this are dropped.
const DEPTH: f64 = 22.0;
/// The same before a first splitting has shown how much of a peak falls between the centres.
const FIRST_DEPTH: f64 = 300.0;
/// A point may have so many times the density of its cell's centre.
const ABOVE_CENTRE: f64 = 4.0;

/// Where to look, and how finely.
pub struct Cells<'a> {
    /// The interval of each coordinate; nothing lies outside.
    pub bounds: &'a [(f64, f64)],
    /// Cells a coordinate at first.
    pub first: usize,
    /// No further splitting from here.
    pub enough: usize,
}

impl Cells<'_> {
    /// Independent draws from the density whose logarithm, up to a constant, is `ln_density`.
    pub fn draw(&self, ln_density: &dyn Fn(&[f64]) -> f64, count: usize, rng: &mut Stream) -> Vec<Vec<f64>> {
        let (cells, widths) = self.split(ln_density);
        let peak = cells.iter().fold(f64::NEG_INFINITY, |peak, cell| peak.max(cell.1));
        let mut total = 0.0;
        let sums: Vec<f64> = cells
            .iter()
            .map(|cell| {
                total += (cell.1 - peak).exp();
                total
            })
            .collect();
        let mut draws = Vec::with_capacity(count);
        while draws.len() < count {
            let level = total * rng.uniform();
            let (centre, ln_centre) = &cells[sums.partition_point(|&sum| sum < level).min(cells.len() - 1)];
            let point: Vec<f64> =
                centre.iter().zip(&widths).map(|(c, width)| c + width * (rng.uniform() - 0.5)).collect();
            if ABOVE_CENTRE * rng.uniform() < (ln_density(&point) - ln_centre).exp() {
                draws.push(point);
            }
        }
        draws
    }

    /// The cells that hold the mass, each a centre and its log density, and their widths.
    fn split(&self, ln_density: &dyn Fn(&[f64]) -> f64) -> (Vec<(Vec<f64>, f64)>, Vec<f64>) {
        let d = self.bounds.len();
        let mut widths: Vec<f64> =
            self.bounds.iter().map(|(low, high)| (high - low) / self.first as f64).collect();
        let mut centres: Vec<Vec<f64>> = (0..self.first.pow(d as u32))
            .map(|mut index| {
                let mut place = |j: usize| {
                    let step = index % self.first;
                    index /= self.first;
                    self.bounds[j].0 + (step as f64 + 0.5) * widths[j]
                };
                (0..d).map(&mut place).collect()
            })
            .collect();
        let (mut depth, mut last) = (FIRST_DEPTH, None);
        loop {
            let mut cells: Vec<(Vec<f64>, f64)> = centres
                .into_iter()
                .map(|centre| {
                    let ln = ln_density(&centre);
                    (centre, ln)
                })
                .collect();
            let peak = cells.iter().fold(f64::NEG_INFINITY, |peak, cell| peak.max(cell.1));
            if let Some(last) = last {
                depth = DEPTH + 5.0 * f64::max(peak - last, 0.0);
            }
            last = Some(peak);
            cells.retain(|cell| cell.1 > peak - depth);
            if cells.len() << d > self.enough && depth < DEPTH + 5.0 {
                return (cells, widths);
            }
            assert!(cells.len() < 8 * self.enough, "a density too thin for its cells");
            widths.iter_mut().for_each(|width| *width /= 2.0);
            let corner = |cell: &(Vec<f64>, f64), corner: usize| -> Vec<f64> {
                let side = |j: usize| if corner >> j & 1 == 0 { -0.5 } else { 0.5 };
                cell.0.iter().enumerate().map(|(j, c)| c + side(j) * widths[j]).collect()
            };
            centres = cells
                .iter()
                .flat_map(|cell| (0..1 << d).map(move |k| (cell, k)))
                .map(|(cell, k)| corner(cell, k))
                .collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use counterpoise_core::stream::{Seed, Stage};

    use super::*;

    /// A narrow slanted normal: means and variances along and across it within 4.5 standard errors, one failure in 30,000.
    #[test]
    fn a_narrow_ridge_is_found() {
        let ridge = |p: &[f64]| {
            let (along, across) = (p[0] + p[1] - 0.4, p[0] - p[1] - 0.1);
            -0.5 * ((along / 0.02).powi(2) + (across / 0.8).powi(2))
        };
        let cells = Cells { bounds: &[(-6.0, 6.0), (-6.0, 6.0)], first: 48, enough: 50_000 };
        let n = 10_000;
        let draws = cells.draw(&ridge, n, &mut Seed(5).stream(Stage::Draw, 0, 0));
        let along = draws.iter().map(|p| (p[0] + p[1] - 0.4) / 0.02).collect();
        let across = draws.iter().map(|p| (p[0] - p[1] - 0.1) / 0.8).collect();
        let scores: [Vec<f64>; 2] = [along, across];
        for scores in scores {
            let mean = scores.iter().sum::<f64>() / n as f64;
            let square = scores.iter().map(|score| score * score).sum::<f64>() / n as f64;
            assert!(mean.abs() < 4.5 / (n as f64).sqrt(), "{mean}");
            assert!((square - 1.0).abs() < 4.5 * (2.0 / n as f64).sqrt(), "{square}");
        }
    }
}
