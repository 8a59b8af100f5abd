//! Keeps everything in a damaged directory that is whole, so that a run makes the rest again.
//!
//! A generation from which something is missing is taken back: what is whole of its simulations goes into a journal,
//! as if the run had been stopped while it simulated. The generations after it are taken back as well. Since the same
//! history leads to the same proposals, their simulations stay good.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::difference::Identity;
use super::error::io;
use super::folder::{Folder, GENERATIONS, PARTIAL, generation as folder_of, settle};
use super::generation::{FILES, GENERATION_FILE, Record, SIMULATIONS_FILE, chunk};
use super::journal::{Beginning, JOURNAL, Reader, Rewritten, Shape, Writer, rewrite};
use super::lock::Lock;
use super::sheet::Sheet;
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
    if ![RUN_FILE, GENERATIONS].iter().any(|name| folder.path(name).exists()) {
        // There is no run, which this says; nothing is made here.
        return verify(directory).map(|_| Vec::new());
    }
    let (_lock, _) = Lock::take(&folder)?;
    let before = verify(directory)?;
    if before.problems.is_empty() {
        return Ok(Vec::new());
    }
    let mut work = Work { folder, run: None, done: Vec::new() };
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
    work.run = record.as_ref().and_then(Run::of);
    let mut sound = 0;
    while is_whole(&work.folder, sound, work.run.map(|run| run.identity))? {
        sound += 1;
    }
    let mut taken_back = false;
    for index in indices(&work.folder)?.into_iter().filter(|&index| index >= sound) {
        taken_back |= work.take_back(index)?;
        work.mend_journal(index)?;
    }
    let told = record.as_ref().and_then(|record| record.summary["generations"].as_u64()).unwrap_or(0);
    let damaged = before.problems.iter().any(|problem| problem.file == Path::new(POSTERIOR_FILE));
    let gone = taken_back || told > u64::from(sound);
    if gone || damaged {
        work.mend_posterior(sound, damaged)?;
    }
    work.mend_record(record, gone)?;
    Ok(work.done)
}

/// What `run.json` tells of the journals of its run.
#[derive(Clone, Copy)]
struct Run {
    identity: Identity,
    /// Simulations of a generation, and statistics of each.
    rows: Option<u64>,
    columns: Option<u32>,
}

impl Run {
    fn of(record: &RunRecord) -> Option<Self> {
        let description = Some(&record.description).filter(|_| record.is_described())?;
        let observed = description["observed"].as_object();
        Some(Self {
            identity: Identity::of(description),
            rows: description["method"]["simulations"].as_u64(),
            columns: observed.and_then(|observed| u32::try_from(observed.len()).ok()),
        })
    }

    /// What a journal must be of.
    fn shape(&self, generation: u32) -> Option<Shape> {
        Some(Shape { generation, run: self.identity.number, rows: self.rows?, columns: self.columns? })
    }
}

struct Work {
    folder: Folder,
    run: Option<Run>,
    done: Vec<String>,
}

impl Work {
    /// Makes the posterior that of the last generation that is left.
    fn mend_posterior(&mut self, sound: u32, damaged: bool) -> Result<(), StoreError> {
        if damaged {
            self.set_aside(Path::new(POSTERIOR_FILE))?;
        } else {
            self.folder.remove(POSTERIOR_FILE)?;
        }
        let Some(last) = sound.checked_sub(1) else { return Ok(()) };
        let Some(record) = Record::read(&self.folder, last)? else { return Ok(()) };
        let bytes = record.posterior_bytes(&self.folder.path(POSTERIOR_FILE))?;
        self.folder.replace_by(POSTERIOR_FILE, &bytes)?;
        self.done.push(format!("{POSTERIOR_FILE} is written anew from generation {last}"));
        Ok(())
    }

    /// Makes `run.json` tell of nothing that is gone.
    fn mend_record(&mut self, record: Option<RunRecord>, gone: bool) -> Result<(), StoreError> {
        let Some(record) = record else {
            self.done
                .push("the next run must be of the same problem: the generations tell whether it is".into());
            let (folder, description) = (self.folder.clone(), Value::Null);
            let unknown = RunRecord { folder, format: FORMAT, description, summary: Value::Null };
            return unknown.write(&Value::Null);
        };
        if gone {
            return record.write(&Value::Null);
        }
        let left = verify(self.folder.root())?;
        let found = left.simulations + left.waiting;
        if record.summary["simulations"].as_u64().is_some_and(|told| told > found) {
            let mut summary = record.summary.clone();
            summary["simulations"] = found.into();
            self.done.push(format!("{RUN_FILE} tells of the {found} simulations that are left"));
            record.write(&summary)?;
        }
        Ok(())
    }

    /// Moves a damaged file to a folder of its own, under a name that tells where it was.
    fn set_aside(&mut self, file: &Path) -> Result<(), StoreError> {
        let from = self.folder.inside(file)?;
        if fs::symlink_metadata(&from).is_err() {
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

    /// Turns a committed generation into one that is being simulated: whether there was one, of which not all was in a journal.
    fn take_back(&mut self, index: u32) -> Result<bool, StoreError> {
        let within = folder_of(index);
        let there = |file: &str| fs::symlink_metadata(self.folder.path(within.join(file))).is_ok();
        if FILES.iter().chain([&GENERATION_FILE]).all(|file| !there(file)) {
            return Ok(false);
        }
        let committed = there(GENERATION_FILE);
        // Where a process was killed while it committed, the journal still has everything.
        let unfinished = !committed && there(JOURNAL);
        if unfinished {
            self.done.push(format!("the commit of generation {index} was not finished: its journal is kept"));
        } else {
            let record = match Record::read(&self.folder, index) {
                Ok(Some(record)) => Some(record),
                _ => Record::read_checksums(&self.folder, index).ok().flatten(),
            };
            let (kept, all) = match &record {
                Some(record) => self.keep_simulations(index, record)?,
                None => (0, None),
            };
            let of = all.map_or_else(String::new, |all| format!(" of {all}"));
            self.done.push(format!("generation {index} is taken back: {kept}{of} simulations are kept"));
        }
        let needless = unfinished || is_whole(&self.folder, index, self.run.map(|run| run.identity))?;
        // The record goes first: from here on the generation is not committed.
        for file in [GENERATION_FILE].iter().chain(&FILES) {
            if needless {
                self.folder.remove(within.join(file))?;
            } else {
                self.set_aside(&within.join(file))?;
            }
        }
        Ok(!unfinished)
    }

    /// Writes the simulations of a generation that are whole into a journal: how many, of how many.
    fn keep_simulations(&self, index: u32, record: &Record) -> Result<(u64, Option<u64>), StoreError> {
        let Ok(shape) = record.shape() else { return Ok((0, None)) };
        let (nothing, file) = ((0, Some(shape.rows)), folder_of(index).join(SIMULATIONS_FILE));
        let Ok(expected) = record.tally(SIMULATIONS_FILE) else { return Ok(nothing) };
        if self.run.is_some_and(|run| !run.identity.is(shape.run)) {
            return Ok(nothing);
        }
        let Ok(Some(found)) = self.folder.tally(&file, &expected) else { return Ok(nothing) };
        let Ok(sheet) = Sheet::open(&self.folder.path(&file)) else { return Ok(nothing) };
        let damaged = expected.differences(&found);
        let hit = |bytes: &std::ops::Range<u64>| {
            damaged.iter().any(|range| range.start < bytes.end && bytes.start < range.end)
        };
        // The end of the file tells where everything is.
        let end = (0..sheet.groups()).map(|group| sheet.bytes(group).end).max().unwrap_or(0)..expected.bytes;
        if hit(&end) || found.bytes != expected.bytes {
            return Ok(nothing);
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
        let expected = self.run.and_then(|run| run.shape(index));
        let (reader, is_headless) = match Reader::open(&path) {
            Ok(Beginning::Torn) => return Ok(()),
            Ok(Beginning::Sound(reader)) => (Some(reader), false),
            // Every record has checksums of its own.
            Ok(Beginning::Damaged(_)) => match expected {
                Some(shape) => (Reader::without_header(&path, shape)?, true),
                None => (None, true),
            },
            Err(StoreError::Damaged { .. }) => (None, true),
            Err(other) => return Err(other),
        };
        let Some(reader) = reader else { return self.set_aside(&name) };
        let found = reader.shape();
        let fits = self.run.is_none_or(|run| run.identity.is(found.run))
            && found.generation == index
            && expected.is_none_or(|shape| (shape.rows, shape.columns) == (found.rows, found.columns));
        if !fits {
            return self.set_aside(&name);
        }
        let partial = name.with_extension(PARTIAL);
        self.folder.remove(&partial)?;
        let Rewritten { kept, damaged } =
            rewrite((&path, reader), self.folder.inside(&partial)?, &|chunk| chunk)?;
        if damaged == 0 && !is_headless {
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
