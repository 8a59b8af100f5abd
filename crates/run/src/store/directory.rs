//! A run's directory, readable without us:
//!
//! ```text
//! run.json                          what it is the run of, and its summary
//! posterior.parquet                 the kept particles of the last generation
//! lock                              who is at work; empty where nobody is
//! generations/000/journal           simulations of a generation that is not finished
//! generations/000/simulations.parquet   all of them, once it is
//! generations/000/population.parquet    what was kept, to the bit
//! generations/000/generation.json   distance weights, figures, checksums; its presence commits the generation
//! ```
//!
//! Every file but the journal is written under a temporary name, flushed to the disk and renamed, so that a process
//! that is killed at any moment leaves a directory that the next one goes on with.

use std::fs;
use std::path::{Path, PathBuf};

use counterpoise_core::digest::Generation;
use counterpoise_core::simulate::Chunk;
use serde_json::Value;

use super::difference::identity;
use super::error::io;
use super::folder::{Folder, GENERATIONS, PARTIAL, generation as folder_of};
use super::generation::{self, Record};
use super::journal::{Beginning, JOURNAL, Piece, Reader, Shape, Writer, rewrite};
use super::lock::Lock;
use super::{
    FORMAT, Header, Loss, Made, POSTERIOR_FILE, RUN_FILE, RunRecord, Store, StoreError, differences,
};

/// A run on disk.
#[derive(Debug)]
pub struct Directory {
    folder: Folder,
    bound: Option<Bound>,
    journal: Option<Writer>,
    notes: Vec<String>,
}

/// A directory that is open for a run.
#[derive(Debug)]
struct Bound {
    header: Header,
    run: u64,
    /// Held for as long as the directory is open.
    _lock: Lock,
}

impl Directory {
    /// The run in `path`, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { folder: Folder::new(path.into()), bound: None, journal: None, notes: Vec::new() }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.root()
    }

    /// What there is to tell about the state in which the directory was found, since the last time it was asked for.
    pub fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The record of the run that the directory is open for, to write its summary with.
    #[must_use]
    pub fn record(&self) -> Option<RunRecord> {
        let bound = self.bound.as_ref()?;
        let description = bound.header.description.clone();
        Some(RunRecord { folder: self.folder.clone(), format: FORMAT, description, summary: Value::Null })
    }

    /// Takes the lock and makes sure that the directory is that of this run.
    fn bind(&mut self, header: &Header) -> Result<(), StoreError> {
        let root = self.folder.root();
        fs::create_dir_all(root).map_err(io("create directory", root))?;
        let lock = match self.bound.take() {
            Some(bound) => bound._lock,
            None => {
                let (lock, note) = Lock::take(&self.folder)?;
                self.notes.extend(note);
                lock
            }
        };
        for file in [RUN_FILE, POSTERIOR_FILE, GENERATIONS] {
            self.folder.inside(file)?;
        }
        let stored = RunRecord::read(root)?;
        if let Some(stored) = stored.as_ref().filter(|stored| stored.is_described()) {
            let found = differences(&stored.description, &header.description);
            if !found.refused.is_empty() {
                return Err(StoreError::Mismatch { path: root.into(), differences: found.refused });
            }
            if stored.format == 1 && stored.summary["finished"] == Value::Bool(true) && found.moves_end {
                return Err(StoreError::NotExtendable { path: root.into() });
            }
        }
        let run = identity(&header.description);
        self.bound = Some(Bound { header: header.clone(), run, _lock: lock });
        if stored.is_none_or(|stored| stored.format < FORMAT || !stored.is_described())
            && let Some(record) = self.record()
        {
            record.write(&Value::Null)?;
        }
        Ok(())
    }

    /// A committed generation, if it is there and whole as far as a run needs it.
    fn load(&self, bound: &Bound, index: u32) -> Result<Option<(Generation, Record)>, StoreError> {
        let Some(record) = Record::read(&self.folder, index)? else { return Ok(None) };
        if record.shape()?.run != bound.run {
            return Err(StoreError::damaged(&record.path, None, "it belongs to another run"));
        }
        for name in record.files() {
            let path = self.folder.path(folder_of(index).join(name));
            let found = fs::metadata(&path).map_err(io("read", &path))?.len();
            let expected = record.tally(name)?.bytes;
            if found != expected {
                let what = format!("it has {found} bytes instead of {expected}");
                return Err(StoreError::damaged(&path, None, what));
            }
        }
        // The simulations are not read again: that would take long, and is for `verify` to do.
        for name in record.files().filter(|name| *name != generation::SIMULATIONS_FILE) {
            let particles = folder_of(index).join(name);
            if self.folder.tally(&particles)? != Some(record.tally(name)?) {
                let path = self.folder.path(particles);
                return Err(StoreError::damaged(&path, None, "its checksum does not fit"));
            }
        }
        let generation = record.generation()?;
        Ok(Some((generation, record)))
    }

    /// Makes `posterior.parquet` that of the last generation, where a process was killed before it did.
    fn restore_posterior(&self, header: &Header, last: &(Generation, Record)) -> Result<(), StoreError> {
        if self.folder.tally(POSTERIOR_FILE)? == Some(last.1.posterior()?) {
            return Ok(());
        }
        let bytes = generation::posterior(header, &last.0, &self.folder.path(POSTERIOR_FILE))?;
        self.folder.replace_by(POSTERIOR_FILE, &bytes).map(|_| ())
    }
}

impl Store for Directory {
    fn open(&mut self, header: &Header) -> Result<Vec<Generation>, StoreError> {
        self.journal = None;
        self.bind(header)?;
        let Some(bound) = &self.bound else { return Ok(Vec::new()) };
        let mut history: Vec<(Generation, Record)> = Vec::new();
        while let Some(loaded) = self.load(bound, history.len() as u32)? {
            // Killed between the two last steps of a commit.
            self.folder.remove(folder_of(history.len() as u32).join(JOURNAL))?;
            history.push(loaded);
        }
        self.folder.inside(folder_of(history.len() as u32).join(JOURNAL))?;
        if let Some(last) = history.last() {
            self.restore_posterior(header, last)?;
        }
        Ok(history.into_iter().map(|(generation, _)| generation).collect())
    }

    fn chunks(
        &mut self,
        index: u32,
        simulations: usize,
        take: &mut dyn FnMut(&Chunk),
    ) -> Result<(), StoreError> {
        let Some(bound) = &self.bound else { return Ok(()) };
        self.folder.make(folder_of(index))?;
        let path = self.folder.inside(folder_of(index).join(JOURNAL))?;
        let columns = bound.header.statistics.len() as u32;
        let shape = Shape { generation: index, run: bound.run, rows: simulations as u64, columns };
        let (sound, note) = if path.exists() { replay(&path, shape, take)? } else { (0, None) };
        self.notes.extend(note);
        self.journal = Some(Writer::new(path, shape, sound));
        Ok(())
    }

    fn append(&mut self, chunk: Chunk) -> Result<(), StoreError> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.add(chunk))
    }

    fn secure(&mut self, against: Loss) -> Result<(), StoreError> {
        match (&mut self.journal, against) {
            (Some(journal), Loss::Process) => journal.write(),
            (Some(journal), Loss::Power) => journal.settle(),
            (None, _) => Ok(()),
        }
    }

    fn forget_failures(&mut self) -> Result<(), StoreError> {
        let Some(mut journal) = self.journal.take() else { return Ok(()) };
        journal.write()?;
        let path = journal.path().to_path_buf();
        let Ok(Beginning::Sound(reader)) = Reader::open(&path) else { return Ok(()) };
        let partial = path.with_extension(PARTIAL);
        fs::remove_file(&partial).ok();
        rewrite((&path, reader), partial.clone(), &Chunk::without_failures)?;
        // Without any simulation that went well there is no new journal.
        let renamed = if partial.exists() { fs::rename(&partial, &path) } else { fs::remove_file(&path) };
        renamed.map_err(io("rename", &path))
    }

    fn commit(&mut self, made: &Made<'_>) -> Result<(), StoreError> {
        let Some(bound) = &self.bound else { return Ok(()) };
        let posterior = generation::write(&self.folder, &bound.header, bound.run, made)?;
        self.journal = None;
        self.folder.remove(folder_of(made.generation.index).join(JOURNAL))?;
        self.folder.replace_by(POSTERIOR_FILE, &posterior).map(|_| ())
    }
}

/// Hands over the records of a journal; the length of what is sound, and what there is to tell.
fn replay(
    path: &Path,
    shape: Shape,
    take: &mut dyn FnMut(&Chunk),
) -> Result<(u64, Option<String>), StoreError> {
    let mut reader = match Reader::open(path).map_err(io("read", path))? {
        Beginning::Torn => return Ok((0, None)),
        Beginning::Damaged(what) => return Err(StoreError::damaged(path, Some(0), what)),
        Beginning::Sound(reader) => reader,
    };
    if reader.shape() != shape {
        return Err(StoreError::damaged(path, Some(0), "it belongs to another run or generation"));
    }
    let mut sound = reader.position();
    while let Some(piece) = reader.next().map_err(io("read", path))? {
        match piece {
            Piece::Rows(chunk) => {
                take(&chunk);
                sound = reader.position();
            }
            Piece::Torn { at, bytes } => {
                let note = format!(
                    "{} ended in half a record: {bytes} bytes at byte {at} are cut off",
                    path.display()
                );
                return Ok((sound, Some(note)));
            }
            Piece::Damaged { at, what, .. } => return Err(StoreError::damaged(path, Some(at), what)),
        }
    }
    Ok((sound, None))
}
