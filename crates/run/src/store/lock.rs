//! One process a directory: a lock of the system, and in the file who holds it.
//!
//! The system releases its lock when the process ends, however it ends. The name in the file is for messages, and for
//! file systems on which such locks mean nothing: there the process itself is looked for.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::StoreError;
use super::error::io;
use super::folder::{Folder, open};

/// The file of the lock; empty while nobody is at work.
pub const LOCK_FILE: &str = "lock";

/// Holds a directory until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    held: Held,
}

/// A file with the system's lock on it.
///
/// Closing the file would not release the lock while a program is being started by another thread: between fork and exec it has
/// every open file of this process. So the lock is given back by name.
#[derive(Debug)]
struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // A file system without locks refuses this too.
        let _ = self.0.unlock();
    }
}

/// A process, as far as it can be told from others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Holder {
    host: String,
    process: u32,
    /// When it began, in the system's ticks: numbers of processes come again.
    began: Option<u64>,
}

impl Holder {
    fn this() -> Self {
        let process = std::process::id();
        Self { host: host(), process, began: began(process) }
    }

    fn read(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let process = u32::try_from(value["process"].as_u64()?).ok()?;
        Some(Self { host: value["host"].as_str()?.to_owned(), process, began: value["began"].as_u64() })
    }

    fn write(&self) -> String {
        json!({ "host": self.host, "process": self.process, "began": self.began }).to_string() + "\n"
    }

    fn name(&self) -> String {
        format!("process {} on {}", self.process, self.host)
    }

    /// Whether it is known to run on this machine.
    fn is_running(&self) -> bool {
        let now = began(self.process);
        now.is_some() && now == self.began
    }
}

impl Lock {
    /// Takes the lock, or says who has it. The text tells of a dead process whose lock it was.
    pub(super) fn take(folder: &Folder) -> Result<(Self, Option<String>), StoreError> {
        let path = folder.inside(LOCK_FILE)?;
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(io("open", &path))?;
        if !file.metadata().map_err(io("read", &path))?.is_file() {
            let source = std::io::Error::new(ErrorKind::InvalidInput, "it is not a regular file");
            return Err(StoreError::Io { action: "lock", path, source });
        }
        let this = Holder::this();
        let locked = |holder: Option<&Holder>, elsewhere| {
            let holder = holder.map_or_else(|| "another process".into(), Holder::name);
            Err(StoreError::Locked { path: folder.root().to_path_buf(), holder, elsewhere })
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return locked(read(&mut file, &path)?.as_ref(), false),
            // A file system without locks: the name in the file must do.
            Err(TryLockError::Error(_)) => {}
        }
        let mut held = Held(file);
        let file = &mut held.0;
        // Read only now: before, it may have been the name of a process that was just about to end.
        let before = read(file, &path)?;
        let mut note = None;
        if let Some(holder) = before.filter(|holder| *holder != this) {
            if holder.host != this.host {
                return locked(Some(&holder), true);
            }
            if holder.is_running() {
                return locked(Some(&holder), false);
            }
            note = Some(format!("taking over from {}, which has ended", holder.name()));
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(this.write().as_bytes()));
        written.map_err(|source| StoreError::Write { path, written: 0, source })?;
        Ok((Self { held }, note))
    }

    /// Who is at work in a folder, if anybody is known to be.
    pub(super) fn holder(folder: &Folder) -> Option<String> {
        let path = folder.path(LOCK_FILE);
        let mut file = open(&path).ok()??;
        let holder = read(&mut file, &path).ok()??;
        let elsewhere = holder.host != host();
        (elsewhere || holder.is_running()).then(|| holder.name())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A name that stays behind is that of a dead process: the next one sees that.
        let _ = self.held.0.set_len(0);
    }
}

fn read(file: &mut File, path: &Path) -> Result<Option<Holder>, StoreError> {
    const LONGEST: u64 = 4096;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(io("read", path))?;
    Ok(Holder::read(&String::from_utf8_lossy(&bytes)))
}

/// The name of this machine.
fn host() -> String {
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let read = files.iter().find_map(|file| fs::read_to_string(file).ok());
    let named =
        read.or_else(|| ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok()));
    named.map_or_else(|| "this machine".into(), |name| name.trim().to_owned())
}

/// When a process began, where the system tells.
fn began(process: u32) -> Option<u64> {
    // The second field is a name in parentheses that may contain anything; the 22nd is the start.
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().to_path_buf());
        (temporary, folder)
    }

    #[test]
    fn one_at_a_time() {
        let (_temporary, folder) = folder();
        let (lock, note) = Lock::take(&folder).unwrap();
        assert_eq!(note, None);
        let Err(StoreError::Locked { holder, elsewhere: false, .. }) = Lock::take(&folder) else { panic!() };
        assert!(holder.starts_with(&format!("process {} on ", std::process::id())), "{holder}");
        drop(lock);
        assert_eq!(fs::read(folder.path(LOCK_FILE)).unwrap(), b"");
        Lock::take(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn programs_that_are_being_started_do_not_keep_it() {
        use std::sync::atomic::{AtomicBool, Ordering};

        let (_temporary, folder) = folder();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::process::Command::new("true").status().unwrap();
                }
            });
            let taken = (0..3000).map(|_| Lock::take(&folder).map(drop)).find(Result::is_err);
            done.store(true, Ordering::Relaxed);
            assert!(taken.is_none(), "{taken:?}");
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_dead_are_told_from_the_living_and_from_those_elsewhere() {
        let (_temporary, folder) = folder();
        let write = |holder: &Holder| fs::write(folder.path(LOCK_FILE), holder.write()).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let living = Holder { host: host(), process: child.id(), began: began(child.id()) };
        assert!(living.began.is_some());
        // As on a file system without locks: only the name stands in the file.
        write(&living);
        assert!(matches!(Lock::take(&folder), Err(StoreError::Locked { elsewhere: false, .. })));
        // The number came again: it is another process.
        write(&Holder { began: living.began.map(|began| began - 1), ..living.clone() });
        assert!(Lock::take(&folder).unwrap().1.unwrap().contains("which has ended"));
        child.kill().unwrap();
        child.wait().unwrap();
        write(&living);
        assert!(Lock::take(&folder).unwrap().1.is_some());
        write(&Holder { host: "elsewhere".into(), ..living });
        let Err(StoreError::Locked { holder, elsewhere: true, .. }) = Lock::take(&folder) else { panic!() };
        assert!(holder.ends_with(" on elsewhere"), "{holder}");
        // Garbage names nobody.
        fs::write(folder.path(LOCK_FILE), "{\"host\": 3}").unwrap();
        Lock::take(&folder).unwrap();
    }
}
