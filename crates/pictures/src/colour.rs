//! Colours by what they are for.

/// A colour of a figure. On paper it is fixed; on a page it follows the page's scheme through a CSS variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Text and axes.
    Ink,
    /// Less important text and marks.
    Muted,
    /// Lines of the grid.
    Grid,
    /// The background.
    Paper,
    /// What deserves attention.
    Alarm,
    /// Series by number, after Okabe & Ito; seven before they repeat.
    Series(usize),
}

const SERIES: [u32; 7] = [0x00_72B2, 0xD5_5E00, 0x00_9E73, 0xCC_79A7, 0xE6_9F00, 0x56_B4E9, 0x8A_7A00];

impl Colour {
    /// Red, green and blue on paper.
    #[must_use]
    pub fn rgb(self) -> [u8; 3] {
        let value = match self {
            Self::Ink => 0x1A_1A1A,
            Self::Muted => 0x70_7070,
            Self::Grid => 0xDD_DDDD,
            Self::Paper => 0xFF_FFFF,
            Self::Alarm => 0xC0_1C28,
            Self::Series(number) => SERIES[number % SERIES.len()],
        };
        let [_, red, green, blue] = u32::to_be_bytes(value);
        [red, green, blue]
    }

    /// As SVG on paper.
    pub(crate) fn hex(self) -> String {
        let [red, green, blue] = self.rgb();
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// As SVG on a page: `--ink`, `--muted`, `--grid`, `--paper`, `--alarm`, `--series-0` to `--series-6`.
    pub(crate) fn variable(self) -> String {
        match self {
            Self::Ink => "var(--ink)".into(),
            Self::Muted => "var(--muted)".into(),
            Self::Grid => "var(--grid)".into(),
            Self::Paper => "var(--paper)".into(),
            Self::Alarm => "var(--alarm)".into(),
            Self::Series(number) => format!("var(--series-{})", number % SERIES.len()),
        }
    }
}
