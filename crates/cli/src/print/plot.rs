//! Marginals and distance weights drawn in text.

use super::bars::bar;
use super::number::significant;
use super::table::{Align, lines};
use crate::summary::{Parameter, Summary};

/// Lines of a histogram, and letters of one of its bars.
const HEIGHT: usize = 8;
const WIDE: usize = 2;
/// Statistics that are drawn.
const MOST: usize = 60;
const BAR: usize = 50;
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A histogram a parameter, and a bar a statistic.
pub(crate) fn plots(summary: &Summary) -> String {
    let mut text = String::new();
    for (name, parameter) in &summary.parameters {
        text += &histogram(name, parameter);
        text += "\n";
    }
    text + &weights(summary)
}

fn histogram(name: &str, parameter: &Parameter) -> String {
    let shares: Vec<f64> = parameter.histogram.iter().map(|share| share.0).collect();
    let top = shares.iter().copied().filter(|share| share.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let scale = if parameter.scale == "log" { ", log scale" } else { "" };
    let mut text = format!("{name} (posterior over the prior{scale})\n");
    for row in (0..HEIGHT).rev() {
        let letter = |share: &f64| {
            let eighths = share / top * (HEIGHT * 8) as f64 - (row * 8) as f64;
            LEVELS[eighths.round().clamp(0.0, 8.0) as usize]
        };
        let line: String = shares.iter().flat_map(|share| [letter(share); WIDE]).collect();
        text += &format!("  │{}\n", line.trim_end());
    }
    let width = shares.len() * WIDE;
    let [low, high] = parameter.range.map(|end| significant(end.0, 3));
    text += &format!("  └{}\n", "─".repeat(width));
    text + &format!("   {low}{high:>rest$}\n", rest = width.saturating_sub(low.chars().count()).max(1))
}

fn weights(summary: &Summary) -> String {
    let (weights, called) = summary.counts();
    let top =
        weights.iter().map(|(_, weight)| *weight).filter(|weight| weight.is_finite()).fold(0.0, f64::max);
    let mut rows =
        vec![vec!["statistic".to_owned(), called.to_owned(), "in the order of the problem".to_owned()]];
    for (name, weight) in weights.iter().take(MOST) {
        rows.push(vec![(*name).clone(), significant(*weight, 3), bar(*weight, top, BAR)]);
    }
    let mut text = lines(&rows, &[Align::Left, Align::Right, Align::Left]);
    if weights.len() > MOST {
        text += &format!("and {} more\n", weights.len() - MOST);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Real;

    #[test]
    fn bars_are_as_high_as_their_share_and_stand_under_their_values() {
        let share = |value: f64| Real(value);
        let parameter = Parameter {
            mean: share(0.0),
            sd: share(0.0),
            median: share(0.0),
            mode: share(0.0),
            q05: share(0.0),
            q25: share(0.0),
            q75: share(0.0),
            q95: share(0.0),
            log10_mean: share(0.0),
            log10_sd: share(0.0),
            scale: "linear".into(),
            range: [share(0.0), share(10.0)],
            histogram: [0.0, 0.25, 0.5, 0.25].map(Real).to_vec(),
        };
        let text = histogram("k", &parameter);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "k (posterior over the prior)");
        assert_eq!(lines[1], "  │    ██");
        assert_eq!(lines[8], "  │  ██████");
        assert_eq!(lines[10], "   0     10");
    }
}
