//! Ctrl-C and termination: the first asks whoever heeds it to stop, the second ends the program. Where nobody heeds
//! them the first does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::output::Output;

/// Exit code of a program ended by an interrupt.
const KILLED: i32 = 130;

/// Nobody heeds an interrupt; somebody does; one was seen.
const UNHEEDED: u8 = 0;
const HEEDED: u8 = 1;
const ASKED: u8 = 2;

/// Whether the user has asked to stop.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// Listens from now on, so that no interrupt leaves a program behind: each has a process group of its own, which
    /// the terminal does not reach. Where that is impossible an interrupt ends this program at once, as ever.
    pub(crate) fn listen(output: Output) -> Self {
        let interrupt = Self(Arc::new(AtomicU8::new(UNHEEDED)));
        let state = interrupt.0.clone();
        let listening = ctrlc::set_handler(move || {
            if state.compare_exchange(HEEDED, ASKED, Ordering::SeqCst, Ordering::SeqCst).is_err() {
                // Exiting drops nothing: programs that simulate must be ended here.
                counterpoise_run::command::end_all();
                std::process::exit(KILLED);
            }
            output.say("\nstopping; interrupt again to end at once");
        });
        if let Err(error) = listening {
            output.note(&format!("warning: an interrupt will end the program at once: {error}"));
        }
        interrupt
    }

    /// One that never comes: the program around this one listens itself.
    pub(crate) fn unheard() -> Self {
        Self(Arc::new(AtomicU8::new(UNHEEDED)))
    }

    /// From now on the first interrupt does not end the program: the caller asks for it often.
    pub(crate) fn heed(&self) {
        self.0.store(HEEDED, Ordering::SeqCst);
    }

    /// Whether to stop.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst) == ASKED
    }
}
