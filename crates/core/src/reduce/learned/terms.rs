//! Transforms of statistics, of one simulation or of many side by side.

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

/// Robustly standardised statistics are cut here: no outlier may steer a regression.
const CUT: f64 = 10.0;

/// Where a block of simulations is worked on.
#[derive(Default)]
pub(super) struct Room {
    /// Statistics of the block, and the same standardised, a block each; and which of them are there.
    raw: Vec<f64>,
    standard: Vec<f64>,
    is_there: Vec<bool>,
    sorted: Vec<Sorted>,
}

impl Setting {
    /// Writes terms of up to a block of simulations, a block a term. What lies beyond the last simulation of a block is
    /// of no use.
    pub(super) fn write(&self, terms: &[Term], rows: &[&[f64]], room: &mut Room, into: &mut [f64]) {
        room.begin(self.scale.len());
        for (term, into) in terms.iter().zip(into.chunks_exact_mut(BLOCK)) {
            match *term {
                Term::Plain(j) => into.copy_from_slice(room.standard(self, rows, j)),
                Term::Square(j) => {
                    let z = room.standard(self, rows, j);
                    vectorised(Multiply { a: z, b: z, into });
                }
                Term::Product(a, b) => {
                    room.standard(self, rows, a);
                    room.standard(self, rows, b);
                    let z = |j: usize| &room.standard[j * BLOCK..][..BLOCK];
                    vectorised(Multiply { a: z(a), b: z(b), into });
                }
                Term::Log(j, offset) => {
                    room.standard(self, rows, j);
                    let values = &room.raw[j * BLOCK..][..BLOCK];
                    vectorised(Logarithms { values, offset, of_size: false, into });
                }
                Term::LogSize(j, offset) => {
                    room.standard(self, rows, j);
                    let values = &room.raw[j * BLOCK..][..BLOCK];
                    vectorised(Logarithms { values, offset, of_size: true, into });
                }
                _ => {
                    let lanes = into.iter_mut().zip(rows).zip(&mut room.sorted);
                    lanes.for_each(|((into, row), sorted)| *into = self.value(term, row, sorted));
                }
            }
        }
    }

    pub(super) fn standard(&self, j: usize, value: f64) -> f64 {
        let (middle, spread) = self.scale[j];
        ((value - middle) / spread).clamp(-CUT, CUT)
    }

    /// One term of one simulation.
    fn value(&self, term: &Term, s: &[f64], sorted: &mut Sorted) -> f64 {
        let z = |j: usize| self.standard(j, s[j]);
        let members = |g: usize| self.groups[g].iter().map(|&j| s[j]);
        let mean = |g: usize| members(g).sum::<f64>() / self.groups[g].len() as f64;
        let least = |g: usize| members(g).fold(f64::INFINITY, f64::min);
        let largest = |g: usize| members(g).fold(f64::NEG_INFINITY, f64::max);
        let like = |g: usize, value: f64| self.standard(self.groups[g][0], value);
        let log = |value: f64| libm::log(value.max(f64::MIN_POSITIVE));
        // Mean product of the deviations from the means of two groups.
        let joint = |g: usize, h: usize| {
            let (m, n) = (mean(g), mean(h));
            members(g).zip(members(h)).map(|(a, b)| (a - m) * (b - n)).sum::<f64>()
                / self.groups[g].len() as f64
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
            Term::Median(g) => like(g, quantile(sorted.of(g, members(g)), 0.5)),
            Term::MiddleMean(g) => {
                let values = sorted.of(g, members(g));
                let middle = &values[values.len() / 4..values.len() - values.len() / 4];
                like(g, middle.iter().sum::<f64>() / middle.len() as f64)
            }
            Term::LogRange(g, offset) => {
                let values = sorted.of(g, members(g));
                log(quantile(values, 0.75) - quantile(values, 0.25) + offset)
            }
            Term::LogDeviation(g, offset) => {
                let values = sorted.of(g, members(g));
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
                let unit = self.scale[self.groups[g][0]].1 * self.scale[self.groups[h][0]].1;
                (joint(g, h) / unit).clamp(-CUT * CUT, CUT * CUT)
            }
        }
    }
}

impl Room {
    fn begin(&mut self, statistics: usize) {
        self.raw.resize(statistics * BLOCK, 0.0);
        self.standard.resize(statistics * BLOCK, 0.0);
        self.is_there.clear();
        self.is_there.resize(statistics, false);
        self.sorted.resize_with(BLOCK, Sorted::default);
        self.sorted.iter_mut().for_each(|sorted| sorted.group = None);
    }

    /// A statistic of the block, standardised; `raw` has it as it is from then on.
    fn standard(&mut self, setting: &Setting, rows: &[&[f64]], j: usize) -> &[f64] {
        let into = &mut self.standard[j * BLOCK..][..BLOCK];
        if !std::mem::replace(&mut self.is_there[j], true) {
            let raw = &mut self.raw[j * BLOCK..][..BLOCK];
            raw.iter_mut().zip(rows).for_each(|(slot, row)| *slot = row[j]);
            let (centre, spread) = setting.scale[j];
            into.copy_from_slice(raw);
            vectorised(Standardise { values: into, centre, spread, cut: CUT });
        }
        into
    }
}

struct Multiply<'a> {
    a: &'a [f64],
    b: &'a [f64],
    into: &'a mut [f64],
}

impl Loop for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (into, (a, b)) in self.into.iter_mut().zip(self.a.iter().zip(self.b)) {
            *into = a * b;
        }
    }
}

/// Logarithms of values, or of their sizes, and an offset.
struct Logarithms<'a> {
    values: &'a [f64],
    offset: f64,
    of_size: bool,
    into: &'a mut [f64],
}

impl Loop for Logarithms<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (into, value) in self.into.iter_mut().zip(self.values) {
            let value = if self.of_size { value.abs() } else { *value };
            *into = ln((value + self.offset).max(f64::MIN_POSITIVE));
        }
    }
}

/// Values less a centre in units of a spread, cut off.
pub(super) struct Standardise<'a> {
    pub(super) values: &'a mut [f64],
    pub(super) centre: f64,
    pub(super) spread: f64,
    pub(super) cut: f64,
}

impl Loop for Standardise<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for value in self.values {
            *value = ((*value - self.centre) / self.spread).clamp(-self.cut, self.cut);
        }
    }
}

/// The members of one group in order: neighbouring terms ask for the same.
#[derive(Default)]
struct Sorted {
    group: Option<usize>,
    values: Vec<f64>,
}

impl Sorted {
    fn of(&mut self, group: usize, members: impl Iterator<Item = f64>) -> &[f64] {
        if self.group != Some(group) {
            self.group = Some(group);
            self.values.clear();
            self.values.extend(members);
            self.values.sort_unstable_by(f64::total_cmp);
        }
        &self.values
    }
}

/// A quantile of sorted values, between two of them where it falls there.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let (place, last) = (share * (sorted.len() - 1) as f64, sorted.len() - 1);
    let (below, above) = (sorted[place as usize], sorted[(place as usize + 1).min(last)]);
    below + (place - place.floor()) * (above - below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::testing::gaussian;

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
            Term::Median(0),
            Term::MiddleMean(1),
            Term::LogRange(1, 0.1),
            Term::Correlation(0, 1),
        ];
        let mut room = Room::default();
        let mut into = vec![0.0; terms.len() * BLOCK];
        // A whole block and one that is not.
        for rows in [&positive[..BLOCK], &positive[BLOCK..]] {
            let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
            setting.write(&terms, &rows, &mut room, &mut into);
            for (at, term) in terms.iter().enumerate() {
                for (lane, row) in rows.iter().enumerate() {
                    let expected = setting.value(term, row, &mut Sorted::default());
                    let found = into[at * BLOCK + lane];
                    assert!((found - expected).abs() < 1e-13, "{term:?}: {found} {expected}");
                }
            }
        }
    }
}
