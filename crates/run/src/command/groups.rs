//! The process groups that are alive, so that no way out of this process leaves one behind.

use std::io;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use rustix::process::{Pid, Signal, kill_process_group};

static ALIVE: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
/// Held for reading by whoever starts or forgets a program, and for writing by the end of all, which never gives it back.
static OPEN: RwLock<()> = RwLock::new(());

fn alive() -> MutexGuard<'static, Vec<Pid>> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open() -> RwLockReadGuard<'static, ()> {
    OPEN.read().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program that leads a group, and notes it: the end of all comes before or after both.
pub(super) fn start(spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<(Child, Pid)> {
    let _open = open();
    let child = spawn()?;
    let group = Pid::from_child(&child);
    alive().push(group);
    Ok((child, group))
}

/// Forgets a group, which must happen before its leader is reaped: its number may then be another's.
pub(super) fn remove(group: Pid) {
    let _open = open();
    alive().retain(|other| *other != group);
}

/// Kills every program that is running, at once. For a process that is about to exit without ending its simulators: whoever starts
/// or buries a program from now on waits for that exit, so that no thread can tell of programs that have died of this.
pub fn end_all() {
    std::mem::forget(OPEN.write().unwrap_or_else(PoisonError::into_inner));
    for group in alive().iter() {
        // It may have ended by itself.
        kill_process_group(*group, Signal::KILL).ok();
    }
}
