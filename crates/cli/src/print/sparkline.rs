//! A histogram in one line.

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One character a bar, blank where there is nothing.
pub(crate) fn sparkline(shares: &[f64]) -> String {
    let top = shares.iter().copied().filter(|share| share.is_finite()).fold(0.0, f64::max);
    let level = |share: f64| match share / top {
        height if height > 0.0 => LEVELS[((height * 8.0).ceil() as usize).clamp(1, 8) - 1],
        _ => ' ',
    };
    shares.iter().map(|&share| level(share)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_in_proportion() {
        assert_eq!(sparkline(&[0.0, 0.01, 0.25, 0.5, 1.0]), " ▁▂▄█");
        assert_eq!(sparkline(&[0.0, 0.0]), "  ");
        assert_eq!(sparkline(&[f64::NAN, 1.0]), " █");
    }
}
