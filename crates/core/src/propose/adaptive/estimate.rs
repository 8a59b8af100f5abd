//! Density estimates of a population: Gaussians of several shapes and widths around its particles.

use nalgebra::DMatrix;

use super::bells::{Bell, Bells};
use super::heavy;
use crate::population::Population;
use crate::propose::ProposeError;
use crate::propose::covariance::{factor, weighted_covariance, whiten};
use crate::table::Table;
use crate::trials::systematic;

/// Particles of an estimate for proposing at the most.
pub(super) const MOST: usize = 128;
/// Neighbours of a local covariance as shares of the particles.
pub(super) const NEIGHBOURS: [f64; 2] = [0.05, 0.2];

/// How the Gaussians of a density estimate look, whatever the number of particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// One Gaussian for all, so many standard deviations wide.
    Single(f64),
    /// One covariance around each; the width beside the rule of thumb.
    Shared(f64),
    /// That of a share of the particles, the nearest; the width beside the rule of thumb.
    Local(f64, f64),
}

/// Mean and factor of the covariance of some particles.
pub(super) struct Patch {
    pub(super) middle: Vec<f64>,
    pub(super) root: DMatrix<f64>,
}

/// A population, prepared for estimates: some different particles that stand for all.
pub(super) struct Sample {
    pub(super) units: Table,
    pub(super) weights: Vec<f64>,
    /// Factor of the covariance, and the middle.
    pub(super) root: DMatrix<f64>,
    pub(super) middle: Vec<f64>,
    /// The particles where the covariance is the identity.
    white: Vec<Vec<f64>>,
    kept: usize,
}

impl Sample {
    /// At most so many stand-ins for a population.
    pub(super) fn of(population: &Population, most: usize) -> Result<Self, ProposeError> {
        let all = population.weights.normalised();
        if population.len() <= most {
            return Self::new(population.units.clone(), all.to_vec(), population);
        }
        // Picked twice is twice the weight: a copy would vouch for its own.
        let (mut rows, mut weights): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
        for at in systematic(all, most) {
            if rows.last() != Some(&(at as u32)) {
                rows.push(at as u32);
                weights.push(0.0);
            }
            if let Some(weight) = weights.last_mut() {
                *weight += 1.0 / most as f64;
            }
        }
        Self::new(population.units.select(&rows), weights, population)
    }

    /// All of a population.
    pub(super) fn whole(population: &Population) -> Result<Self, ProposeError> {
        Self::new(population.units.clone(), population.weights.normalised().to_vec(), population)
    }

    fn new(units: Table, weights: Vec<f64>, population: &Population) -> Result<Self, ProposeError> {
        let root = factor(weighted_covariance(&units, &weights, None), population)?;
        let middle = (0..units.columns())
            .map(|j| units.iter().zip(&weights).map(|(unit, weight)| weight * unit[j]).sum())
            .collect();
        let white = units.iter().map(|unit| whiten(&root, unit)).collect();
        Ok(Self { units, weights, root, middle, white, kept: population.len() })
    }

    pub(super) fn effective(&self) -> f64 {
        1.0 / self.weights.iter().map(|w| w * w).sum::<f64>()
    }

    /// How many particles a local covariance is of; `None` where that is most of them.
    pub(super) fn neighbours(&self, share: f64) -> Option<usize> {
        let (n, d) = (self.units.rows(), self.units.columns());
        let count = ((n as f64 * share) as usize).max(2 * d + 5);
        (2 * count <= n).then_some(count)
    }

    /// Mean and factor of the covariance of the `count` particles nearest to one, with a trace of the shared one.
    pub(super) fn around(&self, particle: usize, count: usize) -> Result<Patch, ProposeError> {
        let centre = &self.white[particle];
        let square =
            |white: &[f64]| -> f64 { white.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum() };
        let mut order: Vec<(f64, usize)> =
            self.white.iter().enumerate().map(|(at, white)| (square(white), at)).collect();
        if count < order.len() {
            order.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            order.truncate(count);
        }
        let mut rows: Vec<usize> = order.iter().map(|&(_, at)| at).collect();
        rows.sort_unstable();
        let equal = vec![1.0; self.units.rows()];
        let covariance = weighted_covariance(&self.units, &equal, Some(&rows));
        let covariance = covariance + &self.root * self.root.transpose() * 1e-4;
        let root =
            covariance.cholesky().map(|cholesky| cholesky.unpack()).ok_or_else(|| self.degenerate())?;
        let mean = |j: usize| rows.iter().map(|&at| self.units.at(at, j)).sum::<f64>() / rows.len() as f64;
        Ok(Patch { middle: (0..self.units.columns()).map(mean).collect(), root })
    }

    pub(super) fn degenerate(&self) -> ProposeError {
        ProposeError::Degenerate { kept: self.kept, dimension: self.units.columns() }
    }

    /// The width of the Gaussians of a shape in units of their covariance, of `points` particles.
    pub(super) fn scale(&self, width: f64, points: f64) -> f64 {
        width * rule_of_thumb(self.units.columns(), points)
    }

    /// The log density of each particle given the others, for each width of a shape.
    pub(super) fn left_out(&self, shapes: &[Shape]) -> Result<Vec<Vec<f64>>, ProposeError> {
        let mut local: Option<(usize, Vec<DMatrix<f64>>)> = None;
        let mut all = Vec::with_capacity(shapes.len());
        for &shape in shapes {
            all.push(match shape {
                Shape::Single(width) => self.single(Some(width)),
                Shape::Shared(width) => {
                    let root = &self.root * self.scale(width, self.effective());
                    self.each_given_others(&[root])
                }
                Shape::Local(share, width) => {
                    let count = self.neighbours(share).unwrap_or(self.units.rows());
                    if local.as_ref().is_none_or(|(of, _)| *of != count) {
                        local = Some((count, self.local(count)?));
                    }
                    let scale = self.scale(width, count as f64);
                    let roots = local.iter().flat_map(|(_, roots)| roots.iter().map(|root| root * scale));
                    self.each_given_others(&roots.collect::<Vec<_>>())
                }
            });
        }
        Ok(all)
    }

    /// The same for one covariance around particles that are drawn together, so that the whole is as wide as they are.
    pub(super) fn left_out_together(&self, scale: f64) -> Vec<f64> {
        let (mut centres, together) = (self.units.clone(), (1.0 - scale * scale).sqrt());
        for row in 0..centres.rows() {
            let steps = centres.row_mut(row).iter_mut().zip(&self.middle);
            steps.for_each(|(x, middle)| *x = middle + together * (*x - middle));
        }
        self.given_others(&centres, &[&self.root * scale])
    }

    /// The factors of the covariances of the `count` particles nearest to each.
    pub(super) fn local(&self, count: usize) -> Result<Vec<DMatrix<f64>>, ProposeError> {
        (0..self.units.rows()).map(|particle| Ok(self.around(particle, count)?.root)).collect()
    }

    fn each_given_others(&self, roots: &[DMatrix<f64>]) -> Vec<f64> {
        self.given_others(&self.units, roots)
    }

    /// With one factor for all particles, or one each.
    fn given_others(&self, centres: &Table, roots: &[DMatrix<f64>]) -> Vec<f64> {
        let ln_weights = self.weights.iter().map(|weight| libm::log(weight.max(f64::MIN_POSITIVE)));
        let roots = roots.iter().chain(std::iter::repeat(&roots[roots.len() - 1]));
        let bells: Vec<Bell<'_>> = centres
            .iter()
            .zip(roots)
            .zip(ln_weights)
            .map(|((centre, root), ln)| (centre, root, ln))
            .collect();
        let points: Vec<&[f64]> = self.units.iter().collect();
        let mut ln = vec![0.0; points.len()];
        Bells::new(self.middle.clone(), &bells).ln_sums(&points, Some(0), &mut ln);
        ln.iter_mut().zip(&self.weights).for_each(|(ln, weight)| *ln -= libm::log(1.0 - weight.min(0.5)));
        ln
    }

    /// The same for Student's law around all.
    pub(super) fn left_out_heavy(&self) -> Vec<f64> {
        self.single(None)
    }

    /// Under the Gaussian of the others' mean and covariance, so many standard deviations wide, or Student's law, by updates
    /// of rank one.
    fn single(&self, gaussian: Option<f64>) -> Vec<f64> {
        let d = self.units.columns();
        let ln_root: f64 = (0..d).map(|j| libm::log(self.root[(j, j)])).sum();
        let middle = whiten(&self.root, &self.middle);
        let one = |(white, &weight): (&Vec<f64>, &f64)| {
            let square: f64 = white.iter().zip(&middle).map(|(a, b)| (a - b) * (a - b)).sum();
            let left = 1.0 - weight.min(0.5);
            let shrunk = (1.0 - weight / left * square).max(1e-3);
            let ln_determinant = ln_root + 0.5 * (libm::log(shrunk) - d as f64 * libm::log(left));
            let square = square / shrunk / left;
            match gaussian {
                None => heavy::ln_density(square, d) - ln_determinant,
                Some(width) => ln_normal(d, width) - ln_determinant - 0.5 * square / (width * width),
            }
        };
        self.white.iter().zip(&self.weights).map(one).collect()
    }
}

/// The log density of a Gaussian at its middle, so many standard deviations wide.
fn ln_normal(d: usize, width: f64) -> f64 {
    -(d as f64) * (0.5 * libm::log(std::f64::consts::TAU) + libm::log(width))
}

/// The width, in standard deviations, at which a Gaussian density estimate from so many points errs least for
/// Gaussian points (Silverman 1986).
fn rule_of_thumb(d: usize, points: f64) -> f64 {
    let d = d as f64;
    libm::pow(4.0 / ((d + 2.0) * points), 1.0 / (d + 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_out_by_updates_is_leaving_out() {
        let (_, population) = crate::propose::testing::population(40, 3);
        let sample = Sample::of(&population, MOST).unwrap();
        let fast = sample.left_out(&[Shape::Single(1.5)]).unwrap().remove(0);
        for but in [0, 7, 39] {
            let others: Vec<u32> = (0..40).filter(|&row| row != but).collect();
            let units = sample.units.select(&others);
            let left: Vec<f64> = others.iter().map(|&row| sample.weights[row as usize]).collect();
            let total: f64 = left.iter().sum();
            let weights: Vec<f64> = left.iter().map(|weight| weight / total).collect();
            let rest = Sample::new(units, weights, &population).unwrap();
            let root = &rest.root * 1.5;
            let middle = Table::from_rows(3, rest.middle.clone());
            let slow = Bells::new(rest.middle.clone(), &[(middle.row(0), &root, 0.0)]);
            let mut expected = [0.0];
            slow.ln_sums(&[sample.units.row(but as usize)], None, &mut expected);
            assert!((fast[but as usize] - expected[0]).abs() < 1e-6, "{} {expected:?}", fast[but as usize]);
        }
    }
}
