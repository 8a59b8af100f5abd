//! Horizontal bars.

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar for `value` where `top` fills `width` characters; something, however small, always shows.
pub(crate) fn bar(value: f64, top: f64, width: usize) -> String {
    let share = value / top;
    if share.is_nan() || share <= 0.0 {
        return String::new();
    }
    let eighths = ((share.min(1.0) * width as f64 * 8.0).round() as usize).max(1);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_in_proportion() {
        assert_eq!(bar(1.0, 1.0, 4), "████");
        assert_eq!(bar(0.5, 1.0, 3), "█▌");
        assert_eq!(bar(1e-9, 1.0, 4), "▏");
        assert_eq!(bar(0.0, 1.0, 4), "");
        assert_eq!(bar(0.0, 0.0, 4), "");
    }
}
