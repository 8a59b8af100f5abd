//! `show`: the summary of a run again.

use std::path::Path;

use anyhow::anyhow;
use counterpoise_run::store::RUN_FILE;

use super::stored;
use crate::args::ShowArguments;
use crate::output::Output;
use crate::print::{json, posterior};
use crate::trouble::{DONE, Trouble};

/// Prints what `run.json` keeps.
pub(crate) fn show(arguments: &ShowArguments, output: Output) -> Result<u8, Trouble> {
    let directory = &arguments.directory;
    let Some(run) = stored::read(directory)? else { return Err(no_run(directory)) };
    let mut summary = stored::summary(directory, &run)?;
    // A directory that was moved is where it is, not where it was.
    let moved = match (directory.canonicalize(), std::fs::canonicalize(&summary.directory)) {
        (Ok(here), Ok(there)) => here != there,
        _ => true,
    };
    if moved {
        summary.directory = directory.display().to_string();
    }
    let text =
        if arguments.json { json::object(&summary)? } else { posterior::page(&summary, arguments.plot) };
    output.result(&text)?;
    Ok(DONE)
}

/// A directory without a run.
pub(super) fn no_run(directory: &Path) -> Trouble {
    let what = if directory.is_dir() { "holds no run: it has no" } else { "is no directory with a" };
    let message = anyhow!("{} {what} {RUN_FILE}", directory.display());
    Trouble::input(message, "counterpoise run PROBLEM --into DIR makes one".to_owned())
}
