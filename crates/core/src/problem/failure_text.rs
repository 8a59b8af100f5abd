//! Failures as text for files, and back, and for people who know the statistics by name.

use std::time::Duration;

use super::Failure;

/// The kinds as they are written, before a colon and the rest.
const NOT_FINITE: &str = "not-finite";
const CRASHED: &str = "crashed";
const TIMED_OUT: &str = "timed-out";
const DECLINED: &str = "declined";
const OUTSIDE_PRIOR: &str = "outside-prior";

impl Failure {
    /// The kind and what is known of it, as [`Failure::from_text`] reads it back.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::NotFinite { column } => format!("{NOT_FINITE}: {column}"),
            Self::Crashed(why) => format!("{CRASHED}: {why}"),
            Self::TimedOut(limit, why) => {
                let colon = if why.is_empty() { "" } else { ": " };
                format!("{TIMED_OUT}: {}.{:09}{colon}{why}", limit.as_secs(), limit.subsec_nanos())
            }
            Self::Declined(why) => format!("{DECLINED}: {why}"),
            Self::OutsidePrior(parameter) => format!("{OUTSIDE_PRIOR}: {parameter}"),
        }
    }

    /// In words, with the name of the statistic that it is about.
    #[must_use]
    pub fn named(&self, statistics: &[String]) -> String {
        match self {
            Self::NotFinite { column } if *column < statistics.len() => {
                format!("the statistic {} is not finite", statistics[*column])
            }
            other => other.to_string(),
        }
    }

    /// Reads what [`Failure::to_text`] wrote; `None` where it is something else.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(": ")?;
        match kind {
            NOT_FINITE => Some(Self::NotFinite { column: rest.parse().ok()? }),
            CRASHED => Some(Self::Crashed(rest.to_owned())),
            TIMED_OUT => {
                let (limit, why) = rest.split_once(": ").unwrap_or((rest, ""));
                let (seconds, nanoseconds) = limit.split_once('.')?;
                let nanoseconds: u32 = nanoseconds.parse().ok().filter(|&number| number < 1_000_000_000)?;
                Some(Self::TimedOut(Duration::new(seconds.parse().ok()?, nanoseconds), why.to_owned()))
            }
            DECLINED => Some(Self::Declined(rest.to_owned())),
            OUTSIDE_PRIOR => Some(Self::OutsidePrior(rest.into())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statistic_is_called_by_its_name() {
        let names = ["mean".to_owned(), "max".to_owned()];
        assert_eq!(Failure::NotFinite { column: 1 }.named(&names), "the statistic max is not finite");
        assert_eq!(Failure::NotFinite { column: 2 }.named(&names), "the statistic in place 2 is not finite");
        assert_eq!(Failure::Declined("no".into()).named(&names), "simulator declined: no");
    }

    #[test]
    fn every_kind_reads_back() {
        let failures = [
            Failure::NotFinite { column: 7 },
            Failure::Crashed("a: b\n\"c\"".into()),
            Failure::Crashed(String::new()),
            Failure::TimedOut(Duration::new(10, 5), String::new()),
            Failure::TimedOut(Duration::new(0, 5), "it said: 1.5\nno more".into()),
            Failure::Declined("ünlucky".into()),
            Failure::OutsidePrior("k".into()),
        ];
        for failure in failures {
            assert_eq!(Failure::from_text(&failure.to_text()), Some(failure));
        }
        for text in ["", "crashed", "melted: x", "timed-out: 1", "timed-out: 1.1000000000", "not-finite: -1"]
        {
            assert_eq!(Failure::from_text(text), None, "{text}");
        }
    }
}
