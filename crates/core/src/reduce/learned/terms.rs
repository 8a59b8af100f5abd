//! Transforms of statistics, of one simulation or of many side by side.

use super::block::{Block, CUT, Lanes, Room, standardise};
use crate::elementary::ln;
use crate::products::BLOCK;
use crate::vectors::{Loop, vectorised};

/// One transform.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    /// A statistic, robustly standardised.
    Plain(usize),
    /// Its square.
    Square(usize),
    /// Logarithm of a statistic that is never negative; what is added keeps nothing finite.
    Log(usize, f64),
    /// Logarithm of the size of a statistic of either sign: how far from nothing it is.
    LogSize(usize, f64),
    /// Product of two.
    Product(usize, usize),
    /// Over a group of statistics that look alike: mean, least and largest.
    Mean(usize),
    Least(usize),
    Largest(usize),
    /// Logarithms of the same, where no statistic is negative.
    LogMean(usize, f64),
    LogLeast(usize, f64),
    LogLargest(usize, f64),
    /// Logarithm of the standard deviation.
    LogSpread(usize, f64),
    /// What outliers move little: median, mean of the middle half, logarithms of its range and of the mean distance
    /// from the median.
    Median(usize),
    MiddleMean(usize),
    LogRange(usize, f64),
    LogDeviation(usize, f64),
    /// Of two groups of equal size, member by member: correlation, by Fisher's transform, and covariance.
    Correlation(usize, usize),
    Covariance(usize, usize),
}

/// What transforms are made with.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Median and spread of each statistic.
    pub(super) scale: Vec<(f64, f64)>,
    /// Statistics that look alike.
    pub(super) groups: Vec<Vec<usize>>,
}

impl Setting {
    /// Writes terms of up to a block of simulations, a block a term. What lies beyond the last simulation of a block is
    /// of no use.
    pub(super) fn write(&self, terms: &[Term], rows: &[&[f64]], room: &mut Room, into: &mut [f64]) {
        vectorised(Write { setting: self, terms, rows, room, into });
    }

    /// A block of simulations, from which terms are made.
    pub(super) fn block<'a>(&'a self, rows: &'a [&'a [f64]], room: &'a mut Room) -> Block<'a> {
        Block::new(rows, &self.scale, &self.groups, room)
    }

    /// One term of a block of simulations.
    #[inline(always)]
    pub(super) fn lanes(&self, term: &Term, block: &mut Block<'_>, into: &mut Lanes) {
        match *term {
            Term::Plain(j) => *into = *block.standard(j),
            Term::Square(j) => multiply(block.standards(j, j), into),
            Term::Product(a, b) => multiply(block.standards(a, b), into),
            Term::Log(j, offset) => {
                *into = *block.raw(j);
                logarithms(into, offset);
            }
            Term::LogSize(j, offset) => {
                *into = *block.raw(j);
                into.iter_mut().for_each(|value| *value = value.abs());
                logarithms(into, offset);
            }
            Term::Correlation(g, h) => {
                let (v, w) = (*block.variance(g), *block.variance(h));
                let joint = block.joint(g, h);
                for lane in 0..BLOCK {
                    let size = (v[lane] * w[lane]).sqrt();
                    let r = if size > 0.0 { joint[lane] / size } else { 0.0 };
                    let r = r.clamp(-0.999, 0.999);
                    into[lane] = 0.5 * ln((1.0 + r) / (1.0 - r));
                }
            }
            Term::Covariance(g, h) => {
                *into = *block.joint(g, h);
                let unit = self.scale[self.groups[g][0]].1 * self.scale[self.groups[h][0]].1;
                standardise(into, (0.0, unit), CUT * CUT);
            }
            _ => self.of_group(term, block, into),
        }
    }

    /// One term of one group.
    #[inline(always)]
    fn of_group(&self, term: &Term, block: &mut Block<'_>, into: &mut Lanes) {
        match *term {
            Term::Mean(g) | Term::LogMean(g, _) => *into = *block.mean(g),
            Term::Least(g) | Term::LogLeast(g, _) => block.least(g, into),
            Term::Largest(g) | Term::LogLargest(g, _) => block.largest(g, into),
            Term::Median(g) => block.quantile(g, 0.5, into),
            Term::MiddleMean(g) => {
                let values = block.sorted(g);
                let middle = &values[values.len() / 4..values.len() - values.len() / 4];
                mean(middle, into);
            }
            Term::LogRange(g, _) => {
                let mut low = [0.0; BLOCK];
                block.quantile(g, 0.25, &mut low);
                block.quantile(g, 0.75, into);
                into.iter_mut().zip(&low).for_each(|(high, low)| *high -= low);
            }
            Term::LogDeviation(g, _) => {
                let mut middle = [0.0; BLOCK];
                block.quantile(g, 0.5, &mut middle);
                mean_distance(block.sorted(g), &middle, into);
            }
            Term::LogSpread(g, _) => {
                *into = *block.variance(g);
                into.iter_mut().for_each(|value| *value = value.sqrt());
            }
            _ => unreachable!("no term of a group"),
        }
        match *term {
            Term::LogMean(_, offset)
            | Term::LogLeast(_, offset)
            | Term::LogLargest(_, offset)
            | Term::LogRange(_, offset)
            | Term::LogDeviation(_, offset)
            | Term::LogSpread(_, offset) => logarithms(into, offset),
            Term::Mean(g) | Term::Least(g) | Term::Largest(g) | Term::Median(g) | Term::MiddleMean(g) => {
                standardise(into, self.scale[self.groups[g][0]], CUT);
            }
            _ => {}
        }
    }
}

struct Write<'a> {
    setting: &'a Setting,
    terms: &'a [Term],
    rows: &'a [&'a [f64]],
    room: &'a mut Room,
    into: &'a mut [f64],
}

impl Loop for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut block = self.setting.block(self.rows, self.room);
        for (term, into) in self.terms.iter().zip(self.into.as_chunks_mut().0) {
            self.setting.lanes(term, &mut block, into);
        }
    }
}

#[inline(always)]
fn multiply((a, b): (&Lanes, &Lanes), into: &mut Lanes) {
    for (into, (a, b)) in into.iter_mut().zip(a.iter().zip(b)) {
        *into = a * b;
    }
}

#[inline(always)]
fn logarithms(values: &mut Lanes, offset: f64) {
    for value in values {
        *value = ln((*value + offset).max(f64::MIN_POSITIVE));
    }
}

#[inline(always)]
fn mean(of: &[Lanes], into: &mut Lanes) {
    *into = [0.0; BLOCK];
    for values in of {
        into.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    into.iter_mut().for_each(|sum| *sum /= of.len() as f64);
}

#[inline(always)]
fn mean_distance(of: &[Lanes], from: &Lanes, into: &mut Lanes) {
    *into = [0.0; BLOCK];
    for values in of {
        into.iter_mut()
            .zip(values.iter().zip(from))
            .for_each(|(sum, (value, from))| *sum += (value - from).abs());
    }
    into.iter_mut().for_each(|sum| *sum /= of.len() as f64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

    /// One term of one simulation, as it is defined.
    fn value(setting: &Setting, term: &Term, s: &[f64]) -> f64 {
        let standard = |j: usize, value: f64| {
            let (middle, spread) = setting.scale[j];
            ((value - middle) / spread).clamp(-CUT, CUT)
        };
        let z = |j: usize| standard(j, s[j]);
        let members = |g: usize| setting.groups[g].iter().map(|&j| s[j]);
        let sorted = |g: usize| {
            let mut values: Vec<f64> = members(g).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let mean = |g: usize| members(g).sum::<f64>() / setting.groups[g].len() as f64;
        let least = |g: usize| members(g).fold(f64::INFINITY, f64::min);
        let largest = |g: usize| members(g).fold(f64::NEG_INFINITY, f64::max);
        let like = |g: usize, value: f64| standard(setting.groups[g][0], value);
        let log = |value: f64| libm::log(value.max(f64::MIN_POSITIVE));
        // Mean product of the deviations from the means of two groups.
        let joint = |g: usize, h: usize| {
            let (m, n) = (mean(g), mean(h));
            members(g).zip(members(h)).map(|(a, b)| (a - m) * (b - n)).sum::<f64>()
                / setting.groups[g].len() as f64
        };
        match *term {
            Term::Plain(j) => z(j),
            Term::Square(j) => z(j) * z(j),
            Term::Log(j, offset) => log(s[j] + offset),
            Term::LogSize(j, offset) => log(s[j].abs() + offset),
            Term::Product(a, b) => z(a) * z(b),
            Term::Mean(g) => like(g, mean(g)),
            Term::Least(g) => like(g, least(g)),
            Term::Largest(g) => like(g, largest(g)),
            Term::LogMean(g, offset) => log(mean(g) + offset),
            Term::LogLeast(g, offset) => log(least(g) + offset),
            Term::LogLargest(g, offset) => log(largest(g) + offset),
            Term::Median(g) => like(g, quantile(&sorted(g), 0.5)),
            Term::MiddleMean(g) => {
                let values = &sorted(g);
                let middle = &values[values.len() / 4..values.len() - values.len() / 4];
                like(g, middle.iter().sum::<f64>() / middle.len() as f64)
            }
            Term::LogRange(g, offset) => {
                let values = &sorted(g);
                log(quantile(values, 0.75) - quantile(values, 0.25) + offset)
            }
            Term::LogDeviation(g, offset) => {
                let values = &sorted(g);
                let middle = quantile(values, 0.5);
                log(values.iter().map(|x| (x - middle).abs()).sum::<f64>() / values.len() as f64 + offset)
            }
            Term::LogSpread(g, offset) => log(joint(g, g).sqrt() + offset),
            Term::Correlation(g, h) => {
                let size = (joint(g, g) * joint(h, h)).sqrt();
                let r = if size > 0.0 { (joint(g, h) / size).clamp(-0.999, 0.999) } else { 0.0 };
                0.5 * libm::log((1.0 + r) / (1.0 - r))
            }
            Term::Covariance(g, h) => {
                let unit = setting.scale[setting.groups[g][0]].1 * setting.scale[setting.groups[h][0]].1;
                (joint(g, h) / unit).clamp(-CUT * CUT, CUT * CUT)
            }
        }
    }

    /// A quantile of sorted values, between two of them where it falls there.
    fn quantile(sorted: &[f64], share: f64) -> f64 {
        let (place, last) = (share * (sorted.len() - 1) as f64, sorted.len() - 1);
        let (below, above) = (sorted[place as usize], sorted[(place as usize + 1).min(last)]);
        below + (place - place.floor()) * (above - below)
    }

    #[test]
    fn terms_of_many_are_those_of_one() {
        let table = gaussian(70, 6, 0.5, 1.0, 1);
        let positive: Vec<Vec<f64>> = table
            .iter()
            .map(|row| row.iter().enumerate().map(|(j, x)| if j == 2 { x.abs() } else { *x }).collect())
            .collect();
        let setting = Setting { scale: vec![(0.4, 1.1); 6], groups: vec![vec![0, 1, 3], vec![2, 4, 5]] };
        let terms = [
            Term::Plain(0),
            Term::Square(1),
            Term::Log(2, 0.1),
            Term::LogSize(3, 1e-9),
            Term::Product(4, 5),
            Term::Mean(0),
            Term::Least(0),
            Term::Largest(1),
            Term::LogMean(1, 3.0),
            Term::LogLeast(0, 5.0),
            Term::LogLargest(1, 4.0),
            Term::LogSpread(0, 0.1),
            Term::Median(0),
            Term::MiddleMean(1),
            Term::LogRange(1, 0.1),
            Term::LogDeviation(0, 0.1),
            Term::Correlation(0, 1),
            Term::Covariance(0, 1),
        ];
        let mut room = Room::default();
        let mut into = vec![0.0; terms.len() * BLOCK];
        // A whole block and one that is not.
        for rows in [&positive[..BLOCK], &positive[BLOCK..]] {
            let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
            setting.write(&terms, &rows, &mut room, &mut into);
            for (at, term) in terms.iter().enumerate() {
                for (lane, row) in rows.iter().enumerate() {
                    let expected = value(&setting, term, row);
                    let found = into[at * BLOCK + lane];
                    assert!((found - expected).abs() < 1e-13, "{term:?}: {found} {expected}");
                }
            }
        }
    }
}
