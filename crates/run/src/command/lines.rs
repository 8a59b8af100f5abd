//! The protocol `lines`: a long-lived program for each thread, which answers a line to every line.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use counterpoise_core::problem::{Failure, Simulator};
use counterpoise_core::simulate::{Feed, Jobs};
use counterpoise_core::stream::Stream;

use super::answer::{Answer, Garbled, answer, check_names, ready};
use super::backoff::BackOff;
use super::exchange::{Conversation, Limits, Silence, Until};
use super::pace::Pace;
use super::process::{Process, end_together};
use super::request::Request;
use super::rows::{Row, Rows, Suspicion};
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
    /// Set once a program was lost at a row, among others, that alone goes well: it may not know to read line by line.
    one_by_one: AtomicBool,
}

/// One running program.
#[derive(Debug)]
struct Worker {
    conversation: Conversation,
    /// The request that it was given last, and the one that is to be answered next.
    told: u64,
    id: u64,
    pace: Pace,
}

/// What became of a row.
type Outcome = Result<Vec<f64>, Failure>;

/// What became of a request.
enum Reply {
    /// The worker answered, and can go on.
    Outcome(Outcome),
    /// The worker is in doubt, and must be replaced. Another may do better, unless it was a matter of time.
    Lost { failure: Failure, late: bool },
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
        let (back_off, one_by_one) = (BackOff::default(), AtomicBool::new(false));
        Ok(Self { program, request, statistics, idle: Mutex::new(idle), back_off, one_by_one })
    }

    /// Names of the statistics.
    #[must_use]
    pub fn statistics(&self) -> &[String] {
        &self.statistics
    }

    /// What becomes of the next row, on a worker that is started where there is none. `Break` when nobody waits for it
    /// any more; nothing when a row must be tried again.
    ///
    /// A worker that has simulated before may die of what it has become (a leak, a stray line): the row is then given
    /// to a new one, so that what becomes of it depends on nothing but the row. Rows that wait behind it are given to
    /// the new one too.
    fn step(
        &self,
        worker: &mut Option<Worker>,
        rows: &mut Rows<'_>,
        cut: &dyn Fn() -> bool,
    ) -> ControlFlow<(), Option<(usize, Outcome)>> {
        let mut present = match worker.take() {
            Some(worker) => worker,
            None => match self.start(cut) {
                Some(Ok(worker)) => worker,
                Some(Err(error)) => {
                    let failed = |row: Row<'_>| Failure::Crashed(format!("{error}; seed {}", row.seed));
                    return ControlFlow::Continue(rows.give_up().map(|row| (row.row, Err(failed(row)))));
                }
                None => return ControlFlow::Break(()),
            },
        };
        if rows.told() == 0 || !present.conversation.has_line() {
            present.tell(self, rows);
        }
        let Some(row) = rows.first() else { return ControlFlow::Continue(None) };
        match present.hear(self, row, rows.told(), cut) {
            // Whose are its last words, when others were at work before or behind it? Alone, it is clear.
            Reply::Outcome(Err(_)) if rows.is_crowded() && present.conversation.has_words() => {
                present.pace.forget(Instant::now());
                rows.again();
                *worker = Some(present);
                ControlFlow::Continue(None)
            }
            Reply::Outcome(outcome) => {
                self.back_off.is_well();
                if row.suspected == Some(Suspicion::Loss) && outcome.is_ok() {
                    self.one_by_one.store(true, Ordering::Relaxed);
                }
                rows.answered();
                let outcome = outcome.map_err(|failure| present.with_words(failure));
                *worker = Some(present);
                ControlFlow::Continue(Some((row.row, outcome)))
            }
            Reply::Lost { failure, late } => {
                self.back_off.has_died();
                let to_blame = (late || present.id == 1) && !rows.is_crowded();
                rows.take_back(to_blame);
                ControlFlow::Continue(to_blame.then_some((row.row, Err(failure))))
            }
            Reply::Cut => ControlFlow::Break(()),
        }
    }

    /// What a line means: what became of a row, unless the program that said it cannot be trusted any more.
    fn meaning(&self, line: &[u8], id: u64, seed: u32) -> Result<Outcome, Garbled> {
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
        let (time, longest, gather) = (program.start_timeout, LONGEST_GREETING, Duration::ZERO);
        let limits = Limits { until: Until::Line, time, longest, gather };
        let problem = match conversation.listen(limits, cut) {
            Ok(line) => match ready(&line) {
                Ok(greeting) => {
                    let pace = Pace::new(Instant::now());
                    return Ok((Self { conversation, told: 0, id: 0, pace }, greeting.statistics));
                }
                Err(error) => format!("did not greet as it should: {error}"),
            },
            Err(Silence::Failed(text) | Silence::Late(text)) => format!("{text} when it was started"),
            Err(Silence::Cut) => "was not waited for".to_owned(),
        };
        conversation.process.end();
        let problem = format!("{problem}{}", conversation.words());
        Err(program.unusable(problem))
    }

    /// Rows that it may know of at a time.
    fn ahead(&self, lines: &Lines) -> usize {
        let numbers = lines.statistics.len().max(lines.program.parameters.len());
        if lines.one_by_one.load(Ordering::Relaxed) { 1 } else { self.pace.ahead(numbers) }
    }

    /// Asks for as many simulations as it may know of.
    fn tell(&mut self, lines: &Lines, rows: &mut Rows<'_>) {
        self.pace.look(Instant::now(), rows.told() == 0);
        let ahead = self.ahead(lines);
        while let Some(row) = rows.tell(ahead) {
            if !rows.is_crowded() {
                self.conversation.hush();
            }
            self.told += 1;
            self.conversation.say(lines.request.line(self.told, row.seed, row.theta).as_bytes());
        }
    }

    /// Waits for the answer to the next of the requests. Its time begins now: the one before it has been answered.
    fn hear(&mut self, lines: &Lines, row: Row<'_>, told: usize, cut: &dyn Fn() -> bool) -> Reply {
        self.id += 1;
        let longest = LONGEST_ANSWER + LONGEST_NUMBER * lines.statistics.len();
        let (time, gather) = (lines.program.timeout, self.pace.gather(told));
        let limits = Limits { until: Until::Line, time, longest, gather };
        let (why, late) = match self.conversation.listen(limits, cut) {
            Ok(line) => match lines.meaning(&line, self.id, row.seed) {
                Ok(outcome) => {
                    self.pace.count();
                    return Reply::Outcome(outcome);
                }
                Err(error) => (error.to_string(), false),
            },
            Err(Silence::Failed(text)) => (format!("it {text}"), false),
            Err(Silence::Late(text)) => (format!("it {text}"), true),
            Err(Silence::Cut) => return Reply::Cut,
        };
        self.conversation.process.end();
        let why = format!("{why}; seed {}{}", row.seed, self.conversation.words());
        let failure = if late { Failure::TimedOut(limits.time, why) } else { Failure::Crashed(why) };
        Reply::Lost { failure, late }
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
        let mut rows = Rows::default();
        rows.take(Row { row: 0, theta, seed: rng.external_seed(), suspected: None });
        let outcome = loop {
            match self.step(&mut worker, &mut rows, &|| false) {
                ControlFlow::Continue(None) => {}
                ControlFlow::Continue(Some((_, outcome))) => break outcome,
                ControlFlow::Break(()) => break Err(Failure::Crashed("it was not waited for".into())),
            }
        };
        self.idle().extend(worker);
        outcome.map(|values| summaries.copy_from_slice(&values))
    }

    fn simulate_rows(&self, jobs: &Jobs<'_>, feed: &mut dyn Feed) {
        let mut worker = self.idle().pop();
        let (mut streams, nothing) = (jobs.streams(), vec![f64::NAN; self.statistics.len()]);
        let mut rows = Rows::default();
        loop {
            // While there are answers to be read nothing is told, so that what is told makes one message.
            let ahead = match &worker {
                Some(worker) if rows.told() > 0 && worker.conversation.has_line() => 0,
                Some(worker) => worker.ahead(self),
                None => 1,
            };
            while rows.len() < ahead
                && let Some(row) = feed.next()
            {
                let seed = streams.at(row).external_seed();
                rows.take(Row { row, theta: jobs.theta(row), seed, suspected: None });
            }
            if rows.len() == 0 {
                break;
            }
            match self.step(&mut worker, &mut rows, &|| feed.is_cut()) {
                ControlFlow::Continue(None) => {}
                ControlFlow::Continue(Some((row, Ok(values)))) => feed.finish(row, &values, Ok(())),
                ControlFlow::Continue(Some((row, Err(failure)))) => feed.finish(row, &nothing, Err(failure)),
                ControlFlow::Break(()) => break,
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
