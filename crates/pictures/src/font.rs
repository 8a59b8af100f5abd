//! The font: Liberation Sans, which is as wide as Arial. Its widths place text; its outlines are drawn in PNG.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

static FACE: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(include_bytes!("../font/LiberationSans-Regular.ttf"), 0).ok());

/// Fonts for SVG: what journals ask for, and what is as wide.
pub(crate) const FAMILY: &str = "Arial, Helvetica, Liberation Sans, Arimo, sans-serif";

fn glyph(face: &Face<'_>, letter: char) -> GlyphId {
    face.glyph_index(letter).unwrap_or(GlyphId(0))
}

fn advance(face: &Face<'_>, letter: char) -> f64 {
    // A letter that the font lacks is drawn by another one: Chinese and Japanese letters are square.
    let missing = face.glyph_index(letter).is_none();
    let units = f64::from(face.units_per_em());
    if missing { 1.0 } else { face.glyph_hor_advance(glyph(face, letter)).map_or(0.5, f64::from) / units }
}

/// The width of a text, in units of its height.
pub(crate) fn width(text: &str) -> f64 {
    match FACE.as_ref() {
        Some(face) => text.chars().map(|letter| advance(face, letter)).sum(),
        None => 0.55 * text.chars().count() as f64,
    }
}

/// A text cut to a width, in units of its height.
pub(crate) fn elided(text: &str, most: f64) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = width("\u{2026}");
    for letter in text.chars() {
        used += width(letter.encode_utf8(&mut [0; 4]));
        if used > most {
            break;
        }
        kept.push(letter);
    }
    kept + "\u{2026}"
}

/// Writes the outlines of a text of height 1 whose baseline begins at the origin; y points down. Returns its width.
pub(crate) fn outline(text: &str, mut begin: impl FnMut(f64) -> Box<dyn OutlineBuilder>) -> f64 {
    let Some(face) = FACE.as_ref() else { return 0.0 };
    let mut at = 0.0;
    for letter in text.chars() {
        let mut builder = begin(at);
        face.outline_glyph(glyph(face, letter), builder.as_mut());
        at += advance(face, letter);
    }
    at
}

/// Units of the font in the height of a text.
pub(crate) fn units() -> f64 {
    FACE.as_ref().map_or(1000.0, |face| f64::from(face.units_per_em()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_arial() {
        assert!((width("0") - 0.556).abs() < 0.001);
        assert!((width("W") - 0.944).abs() < 0.001);
        assert!((width("il.") - 0.222 * 2.0 - 0.278).abs() < 0.001);
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(elided("abc", 10.0), "abc");
        let cut = elided("a rather long name of a statistic", 8.0);
        assert!(cut.ends_with('\u{2026}') && width(&cut) <= 8.0 && width(&cut) > 6.5, "{cut}");
    }
}
