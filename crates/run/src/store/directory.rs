//! A run's directory, readable without us:
//!
//! ```text
//! run.json                          what it is the run of, and its summary
//! posterior.parquet                 the kept particles of the last generation
//! lock                              who is at work; empty where nobody is
//! generations/000/journal           simulations of a generation that is not finished
//! generations/000/simulations.parquet   all of them, once it is
//! generations/000/population.parquet    what was kept, to the bit
//! generations/000/checksums.json        checksums of these two, for the case that the next file is damaged
//! generations/000/generation.json   distance weights, figures, checksums; its presence commits the generation
//! ```
//!
//! Every file but the journal is written under a temporary name, flushed to the disk and renamed, so that a process
//! that is killed at any moment leaves a directory that the next one goes on with.

use std::fs;
use std::path::{Path, PathBuf};

use counterpoise_core::digest::Generation;
use counterpoise_core::simulate::{Chunk, Simulated};
use serde_json::Value;

use super::difference::Identity;
use super::error::io;
use super::folder::{Folder, GENERATIONS, PARTIAL, generation as folder_of, settle};
use super::generation::{self, Record};
use super::journal::{Beginning, JOURNAL, Piece, Reader, Shape, Writer, rewrite};
use super::lock::Lock;
use super::verify::indices;
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
    run: Identity,
    /// Whether `run.json` says what the directory is the run of. Where it does not, the generations must.
    is_described: bool,
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

    /// Takes the lock and makes sure that `run.json` is that of this run: whether it is to be written.
    fn bind(&mut self, header: &Header) -> Result<bool, StoreError> {
        let root = self.folder.root();
        self.folder.make_root()?;
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
        let is_described = stored.as_ref().is_some_and(RunRecord::is_described);
        let run = Identity::of(&header.description);
        self.bound = Some(Bound { header: header.clone(), run, is_described, _lock: lock });
        Ok(!is_described || stored.is_some_and(|stored| stored.format < FORMAT))
    }

    /// A file of another run: damage where `run.json` says otherwise, and the wrong problem where nothing else tells.
    fn foreign(&self, bound: &Bound, path: &Path) -> StoreError {
        if bound.is_described {
            return StoreError::damaged(path, None, "it belongs to another run");
        }
        let name = path.strip_prefix(self.folder.root()).unwrap_or(path).display();
        let what = format!("{name} was made by another problem, method, seed or simulator");
        StoreError::Mismatch { path: self.folder.root().into(), differences: vec![what] }
    }

    /// Makes sure that what is there of the generations from `first` on is of this run, where `run.json` does not tell.
    fn compare_rest(&self, bound: &Bound, first: u32) -> Result<(), StoreError> {
        for index in indices(&self.folder)?.into_iter().filter(|&index| index >= first) {
            if let Some(record) = Record::read(&self.folder, index)?
                && !bound.run.is(record.shape()?.run)
            {
                return Err(self.foreign(bound, &record.path));
            }
            let path = self.folder.inside(folder_of(index).join(JOURNAL))?;
            if !path.exists() {
                continue;
            }
            match Reader::open(&path)? {
                Beginning::Torn => {}
                Beginning::Damaged(what) => return Err(StoreError::damaged(&path, Some(0), what)),
                Beginning::Sound(reader) if bound.run.is(reader.shape().run) => {}
                Beginning::Sound(_) => return Err(self.foreign(bound, &path)),
            }
        }
        Ok(())
    }

    /// A committed generation, if it is there and whole as far as a run needs it.
    fn load(&self, bound: &Bound, index: u32) -> Result<Option<(Generation, Record)>, StoreError> {
        let Some(record) = Record::read(&self.folder, index)? else { return Ok(None) };
        if !bound.run.is(record.shape()?.run) {
            return Err(self.foreign(bound, &record.path));
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
            let (particles, tally) = (folder_of(index).join(name), record.tally(name)?);
            if self.folder.tally(&particles, &tally)? != Some(tally) {
                let path = self.folder.path(particles);
                return Err(StoreError::damaged(&path, None, "its checksum does not fit"));
            }
        }
        let generation = record.generation()?;
        Ok(Some((generation, record)))
    }

    /// Makes `posterior.parquet` that of the last generation, where a process was killed before it did.
    fn restore_posterior(&self, header: &Header, last: &(Generation, Record)) -> Result<(), StoreError> {
        if last.1.is_posterior(&self.folder)? {
            return Ok(());
        }
        let bytes = generation::posterior(header, &last.0, &self.folder.path(POSTERIOR_FILE))?;
        self.folder.replace_by(POSTERIOR_FILE, &bytes).map(|_| ())
    }
}

impl Store for Directory {
    fn open(&mut self, header: &Header) -> Result<Vec<Generation>, StoreError> {
        self.journal = None;
        let is_new = self.bind(header)?;
        let Some(bound) = &self.bound else { return Ok(Vec::new()) };
        let mut history: Vec<(Generation, Record)> = Vec::new();
        while let Some(loaded) = self.load(bound, history.len() as u32)? {
            // Killed between the two last steps of a commit.
            self.folder.remove(folder_of(history.len() as u32).join(JOURNAL))?;
            history.push(loaded);
        }
        self.folder.inside(folder_of(history.len() as u32).join(JOURNAL))?;
        if !bound.is_described {
            self.compare_rest(bound, history.len() as u32)?;
        }
        // Only now is it certain whose directory this is.
        if let (true, Some(record)) = (is_new, self.record()) {
            record.write(&Value::Null)?;
        }
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
        let run = bound.run.number;
        let shape = Shape { generation: index, run, rows: simulations as u64, columns };
        let (sound, note) = if path.exists() { replay(&path, (shape, bound.run), take)? } else { (0, None) };
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
        renamed.map_err(io("rename", &path))?;
        settle(path.parent().unwrap_or(self.folder.root()))
    }

    fn simulations(&mut self, index: u32, simulations: usize) -> Result<Simulated, StoreError> {
        let path = self.folder.path(folder_of(index).join(generation::SIMULATIONS_FILE));
        let missing = || StoreError::damaged(&path, None, "it is missing");
        if !super::check_simulations(self.folder.root(), index)? {
            return Err(missing());
        }
        let record = Record::read(&self.folder, index)?.ok_or_else(missing)?;
        let shape = record.shape()?;
        let sheet = super::Sheet::open(&path)?;
        let mut simulated = Simulated::empty(simulations, shape.columns as usize);
        for group in 0..sheet.groups() {
            let chunk = generation::chunk(sheet.read(group)?, record.parameters(), &shape);
            let wrong = || StoreError::damaged(&path, None, "its columns make no sense");
            simulated.place(&chunk.filter(|_| shape.rows == simulations as u64).ok_or_else(wrong)?);
        }
        Ok(simulated)
    }

    fn commit(&mut self, made: &Made<'_>) -> Result<(), StoreError> {
        let Some(bound) = &self.bound else { return Ok(()) };
        let posterior = generation::write(&self.folder, &bound.header, bound.run.number, made)?;
        self.journal = None;
        self.folder.remove(folder_of(made.generation.index).join(JOURNAL))?;
        self.folder.replace_by(POSTERIOR_FILE, &posterior).map(|_| ())
    }
}

/// Hands over the records of a journal; the length of what is sound, and what there is to tell.
fn replay(
    path: &Path,
    (shape, run): (Shape, Identity),
    take: &mut dyn FnMut(&Chunk),
) -> Result<(u64, Option<String>), StoreError> {
    let mut reader = match Reader::open(path)? {
        Beginning::Torn => return Ok((0, None)),
        Beginning::Damaged(what) => return Err(StoreError::damaged(path, Some(0), what)),
        Beginning::Sound(reader) => reader,
    };
    let found = reader.shape();
    if !run.is(found.run) || found != (Shape { run: found.run, ..shape }) {
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
