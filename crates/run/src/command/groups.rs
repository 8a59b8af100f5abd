//! The process groups that are alive, so that no way out of this process leaves one behind.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

static ALIVE: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn alive() -> MutexGuard<'static, Vec<Pid>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes a group.
pub(super) fn add(group: Pid) {
    alive().push(group);
}

/// Forgets a group, which must happen before its leader is reaped: its number may then be another's.
pub(super) fn remove(group: Pid) {
    alive().retain(|other| *other != group);
}

/// Kills every program that is running, at once. For a process that is about to exit without ending its simulators.
pub fn end_all() {
    for group in alive().iter() {
        // It may have ended by itself.
        kill_process_group(*group, Signal::KILL).ok();
    }
}
