//! A running program: started in a process group of its own, ended with everything it started.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::tail::Tail;
use super::{Program, ProgramError, groups};

/// How long a program may take to leave when its input ends, and when it is asked to by SIGTERM.
const CLOSING: Duration = Duration::from_millis(1_000);
const GRACE: Duration = Duration::from_millis(200);
/// How long the system may take to carry out SIGKILL.
const LAST: Duration = Duration::from_secs(5);

/// Reads of the standard error in a row.
const AT_ONCE: usize = 16;

/// A program that runs, or has ended and not been buried. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Pid,
    /// None of the three ever blocks.
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
    /// `None` once it has been closed.
    pub(super) stderr: Option<ChildStderr>,
    /// The end of what it wrote to its standard error.
    pub(super) tail: Tail,
    buried: Option<Option<ExitStatus>>,
}

impl Process {
    /// Starts a program with these words; without input unless it is asked for.
    pub(super) fn start(program: &Program, words: &[String], input: bool) -> Result<Self, ProgramError> {
        let name = words.first().cloned().unwrap_or_default();
        let failed = |source| ProgramError::Start { program: name.clone(), source };
        let mut command = Command::new(executable(&program.directory, &name));
        command
            .args(words.iter().skip(1))
            .current_dir(&program.directory)
            .process_group(0)
            .stdin(if input { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (mut child, group) = groups::start(|| command.spawn()).map_err(failed)?;
        let missing = || failed(io::Error::other("it has no output"));
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take();
        let process = Self { child, group, stdin, stdout, stderr, tail: Tail::default(), buried: None };
        let (stdin, stderr) = (process.stdin.as_ref(), process.stderr.as_ref());
        let ends = [stdin.map(AsFd::as_fd), Some(process.stdout.as_fd()), stderr.map(AsFd::as_fd)];
        for end in ends.into_iter().flatten() {
            ioctl_fionbio(end, true).map_err(|error| failed(error.into()))?;
        }
        Ok(process)
    }

    /// Takes what there is on the standard error; never waits, and does not go on for ever where there is no end.
    pub(super) fn drain(&mut self, scratch: &mut [u8]) {
        for _ in 0..AT_ONCE {
            let Some(stderr) = &mut self.stderr else { return };
            match stderr.read(scratch) {
                Ok(0) => self.stderr = None,
                Ok(length) => self.tail.push(&scratch[..length]),
                Err(_) => return,
            }
        }
    }

    /// Whether the program itself has exited. It stays unburied, so that the number of its group stays its own.
    pub(super) fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.buried.is_some() || !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    /// Waits until the program has exited, for so long at the most; whether it has.
    pub(super) fn wait_exit(&self, most: Duration) -> bool {
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        while !self.has_exited() {
            if start.elapsed() >= most {
                return false;
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(10));
        }
        true
    }

    /// Lets the program know that nothing more is wanted: its input ends.
    fn close(&mut self) {
        self.stdin = None;
    }

    /// Ends the program and everything else in its group, and takes its last words. How it ended, unless that is
    /// unknown.
    pub(super) fn end(&mut self) -> Option<ExitStatus> {
        self.close();
        self.ask_to_leave();
        self.wait_exit(GRACE);
        self.bury()
    }

    /// Asks the group to leave, unless the program has left already.
    fn ask_to_leave(&self) {
        if !self.has_exited() {
            kill_process_group(self.group, Signal::TERM).ok();
        }
    }

    /// Kills whoever is left of the group: others than the program itself, or those who did not care for SIGTERM.
    fn bury(&mut self) -> Option<ExitStatus> {
        if let Some(status) = self.buried {
            return status;
        }
        kill_process_group(self.group, Signal::KILL).ok();
        let gone = self.wait_exit(LAST);
        self.drain(&mut vec![0; 65_536]);
        groups::remove(self.group);
        let status = if gone { self.child.wait().ok() } else { None };
        self.buried = Some(status);
        status
    }
}

/// Ends programs that were given the time to leave by themselves, all of them at the same time.
pub(super) fn end_together(processes: &mut [&mut Process]) {
    let wait = |processes: &[&mut Process], most: Duration| {
        let begin = Instant::now();
        for process in processes {
            process.wait_exit(most.saturating_sub(begin.elapsed()));
        }
    };
    processes.iter_mut().for_each(|process| process.close());
    wait(processes, CLOSING);
    processes.iter().for_each(|process| process.ask_to_leave());
    wait(processes, GRACE);
    for process in processes {
        process.bury();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// What is started for the first word: a path relative to the directory, or a name for the `PATH`.
fn executable(directory: &Path, word: &str) -> PathBuf {
    if !word.contains('/') {
        return word.into();
    }
    // The program is started in the directory: its own path must not depend on where.
    let path = directory.join(word);
    std::path::absolute(&path).unwrap_or(path)
}

/// How a program ended, in words.
pub(super) fn ending(status: Option<ExitStatus>) -> String {
    let signal = status.and_then(|status| status.signal());
    match (status.and_then(|status| status.code()), signal) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was ended by {}", signal_name(signal)),
        (None, None) => "ended".into(),
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => " (SIGILL, illegal instruction)",
        6 => " (SIGABRT, abort)",
        8 => " (SIGFPE, arithmetic)",
        9 => " (SIGKILL, perhaps for want of memory)",
        11 => " (SIGSEGV, bad memory access)",
        15 => " (SIGTERM)",
        _ => "",
    };
    format!("signal {signal}{name}")
}
