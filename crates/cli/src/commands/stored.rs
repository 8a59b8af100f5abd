//! What a directory already holds.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, anyhow};
use counterpoise_run::store::{Directory, Header, POSTERIOR_FILE, RUN_FILE, StoreError};
use serde_json::Value;

use crate::summary::Summary;
use crate::trouble::Trouble;

/// The run in a directory, as far as it got.
pub(crate) enum Stored {
    Nothing,
    /// It was cut short after so many generations.
    Unfinished(usize),
    Finished(Box<Summary>),
}

/// The contents of `run.json`, if there is one.
pub(crate) fn read(directory: &Path) -> Result<Option<Value>, Trouble> {
    let path = directory.join(RUN_FILE);
    match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let error = anyhow::Error::from(error).context(format!("cannot read {}", path.display()));
            return Err(Trouble::input(error, None));
        }
        Ok(metadata) if !metadata.is_file() => {
            return Err(Trouble::input(anyhow!("{} is not a regular file", path.display()), None));
        }
        Ok(_) => {}
    }
    Directory::new(directory).read().map_err(|error| Trouble::input(error, None))
}

/// The summary in the contents of a `run.json`.
pub(crate) fn summary(directory: &Path, run: &Value) -> Result<Summary, Trouble> {
    Summary::deserialize_from(&run["summary"])
        .with_context(|| format!("{} has no summary of a run", directory.join(RUN_FILE).display()))
        .map_err(|error| Trouble::input(error, None))
}

fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}

/// What `directory` holds of the run that `header` describes.
pub(crate) fn look(directory: &Path, header: &Header) -> Result<Stored, Trouble> {
    let Some(run) = read(directory)? else {
        let posterior = directory.join(POSTERIOR_FILE);
        if posterior.exists() {
            let message = anyhow!("{} exists and belongs to no run", posterior.display());
            return Err(Trouble::input(message, "use --into with another directory".to_owned()));
        }
        return Ok(Stored::Nothing);
    };
    match Directory::new(directory).holds(header) {
        // A run whose posterior was deleted is made again: the result is the same.
        Ok(true) if !has_content(&directory.join(POSTERIOR_FILE)) => Ok(Stored::Unfinished(0)),
        Ok(true) => Ok(Stored::Finished(Box::new(summary(directory, &run)?))),
        Ok(false) => Ok(Stored::Unfinished(run["summary"]["generations"].as_u64().unwrap_or(0) as usize)),
        Err(error) => {
            let hint = matches!(error, StoreError::Mismatch { .. })
                .then(|| format!("use --into with another directory, or remove {}", directory.display()));
            Err(Trouble::input(error, hint))
        }
    }
}
