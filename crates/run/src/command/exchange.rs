//! Talking to a program without ever waiting for ever: what it is told, what it answers, what it complains.

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::process::{Process, ending};
use super::tail::excerpt;

/// How often to ask whether anybody still waits, and whether the program is alive.
const SLICE: Duration = Duration::from_millis(50);
/// How long a program that has closed its output may take to exit, so that its exit code is known.
const LEAVING: Duration = Duration::from_millis(500);

/// Reads of what is left in a pipe, at the most.
const AT_ONCE: usize = 16;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// The end of a line.
    Line,
    /// The end of the output.
    End,
}

/// How much is waited for, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) until: Until,
    pub(super) time: Duration,
    /// Bytes, at the most.
    pub(super) longest: usize,
    /// How long answers may gather before anybody is woken for the first.
    pub(super) gather: Duration,
}

/// Why nothing came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// Nobody waits any more.
    Cut,
    /// It took too long; in words.
    Late(String),
    /// It was too much, or ended early; in words.
    Failed(String),
}

/// A program and what it has said beyond what was asked for.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) process: Process,
    /// What it has said, of which so many bytes were taken.
    heard: Vec<u8>,
    taken: usize,
    /// What it was told and has not taken yet.
    unsaid: Vec<u8>,
    scratch: Box<[u8]>,
}

impl Conversation {
    pub(super) fn new(process: Process) -> Self {
        let scratch = vec![0; 65_536].into();
        Self { process, heard: Vec::new(), taken: 0, unsaid: Vec::new(), scratch }
    }

    /// Forgets what the program complained of so far.
    pub(super) fn hush(&mut self) {
        self.process.drain(&mut self.scratch);
        self.process.tail.clear();
    }

    /// The program's last words since then, as the end of a sentence.
    pub(super) fn words(&mut self) -> String {
        self.process.drain(&mut self.scratch);
        self.process.tail.words()
    }

    /// Whether the program has complained since then.
    pub(super) fn has_words(&mut self) -> bool {
        self.process.drain(&mut self.scratch);
        !self.process.tail.is_empty()
    }

    /// Tells the program something, when it is listened to next: all that was said till then at once.
    pub(super) fn say(&mut self, words: &[u8]) {
        self.unsaid.extend_from_slice(words);
    }

    /// Whether there is a line that need not be waited for.
    pub(super) fn has_line(&self) -> bool {
        self.rest().contains(&b'\n')
    }

    /// What was heard and not taken.
    fn rest(&self) -> &[u8] {
        &self.heard[self.taken..]
    }

    /// Waits for what the program says: a line without its end, or everything.
    pub(super) fn listen(&mut self, limits: Limits, cut: &dyn Fn() -> bool) -> Result<Vec<u8>, Silence> {
        let deadline = Instant::now() + limits.time;
        let (mut searched, mut gather) = (0, limits.gather);
        loop {
            if limits.until == Until::Line
                && let Some(line) = self.take_line(searched)
            {
                return Ok(line);
            }
            searched = self.rest().len();
            if searched > limits.longest {
                let (most, said) = (limits.longest, excerpt(self.rest()));
                return Err(Silence::Failed(format!(
                    "said more than {most} bytes where it should say one line: {said}"
                )));
            }
            self.tell();
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Silence::Late(self.late(limits.time)));
            }
            if cut() {
                return Err(Silence::Cut);
            }
            if self.gather(std::mem::take(&mut gather)) || self.wait(left.min(SLICE)) {
                continue;
            }
            match limits.until {
                Until::End => {
                    let deadline = deadline.max(Instant::now() + LEAVING);
                    return self.until_exit(deadline, limits.time, cut);
                }
                Until::Line if self.rest()[searched..].contains(&b'\n') => {}
                Until::Line => return Err(Silence::Failed(self.farewell())),
            }
        }
    }

    /// Everything that was heard, once a program that has closed its output has exited. It may still complain until then.
    fn until_exit(
        &mut self,
        deadline: Instant,
        time: Duration,
        cut: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, Silence> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.process.wait_exit(left.min(SLICE)) {
                return Ok(std::mem::take(&mut self.heard));
            }
            if left.is_zero() {
                return Err(Silence::Late(self.late(time)));
            }
            if cut() {
                return Err(Silence::Cut);
            }
            self.process.drain(&mut self.scratch);
        }
    }

    /// A line that was heard, without its end, if it ends after so many bytes.
    fn take_line(&mut self, searched: usize) -> Option<Vec<u8>> {
        let end = searched + self.rest()[searched..].iter().position(|&byte| byte == b'\n')?;
        let line = self.rest()[..end].to_vec();
        self.taken += end + 1;
        Some(line)
    }

    /// Lets answers gather for so long, unless some are there; whether there are then. A program that nobody waits for
    /// need not wake anybody with every line.
    fn gather(&mut self, time: Duration) -> bool {
        if time.is_zero() {
            return false;
        }
        if self.hear() != Heard::Something {
            std::thread::sleep(time);
            return self.hear() == Heard::Something;
        }
        true
    }

    /// Writes as much as the program takes without waiting.
    fn tell(&mut self) {
        while !self.unsaid.is_empty()
            && let Some(stdin) = &mut self.process.stdin
        {
            match stdin.write(&self.unsaid) {
                Ok(length) => drop(self.unsaid.drain(..length)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // Nobody listens: whether it has ended is seen at its output.
                Err(_) => self.unsaid.clear(),
            }
        }
    }

    /// Waits until something can be heard or told; false at the end of the output.
    fn wait(&mut self, most: Duration) -> bool {
        let telling = !self.unsaid.is_empty();
        let Process { stdin, stdout, stderr, .. } = &self.process;
        let mut ends = vec![PollFd::new(stdout, PollFlags::IN)];
        ends.extend(stderr.as_ref().map(|stderr| PollFd::new(stderr, PollFlags::IN)));
        ends.extend(stdin.as_ref().filter(|_| telling).map(|stdin| PollFd::new(stdin, PollFlags::OUT)));
        let most = Timespec { tv_sec: 0, tv_nsec: most.as_nanos().min(999_999_999) as _ };
        let ready = poll(&mut ends, Some(&most)).unwrap_or(1);
        let (speaks, complains) =
            (!ends[0].revents().is_empty(), stderr.is_some() && !ends[1].revents().is_empty());
        if complains {
            self.process.drain(&mut self.scratch);
        }
        if speaks {
            return self.hear() != Heard::End;
        }
        // Somebody that it has started may hold its output open after its death.
        if ready == 0 && self.process.has_exited() {
            // They may also write into it without end.
            for _ in 0..AT_ONCE {
                if self.hear() != Heard::Something {
                    break;
                }
            }
            return false;
        }
        true
    }

    /// Takes some of the output; never waits.
    fn hear(&mut self) -> Heard {
        match self.process.stdout.read(&mut self.scratch) {
            Ok(0) => Heard::End,
            Ok(length) => {
                self.heard.drain(..std::mem::take(&mut self.taken));
                self.heard.extend_from_slice(&self.scratch[..length]);
                Heard::Something
            }
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {
                Heard::Nothing
            }
            Err(_) => Heard::End,
        }
    }

    fn late(&self, time: Duration) -> String {
        let most = format!("gave no answer within {} s", time.as_secs_f64());
        if self.rest().is_empty() { most } else { format!("{most}, only {}", excerpt(self.rest())) }
    }

    /// How the program ended where it should have answered.
    fn farewell(&mut self) -> String {
        let end = if self.process.wait_exit(LEAVING) {
            ending(self.process.end())
        } else {
            "closed its output".to_owned()
        };
        if self.rest().is_empty() {
            format!("{end} without an answer")
        } else {
            format!("{end} in the middle of an answer: {}", excerpt(self.rest()))
        }
    }
}

/// What a look at the output gave.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Something,
    Nothing,
    End,
}
