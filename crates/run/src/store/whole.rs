//! Whether a table of a run is what was written: asked before it is handed on.

use std::path::Path;

use super::folder::{Folder, generation as folder_of};
use super::generation::{GENERATION_FILE, Record, SIMULATIONS_FILE};
use super::verify::indices;
use super::{POSTERIOR_FILE, RunRecord, StoreError};

/// Looks at the checksums of `posterior.parquet`; format 1 had none.
///
/// # Errors
/// If it is damaged, belongs to no generation, or cannot be read.
pub fn check_posterior(directory: &Path) -> Result<(), StoreError> {
    let folder = Folder::new(directory.to_path_buf());
    if RunRecord::read(directory)?.is_some_and(|record| record.format == 1) {
        return Ok(());
    }
    let committed = indices(&folder)?;
    let committed = committed
        .into_iter()
        .rev()
        .filter(|&index| folder.path(folder_of(index).join(GENERATION_FILE)).exists());
    // A process that was killed after a commit leaves the posterior of the generation before.
    for index in committed.take(2) {
        let Some(record) = Record::read(&folder, index)? else { continue };
        if record.is_posterior(&folder)? {
            return Ok(());
        }
    }
    let what = "it is not the posterior of the last generation";
    Err(StoreError::damaged(&folder.path(POSTERIOR_FILE), None, what))
}

/// Looks at the checksums of a committed generation's simulations: whether it has any. Those of a table stay there.
///
/// # Errors
/// If they are damaged, or cannot be read.
pub fn check_simulations(directory: &Path, index: u32) -> Result<bool, StoreError> {
    let folder = Folder::new(directory.to_path_buf());
    let Some(record) = Record::read(&folder, index)? else { return Ok(false) };
    if !record.files().any(|name| name == SIMULATIONS_FILE) {
        return Ok(false);
    }
    let (name, expected) = (folder_of(index).join(SIMULATIONS_FILE), record.tally(SIMULATIONS_FILE)?);
    match folder.tally(&name, &expected)? {
        None => Err(StoreError::damaged(&folder.path(name), None, "it is missing")),
        Some(found) if found == expected => Ok(true),
        Some(found) => {
            let at = expected.differences(&found).first().map(|range| range.start);
            Err(StoreError::damaged(&folder.path(name), at, "its checksum does not fit"))
        }
    }
}
