//! Ctrl-C and termination: the first asks the run to stop, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output::Output;

/// Exit code of a program ended by the second interrupt.
const KILLED: i32 = 130;

/// Whether the user has asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. Where that is impossible an interrupt ends the program at once, as ever.
    pub(crate) fn listen(output: Output) -> Self {
        let interrupt = Self::default();
        let asked = interrupt.0.clone();
        let listening = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::SeqCst) {
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

    /// Whether to stop.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
