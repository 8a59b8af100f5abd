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

/// A text in lines of at most `width` characters where words fit, later lines behind `indent`. Its own lines stay lines, as
/// far to the right as they were: what a program says is read by its shape.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = text.lines();
    let mut wrapped = folded(lines.next().unwrap_or_default(), width, ["", indent]);
    for line in lines {
        let own = &line[..line.len() - line.trim_start().len()];
        let margin = format!("{indent}{own}");
        wrapped += &folded(line.trim_start(), width, [&margin, &margin]);
    }
    wrapped
}

/// Words in lines, of which the first and the others have a margin each.
fn folded(words: &str, width: usize, [first, other]: [&str; 2]) -> String {
    let (mut text, mut line) = (String::new(), first.to_owned());
    let mut is_empty = true;
    for word in words.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            text += &format!("{line}\n");
            line = other.to_owned();
        } else if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    text + line.trim_end() + "\n"
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
        let said = "it failed:\n    File \"a.py\"\n      no such file\nthe end";
        let shown = "it failed:\n      File \"a.py\"\n        no such\n        file\n  the end\n";
        assert_eq!(wrapped(said, 18, "  "), shown, "lines stay lines");
    }
}
