//! Columns that line up.

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows of cells as lines, columns two blanks apart.
pub(crate) fn lines(rows: &[Vec<String>], align: &[Align]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..align.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, &width), align) in row.iter().zip(&widths).zip(align) {
            match align {
                Align::Left => line.push_str(&format!("{cell:<width$}  ")),
                Align::Right => line.push_str(&format!("{cell:>width$}  ")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Words in lines of at most `width` characters where they fit, later lines behind `indent`.
pub(crate) fn wrapped(words: &str, width: usize, indent: &str) -> String {
    let (mut text, mut used) = (String::new(), 0);
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            text.push('\n');
            text.push_str(indent);
            used = indent.chars().count();
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["k", "1"], ["sigma", "10"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(lines(&rows, &[Align::Left, Align::Right]), "k       1\nsigma  10\n");
    }

    #[test]
    fn long_texts_are_broken_between_words() {
        assert_eq!(wrapped("one two three four", 9, "  "), "one two\n  three\n  four\n");
        assert_eq!(wrapped("", 9, "  "), "\n");
    }
}
