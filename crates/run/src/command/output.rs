//! What a program prints in the protocol `once`: a line of numbers, or a header and a line.

use super::answer::{Garbled, check_names};
use super::tail::excerpt;

const EXPECTED: &str = "one line of numbers, or a header and a line of numbers";

/// What was printed: numbers, and their names where there was a header.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Names, if there was a header.
    pub names: Option<Vec<String>>,
    /// One a statistic; NaN where it was missing.
    pub values: Vec<f64>,
}

/// Reads what a program printed. Cells are separated by commas, or by blanks where there is no comma; names may
/// stand in quotes; empty lines do not count.
///
/// # Errors
/// Where it is anything else.
pub fn output(bytes: &[u8]) -> Result<Output, Garbled> {
    let garbage = || Garbled::Garbage { expected: EXPECTED, found: excerpt(bytes) };
    let text = std::str::from_utf8(bytes).map_err(|_| garbage())?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (first, second, third) = (lines.next().ok_or_else(garbage)?, lines.next(), lines.next());
    let (header, line) = match second {
        Some(second) => (Some(first), second),
        None => (None, first),
    };
    let values = cells(line).map(number).collect::<Option<Vec<f64>>>().ok_or_else(garbage)?;
    if third.is_some() || header.is_some_and(|header| cells(header).all(|cell| number(cell).is_some())) {
        return Err(garbage());
    }
    let names: Option<Vec<String>> =
        header.map(|line| cells(line).map(|cell| unquoted(cell).to_owned()).collect());
    if let Some(names) = &names {
        check_names(names).map_err(Garbled::Names)?;
        if names.len() != values.len() {
            return Err(Garbled::WrongCount { expected: names.len(), found: values.len() });
        }
    }
    Ok(Output { names, values })
}

fn cells(line: &str) -> Box<dyn Iterator<Item = &str> + '_> {
    match line.contains(',') {
        true => Box::new(line.split(',').map(str::trim)),
        false => Box::new(line.split_whitespace()),
    }
}

fn unquoted(cell: &str) -> &str {
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell)
}

/// A number; NaN for a cell that is empty or says that there is none.
fn number(cell: &str) -> Option<f64> {
    if cell.is_empty() || cell == "NA" {
        return Some(f64::NAN);
    }
    cell.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        let output = output(text.as_bytes()).unwrap();
        assert_eq!(output.names, None);
        output.values
    }

    #[test]
    fn lines_of_numbers() {
        assert_eq!(values("1 2.5\t-3e-2\n"), [1.0, 2.5, -0.03]);
        assert_eq!(values("\r\n1, 2.5,0.30000000000000004\r\n\n"), [1.0, 2.5, 0.1 + 0.2]);
        assert!(values("1,,NA,nan,-inf").iter().skip(1).all(|value| !value.is_finite()));
    }

    #[test]
    fn a_header_names_them() {
        for text in ["\"a\",\"b c\"\n1,2\n", "a,b c\n1,2", "a , b c\r\n 1 , 2\r\n"] {
            let Output { names, values } = output(text.as_bytes()).unwrap();
            assert_eq!(
                (names.unwrap(), values),
                (vec!["a".to_owned(), "b c".into()], vec![1.0, 2.0]),
                "{text}"
            );
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "\n \n", "a b\n", "1 2\n3 4\n", "a b\n1 2\n3 4\n", "a b\n1 x\n", "1;2\n"] {
            assert!(matches!(output(text.as_bytes()), Err(Garbled::Garbage { .. })), "{text}");
        }
        assert!(matches!(output(b"1 \xff 2"), Err(Garbled::Garbage { .. })));
        assert_eq!(output(b"a b c\n1 2\n"), Err(Garbled::WrongCount { expected: 3, found: 2 }));
        assert_eq!(output(b"a a\n1 2\n"), Err(Garbled::Names("`a` is there twice".into())));
    }
}
