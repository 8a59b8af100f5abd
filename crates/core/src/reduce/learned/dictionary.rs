//! Transforms of the statistics among which a regression finds those that tell of the parameters.

use super::groups::alike;
use super::pairs::{rows_for, telling_pairs};
use crate::ridge::left_open;
use crate::table::Table;
use crate::vectors::{Loop, vectorised};

/// One transform.
#[derive(Clone, Debug, PartialEq)]
enum Term {
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

/// The transforms in use, standardised.
#[derive(Clone, Debug)]
pub(super) struct Dictionary {
    /// Median and spread of each statistic.
    scale: Vec<(f64, f64)>,
    groups: Vec<Vec<usize>>,
    terms: Vec<Term>,
    centre: Vec<f64>,
    spread: Vec<f64>,
}

/// Products of two statistics are all terms up to so many statistics; of more, those that tell what is left open.
const MOST_FOR_PRODUCTS: usize = 12;
/// Of the regression that says what is left open, as a share of each term's variance.
const PENALTY: f64 = 1e-2;
/// Only plain terms beyond so many statistics.
const MOST_FOR_ALL: usize = 2_000;
/// Robustly standardised statistics are cut here, and terms there: no outlier may steer a regression.
const CUT: f64 = 10.0;
const TERM_CUT: f64 = 8.0;
/// Simulations on which terms are screened, and the least squared correlation with some target, in units of what one
/// of noise has: among many statistics, what tells nothing makes a prediction worse.
const SCREENED: usize = 5_000;
const TELLING: f64 = 10.0;
/// Up to so many statistics stay in any case: some tell only beside others.
const FEW: usize = 30;

impl Dictionary {
    /// Chooses at most `most` terms, those with the largest correlation with any of the targets, and products of
    /// statistics that tell what these leave open; gives also their values for each row.
    pub(super) fn new(summaries: &Table, varying: &[usize], targets: &Table, most: usize) -> (Self, Table) {
        let step = summaries.rows().div_ceil(SCREENED);
        let some: Vec<u32> = (0..summaries.rows() as u32).step_by(step).collect();
        let (few, their) = (summaries.select(&some), targets.select(&some));
        let mut scale = vec![(0.0, 1.0); summaries.columns()];
        varying.iter().for_each(|&j| scale[j] = robust(few.column(j)));
        let groups = alike(summaries, varying);
        let mut all = Self { scale, groups, terms: Vec::new(), centre: Vec::new(), spread: Vec::new() };
        all.terms = all.candidates(summaries, varying);
        let raw = all.raw(&few);
        let centres: Vec<Vec<f64>> = (0..their.columns()).map(|p| centred(their.column(p)).1).collect();
        let scores: Vec<f64> = (0..all.terms.len()).map(|term| score(raw.column(term), &centres)).collect();
        let least = TELLING / raw.rows() as f64;
        let stays = |&term: &usize| {
            scores[term] > least || (scores[term] > 0.0 && varying.len() <= FEW && term < varying.len())
        };
        let mut order: Vec<usize> = (0..scores.len()).filter(stays).collect();
        if order.is_empty() {
            order = (0..scores.len()).filter(|&term| scores[term] > 0.0).collect();
        }
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        order.truncate(most);
        order.sort_unstable();
        all.terms = order.into_iter().map(|term| all.terms[term].clone()).collect();
        let mut values = all.standardise(summaries);
        if varying.len() > MOST_FOR_PRODUCTS && varying.len() <= MOST_FOR_ALL {
            // The first candidates are the statistics themselves.
            let pairs = all.pairs(summaries, &values, targets, (varying, &scores[..varying.len()]));
            if !pairs.is_empty() {
                all.terms.extend(pairs.into_iter().map(|(a, b)| Term::Product(a, b)));
                values = all.standardise(summaries);
            }
        }
        (all, values)
    }

    /// Pairs of statistics whose products tell what the terms so far leave open.
    fn pairs(
        &self,
        summaries: &Table,
        values: &Table,
        targets: &Table,
        (varying, telling): (&[usize], &[f64]),
    ) -> Vec<(usize, usize)> {
        let step = summaries.rows().div_ceil(rows_for(varying.len(), targets.columns()));
        let some: Vec<u32> = (0..summaries.rows() as u32).step_by(step).collect();
        let Some(open) = left_open(&values.select(&some), &targets.select(&some), PENALTY) else {
            return Vec::new();
        };
        let rows = some.iter().map(|&row| summaries.row(row as usize));
        let standard = rows.flat_map(|row| varying.iter().map(|&j| self.standard(j, row[j])));
        let standard = Table::from_rows(varying.len(), standard.collect());
        let found = telling_pairs(&standard, &open, telling);
        found.into_iter().map(|(a, b)| (varying[a], varying[b])).collect()
    }

    /// The terms of each row, and from now on their centres and spreads.
    fn standardise(&mut self, summaries: &Table) -> Table {
        let mut values = self.raw(summaries);
        let n = values.rows() as f64;
        self.centre = vec![0.0; self.terms.len()];
        self.spread = vec![0.0; self.terms.len()];
        for row in values.iter() {
            self.centre.iter_mut().zip(row).for_each(|(sum, x)| *sum += x / n);
        }
        for row in values.iter() {
            let steps = row.iter().zip(&self.centre);
            self.spread
                .iter_mut()
                .zip(steps)
                .for_each(|(sum, (x, mean))| *sum += (x - mean) * (x - mean) / n);
        }
        self.spread.iter_mut().for_each(|x| *x = if *x > 0.0 { x.sqrt() } else { 1.0 });
        for row in 0..values.rows() {
            let scales = self.centre.iter().zip(&self.spread);
            values.row_mut(row).iter_mut().zip(scales).for_each(|(x, (centre, spread))| {
                *x = ((*x - centre) / spread).clamp(-TERM_CUT, TERM_CUT);
            });
        }
        values
    }

    fn candidates(&self, summaries: &Table, varying: &[usize]) -> Vec<Term> {
        let mut terms: Vec<Term> = varying.iter().map(|&j| Term::Plain(j)).collect();
        if varying.len() > MOST_FOR_ALL {
            return terms;
        }
        let bounds = |j: usize| {
            let column = summaries.iter().map(|row| row[j]);
            column.fold((f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY), |(low, high, least), x| {
                (low.min(x), high.max(x), if x > 0.0 { least.min(x) } else { least })
            })
        };
        // Half the least positive value stands in for nothing.
        let offset = |(low, _, least): (f64, f64, f64)| if low > 0.0 { 0.0 } else { 0.5 * least };
        // Of a statistic with two values everything is a multiple of itself.
        let first = |j: usize| summaries.at(0, j);
        let other =
            |j: usize| summaries.iter().map(|row| row[j]).find(|&x| x != first(j)).unwrap_or(first(j));
        let has_two = |j: usize| {
            let (a, b) = (first(j), other(j));
            summaries.iter().all(|row| row[j] == a || row[j] == b)
        };
        for &j in varying.iter().filter(|&&j| !has_two(j)) {
            terms.push(Term::Square(j));
            let bounds = bounds(j);
            if bounds.0 >= 0.0 {
                terms.push(Term::Log(j, offset(bounds)));
            } else if bounds.1 > 0.0 {
                terms.push(Term::LogSize(j, 1e-9 * self.scale[j].1));
            }
        }
        if varying.len() <= MOST_FOR_PRODUCTS {
            let pairs = varying.iter().enumerate();
            terms.extend(
                pairs.flat_map(|(at, &a)| varying[at + 1..].iter().map(move |&b| Term::Product(a, b))),
            );
        }
        for (g, group) in self.groups.iter().enumerate() {
            terms.extend([Term::Mean(g), Term::Least(g), Term::Largest(g)]);
            let nothing = 1e-9 * self.scale[group[0]].1;
            terms.extend([Term::Median(g), Term::MiddleMean(g)]);
            terms.extend([
                Term::LogSpread(g, nothing),
                Term::LogRange(g, nothing),
                Term::LogDeviation(g, nothing),
            ]);
            let all = group.iter().map(|&j| bounds(j));
            let all = all.fold((f64::INFINITY, 0.0, f64::INFINITY), |a, b| (a.0.min(b.0), 0.0, a.2.min(b.2)));
            if all.0 >= 0.0 {
                let offset = offset(all);
                terms.extend([
                    Term::LogMean(g, offset),
                    Term::LogLeast(g, offset),
                    Term::LogLargest(g, offset),
                ]);
            }
            for (h, other) in self.groups.iter().enumerate().skip(g + 1) {
                if other.len() == group.len() {
                    terms.extend([Term::Correlation(g, h), Term::Covariance(g, h)]);
                }
            }
        }
        terms
    }

    /// Number of terms.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Writes the terms of some statistics.
    pub(super) fn write(&self, summaries: &[f64], into: &mut [f64]) {
        let mut sorted = Sorted::default();
        for (at, (slot, term)) in into.iter_mut().zip(&self.terms).enumerate() {
            let z = (self.value(term, summaries, &mut sorted) - self.centre[at]) / self.spread[at];
            *slot = z.clamp(-TERM_CUT, TERM_CUT);
        }
    }

    fn raw(&self, summaries: &Table) -> Table {
        let mut values = Vec::with_capacity(summaries.rows() * self.terms.len());
        for row in summaries.iter() {
            let mut sorted = Sorted::default();
            values.extend(self.terms.iter().map(|term| self.value(term, row, &mut sorted)));
        }
        Table::from_rows(self.terms.len().max(1), values)
    }

    fn standard(&self, j: usize, value: f64) -> f64 {
        let (middle, spread) = self.scale[j];
        ((value - middle) / spread).clamp(-CUT, CUT)
    }

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

/// Median and a spread that outliers do not move; the standard deviation where half of the values are equal.
fn robust(mut values: Vec<f64>) -> (f64, f64) {
    let last = (values.len() - 1) as f64;
    let mut at = |share: f64| *values.select_nth_unstable_by((last * share) as usize, f64::total_cmp).1;
    let (low, middle, high) = (at(0.25), at(0.5), at(0.75));
    let range = high - low;
    if range > 1e-12 * middle.abs() {
        return (middle, range / 1.349);
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
    (middle, if sd > 0.0 { sd } else { 1.0 })
}

/// The mean of some values, and the values less it.
fn centred(mut values: Vec<f64>) -> (f64, Vec<f64>) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|x| *x -= mean);
    (mean, values)
}

/// The largest squared correlation of a term with a target, whose values are given less their mean.
fn score(term: Vec<f64>, targets: &[Vec<f64>]) -> f64 {
    let n = term.len() as f64;
    let (mean, x) = centred(term);
    let square = vectorised(Dot(&x, &x));
    if square.is_nan() || square <= 1e-18 * n * mean * mean {
        return 0.0;
    }
    let correlation = |y: &Vec<f64>| {
        let (total, cross) = (vectorised(Dot(y, y)), vectorised(Dot(&x, y)));
        if total > 0.0 { cross * cross / (square * total) } else { 0.0 }
    };
    targets.iter().map(correlation).fold(1e-12, f64::max)
}

/// The sum of the products of two columns.
struct Dot<'a>(&'a [f64], &'a [f64]);

impl Loop for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        // Several sums side by side; the order is the same on every machine.
        const SUMS: usize = 8;
        let mut sums = [0.0; SUMS];
        let (x, y) = (self.0.chunks_exact(SUMS), self.1.chunks_exact(SUMS));
        let rest: f64 = x.remainder().iter().zip(y.remainder()).map(|(a, b)| a * b).sum();
        for (a, b) in x.zip(y) {
            for lane in 0..SUMS {
                sums[lane] += a[lane] * b[lane];
            }
        }
        rest + sums.iter().sum::<f64>()
    }
}
