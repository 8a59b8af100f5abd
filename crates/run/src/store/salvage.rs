//! Keeps everything in a damaged directory that is whole, so that a run makes the rest again.
//!
//! A generation from which something is missing is taken back: what is whole of its simulations goes into a journal,
//! as if the run had been stopped while it simulated. The generations after it are taken back as well. Since the same
//! history leads to the same proposals, their simulations stay good.

use std::fs;
use std::path::{Path, PathBuf};

use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::Chunk;
use counterpoise_core::table::Table;
use serde_json::Value;

use super::error::io;
use super::folder::{Folder, PARTIAL, generation as folder_of, settle};
use super::generation::{FILES, GENERATION_FILE, Record, SIMULATIONS_FILE};
use super::journal::{Beginning, JOURNAL, Reader, Rewritten, Shape, Writer, rewrite};
use super::lock::Lock;
use super::sheet::{Sheet, Values};
use super::verify::{indices, is_whole, verify};
use super::{FORMAT, POSTERIOR_FILE, RUN_FILE, RunRecord, StoreError};

/// Where damaged files are put.
const DAMAGED: &str = "damaged";

/// Takes out of a run what is damaged, and tells what was done, a line each; nothing where nothing is wrong.
///
/// # Errors
/// If another process is at work, or something cannot be read or written.
pub fn salvage(directory: &Path) -> Result<Vec<String>, StoreError> {
    let folder = Folder::new(directory.to_path_buf());
    let before = verify(directory)?;
    if before.problems.is_empty() {
        return Ok(Vec::new());
    }
    let (_lock, _) = Lock::take(&folder)?;
    let mut work = Work { folder, done: Vec::new() };
    let record = match RunRecord::read(directory) {
        Ok(record) => record,
        Err(_) => {
            work.set_aside(Path::new(RUN_FILE))?;
            None
        }
    };
    if record.as_ref().is_some_and(|record| record.format == 1) {
        work.set_aside(Path::new(POSTERIOR_FILE))?;
        work.set_aside(Path::new(RUN_FILE))?;
        return Ok(work.done);
    }
    let indices = indices(&work.folder)?;
    let mut sound = 0;
    while is_whole(&work.folder, sound)? {
        sound += 1;
    }
    for &index in indices.iter().filter(|&&index| index >= sound) {
        work.take_back(index)?;
        work.mend_journal(index)?;
    }
    let posterior = before.problems.iter().any(|problem| problem.file == Path::new(POSTERIOR_FILE));
    let taken_back = before.problems.iter().any(|problem| !problem.file.ends_with(JOURNAL));
    if taken_back {
        if posterior || sound == 0 {
            work.set_aside(Path::new(POSTERIOR_FILE))?;
        } else {
            work.folder.remove(POSTERIOR_FILE)?;
        }
        let unknown = || {
            work.done
                .push("the next run must be of the same problem: the generations tell whether it is".into());
            let (folder, description) = (work.folder.clone(), Value::Null);
            RunRecord { folder, format: FORMAT, description, summary: Value::Null }
        };
        record.unwrap_or_else(unknown).write(&Value::Null)?;
    }
    Ok(work.done)
}

struct Work {
    folder: Folder,
    done: Vec<String>,
}

impl Work {
    /// Moves a damaged file to a folder of its own, under a name that tells where it was.
    fn set_aside(&mut self, file: &Path) -> Result<(), StoreError> {
        let from = self.folder.inside(file)?;
        if !from.exists() {
            return Ok(());
        }
        let to = self.free_name(file)?;
        fs::rename(&from, &to).map_err(io("rename", &from))?;
        self.done.push(format!("{} is moved to {}", from.display(), to.display()));
        Ok(())
    }

    fn free_name(&self, file: &Path) -> Result<PathBuf, StoreError> {
        self.folder.make(DAMAGED)?;
        let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
        let name = parts.join("-");
        let mut number = 0;
        loop {
            let numbered = if number == 0 { name.clone() } else { format!("{name}.{number}") };
            let path = self.folder.inside(Path::new(DAMAGED).join(numbered))?;
            if fs::symlink_metadata(&path).is_err() {
                return Ok(path);
            }
            number += 1;
        }
    }

    /// Turns a committed generation into one that is being simulated.
    fn take_back(&mut self, index: u32) -> Result<(), StoreError> {
        let within = folder_of(index);
        let all = FILES.iter().chain([&GENERATION_FILE]);
        if all.clone().all(|file| !self.folder.path(within.join(file)).exists()) {
            return Ok(());
        }
        let whole = is_whole(&self.folder, index)?;
        let kept = match Record::read(&self.folder, index) {
            Ok(Some(record)) => self.keep_simulations(index, &record)?,
            _ => (0, None),
        };
        let of = kept.1.map_or_else(String::new, |all| format!(" of {all}"));
        self.done.push(format!("generation {index} is taken back: {}{of} simulations are kept", kept.0));
        // The record goes first: from here on the generation is not committed.
        for file in [GENERATION_FILE].iter().chain(&FILES) {
            if whole {
                self.folder.remove(within.join(file))?;
            } else {
                self.set_aside(&within.join(file))?;
            }
        }
        Ok(())
    }

    /// Writes the simulations of a generation that are whole into a journal: how many, of how many.
    fn keep_simulations(&self, index: u32, record: &Record) -> Result<(u64, Option<u64>), StoreError> {
        let (shape, file) = (record.shape()?, folder_of(index).join(SIMULATIONS_FILE));
        let Some(found) = self.folder.tally(&file)? else { return Ok((0, Some(shape.rows))) };
        let Ok(sheet) = Sheet::open(&self.folder.path(&file)) else { return Ok((0, Some(shape.rows))) };
        let expected = record.tally(SIMULATIONS_FILE)?;
        let damaged = expected.differences(&found);
        let hit = |bytes: &std::ops::Range<u64>| {
            damaged.iter().any(|range| range.start < bytes.end && bytes.start < range.end)
        };
        // The end of the file tells where everything is.
        let end = (0..sheet.groups()).map(|group| sheet.bytes(group).end).max().unwrap_or(0)..expected.bytes;
        if hit(&end) || found.bytes != expected.bytes {
            return Ok((0, Some(shape.rows)));
        }
        let (mut kept, partial) = (0, folder_of(index).join(JOURNAL).with_extension(PARTIAL));
        self.folder.remove(&partial)?;
        let mut writer = Writer::new(self.folder.inside(&partial)?, shape, 0);
        for group in (0..sheet.groups()).filter(|&group| !hit(&sheet.bytes(group))) {
            let chunk = chunk(sheet.read(group)?, record.parameters(), &shape);
            let wrong = || StoreError::damaged(&self.folder.path(&file), None, "its columns make no sense");
            let chunk = chunk.ok_or_else(wrong)?;
            kept += chunk.rows.len() as u64;
            writer.add(chunk)?;
        }
        writer.settle()?;
        if kept > 0 {
            self.rename_journal(index, &partial)?;
        }
        Ok((kept, Some(shape.rows)))
    }

    fn rename_journal(&self, index: u32, partial: &Path) -> Result<(), StoreError> {
        let to = self.folder.inside(folder_of(index).join(JOURNAL))?;
        fs::rename(self.folder.path(partial), &to).map_err(io("rename", &to))?;
        settle(&self.folder.path(folder_of(index)))
    }

    /// Writes a journal anew without its damaged records.
    fn mend_journal(&mut self, index: u32) -> Result<(), StoreError> {
        let name = folder_of(index).join(JOURNAL);
        let path = self.folder.inside(&name)?;
        if !path.exists() {
            return Ok(());
        }
        let reader = match Reader::open(&path).map_err(io("read", &path))? {
            Beginning::Torn => return Ok(()),
            Beginning::Damaged(_) => return self.set_aside(&name),
            Beginning::Sound(reader) => reader,
        };
        let partial = name.with_extension(PARTIAL);
        self.folder.remove(&partial)?;
        let Rewritten { kept, damaged } =
            rewrite((&path, reader), self.folder.inside(&partial)?, &|chunk| chunk)?;
        if damaged == 0 {
            return self.folder.remove(&partial);
        }
        if kept == 0 {
            return self.set_aside(&name);
        }
        let aside = self.free_name(&name)?;
        // The name stays taken until the mended journal has it.
        fs::hard_link(&path, &aside)
            .or_else(|_| fs::copy(&path, &aside).map(|_| ()))
            .map_err(io("copy", &path))?;
        self.rename_journal(index, &partial)?;
        let (path, aside) = (path.display(), aside.display());
        self.done.push(format!("{path}: {kept} simulations are kept; the whole file is in {aside}"));
        Ok(())
    }
}

/// The rows of a group of `simulations.parquet`.
fn chunk(columns: Vec<Values>, parameters: usize, shape: &Shape) -> Option<Chunk> {
    let statistics = shape.columns as usize;
    let mut columns = columns.into_iter();
    let Values::Whole(rows) = columns.next()? else { return None };
    let mut columns = columns.skip(parameters);
    let mut reals = Vec::new();
    for _ in 0..statistics {
        let Values::Real(column) = columns.next()? else { return None };
        reals.push(column);
    }
    let Values::Text(outcomes) = columns.next()? else { return None };
    let rows: Vec<usize> =
        rows.iter().filter(|&&row| (row as u64) < shape.rows).map(|&row| row as usize).collect();
    let even = reals.iter().all(|column| column.len() == rows.len()) && outcomes.len() == rows.len();
    (even && statistics > 0).then_some(())?;
    let values = (0..rows.len()).flat_map(|row| reals.iter().map(move |column| column[row])).collect();
    let outcomes = outcomes.into_iter().map(|outcome| match outcome {
        None => Some(Ok(())),
        Some(text) => Failure::from_text(&text).map(Err),
    });
    let outcomes = outcomes.collect::<Option<Vec<_>>>()?;
    Some(Chunk { rows, summaries: Table::from_rows(statistics, values), outcomes })
}
