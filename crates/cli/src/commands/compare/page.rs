//! A comparison in words and columns.

use super::{Comparison, Figure, From, Judged, Near};
use crate::print::number::significant;
use crate::print::table::{Align, lines};

/// The page that a person reads.
pub(super) fn page(comparison: &Comparison) -> String {
    let Comparison { problem, datasets, truth, simulations, keep, generations, rules, .. } = comparison;
    let from = match truth {
        From::Prior => "datasets with truths from the prior",
        From::Given => "datasets made at the given truth",
        From::Own => "runs on the problem's own data",
        From::File => "given datasets",
    };
    let mut text =
        format!("{problem}: {datasets} {from}, {generations} x {simulations} simulations, {keep} kept\n\n");
    let biased = rules.iter().any(|judged| judged.mean_bias.is_some());
    let mut header = vec!["rule"];
    if biased {
        header.extend(["bias of mean", "bias of mode", "90 % covers"]);
    }
    header.extend(["information", "held-out", "ess", "seconds"]);
    let row = |judged: &Judged| {
        let Judged { mean_bias, mode_bias, coverage_90, information, held_out, ess, seconds, .. } = judged;
        let known = [*mean_bias, *mode_bias, *coverage_90].into_iter().flatten();
        let figures: Vec<Figure> = known.chain([*information, *held_out, *ess, *seconds]).collect();
        [vec![judged.rule.clone()], figures.into_iter().map(cell).collect()].concat()
    };
    text.push_str(&columns(&header, rules.iter().map(row)));
    text.push_str("\nEach figure with its standard error over the datasets.");
    if biased {
        text.push_str(" Bias: distance from the truth in prior standard deviations,\nmean over parameters.");
    }
    text.push_str(
        " Information: squared Hellinger distance of the posterior from the prior.\n\
         Held-out: the same of what the weights accept among simulations that they have not seen (features of a reduction have),\n\
         before any adjustment.\n",
    );
    if let Some(exact) = comparison.exact_information {
        text.push_str(&format!(
            "The exact posteriors have an information of {}: a right posterior has no more.\n",
            cell(exact)
        ));
    }
    let near: Vec<(&str, &Near)> =
        rules.iter().filter_map(|judged| Some((&*judged.rule, judged.exact.as_ref()?))).collect();
    if let Some((_, first)) = near.first() {
        text.push_str("\nDistance to the exact posteriors\n\n");
        let names: Vec<String> =
            first.parameters.iter().map(|one| format!("W1 of {}", on_scale(&one.name, one.scale))).collect();
        let mut header = vec!["rule", "W1 in exact sd", "nearest on", "sd / exact sd", "energy distance"];
        header.extend(names.iter().map(String::as_str));
        let row = |(rule, near): &(&str, &Near)| {
            let mut cells = vec![(*rule).to_owned(), cell(near.w1_in_sd), near.nearest_on.to_string()];
            cells.extend([cell(near.sd_ratio), cell(near.energy_distance)]);
            cells.extend(near.parameters.iter().map(|one| cell(one.w1)));
            cells
        };
        text.push_str(&columns(&header, near.iter().map(row)));
        text.push_str(
            "\nW1: first Wasserstein distance between the marginals, in units of the exact standard deviation as the mean over\n\
             parameters, and for each parameter on the scale named. Nearest on: datasets on which no other rule has a smaller one.\n\
             Energy distance: all parameters together, each in prior standard deviations.\n",
        );
    }
    text
}

fn on_scale(name: &str, scale: &str) -> String {
    if scale == "log10" { format!("log10 {name}") } else { name.to_owned() }
}

fn cell(figure: Figure) -> String {
    // One exact posterior for all runs has no spread over datasets.
    if figure.error.is_nan() {
        return significant(figure.mean, 3);
    }
    format!("{} ± {}", significant(figure.mean, 3), significant(figure.error, 1))
}

fn columns(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut all = vec![header.iter().map(|&name| name.to_owned()).collect()];
    all.extend(rows);
    let mut align = vec![Align::Right; header.len()];
    align[0] = Align::Left;
    lines(&all, &align)
}
