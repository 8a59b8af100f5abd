//! Transforms of the statistics among which a regression finds those that tell of the parameters.

use std::ops::Range;

use super::Sample;
use super::block::{Lanes, Room, standardise};
use super::groups::alike;
use super::pairs::{rows_for, telling_pairs};
use super::terms::{Setting, Term};
use crate::products::{ACROSS, BLOCK, NEARBY, Panel, add_told, dot_inline};
use crate::ridge::{Points, Writer, left_open};
use crate::table::Table;
use crate::vectors::{Loop, vectorised};

/// The transforms in use, standardised.
#[derive(Clone, Debug)]
pub(super) struct Dictionary {
    setting: Setting,
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
/// Standardised terms are cut here: no outlier may steer a regression.
const CUT: f64 = 8.0;
/// Simulations on which terms are screened, and the least squared correlation with some target, in units of what one
/// of noise has: among many statistics, what tells nothing makes a prediction worse.
const SCREENED: usize = 5_000;
const TELLING: f64 = 10.0;
/// Up to so many statistics stay in any case: some tell only beside others.
const FEW: usize = 30;

impl Dictionary {
    /// Chooses at most `most` terms, those with the largest correlation with any of the targets, and products of
    /// statistics that tell what these leave open.
    pub(super) fn new(summaries: Sample<'_>, varying: &[usize], targets: &Table, most: usize) -> Self {
        let some = every(summaries.len().div_ceil(SCREENED), summaries.len());
        let sorted = sorted(summaries, varying);
        let mut scale = vec![(0.0, 1.0); summaries.columns()];
        varying.iter().zip(&sorted).for_each(|(&j, values)| scale[j] = robust(values));
        let setting = Setting { scale, groups: alike(varying, &sorted) };
        drop(sorted);
        let candidates = candidates(&setting, summaries, varying);
        let looks = looks(&setting, &candidates, (summaries, targets), &some);
        let least = TELLING / some.len() as f64;
        let score = |term: usize| looks[term].score;
        let stays = |&term: &usize| {
            score(term) > least || (score(term) > 0.0 && varying.len() <= FEW && term < varying.len())
        };
        let mut order: Vec<usize> = (0..looks.len()).filter(stays).collect();
        if order.is_empty() {
            order = (0..looks.len()).filter(|&term| score(term) > 0.0).collect();
        }
        order.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
        order.truncate(most);
        order.sort_unstable();
        let mut all = Self { setting, terms: Vec::new(), centre: Vec::new(), spread: Vec::new() };
        order.into_iter().for_each(|term| all.take(candidates[term].clone(), &looks[term]));
        if varying.len() > MOST_FOR_PRODUCTS && varying.len() <= MOST_FOR_ALL {
            // The first candidates are the statistics themselves.
            let telling: Vec<f64> = (0..varying.len()).map(score).collect();
            all.take_pairs((summaries, targets), varying, &telling);
        }
        all
    }

    fn take(&mut self, term: Term, look: &Look) {
        self.terms.push(term);
        self.centre.push(look.mean);
        self.spread.push(if look.spread > 0.0 { look.spread } else { 1.0 });
    }

    /// Takes products of pairs of statistics that tell what the terms so far leave open.
    fn take_pairs(&mut self, (summaries, targets): (Sample<'_>, &Table), varying: &[usize], telling: &[f64]) {
        let step = summaries.len().div_ceil(rows_for(varying.len(), targets.columns()));
        let some = every(step, summaries.len());
        let rows = |points: &[usize]| -> Vec<usize> { points.iter().map(|&at| some[at]).collect() };
        let points = Points {
            count: some.len(),
            regressors: self.len(),
            targets: targets.columns(),
            writer: &|| {
                let mut write = self.writer(summaries, |row, p| targets.at(row, p));
                Box::new(move |points, into| write(&rows(points), into))
            },
        };
        let Some(open) = left_open(&points, PENALTY) else { return };
        let (mut room, mut unpacked) = (Room::default(), Vec::new());
        let mut standard = |points: Range<usize>, columns: &[usize], into: &mut [f64]| {
            let rows = summaries.read(&some[points], &mut unpacked);
            let terms: Vec<Term> = columns.iter().map(|&at| Term::Plain(varying[at])).collect();
            self.setting.write(&terms, &rows, &mut room, into);
        };
        let found = telling_pairs(&mut standard, &open, telling);
        let pairs: Vec<Term> =
            found.into_iter().map(|(a, b)| Term::Product(varying[a], varying[b])).collect();
        let looks = looks(&self.setting, &pairs, (summaries, targets), &some);
        pairs.into_iter().zip(&looks).for_each(|(pair, look)| self.take(pair, look));
    }

    /// Number of terms.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Writes the terms of up to a block of simulations, a block a term.
    pub(super) fn write(&self, rows: &[&[f64]], room: &mut Room, into: &mut [f64]) {
        vectorised(Write { dictionary: self, rows, room, into });
    }

    /// Writes what lines, each a value where all terms are nothing and what each of them adds, tell of up to a block of
    /// simulations.
    pub(super) fn tell(&self, rows: &[&[f64]], room: &mut Room, lines: &[Line<'_>], told: &mut [Lanes]) {
        vectorised(Tell { dictionary: self, rows, room, lines, told });
    }

    /// A term and how it is standardised.
    fn each(&self) -> impl Iterator<Item = (&Term, (f64, f64))> {
        self.terms.iter().zip(self.centre.iter().copied().zip(self.spread.iter().copied()))
    }

    /// Writes terms and targets of rows as points of a regression.
    pub(super) fn writer<'a>(
        &'a self,
        summaries: Sample<'a>,
        target: impl Fn(usize, usize) -> f64 + 'a,
    ) -> Writer<'a> {
        let (mut room, mut unpacked) = (Room::default(), Vec::new());
        Box::new(move |rows, into| {
            let statistics = summaries.read(rows, &mut unpacked);
            let (terms, aims) = into.split_at_mut(self.len() * BLOCK);
            self.write(&statistics, &mut room, terms);
            for (p, aims) in aims.chunks_exact_mut(BLOCK).enumerate() {
                aims.iter_mut().zip(rows).for_each(|(aim, &row)| *aim = target(row, p));
            }
        })
    }
}

struct Write<'a> {
    dictionary: &'a Dictionary,
    rows: &'a [&'a [f64]],
    room: &'a mut Room,
    into: &'a mut [f64],
}

impl Loop for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let setting = &self.dictionary.setting;
        let mut block = setting.block(self.rows, self.room);
        for ((term, scale), into) in self.dictionary.each().zip(self.into.as_chunks_mut().0) {
            setting.lanes(term, &mut block, into);
            standardise(into, scale, CUT);
        }
    }
}

/// A value where all terms are nothing, and what each of them adds.
pub(super) type Line<'a> = (f64, &'a [f64]);

/// Terms are used as soon as they are made: few of them stand in memory at a time.
struct Tell<'a> {
    dictionary: &'a Dictionary,
    rows: &'a [&'a [f64]],
    room: &'a mut Room,
    lines: &'a [Line<'a>],
    told: &'a mut [Lanes],
}

impl Loop for Tell<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let setting = &self.dictionary.setting;
        let mut block = setting.block(self.rows, self.room);
        let mut values = [[0.0; BLOCK]; NEARBY];
        for (lines, told) in self.lines.chunks(ACROSS).zip(self.told.chunks_mut(ACROSS)) {
            let of = |of: &dyn Fn(&Line<'_>) -> f64| -> [f64; ACROSS] {
                std::array::from_fn(|c| lines.get(c).map_or(0.0, of))
            };
            let mut panel: Panel = [of(&|line| line.0); BLOCK];
            let mut slopes = [[0.0; ACROSS]; NEARBY];
            let mut each = self.dictionary.each().enumerate();
            loop {
                let mut made = 0;
                for (at, (term, scale)) in each.by_ref().take(NEARBY) {
                    setting.lanes(term, &mut block, &mut values[made]);
                    standardise(&mut values[made], scale, CUT);
                    slopes[made] = of(&|line| line.1[at]);
                    made += 1;
                }
                add_told(&mut panel, &values[..made], &slopes[..made]);
                if made < NEARBY {
                    break;
                }
            }
            for (c, told) in told.iter_mut().enumerate() {
                told.iter_mut().zip(&panel).for_each(|(told, point)| *told = point[c]);
            }
        }
    }
}

/// Every so manieth of so many rows.
fn every(step: usize, rows: usize) -> Vec<usize> {
    (0..rows).step_by(step.max(1)).collect()
}

/// Simulations from which it is told where a statistic lies and which look alike.
const SORTED: usize = 4_000;

/// The values of some statistics over some simulations, each in order.
fn sorted(summaries: Sample<'_>, of: &[usize]) -> Vec<Vec<f64>> {
    let mut columns = columns(summaries, of, &every(summaries.len().div_ceil(SORTED), summaries.len()));
    // Whole numbers in the order of `f64::total_cmp` are sorted faster.
    let flip = |bits: i64| bits ^ (((bits >> 63) as u64) >> 1) as i64;
    let mut keys: Vec<i64> = Vec::new();
    for values in &mut columns {
        keys.clear();
        keys.extend(values.iter().map(|x| flip(x.to_bits() as i64)));
        keys.sort_unstable();
        values.iter_mut().zip(&keys).for_each(|(x, &key)| *x = f64::from_bits(flip(key) as u64));
    }
    columns
}

/// The values of some statistics over some simulations. Few simulations at a time, so that neighbours in a row are read
/// together.
fn columns(summaries: Sample<'_>, of: &[usize], rows: &[usize]) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(rows.len()); of.len()];
    let mut unpacked = Vec::new();
    for rows in rows.chunks(BLOCK) {
        let statistics = summaries.read(rows, &mut unpacked);
        for (column, &j) in columns.iter_mut().zip(of) {
            column.extend(statistics.iter().map(|row| row[j]));
        }
    }
    columns
}

fn candidates(setting: &Setting, summaries: Sample<'_>, varying: &[usize]) -> Vec<Term> {
    let mut terms: Vec<Term> = varying.iter().map(|&j| Term::Plain(j)).collect();
    if varying.len() > MOST_FOR_ALL {
        return terms;
    }
    let ranges = ranges(summaries);
    // Half the least positive value stands in for nothing.
    let offset = |low: f64, least: f64| if low > 0.0 { 0.0 } else { 0.5 * least };
    // Of a statistic with two values everything is a multiple of itself.
    for &j in varying.iter().filter(|&&j| ranges[j].has_more_than_two) {
        terms.push(Term::Square(j));
        let Place { low, high, least, .. } = ranges[j];
        if low >= 0.0 {
            terms.push(Term::Log(j, offset(low, least)));
        } else if high > 0.0 {
            terms.push(Term::LogSize(j, 1e-9 * setting.scale[j].1));
        }
    }
    if varying.len() <= MOST_FOR_PRODUCTS {
        let pairs = varying.iter().enumerate();
        terms.extend(pairs.flat_map(|(at, &a)| varying[at + 1..].iter().map(move |&b| Term::Product(a, b))));
    }
    for (g, group) in setting.groups.iter().enumerate() {
        let nothing = 1e-9 * setting.scale[group[0]].1;
        // Those of sorted members first: the others find them sorted.
        terms.extend([Term::Median(g), Term::MiddleMean(g), Term::Mean(g), Term::Least(g), Term::Largest(g)]);
        terms.extend([
            Term::LogSpread(g, nothing),
            Term::LogRange(g, nothing),
            Term::LogDeviation(g, nothing),
        ]);
        let low = group.iter().map(|&j| ranges[j].low).fold(f64::INFINITY, f64::min);
        if low >= 0.0 {
            let least = group.iter().map(|&j| ranges[j].least).fold(f64::INFINITY, f64::min);
            let offset = offset(low, least);
            terms.extend([Term::LogMean(g, offset), Term::LogLeast(g, offset), Term::LogLargest(g, offset)]);
        }
        for (h, other) in setting.groups.iter().enumerate().skip(g + 1) {
            if other.len() == group.len() {
                terms.extend([Term::Correlation(g, h), Term::Covariance(g, h)]);
            }
        }
    }
    terms
}

/// Where a statistic lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    low: f64,
    high: f64,
    /// The least that is positive.
    least: f64,
    has_more_than_two: bool,
}

fn ranges(summaries: Sample<'_>) -> Vec<Place> {
    let all = vectorised(Ranges(summaries));
    let range = |j: usize| {
        let ([low, high, least, more], lane) = (&all[j / TOGETHER], j % TOGETHER);
        Place { low: low[lane], high: high[lane], least: least[lane], has_more_than_two: more[lane] > 0.0 }
    };
    (0..summaries.columns()).map(range).collect()
}

/// Statistics that are looked at together, which are neighbours in a row.
const TOGETHER: usize = 8;

/// Of some statistics at a time: the least, the largest, the least positive value, and whether there are more than two.
struct Ranges<'a>(Sample<'a>);

impl Loop for Ranges<'_> {
    type Output = Vec<[[f64; TOGETHER]; 4]>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let nothing = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, 0.0].map(|x| [x; TOGETHER]);
        let mut all = vec![nothing; self.0.columns().div_ceil(TOGETHER)];
        let mut unpacked = Vec::new();
        for first in (0..self.0.len()).step_by(BLOCK) {
            let block: Vec<usize> = (first..self.0.len().min(first + BLOCK)).collect();
            let rows = self.0.read(&block, &mut unpacked);
            // What is seen of some columns stays in the processor while a block of rows is passed.
            for (at, all) in all.iter_mut().enumerate() {
                let mut seen = *all;
                for row in &rows {
                    let row = &row[at * TOGETHER..];
                    match row.first_chunk() {
                        Some(x) => see(&mut seen, x),
                        None => {
                            let mut x = [0.0; TOGETHER];
                            x[..row.len()].copy_from_slice(row);
                            see(&mut seen, &x);
                        }
                    }
                }
                *all = seen;
            }
        }
        all
    }
}

#[inline(always)]
fn see([low, high, least, more]: &mut [[f64; TOGETHER]; 4], x: &[f64; TOGETHER]) {
    for lane in 0..TOGETHER {
        let x = x[lane];
        // What lies between two others, or beyond both, is a third.
        let others = (low[lane] < high[lane]) & (x != low[lane]) & (x != high[lane]);
        more[lane] = if others { 1.0 } else { more[lane] };
        low[lane] = if x < low[lane] { x } else { low[lane] };
        high[lane] = if x > high[lane] { x } else { high[lane] };
        least[lane] = if (x > 0.0) & (x < least[lane]) { x } else { least[lane] };
    }
}

/// How a term looks over some simulations.
#[derive(Clone, Copy, Debug)]
struct Look {
    mean: f64,
    spread: f64,
    /// The largest squared correlation with a target; nothing for a term that does not vary.
    score: f64,
}

fn looks(
    setting: &Setting,
    terms: &[Term],
    (summaries, targets): (Sample<'_>, &Table),
    some: &[usize],
) -> Vec<Look> {
    let (n, t) = (some.len() as f64, targets.columns());
    let mean = |p: usize| some.iter().map(|&row| targets.at(row, p)).sum::<f64>() / n;
    let means: Vec<f64> = (0..t).map(mean).collect();
    let variation = |p: usize| some.iter().map(|&row| (targets.at(row, p) - means[p]).powi(2)).sum::<f64>();
    let variations: Vec<f64> = (0..t).map(variation).collect();
    let (mut room, mut values) = (Room::default(), vec![0.0; terms.len() * BLOCK]);
    let mut steps = vec![0.0; t * BLOCK];
    // Of each term: the first value, from which steps are measured, their sum, that of their squares, and those of their
    // products with the targets.
    let mut sums = vec![0.0; terms.len() * (3 + t)];
    let mut unpacked = Vec::new();
    for (block, rows) in some.chunks(BLOCK).enumerate() {
        let statistics = summaries.read(rows, &mut unpacked);
        setting.write(terms, &statistics, &mut room, &mut values);
        for (p, steps) in steps.chunks_exact_mut(BLOCK).enumerate() {
            steps.iter_mut().zip(rows).for_each(|(step, &row)| *step = targets.at(row, p) - means[p]);
        }
        if block == 0 {
            sums.chunks_exact_mut(3 + t)
                .zip(values.chunks_exact(BLOCK))
                .for_each(|(sums, of)| sums[0] = of[0]);
        }
        vectorised(AddLooks { values: &mut values, steps: &steps, sums: &mut sums, count: rows.len() });
    }
    let look = |sums: &[f64]| {
        let (mean, square) = (sums[0] + sums[1] / n, sums[2] - sums[1] * sums[1] / n);
        let varies = square > 1e-18 * n * mean * mean;
        let correlation = |(cross, total): (&f64, &f64)| {
            if *total > 0.0 { cross * cross / (square * total) } else { 0.0 }
        };
        let all = sums[3..].iter().zip(&variations).map(correlation);
        let score = if varies { all.fold(1e-12, f64::max) } else { 0.0 };
        Look { mean, spread: (square.max(0.0) / n).sqrt(), score }
    };
    sums.chunks_exact(3 + t).map(look).collect()
}

/// Adds to the sums of each term those of some simulations.
struct AddLooks<'a> {
    values: &'a mut [f64],
    steps: &'a [f64],
    sums: &'a mut [f64],
    count: usize,
}

impl Loop for AddLooks<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let targets = self.steps.len() / BLOCK;
        let all = self.values.chunks_exact_mut(BLOCK).zip(self.sums.chunks_exact_mut(3 + targets));
        for (values, sums) in all {
            let values = &mut values[..self.count];
            values.iter_mut().for_each(|value| *value -= sums[0]);
            sums[1] += dot_inline(values, &[1.0; BLOCK][..self.count]);
            sums[2] += dot_inline(values, values);
            for (sum, steps) in sums[3..].iter_mut().zip(self.steps.chunks_exact(BLOCK)) {
                *sum += dot_inline(values, &steps[..self.count]);
            }
        }
    }
}

/// Median and a spread that outliers do not move, of values in order; the standard deviation where half of them are equal.
fn robust(sorted: &[f64]) -> (f64, f64) {
    let last = (sorted.len() - 1) as f64;
    let at = |share: f64| sorted[(last * share) as usize];
    let (low, middle, high) = (at(0.25), at(0.5), at(0.75));
    let range = high - low;
    if range > 1e-12 * middle.abs() {
        return (middle, range / 1.349);
    }
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
    (middle, if sd > 0.0 { sd } else { 1.0 })
}
