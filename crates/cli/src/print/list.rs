//! Names one after another, cut where there are too many to read.

/// `a, b, c`; where there are more than `most` names, `a, b and 7 more`.
pub(crate) fn listed(names: impl IntoIterator<Item = impl AsRef<str>>, most: usize) -> String {
    let (mut text, mut more) = (String::new(), 0);
    for (at, name) in names.into_iter().enumerate() {
        if at >= most {
            more += 1;
            continue;
        }
        if at > 0 {
            text += ", ";
        }
        text += name.as_ref();
    }
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_beyond_the_limit_is_counted() {
        assert_eq!(listed([""; 0], 2), "");
        assert_eq!(listed(["a"], 2), "a");
        assert_eq!(listed(["a", "b"], 2), "a, b");
        assert_eq!(listed(["a", "b", "c", "d"], 2), "a, b and 2 more");
    }
}
