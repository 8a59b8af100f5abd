//! A calibration in words and columns.

use super::{BINS, Calibration, From, LEVELS, Parameter};
use crate::print::number::significant;
use crate::print::sparkline;
use crate::print::table::{Align, lines, wrapped};

/// Width of the verdict.
const PAGE: usize = 100;

/// The page that a person reads.
pub(super) fn page(calibration: &Calibration) -> String {
    let Calibration {
        problem,
        datasets,
        truths,
        simulations,
        keep,
        generations,
        coverage,
        parameters,
        verdict,
        caveat,
        ..
    } = calibration;
    let from = match truths {
        From::Prior => "with truths from the prior",
        From::Posterior => "with truths from the posterior of the observation",
        From::Reused => "of its own simulations, each left out",
        From::Accepted => "of its own simulations near the observation, each left out",
    };
    let mut text = format!(
        "{problem}: {datasets} datasets {from}, {generations} x {simulations} simulations, {keep} kept\n\n"
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
            "\nRanks: even if all is well{}; each tenth should have between {} and {} datasets.\n",
            if *truths == From::Posterior { " everywhere" } else { "" },
            band.0,
            band.1
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
    if let Some(caveat) = caveat {
        text.push_str(&format!("{}\n", wrapped(caveat, PAGE, "")));
    }
    text
}
