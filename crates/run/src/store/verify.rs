//! Whether a directory holds what was written into it: checksums, versions, completeness.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::difference::Identity;
use super::error::io;
use super::folder::{Folder, GENERATIONS, PARTIAL, generation as folder_of, open};
use super::generation::{GENERATION_FILE, Record};
use super::journal::{Beginning, JOURNAL, Piece, Reader};
use super::lock::Lock;
use super::{POSTERIOR_FILE, RUN_FILE, RunRecord, StoreError};

/// Something that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, relative to the directory.
    pub file: PathBuf,
    /// The bytes in which something is wrong, where that is known.
    pub bytes: Option<Range<u64>>,
    /// What is wrong.
    pub what: String,
}

/// What was found in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Format of the directory; 0 where nothing tells.
    pub format: u64,
    /// Generations that are committed and whole.
    pub generations: usize,
    /// Simulations in them.
    pub simulations: u64,
    /// Simulations in journals.
    pub waiting: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What is right but worth telling.
    pub notes: Vec<String>,
}

impl Report {
    fn problem(&mut self, file: impl Into<PathBuf>, bytes: Option<Range<u64>>, what: impl Into<String>) {
        self.problems.push(Problem { file: file.into(), bytes, what: what.into() });
    }
}

/// Looks at everything in a directory, and changes nothing.
///
/// # Errors
/// If there is no run, or one of a newer format, or something cannot be read.
pub fn verify(directory: &Path) -> Result<Report, StoreError> {
    let folder = Folder::new(directory.to_path_buf());
    let mut report = Report::default();
    if let Some(holder) = Lock::holder(&folder) {
        report.notes.push(format!("{holder} is at work here: files may change under the eyes"));
    }
    let record = run_file(&folder, &mut report)?;
    leftovers(&folder, Path::new(""), &mut report)?;
    if report.format == 1 {
        format_1(&folder, &mut report);
        return Ok(report);
    }
    let described = record.as_ref().filter(|record| record.is_described());
    let run = described.map(|record| Identity::of(&record.description));
    if record.is_some() && run.is_none() {
        let note = format!("{RUN_FILE} does not say what it is the run of; the next run tells it");
        report.notes.push(note);
    }
    if folder.path(GENERATIONS).exists() {
        leftovers(&folder, Path::new(GENERATIONS), &mut report)?;
    }
    let indices = indices(&folder)?;
    let mut records = Vec::new();
    for &index in &indices {
        leftovers(&folder, &folder_of(index), &mut report)?;
        records.extend(committed(&folder, index, run, &mut report)?);
        journal(&folder, index, run, &mut report)?;
    }
    let told = record.as_ref().and_then(|record| record.summary["generations"].as_u64()).unwrap_or(0);
    complete(&records, told, &mut report);
    posterior(&folder, &records, told, &mut report)?;
    let told = record.as_ref().and_then(|record| record.summary["simulations"].as_u64()).unwrap_or(0);
    simulations(records.len() as u32, told, &mut report);
    Ok(report)
}

/// The numbers of the generations that have a folder, ascending.
pub(super) fn indices(folder: &Folder) -> Result<Vec<u32>, StoreError> {
    let path = folder.path(GENERATIONS);
    let entries = match fs::read_dir(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(io("read", &path))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(io("read", &path))?.file_name();
        let index = name.to_str().and_then(|name| name.parse::<u32>().ok());
        found.extend(index.filter(|&index| folder_of(index).ends_with(&name)));
    }
    found.sort_unstable();
    Ok(found)
}

/// The problem that an error tells of, unless it is that something cannot be read at all.
fn tell(folder: &Folder, error: StoreError, report: &mut Report) -> Result<(), StoreError> {
    let within = |path: &Path| path.strip_prefix(folder.root()).unwrap_or(path).to_path_buf();
    match error {
        StoreError::Damaged { path, at, what } => {
            report.problem(within(&path), at.map(|at| at..at + 1), what);
        }
        StoreError::Unreadable { path, source } => report.problem(within(&path), None, source.to_string()),
        StoreError::TooLarge { path, limit } => {
            report.problem(within(&path), None, format!("it is larger than {limit} bytes"));
        }
        StoreError::Parquet { path, source, .. } => report.problem(within(&path), None, source.to_string()),
        other => return Err(other),
    }
    Ok(())
}

fn run_file(folder: &Folder, report: &mut Report) -> Result<Option<RunRecord>, StoreError> {
    match RunRecord::read(folder.root()) {
        Ok(Some(record)) => {
            report.format = record.format;
            return Ok(Some(record));
        }
        Ok(None) if !folder.path(GENERATIONS).exists() => {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(StoreError::Io { action: "read", path: folder.path(RUN_FILE), source });
        }
        Ok(None) => report.problem(RUN_FILE, None, "it is missing"),
        // A number that was changed is damage; one that another version wrote is not.
        Err(StoreError::Format { path, found }) => {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if found == "unknown" || (text.contains("\"checksum\"") && !super::sealed::is_whole(&text)) {
                report.problem(
                    RUN_FILE,
                    None,
                    format!("it has format {found} and a checksum that does not fit"),
                );
            } else {
                return Err(StoreError::Format { path, found });
            }
        }
        Err(error) => tell(folder, error, report)?,
    }
    Ok(None)
}

/// Links, and files that were being written when a process was killed.
fn leftovers(folder: &Folder, within: &Path, report: &mut Report) -> Result<(), StoreError> {
    let path = folder.path(within);
    for entry in fs::read_dir(&path).map_err(io("read", &path))? {
        let entry = entry.map_err(io("read", &path))?;
        let name = within.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            report.problem(name, None, "it is a symbolic link: nothing is written or deleted through it");
        } else if name.extension().is_some_and(|extension| extension == PARTIAL) {
            report.notes.push(format!(
                "{} was being written by a process that ended; it is not used",
                name.display()
            ));
        }
    }
    Ok(())
}

/// Format 1 kept a posterior only, and no checksums.
fn format_1(folder: &Folder, report: &mut Report) {
    report.notes.push("format 1 has no checksums: only that its files can be read was looked at".into());
    let path = folder.path(POSTERIOR_FILE);
    if !path.exists() {
        return;
    }
    let sheet = super::Sheet::open(&path)
        .and_then(|sheet| (0..sheet.groups()).try_for_each(|group| sheet.read(group).map(|_| ())));
    if let Err(error) = sheet {
        report.problem(POSTERIOR_FILE, None, error.to_string());
    }
}

/// Looks at the files of a committed generation.
fn committed(
    folder: &Folder,
    index: u32,
    run: Option<Identity>,
    report: &mut Report,
) -> Result<Option<(u32, Record)>, StoreError> {
    let record = match Record::read(folder, index) {
        Ok(Some(record)) => record,
        Ok(None) => return Ok(None),
        Err(error) => return tell(folder, error, report).map(|()| None),
    };
    let before = report.problems.len();
    let name = folder_of(index).join(GENERATION_FILE);
    match record.shape() {
        Ok(shape) if run.is_some_and(|run| !run.is(shape.run)) => {
            report.problem(&name, None, "it belongs to another run than run.json");
        }
        Ok(shape) => report.simulations += shape.rows,
        Err(error) => tell(folder, error, report)?,
    }
    for file in record.files() {
        let name = folder_of(index).join(file);
        let expected = match record.tally(file) {
            Ok(expected) => expected,
            Err(error) => {
                tell(folder, error, report)?;
                continue;
            }
        };
        let found = match folder.tally(&name, &expected) {
            Ok(Some(found)) => found,
            Ok(None) => {
                report.problem(name, None, "it is missing");
                continue;
            }
            Err(error) => {
                tell(folder, error, report)?;
                continue;
            }
        };
        if found.bytes != expected.bytes {
            report.problem(
                &name,
                None,
                format!("it has {} bytes instead of {}", found.bytes, expected.bytes),
            );
        }
        for range in expected.differences(&found) {
            report.problem(&name, Some(range), "the checksum does not fit");
        }
    }
    if report.problems.len() == before {
        if let Err(error) = record.generation() {
            tell(folder, error, report)?;
        }
        report.generations += 1;
    }
    Ok(Some((index, record)))
}

fn journal(
    folder: &Folder,
    index: u32,
    run: Option<Identity>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let name = folder_of(index).join(JOURNAL);
    let path = folder.path(&name);
    if !path.exists() {
        return Ok(());
    }
    if folder.path(folder_of(index).join(GENERATION_FILE)).exists() {
        report.notes.push(format!(
            "{} is left of a generation that is committed; the next run removes it",
            name.display()
        ));
        return Ok(());
    }
    let torn = |at: u64, bytes: u64| {
        let name = name.display();
        format!("{name} ends in half a record: {bytes} bytes at byte {at}; the next run cuts them off")
    };
    let beginning = match Reader::open(&path) {
        Ok(beginning) => beginning,
        Err(error) => return tell(folder, error, report),
    };
    let mut reader = match beginning {
        Beginning::Torn => {
            report.notes.push(torn(0, fs::metadata(&path).map_or(0, |file| file.len())));
            return Ok(());
        }
        Beginning::Damaged(what) => {
            report.problem(name, Some(0..48), what);
            return Ok(());
        }
        Beginning::Sound(reader) => reader,
    };
    if reader.shape().generation != index || run.is_some_and(|run| !run.is(reader.shape().run)) {
        report.problem(&name, Some(0..48), "it belongs to another run or generation");
        return Ok(());
    }
    while let Some(piece) = reader.next().map_err(io("read", &path))? {
        match piece {
            Piece::Rows(chunk) => report.waiting += chunk.rows.len() as u64,
            Piece::Torn { at, bytes } => report.notes.push(torn(at, bytes)),
            Piece::Damaged { at, bytes, what } => report.problem(&name, Some(at..at + bytes), what),
        }
    }
    Ok(())
}

/// Every generation before a committed one is committed, and all that `run.json` tells of are there.
fn complete(records: &[(u32, Record)], told: u64, report: &mut Report) {
    let last = records.last().map_or(0, |(index, _)| u64::from(*index) + 1);
    for index in 0..last.max(told.min(u64::from(u32::MAX))) as u32 {
        let file = folder_of(index).join(GENERATION_FILE);
        let known = report.problems.iter().any(|problem| problem.file == file);
        if !known && records.iter().all(|(found, _)| *found != index) {
            report.problem(file, None, "it is missing");
        }
    }
}

/// What `run.json` tells of was flushed to the disk before: fewer simulations are a journal, or an end of it, that is gone.
fn simulations(next: u32, told: u64, report: &mut Report) {
    let found = report.simulations + report.waiting;
    if report.problems.is_empty() && told > found {
        let what = format!("{RUN_FILE} tells of {told} simulations, and {found} are there");
        report.problem(folder_of(next).join(JOURNAL), None, what);
    }
}

/// A process that is killed after a commit leaves the posterior of the generation before; then `run.json` does not
/// tell of the last one yet.
fn posterior(
    folder: &Folder,
    records: &[(u32, Record)],
    told: u64,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some((index, last)) = records.last() else { return Ok(()) };
    let is_there = match open(&folder.path(POSTERIOR_FILE)) {
        Ok(found) => found.is_some(),
        Err(error) => return tell(folder, error, report),
    };
    let fits = |record: &Record| match record.is_posterior(folder) {
        Err(StoreError::Damaged { .. }) => Ok(false),
        other => other,
    };
    if fits(last)? {
        return Ok(());
    }
    let behind = told <= u64::from(*index);
    let before = records.len() > 1 && fits(&records[records.len() - 2].1)?;
    if behind && (before || !is_there) {
        report
            .notes
            .push(format!("{POSTERIOR_FILE} is not that of generation {index} yet; the next run writes it"));
    } else if !is_there {
        report.problem(POSTERIOR_FILE, None, "it is missing");
    } else {
        report.problem(POSTERIOR_FILE, None, format!("it is not the posterior of generation {index}"));
    }
    Ok(())
}

/// Whether nothing is wrong with the files of a generation.
pub(super) fn is_whole(folder: &Folder, index: u32, run: Option<Identity>) -> Result<bool, StoreError> {
    let mut report = Report::default();
    let record = committed(folder, index, run, &mut report)?;
    Ok(record.is_some() && report.problems.is_empty())
}
