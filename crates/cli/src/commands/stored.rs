//! What a directory already holds.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, anyhow};
use counterpoise_run::drive::Seconds;
use counterpoise_run::store::{
    Differences, Header, LOCK_FILE, POSTERIOR_FILE, RUN_FILE, RunRecord, StoreError, differences,
};

use super::shell_words;
use crate::output::Output;
use crate::summary::Summary;
use crate::trouble::Trouble;

/// The run in a directory, as far as it got.
pub(crate) enum Stored {
    /// There is more to do; earlier processes have spent so much time on it.
    Begun(Seconds),
    Finished(Box<Summary>),
}

/// The contents of `run.json`, if there is one.
pub(crate) fn read(directory: &Path) -> Result<Option<RunRecord>, Trouble> {
    let path = directory.join(RUN_FILE);
    match fs::metadata(&path) {
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
            return Ok(None);
        }
        Err(error) => {
            let error = anyhow::Error::from(error).context(format!("cannot read {}", path.display()));
            return Err(Trouble::input(error, None));
        }
        Ok(metadata) if !metadata.is_file() => {
            return Err(Trouble::input(anyhow!("{} is not a regular file", path.display()), None));
        }
        Ok(_) => {}
    }
    RunRecord::read(directory).map_err(|error| trouble(error, directory))
}

/// A directory that cannot be used. Damage and full disks are failures; everything else is for the user to change.
pub(crate) fn trouble(error: StoreError, directory: &Path) -> Trouble {
    let hint = advice(&error, directory);
    let is_broken =
        matches!(error, StoreError::Damaged { .. } | StoreError::Write { .. } | StoreError::Parquet { .. });
    if is_broken || is_full(&error) { Trouble::failed(error, hint) } else { Trouble::input(error, hint) }
}

fn is_full(error: &StoreError) -> bool {
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
    error.io().is_some_and(|error| full.contains(&error.kind()))
}

/// The summary in the contents of a `run.json`.
pub(crate) fn summary(directory: &Path, run: &RunRecord) -> Result<Summary, Trouble> {
    let name = directory.join(RUN_FILE);
    if run.summary.is_null() {
        let message = anyhow!("{} has no summary yet", name.display());
        let hint = format!("counterpoise run PROBLEM --into {} goes on with the run", directory.display());
        return Err(Trouble::input(message, hint));
    }
    Summary::deserialize_from(&run.summary)
        .with_context(|| format!("{} has no summary of a run", name.display()))
        .map_err(|error| Trouble::input(error, None))
}

fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}

/// What `directory` holds of the run that `header` describes.
pub(crate) fn look(directory: &Path, header: &Header, output: Output) -> Result<Stored, Trouble> {
    let Some(run) = read(directory)? else {
        let posterior = directory.join(POSTERIOR_FILE);
        if posterior.exists() && !directory.join("generations").exists() {
            let message = anyhow!("{} exists and belongs to no run", posterior.display());
            return Err(Trouble::input(message, "use --into with another directory".to_owned()));
        }
        return Ok(Stored::Begun(Seconds::default()));
    };
    let found = match run.is_described() {
        true => differences(&run.description, &header.description),
        false => Differences::default(),
    };
    if !found.refused.is_empty() {
        let error = StoreError::Mismatch { path: directory.into(), differences: found.refused };
        let hint = advice(&error, directory);
        return Err(Trouble::input(error, hint));
    }
    for line in &found.allowed {
        output.note(&format!("the same run goes on: {line}"));
    }
    let finished = run.summary["finished"] == true && !found.moves_end;
    // A run whose posterior was deleted is made again: the result is the same.
    if finished && has_content(&directory.join(POSTERIOR_FILE)) {
        return Ok(Stored::Finished(Box::new(summary(directory, &run)?)));
    }
    let spent = |stage: &str| run.summary["seconds"][stage].as_f64().unwrap_or(0.0);
    Ok(Stored::Begun(match run.format {
        1 => Seconds::default(),
        _ => Seconds {
            propose: spent("propose"),
            simulate: spent("simulate"),
            weigh: spent("weigh"),
            store: spent("store"),
            total: spent("total"),
        },
    }))
}

/// What to do about a directory that cannot be used.
pub(crate) fn advice(error: &StoreError, directory: &Path) -> Option<String> {
    let path = directory.display();
    match error {
        StoreError::Mismatch { .. } => Some(format!("use --into with another directory, or remove {path}")),
        StoreError::NotExtendable { .. } | StoreError::Link { .. } => {
            Some("use --into with another directory".to_owned())
        }
        StoreError::Damaged { .. } => {
            let words = ["counterpoise", "verify", &path.to_string(), "--salvage"].map(str::to_owned);
            Some(format!(
                "{} keeps what is whole, and the same command makes the rest again",
                shell_words(&words)
            ))
        }
        StoreError::Locked { elsewhere: true, .. } => {
            let lock = directory.join(LOCK_FILE);
            Some(format!("if that process is no longer running, remove {}", lock.display()))
        }
        StoreError::Locked { .. } => Some("wait for it, or use --into with another directory".to_owned()),
        StoreError::Format { found, .. } if found != "unknown" => {
            Some("a newer version of counterpoise wrote it: use that".to_owned())
        }
        other => is_full(other).then(|| {
            "make room and give the same command: what is done is kept, and it goes on from there".to_owned()
        }),
    }
}
