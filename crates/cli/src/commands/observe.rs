//! Follows a run: tells how far it is, keeps its summary, and stops it when the user asks or the time is up.

use std::ops::ControlFlow;

use counterpoise_core::digest::Generation;
use counterpoise_core::stop::StopReason;
use counterpoise_run::drive::{Event, Seconds};
use counterpoise_run::store::{RunRecord, StoreError};

use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::print::progress::Progress;
use crate::summary::{Ended, Subject, Summary};

/// The eyes and the patience of the user.
pub(super) struct Observer<'a> {
    output: Output,
    interrupt: Interrupt,
    pub(super) progress: Progress,
    subject: Subject<'a>,
    /// Where the summary is kept, if it is.
    record: Option<RunRecord>,
    /// What earlier processes spent.
    before: Seconds,
    /// Why the summary could not be kept.
    pub(super) trouble: Option<StoreError>,
}

impl<'a> Observer<'a> {
    /// Observes a run that earlier processes have spent some time on.
    pub(super) fn new(
        (subject, record, before): (Subject<'a>, Option<RunRecord>, Seconds),
        interrupt: Interrupt,
        output: Output,
    ) -> Self {
        Self {
            output,
            interrupt,
            progress: Progress::new(output, subject.method.generations, subject.method.simulations),
            subject,
            record,
            before,
            trouble: None,
        }
    }

    /// A summary of the run, with the time of earlier processes.
    pub(super) fn summary(&self, ended: Ended<'_>) -> Summary {
        Summary::new(self.subject, &Ended { seconds: sum(self.before, ended.seconds), ..ended })
    }

    /// Whether the run is kept where it can be gone on with.
    pub(super) fn keeps(&self) -> bool {
        self.record.is_some()
    }

    /// Writes a summary.
    pub(super) fn keep(&self, summary: &Summary) -> Result<(), StoreError> {
        // Numbers, texts and lists of them: there is nothing that JSON refuses.
        let Some(record) = &self.record else { return Ok(()) };
        record.write(&serde_json::to_value(summary).unwrap_or_default())
    }

    /// Takes an event; a break stops the run.
    pub(super) fn see(&mut self, event: &Event<'_>) -> ControlFlow<StopReason> {
        match event {
            Event::Opened(history) => self.progress.resumed(history.len()),
            Event::Simulating { index, stored } => {
                self.progress.begun(*stored);
                if *stored > 0 {
                    let all = self.subject.method.simulations;
                    self.output
                        .note(&format!("generation {index} goes on after {stored} of {all} simulations"));
                }
            }
            Event::Simulated { index, done, failed } => self.progress.simulated(*index, *done, *failed),
            // The simulations are there: what is dear is paid for, so the generation is finished.
            Event::Weighing { index } => {
                self.progress.weighing(*index);
                return ControlFlow::Continue(());
            }
            Event::Weighed { .. } => return ControlFlow::Continue(()),
            Event::Committed { history, seconds } => return self.committed(history, *seconds),
            _ => {}
        }
        self.patience()
    }

    fn committed(&mut self, history: &[Generation], seconds: Seconds) -> ControlFlow<StopReason> {
        if let Some(last) = history.last() {
            self.progress.committed(last);
        }
        if history.len() == self.subject.method.generations {
            return ControlFlow::Continue(());
        }
        let ended = Ended { history, reason: None, seconds, simulations: 0, failed: 0 };
        if let Err(error) = self.keep(&self.summary(ended)) {
            self.trouble = Some(error);
            return ControlFlow::Break(StopReason::Interrupt);
        }
        self.patience()
    }

    fn patience(&self) -> ControlFlow<StopReason> {
        if self.interrupt.is_asked() {
            return ControlFlow::Break(StopReason::Interrupt);
        }
        if self.subject.method.seconds.is_some_and(|limit| self.progress.elapsed() > limit) {
            return ControlFlow::Break(StopReason::Seconds);
        }
        ControlFlow::Continue(())
    }
}

fn sum(a: Seconds, b: Seconds) -> Seconds {
    Seconds {
        propose: a.propose + b.propose,
        simulate: a.simulate + b.simulate,
        weigh: a.weigh + b.weigh,
        store: a.store + b.store,
        total: a.total + b.total,
    }
}
