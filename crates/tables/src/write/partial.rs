//! A file that takes its name only when it is complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file that takes its name only when it is complete.
#[derive(Debug)]
pub struct Partial {
    path: PathBuf,
    temporary: PathBuf,
    complete: bool,
}

impl Partial {
    /// A new file beside `path`.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(path: &Path) -> io::Result<(Self, File)> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.partial", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create_new(&temporary)?;
        Ok((Self { path: path.into(), temporary, complete: false }, file))
    }

    /// Where it is until then, for whoever writes by a path.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Flushes `file` to the disk and gives it its name.
    ///
    /// # Errors
    /// If the disk does not take it.
    pub fn complete(mut self, file: &File) -> io::Result<()> {
        file.sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        self.complete = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.complete {
            // An unfinished file is of no use to anybody; where it cannot be removed it keeps its telling name.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_file_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        let (partial, file) = Partial::create(&path).unwrap();
        drop((partial, file));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let (partial, file) = Partial::create(&path).unwrap();
        partial.complete(&file).unwrap();
        assert!(path.exists() && fs::read_dir(folder.path()).unwrap().count() == 1);
    }
}
