//! Where text goes: results to the standard output, everything else to the standard error.

use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::host;

/// Both outputs, and how much to say on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    quiet: bool,
    coloured: bool,
}

impl Output {
    /// Colours only on a terminal, and not where `NO_COLOR` is set to anything.
    pub(crate) fn new(quiet: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self { quiet, coloured: io::stderr().is_terminal() && !refused }
    }

    /// Whether progress and notes are unwanted.
    pub(crate) fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Whether errors may be coloured.
    pub(crate) fn is_coloured(self) -> bool {
        self.coloured
    }

    /// Writes a result. A reader that has gone away wants no more of it: that is no error.
    pub(crate) fn result(self, text: &str) -> io::Result<()> {
        if host::keep(text) {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    /// Says something about the work, unless quiet.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Says something that must be said.
    pub(crate) fn say(self, text: &str) {
        // Nobody is left to hear that the standard error is gone.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
