//! Ctrl-C and termination: the first asks whoever heeds it to stop, the second ends the program. Where nobody heeds
//! them the first does.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use counterpoise_core::stop::StopReason;
use counterpoise_run::drive::Event;

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

    /// Asks whoever heeds it to stop: in place of the user, where the program around this one listens.
    pub(crate) fn ask(&self) {
        self.0.store(ASKED, Ordering::SeqCst);
    }

    /// An error once somebody has asked to stop: what was computed since is not whole.
    pub(crate) fn or_go_on(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.is_asked(), "interrupted");
        Ok(())
    }

    /// For a run whose result nobody waits for once somebody has asked to stop.
    pub(crate) fn watch(&self) -> impl FnMut(Event<'_>) -> ControlFlow<StopReason> {
        let interrupt = self.clone();
        move |_| {
            if interrupt.is_asked() {
                ControlFlow::Break(StopReason::Interrupt)
            } else {
                ControlFlow::Continue(())
            }
        }
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
