//! The protocol `lines`: a long-lived program for each thread, which answers a line to every line.

use std::sync::{Mutex, MutexGuard, PoisonError};

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;

use super::answer::{Answer, Garbled, answer, check_names, ready};
use super::backoff::BackOff;
use super::exchange::{Conversation, Limits, Silence, Until};
use super::process::{Process, end_together};
use super::request::Request;
use super::{Program, ProgramError};

/// Bytes of a greeting: names of every statistic that there may be.
const LONGEST_GREETING: usize = 32 << 20;
/// Bytes of an answer, beside those of its numbers, and of a number.
const LONGEST_ANSWER: usize = 65_536;
const LONGEST_NUMBER: usize = 64;

/// A simulator that is a program answering line by line; see `docs/programs.md`.
#[derive(Debug)]
pub struct Lines {
    program: Program,
    request: Request,
    statistics: Vec<String>,
    /// Workers that wait for work.
    idle: Mutex<Vec<Worker>>,
    back_off: BackOff,
}

/// One running program.
#[derive(Debug)]
struct Worker {
    conversation: Conversation,
    /// The request that it was given last.
    id: u64,
}

/// What became of a request.
enum Reply {
    /// The worker answered, and can go on.
    Outcome(Result<Vec<f64>, Failure>),
    /// The worker is in doubt, and must be replaced. Another may do better, unless it was a matter of time.
    Lost { why: String, late: bool },
    /// Nobody waits for it any more.
    Cut,
}

impl Lines {
    /// A simulator with statistics of these names, or those with which the program greets: it is then started
    /// now, and not when it is needed first.
    ///
    /// # Errors
    /// Where the program does not greet as it should, or the names cannot be used.
    pub fn new(program: Program, statistics: Option<Vec<String>>) -> Result<Self, ProgramError> {
        let (statistics, worker) = match statistics {
            Some(names) => (names, None),
            None => {
                let (worker, names) = Worker::start(&program, &|| false)?;
                (names, Some(worker))
            }
        };
        check_names(&statistics).map_err(|reason| program.unusable(format!("cannot be used: {reason}")))?;
        let (request, idle) = (Request::new(&program.parameters), worker.into_iter().collect());
        Ok(Self { program, request, statistics, idle: Mutex::new(idle), back_off: BackOff::default() })
    }

    /// Names of the statistics.
    #[must_use]
    pub fn statistics(&self) -> &[String] {
        &self.statistics
    }

    /// One simulation, on a worker that is started where there is none; `None` when nobody waits for it any more.
    ///
    /// A worker that has simulated before may die of what it has become (a leak, a stray line): the row is then given
    /// to a new one, so that what becomes of it depends on nothing but the row.
    fn one(
        &self,
        worker: &mut Option<Worker>,
        row: (&[f64], u32),
        cut: &dyn Fn() -> bool,
    ) -> Option<Result<Vec<f64>, Failure>> {
        loop {
            let mut present = match worker.take() {
                Some(worker) => worker,
                None => match self.start(cut)? {
                    Ok(worker) => worker,
                    Err(error) => return Some(Err(Failure::Crashed(format!("{error}; seed {}", row.1)))),
                },
            };
            match present.ask(self, row, cut) {
                Reply::Outcome(outcome) => {
                    self.back_off.is_well();
                    *worker = Some(present);
                    return Some(outcome);
                }
                Reply::Lost { why, late } => {
                    self.back_off.has_died();
                    if late || present.id == 1 {
                        return Some(Err(Failure::Crashed(why)));
                    }
                }
                Reply::Cut => return None,
            }
        }
    }

    /// What a line means: what became of a row, unless the program that said it cannot be trusted any more.
    fn meaning(&self, line: &[u8], id: u64, seed: u32) -> Result<Result<Vec<f64>, Failure>, Garbled> {
        let failed = |text: String| Ok(Err(Failure::Crashed(format!("{text}; seed {seed}"))));
        match answer(line, id, self.statistics.len()) {
            Ok(Answer::Statistics(values)) => Ok(Ok(values)),
            Ok(Answer::Error(reason)) => Ok(Err(Failure::Declined(format!("{reason}; seed {seed}")))),
            Err(Garbled::NotFinite { column }) => {
                failed(format!("the statistic `{}` is not a finite number", self.statistics[column]))
            }
            Err(error @ Garbled::WrongCount { .. }) => failed(error.to_string()),
            Err(error) => Err(error),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new worker.
    fn start(&self, cut: &dyn Fn() -> bool) -> Option<Result<Worker, ProgramError>> {
        let start = || {
            let (worker, names) = Worker::start(&self.program, cut)?;
            if names == self.statistics {
                return Ok(worker);
            }
            let (expected, found) = (list(&self.statistics), list(&names));
            Err(self.program.unusable(format!("greeted with the statistics {found} and not {expected}")))
        };
        self.back_off.start(start, cut)
    }
}

/// A few names.
fn list(names: &[String]) -> String {
    let some: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
    let more =
        if names.len() > some.len() { format!(", ... ({} in all)", names.len()) } else { String::new() };
    format!("{}{more}", some.join(", "))
}

impl Worker {
    /// Starts a program and waits for its greeting.
    fn start(program: &Program, cut: &dyn Fn() -> bool) -> Result<(Self, Vec<String>), ProgramError> {
        let mut conversation = Conversation::new(Process::start(program, &program.words, true)?);
        let limits = Limits { until: Until::Line, time: program.start_timeout, longest: LONGEST_GREETING };
        let problem = match conversation.ask(&[], limits, cut) {
            Ok(line) => match ready(&line) {
                Ok(greeting) => return Ok((Self { conversation, id: 0 }, greeting.statistics)),
                Err(error) => format!("did not greet as it should: {error}"),
            },
            Err(Silence::Failed(text) | Silence::Late(text)) => format!("{text} when it was started"),
            Err(Silence::Cut) => "was not waited for".to_owned(),
        };
        conversation.process.end();
        let problem = format!("{problem}{}", conversation.words());
        Err(program.unusable(problem))
    }

    /// Asks for one simulation.
    fn ask(&mut self, lines: &Lines, (theta, seed): (&[f64], u32), cut: &dyn Fn() -> bool) -> Reply {
        self.id += 1;
        self.conversation.hush();
        let longest = LONGEST_ANSWER + LONGEST_NUMBER * lines.statistics.len();
        let limits = Limits { until: Until::Line, time: lines.program.timeout, longest };
        let request = lines.request.line(self.id, seed, theta);
        let (why, late) = match self.conversation.ask(request.as_bytes(), limits, cut) {
            Ok(line) => match lines.meaning(&line, self.id, seed) {
                Ok(outcome) => return Reply::Outcome(outcome.map_err(|failure| self.with_words(failure))),
                Err(error) => (error.to_string(), false),
            },
            Err(Silence::Failed(text)) => (format!("it {text}"), false),
            Err(Silence::Late(text)) => (format!("it {text}"), true),
            Err(Silence::Cut) => return Reply::Cut,
        };
        self.conversation.process.end();
        let why = format!("{why}; seed {seed}{}", self.conversation.words());
        Reply::Lost { why, late }
    }

    /// A failure with what the program has said about it.
    fn with_words(&mut self, failure: Failure) -> Failure {
        match failure {
            Failure::Declined(text) => Failure::Declined(text + &self.conversation.words()),
            Failure::Crashed(text) => Failure::Crashed(text + &self.conversation.words()),
            other => other,
        }
    }
}

impl Simulator for Lines {
    fn summaries(&self) -> usize {
        self.statistics.len()
    }

    fn simulate(&self, theta: &[f64], rng: &mut Stream, summaries: &mut [f64]) -> Result<(), Failure> {
        let mut worker = self.idle().pop();
        let outcome = self.one(&mut worker, (theta, rng.external_seed()), &|| false);
        self.idle().extend(worker);
        let cut = || Err(Failure::Crashed("it was not waited for".into()));
        outcome.unwrap_or_else(cut).map(|values| summaries.copy_from_slice(&values))
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let mut worker = self.idle().pop();
        let (mut streams, nothing) = (jobs.streams(), vec![f64::NAN; self.statistics.len()]);
        while let Some(row) = feed.next() {
            let seed = streams.at(row).external_seed();
            let outcome = self.one(&mut worker, (jobs.theta(row), seed), &|| feed.is_cut());
            match outcome {
                Some(Ok(values)) => feed.finish(row, &values, Ok(())),
                Some(Err(failure)) => feed.finish(row, &nothing, Err(failure)),
                None => break,
            }
        }
        self.idle().extend(worker);
    }

    fn is_dear(&self) -> bool {
        true
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let mut workers = std::mem::take(&mut *self.idle());
        let mut processes: Vec<_> =
            workers.iter_mut().map(|worker| &mut worker.conversation.process).collect();
        end_together(&mut processes);
    }
}
