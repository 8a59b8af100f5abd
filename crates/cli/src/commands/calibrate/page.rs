//! A calibration in words and columns.

use super::{BINS, CURVE, Calibration, From, LEVELS, Parameter};
use crate::print::number::significant;
use crate::print::sparkline::sparkline;
use crate::print::table::{Align, lines, wrapped};

/// Width of the verdict.
const PAGE: usize = 100;
/// Every so many probabilities of the curve are printed: 10, 20, ... 90 %.
const PRINTED: usize = CURVE / 10;

/// The page that a person reads.
pub(super) fn page(calibration: &Calibration) -> String {
    let Calibration { problem, datasets, truths, simulations, keep, generations, verdict, caveat, .. } =
        calibration;
    let from = match truths {
        From::Prior => "with truths from the prior",
        From::Posterior => "with truths from the posterior of the observation",
        From::Reused => "of its own simulations, each left out",
        From::Accepted => "of its own simulations near the observation, each left out",
    };
    let mut text = format!(
        "{problem}: {datasets} datasets {from}, {generations} x {simulations} simulations, {keep} kept\n\n"
    );
    for part in [coverage(calibration), curve(calibration), ranks(calibration)] {
        text.push_str(&part);
        text.push('\n');
    }
    text.push_str(&format!("{}\n", wrapped(verdict, PAGE, "")));
    if let Some(caveat) = caveat {
        text.push_str(&format!("{}\n", wrapped(caveat, PAGE, "")));
    }
    text
}

/// Probabilities above columns, the first of which has names.
fn header(levels: impl Iterator<Item = f64>) -> Vec<String> {
    [String::new()].into_iter().chain(levels.map(|level| format!("{:.0} %", 100.0 * level))).collect()
}

/// Columns of numbers after one of names.
fn table(rows: &[Vec<String>]) -> String {
    let mut align = vec![Align::Right; rows.iter().map(Vec::len).max().unwrap_or(0)];
    align[0] = Align::Left;
    lines(rows, &align)
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    [name.to_owned()].into_iter().chain(cells).collect()
}

/// How often the usual intervals have the truth.
fn coverage(calibration: &Calibration) -> String {
    let mut rows = vec![header(LEVELS.into_iter())];
    for Parameter { name, covered, .. } in &calibration.parameters {
        rows.push(row(name, covered.iter().map(|share| significant(*share, 3))));
    }
    let all = calibration.coverage.iter();
    let said =
        all.map(|level| format!("{} ± {}", significant(level.covered, 3), significant(level.error, 1)));
    rows.push(row("all", said));
    table(&rows)
}

/// The curve of expected coverage, and how far from it chance may lead.
fn curve(calibration: &Calibration) -> String {
    let printed = |curve: &[f64]| -> Vec<f64> {
        curve.iter().copied().skip(PRINTED - 1).step_by(PRINTED).take(BINS - 1).collect()
    };
    let levels: Vec<f64> = printed(&super::probabilities().collect::<Vec<_>>());
    let mut rows = vec![header(levels.iter().copied())];
    let parameters = calibration.parameters.iter().map(|one| (&*one.name, &one.curve));
    // One parameter is all of them.
    let all = (parameters.len() > 1).then_some(("all", &calibration.curve));
    for (name, curve) in parameters.chain(all) {
        rows.push(row(name, printed(curve).into_iter().map(|share| format!("{share:.2}"))));
    }
    let chance = |level: &f64| 2.0 * (level * (1.0 - level) / calibration.datasets as f64).sqrt();
    rows.push(row("chance", levels.iter().map(|level| format!("±{:.2}", chance(level)))));
    let said = "Expected coverage: the share of datasets whose truth lies in intervals of each probability; chance: two standard errors \
                of one parameter, if all is well.";
    format!("{}{}", wrapped(said, PAGE, ""), table(&rows))
}

/// The ranks of the truth as bars and as counts.
fn ranks(calibration: &Calibration) -> String {
    let Some(Parameter { band, .. }) = calibration.parameters.first() else { return String::new() };
    let everywhere = if calibration.truths == From::Posterior { " everywhere" } else { "" };
    let said = format!(
        "Ranks of the truth: datasets in each tenth, even if all is well{everywhere}; each should have between {} and {}.",
        band.0, band.1
    );
    let (mut rows, mut beyond) = (Vec::new(), String::new());
    for Parameter { name, ranks, .. } in &calibration.parameters {
        let bars = sparkline(&ranks.iter().map(|&count| count as f64).collect::<Vec<_>>());
        let counts = ranks.iter().map(usize::to_string);
        rows.push(row(name, [format!("▕{bars}▏")].into_iter().chain(counts)));
        let out: Vec<String> = (0..BINS)
            .filter(|&bin| !(band.0..=band.1).contains(&ranks[bin]))
            .map(|bin| format!("{} in tenth {}", ranks[bin], bin + 1))
            .collect();
        if !out.is_empty() {
            beyond.push_str(&format!("{name}: {}\n", out.join(", ")));
        }
    }
    format!("{}{}{beyond}", wrapped(&said, PAGE, ""), table(&rows))
}

#[cfg(test)]
mod tests {
    use super::super::{band, cover, parameter, probabilities};
    use super::*;

    /// Two parameters: the ranks of one are even, those of the other all lie in one tenth.
    #[test]
    fn the_curve_and_the_ranks_are_shown() {
        let ranks: Vec<Vec<f64>> = (0..100).map(|i| vec![(f64::from(i) + 0.5) / 100.0, 0.03]).collect();
        let names = ["even", "low"].into_iter().enumerate();
        let calibration = Calibration {
            problem: "p".into(),
            datasets: 100,
            truths: From::Prior,
            simulations: 1000,
            keep: 50,
            generations: 1,
            seed: 1,
            coverage: LEVELS.iter().map(|&level| cover(&ranks, level)).collect(),
            parameters: names.map(|(j, name)| parameter(name.into(), &ranks, j)).collect(),
            curve: probabilities().map(|level| cover(&ranks, level).covered).collect(),
            verdict: String::new(),
            caveat: None,
        };
        assert_eq!(band(100), (2, 18));
        let page = page(&calibration);
        for line in [
            "         10 %   20 %   30 %   40 %   50 %   60 %   70 %   80 %   90 %",
            "even     0.10   0.20   0.30   0.40   0.50   0.60   0.70   0.80   0.90",
            "low      0.00   0.00   0.00   0.00   0.00   0.00   0.00   0.00   0.00",
            "all      0.05   0.10   0.15   0.20   0.25   0.30   0.35   0.40   0.45",
            "chance  ±0.06  ±0.08  ±0.09  ±0.10  ±0.10  ±0.10  ±0.09  ±0.08  ±0.06",
            "even  ▕██████████▏   10  10  10  10  10  10  10  10  10  10",
            "low   ▕█         ▏  100   0   0   0   0   0   0   0   0   0",
        ] {
            assert!(page.lines().any(|known| known == line), "{line}\n{page}");
        }
        assert!(page.contains("each should have between 2 and 18"), "{page}");
        assert!(page.contains("low: 100 in tenth 1, 0 in tenth 2"), "{page}");
    }
}
