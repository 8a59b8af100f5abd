//! Simulators that are programs of their own: started without a shell, kept in process groups, held to time limits.
//!
//! A [`Program`] says what to start and where. [`Lines`] keeps workers that answer one request after another,
//! [`Once`] starts the program for every simulation. What programs say is read by pure functions of bytes:
//! [`ready`], [`answer`], [`output`].

mod answer;
mod backoff;
mod exchange;
mod groups;
mod identity;
mod lines;
mod once;
mod output;
mod pace;
mod process;
mod request;
mod rows;
mod tail;

pub use answer::{Answer, Garbled, MOST_STATISTICS, Ready, answer, ready};
pub use groups::end_all;
pub use identity::{LARGEST_FILE, files, fingerprint};
pub use lines::Lines;
pub use once::Once;
pub use output::{Output, output};

use std::path::PathBuf;
use std::time::Duration;

/// A program, and how long it may take.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program and its arguments. A program with a slash is relative to the directory, any other is looked for on
    /// the `PATH`.
    pub words: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Names of the parameters, in the order in which they are given.
    pub parameters: Vec<String>,
    /// How long a simulation may take.
    pub timeout: Duration,
    /// How long the program may take to be ready.
    pub start_timeout: Duration,
}

impl Program {
    fn name(&self) -> String {
        self.words.first().cloned().unwrap_or_default()
    }

    fn unusable(&self, problem: String) -> ProgramError {
        ProgramError::Unusable { program: self.name(), problem }
    }
}

/// Why a program cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It cannot be started at all.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The first word.
        program: String,
        /// Why not.
        source: std::io::Error,
    },
    /// It started, and did not do what it should.
    #[error("`{program}` {problem}")]
    Unusable {
        /// The first word.
        program: String,
        /// What it did, with its last words.
        problem: String,
    },
}
