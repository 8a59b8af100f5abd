//! The folder of a run: where its files are, how they are replaced, and that no link leads out of it.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::StoreError;
use super::error::io;
use super::tally::{Tallied, Tally};

/// One folder a generation, in here.
pub(super) const GENERATIONS: &str = "generations";
/// Ends the name of a file that is being written.
pub(super) const PARTIAL: &str = "partial";

/// The folder of a run.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    root: PathBuf,
}

/// The folder of a generation, relative to that of the run.
pub(super) fn generation(index: u32) -> PathBuf {
    Path::new(GENERATIONS).join(format!("{index:03}"))
}

impl Folder {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where something is, for reading.
    pub(super) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// Where something is, for writing: no part of the way is a symbolic link. (The folder itself may be one.)
    pub(super) fn inside(&self, relative: impl AsRef<Path>) -> Result<PathBuf, StoreError> {
        let mut path = self.root.clone();
        for part in relative.as_ref() {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => return Err(StoreError::Link { path }),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(StoreError::Io { action: "look at", path, source }),
            }
        }
        Ok(path)
    }

    /// Makes a folder and those above it, and lets the disk know.
    pub(super) fn make(&self, relative: impl AsRef<Path>) -> Result<(), StoreError> {
        let path = self.inside(&relative)?;
        if path.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(&path).map_err(io("create directory", &path))?;
        for above in path.ancestors().skip(1).take(relative.as_ref().components().count().max(1)) {
            settle(above)?;
        }
        Ok(())
    }

    /// Writes a file under a temporary name, flushes it to the disk and renames it. On failure nothing is left of it.
    pub(super) fn replace(
        &self,
        relative: impl AsRef<Path>,
        fill: impl FnOnce(&mut Tallied<File>) -> Result<(), StoreError>,
    ) -> Result<Tally, StoreError> {
        let path = self.inside(&relative)?;
        let temporary = path.with_extension(PARTIAL);
        // What a killed process left; where it is a link, the link goes and not what it points at.
        remove(&temporary)?;
        let file = File::create_new(&temporary).map_err(io("create", &path))?;
        let mut tallied = Tallied::new(file);
        let filled = fill(&mut tallied);
        let written = tallied.bytes();
        let (file, tally) = tallied.finish();
        let short = |source| StoreError::Write { path: path.clone(), written, source };
        let done = filled
            .and_then(|()| file.sync_all().map_err(short))
            .and_then(|()| fs::rename(&temporary, &path).map_err(io("rename", &path)));
        if let Err(error) = done {
            // Where it cannot be removed either, it keeps its telling name.
            let _ = fs::remove_file(&temporary);
            return Err(match error {
                StoreError::Io { source, .. } => StoreError::Write { path, written, source },
                StoreError::Parquet { source, .. } => StoreError::Write {
                    path,
                    written,
                    source: match source {
                        parquet::errors::ParquetError::External(inner) => inner
                            .downcast::<std::io::Error>()
                            .map_or_else(std::io::Error::other, |inner| *inner),
                        other => std::io::Error::other(other),
                    },
                },
                other => other,
            });
        }
        settle(path.parent().unwrap_or(&self.root))?;
        Ok(tally)
    }

    /// Replaces a file by some bytes.
    pub(super) fn replace_by(&self, relative: impl AsRef<Path>, bytes: &[u8]) -> Result<Tally, StoreError> {
        let path = self.path(&relative);
        self.replace(relative, |file| file.write_all(bytes).map_err(io("write", &path)))
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, relative: impl AsRef<Path>) -> Result<(), StoreError> {
        remove(&self.inside(relative)?)
    }

    /// All of a file that is not larger than `limit`; `None` where there is none.
    pub(super) fn read(&self, relative: impl AsRef<Path>, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(relative);
        let Some(file) = open(&path)? else { return Ok(None) };
        let mut bytes = Vec::new();
        let length = file.take(limit + 1).read_to_end(&mut bytes).map_err(io("read", &path))?;
        if length as u64 > limit {
            return Err(StoreError::TooLarge { path, limit });
        }
        Ok(Some(bytes))
    }

    /// Size and checksums of a file as it is, in the blocks of what it must be; `None` where there is none.
    pub(super) fn tally(
        &self,
        relative: impl AsRef<Path>,
        expected: &Tally,
    ) -> Result<Option<Tally>, StoreError> {
        let path = self.path(relative);
        let Some(file) = open(&path)? else { return Ok(None) };
        expected.like(file).map(Some).map_err(io("read", &path))
    }

    /// Makes the folder itself and those above it, and lets the disk know.
    pub(super) fn make_root(&self) -> Result<(), StoreError> {
        let missing = self.root.ancestors().take_while(|above| !above.exists());
        let missing: Vec<&Path> = missing.filter(|above| !above.as_os_str().is_empty()).collect();
        fs::create_dir_all(&self.root).map_err(io("create directory", &self.root))?;
        missing.iter().filter_map(|made| made.parent()).try_for_each(settle)
    }
}

/// Opens a regular file to be read; `None` where there is none. Anything else is not what was written, and opening a
/// pipe would wait for somebody to write into it.
pub(super) fn open(path: &Path) -> Result<Option<File>, StoreError> {
    let missing = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(StoreError::damaged(path, None, "it is not a regular file")),
        Err(error) if missing(&error) => return Ok(None),
        Err(source) => return Err(StoreError::Io { action: "read", path: path.into(), source }),
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if missing(&error) => Ok(None),
        Err(source) => Err(StoreError::Io { action: "read", path: path.into(), source }),
    }
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(StoreError::Io { action: "remove", path: path.to_path_buf(), source })
        }
        _ => Ok(()),
    }
}

/// Lets the disk know of names that were added to a folder.
pub(super) fn settle(folder: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("write", folder))?;
    }
    Ok(())
}
