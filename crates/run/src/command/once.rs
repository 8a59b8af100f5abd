//! The protocol `once`: the program is started for every simulation, with parameters and seed among its words.

use std::time::Duration;

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;

use super::answer::{Garbled, MOST_STATISTICS, check_names};
use super::backoff::BackOff;
use super::exchange::{Conversation, Limits, Silence, Until};
use super::output::{Output, output};
use super::process::{Process, ending};
use super::request::number;
use super::{Program, ProgramError};

/// Bytes of the output, beside those of its cells, and of a cell: a number, or a name.
const LONGEST_OUTPUT: usize = 65_536;
const LONGEST_CELL: usize = 256;
/// The seed of simulations that only serve to learn the names.
const TRIAL_SEED: u32 = 1;

/// A simulator that is a program started for every simulation; see `docs/programs.md`.
#[derive(Debug)]
pub struct Once {
    program: Program,
    statistics: Vec<String>,
    back_off: BackOff,
}

impl Once {
    /// A simulator with statistics of these names.
    ///
    /// # Errors
    /// Where the names cannot be used.
    pub fn new(program: Program, statistics: Vec<String>) -> Result<Self, ProgramError> {
        check_names(&statistics).map_err(|reason| program.unusable(format!("cannot be used: {reason}")))?;
        Ok(Self { program, statistics, back_off: BackOff::default() })
    }

    /// A simulator whose statistics are named by a header that the program prints, or s1, s2 and so on where it
    /// prints none. To see which, it is tried at these parameters, one after another until it succeeds.
    ///
    /// # Errors
    /// Where the program cannot be started, or fails at all of them.
    pub fn learn<'t>(
        program: Program,
        thetas: impl IntoIterator<Item = &'t [f64]>,
    ) -> Result<Self, ProgramError> {
        let mut last = Ok("there is none".to_owned());
        let trial = Self { program, statistics: Vec::new(), back_off: BackOff::default() };
        for theta in thetas {
            let started = trial.start((theta, TRIAL_SEED));
            match started.map(|conversation| trial.hear(conversation, TRIAL_SEED, &|| false)) {
                Ok(Ok(Output { names, values })) => {
                    let numbered = || (1..=values.len()).map(|number| format!("s{number}")).collect();
                    return Self::new(trial.program, names.unwrap_or_else(numbered));
                }
                Ok(Err(Silence::Failed(why) | Silence::Late(why))) => last = Ok(why),
                Ok(Err(Silence::Cut)) => {}
                Err(error) => last = Err(error),
            }
        }
        Err(trial.program.unusable(format!("fails at every trial: {}", last?)))
    }

    /// Names of the statistics.
    #[must_use]
    pub fn statistics(&self) -> &[String] {
        &self.statistics
    }

    /// The words with parameters and seed put in.
    fn words(&self, (theta, seed): (&[f64], u32)) -> Vec<String> {
        let names = self.program.parameters.iter().map(String::as_str).chain(["seed"]);
        let values = theta.iter().map(|&value| number(value)).chain([seed.to_string()]);
        let values: Vec<(&str, String)> = names.zip(values).collect();
        self.program.words.iter().map(|word| filled(word, &values)).collect()
    }

    fn start(&self, row: (&[f64], u32)) -> Result<Conversation, ProgramError> {
        Process::start(&self.program, &self.words(row), false).map(Conversation::new)
    }

    /// What the program prints, or why not.
    fn hear(
        &self,
        mut conversation: Conversation,
        seed: u32,
        cut: &dyn Fn() -> bool,
    ) -> Result<Output, Silence> {
        let cells = if self.statistics.is_empty() { MOST_STATISTICS } else { self.statistics.len() };
        let longest = LONGEST_OUTPUT + 2 * LONGEST_CELL * cells;
        let (time, gather) = (self.program.timeout, Duration::ZERO);
        let limits = Limits { until: Until::End, time, longest, gather };
        let printed = match conversation.listen(limits, cut) {
            Ok(printed) => printed,
            Err(silence) => {
                conversation.process.end();
                let told = |text: String, words: String| format!("it {text}; seed {seed}{words}");
                return Err(match silence {
                    Silence::Cut => Silence::Cut,
                    Silence::Failed(text) => Silence::Failed(told(text, conversation.words())),
                    Silence::Late(text) => Silence::Late(told(text, conversation.words())),
                });
            }
        };
        let status = conversation.process.end();
        let words = conversation.words();
        if !status.is_some_and(|status| status.success()) {
            return Err(Silence::Failed(format!("it {}; seed {seed}{words}", ending(status))));
        }
        let refused = |why: String| Silence::Failed(format!("{why}; seed {seed}{words}"));
        output(&printed)
            .map_err(|error| error.to_string())
            .and_then(|printed| self.checked(printed))
            .map_err(refused)
    }

    /// One simulation; `None` when nobody waits for it any more.
    fn one(&self, row: (&[f64], u32), cut: &dyn Fn() -> bool) -> Option<Result<Vec<f64>, Failure>> {
        let failed = |text: String| Some(Err(Failure::Crashed(text)));
        let conversation = match self.back_off.start(|| self.start(row), cut)? {
            Ok(conversation) => conversation,
            Err(error) => return failed(format!("{error}; seed {}", row.1)),
        };
        self.back_off.is_well();
        match self.hear(conversation, row.1, cut) {
            Ok(printed) => Some(Ok(printed.values)),
            Err(Silence::Failed(why)) => failed(why),
            Err(Silence::Late(why)) => Some(Err(Failure::TimedOut(self.program.timeout, why))),
            Err(Silence::Cut) => None,
        }
    }

    /// Whether it is what was promised, once something was.
    fn checked(&self, Output { names, values }: Output) -> Result<Output, String> {
        let (expected, found) = (self.statistics.len(), values.len());
        if expected == 0 {
            return Ok(Output { names, values });
        }
        if found != expected {
            return Err(Garbled::WrongCount { expected, found }.to_string());
        }
        if names.as_ref().is_some_and(|names| *names != self.statistics) {
            return Err("its header has other names".to_owned());
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(column) => {
                Err(format!("the statistic `{}` is not a finite number", self.statistics[column]))
            }
            None => Ok(Output { names, values }),
        }
    }
}

/// A word with the values of the names that stand in it between braces. Other braces are left as they are.
fn filled(word: &str, values: &[(&str, String)]) -> String {
    let (mut text, mut rest) = (String::new(), word);
    while let Some(at) = rest.find('{') {
        text += &rest[..at];
        rest = &rest[at..];
        let inside = rest[1..].find(['{', '}']).filter(|end| rest.as_bytes()[1 + end] == b'}');
        let known =
            inside.and_then(|end| Some((end, values.iter().find(|(name, _)| *name == &rest[1..=end])?)));
        match known {
            Some((end, (_, value))) => {
                text += value;
                rest = &rest[end + 2..];
            }
            None => {
                text.push('{');
                rest = &rest[1..];
            }
        }
    }
    text + rest
}

impl Simulator for Once {
    fn summaries(&self) -> usize {
        self.statistics.len()
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        let cut = || Err(Failure::Crashed("it was not waited for".into()));
        let outcome = self.one((theta, rng.external_seed()), &|| false).unwrap_or_else(cut);
        outcome.map(|values| summaries.copy_from_slice(&values))
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let (mut streams, nothing) = (jobs.streams(), vec![f64::NAN; self.statistics.len()]);
        while let Some(row) = feed.next() {
            let seed = streams.at(row).external_seed();
            match self.one((jobs.theta(row), seed), &|| feed.is_cut()) {
                Some(Ok(values)) => feed.finish(row, &values, Ok(())),
                Some(Err(failure)) => feed.finish(row, &nothing, Err(failure)),
                None => return,
            }
        }
    }

    fn is_dear(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_braces_are_replaced() {
        let values = [("k", "0.5".to_owned()), ("a b", "2".into()), ("seed", "7".into())];
        for (word, expected) in [
            ("{k}", "0.5"),
            ("--k={k},{a b}", "--k=0.5,2"),
            ("BEGIN { srand({seed}); print {k} + {x} }", "BEGIN { srand(7); print 0.5 + {x} }"),
            ("{{k}}", "{0.5}"),
            ("{", "{"),
            ("é{k", "é{k"),
            ("{}", "{}"),
            ("plain", "plain"),
        ] {
            assert_eq!(filled(word, &values), expected);
        }
    }
}
