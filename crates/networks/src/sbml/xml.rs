//! Documents of bounded size and depth, and the parts of an element.

use roxmltree::{Document, ParsingOptions};

/// An element.
pub(super) type Node<'a> = roxmltree::Node<'a, 'a>;

/// Bytes of the largest document that is read.
pub const MOST_BYTES: usize = 16 << 20;
/// Elements of a document, elements within each other, and bytes of a tag.
const MOST_NODES: u32 = 4_000_000;
const MOST_DEPTH: usize = 300;
const LONGEST_TAG: usize = 64 << 10;

/// The namespace of mathematics.
pub(super) const MATHML: &str = "http://www.w3.org/1998/Math/MathML";

/// A document, or why not and at which byte.
pub(super) fn parse(text: &str) -> Result<Document<'_>, (usize, String)> {
    if text.len() > MOST_BYTES {
        return Err((0, format!("the document is larger than {} MiB", MOST_BYTES >> 20)));
    }
    scan(text)?;
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let place = error.pos();
        let line = text.split_inclusive('\n').take(place.row as usize - 1).map(str::len).sum::<usize>();
        let rest = text.get(line..).unwrap_or_default();
        let column = rest.char_indices().nth((place.col as usize).saturating_sub(1)).map_or(0, |(at, _)| at);
        let reason = match error {
            roxmltree::Error::DtdDetected => {
                "the document has a <!DOCTYPE>, which is not read: remove it and the entities it defines"
                    .into()
            }
            roxmltree::Error::NodesLimitReached => {
                format!("the document has more than {MOST_NODES} elements")
            }
            error => format!("this is not well-formed XML: {error}"),
        };
        (line + column, reason)
    })
}

/// Refuses elements that are nested too deeply and tags that are too long: the parser's cost grows with the
/// square of both.
fn scan(text: &str) -> Result<(), (usize, String)> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        let rest = &text[start..];
        let skip = |end: &str| rest.find(end).map_or(text.len(), |found| start + found + end.len());
        if rest.starts_with("<!--") {
            at = skip("-->");
        } else if rest.starts_with("<![CDATA[") {
            at = skip("]]>");
        } else if rest.starts_with("<?") {
            at = skip("?>");
        } else {
            let end = tag_end(bytes, start);
            if end - start > LONGEST_TAG {
                return Err((start, format!("this tag is longer than {} KiB", LONGEST_TAG >> 10)));
            }
            if rest.starts_with("</") {
                depth = depth.saturating_sub(1);
            } else if !rest.starts_with("<!") && bytes[end - 1] != b'/' {
                depth += 1;
            }
            if depth > MOST_DEPTH {
                return Err((start, format!("more than {MOST_DEPTH} elements are nested in each other")));
            }
            at = end;
        }
    }
    Ok(())
}

/// Where the `>` of a tag is, outside of quotes; the end of the text if there is none.
fn tag_end(bytes: &[u8], start: usize) -> usize {
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate().skip(start).take(LONGEST_TAG + 2) {
        match (quote, byte) {
            (None, b'>') => return at,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    (start + LONGEST_TAG + 2).min(bytes.len())
}

/// The elements in an element that belong to the same language, without notes and annotations.
pub(super) fn children<'a>(node: Node<'a>) -> impl Iterator<Item = Node<'a>> {
    let language = node.tag_name().namespace();
    let ours = move |child: &Node<'a>| {
        child.is_element()
            && child.tag_name().namespace() == language
            && !matches!(child.tag_name().name(), "notes" | "annotation")
    };
    node.children().filter(ours)
}

/// The first element of that name in an element.
pub(super) fn child<'a>(node: Node<'a>, name: &str) -> Option<Node<'a>> {
    children(node).find(|child| child.tag_name().name() == name)
}

/// The mathematics in an element.
pub(super) fn math(node: Node<'_>) -> Option<Node<'_>> {
    node.children().find(|child| child.has_tag_name((MATHML, "math")))
}

/// The element as messages name it: `species "X"`, or `trigger of event "e"` where it has no name of its own.
/// Mathematics goes by the element it stands in.
pub(super) fn called(node: Node<'_>) -> String {
    let named = |node: &Node<'_>| {
        ["id", "variable", "symbol", "species"].iter().find_map(|key| node.attribute(*key).map(shown))
    };
    let part = |node: &Node<'_>| {
        node.is_element()
            && node.tag_name().namespace() != Some(MATHML)
            && !node.tag_name().name().starts_with("listOf")
    };
    let (mut text, mut parts) = (String::new(), node.ancestors().filter(part).take(4));
    let own = parts.next().unwrap_or(node);
    text += own.tag_name().name();
    let mut name = named(&own);
    while let (None, Some(outer)) = (&name, parts.next()) {
        if matches!(outer.tag_name().name(), "model" | "sbml") {
            break;
        }
        text += &format!(" of {}", outer.tag_name().name());
        name = named(&outer);
    }
    name.map_or(text.clone(), |name| format!("{text} \"{name}\""))
}

/// A name or number of the document, cut where it is too long to read.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// A number as SBML writes it: decimals with an exponent. Infinity and NaN are none.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|value: &f64| decimal && value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_tags_are_bounded_before_parsing() {
        let nested = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
        assert!(parse(&nested(MOST_DEPTH)).is_ok());
        assert_eq!(parse(&nested(MOST_DEPTH + 1)).unwrap_err().0, 3 * MOST_DEPTH);
        assert!(parse(&nested(100_000)).unwrap_err().1.contains("nested"));
        let flat =
            format!("<a>{}</a>", "<b c='/>'/><b/><b></b><!-- <b> --><?b <b> ?><![CDATA[<b>]]>".repeat(1000));
        assert!(parse(&flat).is_ok());
        let long = format!("<a {}/>", (0..20_000).map(|at| format!("b{at}='' ")).collect::<String>());
        assert!(parse(&long).unwrap_err().1.contains("64 KiB"));
        assert!(parse(&("<a>".to_owned() + &" ".repeat(MOST_BYTES))).unwrap_err().1.contains("16 MiB"));
        for broken in
            ["", "<", "<a", "<a b=\"", "<!--", "<a>&b;</a>", "</a>", "<a></b>", "<?xml", "<![CDATA["]
        {
            assert!(parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn entities_are_never_expanded() {
        let (_, message) = parse("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>").unwrap_err();
        assert!(message.contains("<!DOCTYPE>"), "{message}");
    }

    #[test]
    fn numbers_are_decimal_and_finite() {
        assert_eq!(number(" -1.5e3\n"), Some(-1500.0));
        assert_eq!(number("+.5"), Some(0.5));
        for text in ["", "INF", "inf", "NaN", "1e999", "0x10", "1,5", "1_000", "infinity"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
