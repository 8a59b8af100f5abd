//! `calibrate`: whether intervals cover the truth as often as they say.

use anyhow::anyhow;
use counterpoise_core::judge::{covered, mean_and_error, rank};
use counterpoise_core::problem::Problem;
use counterpoise_core::stream::{Seed, Stage};
use counterpoise_core::workers;
use counterpoise_run::executor::Threads;
use counterpoise_run::study::{Truths, datasets, infer};
use serde::Serialize;

use super::{overrides, simulator};
use crate::args::CalibrateArguments;
use crate::output::Output;
use crate::print::json;
use crate::print::number::significant;
use crate::print::sparkline;
use crate::print::table::{Align, lines, wrapped};
use crate::print::tally::Tally;
use crate::problem_file::{Loaded, Purpose, open};
use crate::trouble::{DONE, Trouble};

/// Probabilities of the intervals that are looked at.
const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];
/// The one that the verdict is about.
const JUDGED: usize = 2;
/// Bins of the ranks, and those of the curve of expected coverage.
const BINS: usize = 10;
const CURVE: usize = 20;
/// Width of the verdict.
const PAGE: usize = 100;

#[derive(Debug, Serialize)]
struct Calibration {
    problem: String,
    datasets: usize,
    simulations: usize,
    keep: usize,
    generations: usize,
    seed: u64,
    coverage: Vec<Coverage>,
    parameters: Vec<Parameter>,
    /// How often intervals of 5, 10, ... 100 % have the truth.
    curve: Vec<f64>,
    verdict: String,
}

/// How often the intervals of a probability have the truth, mean over parameters.
#[derive(Debug, Serialize)]
struct Coverage {
    level: f64,
    covered: f64,
    error: f64,
}

#[derive(Debug, Serialize)]
struct Parameter {
    name: String,
    /// At each level.
    covered: Vec<f64>,
    /// Datasets in each tenth of the ranks of the truth, and the least and most that chance would put into one of them in 95 of 100
    /// calibrations.
    ranks: Vec<usize>,
    band: (usize, usize),
}

/// Calibrates the whole method of a problem, weight search included.
pub(crate) fn calibrate(arguments: &CalibrateArguments, output: Output) -> Result<u8, Trouble> {
    let loaded = open(&arguments.problem, &overrides(&arguments.problem), Purpose::Infer)?;
    let Loaded { name, problem, material, method, .. } = loaded;
    let simulator = simulator(&material, "calibrate")?;
    let (pool, count) = (arguments.schedule.pool(), arguments.datasets as usize);
    let data = datasets(&problem.prior, simulator, (&Truths::Prior, count), Seed(method.seed), &pool)
        .map_err(|error| Trouble::failed(error, None))?;
    let tally = Tally::new(output, "runs", count);
    let ranks = workers::map(&pool, count, |index| {
        let seed = Seed(method.seed.wrapping_add(1 + index as u64));
        let problem = Problem { observed: data[index].observed.clone(), ..problem.clone() };
        let d = problem.prior.dimension();
        let mut executor = Threads::new(simulator, 1, None);
        let history = infer(problem, method.build(), seed, &mut executor);
        tally.done();
        let history =
            history.map_err(|error| anyhow!("dataset {}: {:#}", index + 1, anyhow::Error::from(error)))?;
        let last = history.last().ok_or_else(|| anyhow!("no generation was made"))?;
        let truth = data[index].truth.as_deref().unwrap_or_default();
        let mut rng = seed.stream(Stage::Reference, 0, 0);
        Ok((0..d).map(|j| rank(last.posterior(), j, truth[j], &mut rng)).collect::<Vec<f64>>())
    });
    let ranks = ranks.into_iter().collect::<anyhow::Result<Vec<Vec<f64>>>>();
    let ranks = ranks.map_err(|error| Trouble::failed(error, None))?;
    let coverage: Vec<Coverage> = LEVELS.iter().map(|&level| cover(&ranks, level)).collect();
    let calibration = Calibration {
        problem: name,
        datasets: count,
        simulations: method.simulations,
        keep: method.keep,
        generations: method.generations,
        seed: method.seed,
        parameters: problem
            .prior
            .names()
            .into_iter()
            .enumerate()
            .map(|(j, name)| parameter(name, &ranks, j))
            .collect(),
        curve: (1..=CURVE).map(|at| cover(&ranks, at as f64 / CURVE as f64).covered).collect(),
        verdict: verdict(&coverage[JUDGED], count, method.keep),
        coverage,
    };
    output.result(&if arguments.json { json::object(&calibration)? } else { page(&calibration) })?;
    Ok(DONE)
}

fn cover(ranks: &[Vec<f64>], level: f64) -> Coverage {
    // Parameters of one dataset are not independent: the error is that of the mean over datasets.
    let shares: Vec<f64> = ranks
        .iter()
        .map(|row| row.iter().filter(|&&rank| covered(rank, level)).count() as f64 / row.len() as f64)
        .collect();
    let (covered, error) = mean_and_error(&shares);
    // Where all or none cover, the spread says nothing: one more dataset might.
    let least = (level * (1.0 - level) / ranks.len() as f64).sqrt() * if error == 0.0 { 1.0 } else { 0.0 };
    Coverage { level, covered, error: error.max(least) }
}

fn parameter(name: String, ranks: &[Vec<f64>], j: usize) -> Parameter {
    let mut counts = vec![0; BINS];
    ranks.iter().for_each(|row| counts[((row[j] * BINS as f64) as usize).min(BINS - 1)] += 1);
    let share =
        |&level: &f64| ranks.iter().filter(|row| covered(row[j], level)).count() as f64 / ranks.len() as f64;
    let covered = LEVELS.iter().map(share).collect();
    Parameter { name, covered, ranks: counts, band: band(ranks.len()) }
}

/// The counts between which all bins lie with a probability of about 95 %, by the normal law and Bonferroni's bound.
fn band(count: usize) -> (usize, usize) {
    const DEVIATIONS: f64 = 2.81;
    let (n, p) = (count as f64, 1.0 / BINS as f64);
    let (mean, sd) = (n * p, (n * p * (1.0 - p)).sqrt());
    ((mean - DEVIATIONS * sd).max(0.0).ceil() as usize, (mean + DEVIATIONS * sd).floor() as usize)
}

fn verdict(coverage: &Coverage, datasets: usize, keep: usize) -> String {
    let Coverage { level, covered, error } = coverage;
    let (percent, found) = (100.0 * level, (100.0 * covered).round());
    let opening = format!("{percent:.0} % intervals cover {found:.0} %");
    if covered + 2.0 * error < *level {
        format!("{opening}: too narrow; try cross_fit = true, adjust = \"none\", or keep = {}", 2 * keep)
    } else if covered - 2.0 * error > *level {
        format!("{opening}: wider than they need be; more generations or a smaller keep would narrow them")
    } else {
        let seen = 200.0 * error;
        format!(
            "{opening}: no sign of trouble; with {datasets} datasets an error beyond about {seen:.0} points would have shown"
        )
    }
}

fn page(calibration: &Calibration) -> String {
    let Calibration {
        problem, datasets, simulations, keep, generations, coverage, parameters, verdict, ..
    } = calibration;
    let mut text = format!(
        "{problem}: {datasets} datasets with truths from the prior, {generations} x {simulations} simulations, {keep} kept\n\n"
    );
    let mut header = vec!["".to_owned()];
    header.extend(LEVELS.iter().map(|level| format!("{:.0} %", 100.0 * level)));
    header.push("ranks of the truth".into());
    let mut rows = vec![header];
    for Parameter { name, covered, ranks, .. } in parameters {
        let mut row = vec![name.clone()];
        row.extend(covered.iter().map(|share| significant(*share, 3)));
        row.push(sparkline::sparkline(&ranks.iter().map(|&count| count as f64).collect::<Vec<_>>()));
        rows.push(row);
    }
    let mut all = vec!["all".to_owned()];
    all.extend(
        coverage
            .iter()
            .map(|level| format!("{} ± {}", significant(level.covered, 3), significant(level.error, 1))),
    );
    rows.push(all);
    let mut align = vec![Align::Right; LEVELS.len() + 2];
    (align[0], align[LEVELS.len() + 1]) = (Align::Left, Align::Left);
    text.push_str(&lines(&rows, &align));
    if let Some(Parameter { band, .. }) = parameters.first() {
        text.push_str(&format!(
            "\nRanks: even if all is well; each tenth should have between {} and {} datasets.\n",
            band.0, band.1
        ));
        for Parameter { name, ranks, .. } in parameters {
            let out: Vec<String> = (0..BINS)
                .filter(|&bin| !(band.0..=band.1).contains(&ranks[bin]))
                .map(|bin| format!("{} in tenth {}", ranks[bin], bin + 1))
                .collect();
            if !out.is_empty() {
                text.push_str(&format!("{name}: {}\n", out.join(", ")));
            }
        }
    }
    text.push_str(&format!("\n{}\n", wrapped(verdict, PAGE, "")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_for_every_outcome() {
        let coverage = |covered: f64, error: f64| Coverage { level: 0.9, covered, error };
        assert!(
            verdict(&coverage(0.78, 0.03), 100, 250).contains("cover 78 %: too narrow; try cross_fit = true")
        );
        assert!(verdict(&coverage(0.97, 0.01), 100, 250).contains("wider than they need be"));
        assert!(verdict(&coverage(0.88, 0.03), 100, 250).contains("beyond about 6 points"));
    }

    #[test]
    fn ranks_that_are_even_are_covered_as_often_as_they_should_be() {
        let ranks: Vec<Vec<f64>> = (0..1000).map(|i| vec![(f64::from(i) + 0.5) / 1000.0]).collect();
        for level in LEVELS {
            assert!((cover(&ranks, level).covered - level).abs() < 1e-9);
        }
        assert_eq!(parameter("k".into(), &ranks, 0).ranks, vec![100; 10]);
        assert_eq!(band(100), (2, 18));
    }
}
