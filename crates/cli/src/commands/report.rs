//! `report`: a page with pictures of a run.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow};
use counterpoise_report::{ReportError, Run, page};
use counterpoise_tables::write::Partial;

use super::{show, stored};
use crate::args::ReportArguments;
use crate::output::Output;
use crate::trouble::{DONE, Trouble, no_folder};

/// Writes the page.
pub(crate) fn report(arguments: &ReportArguments, output: Output) -> Result<u8, Trouble> {
    let directory = &arguments.directory;
    let to = arguments.out.clone().unwrap_or_else(|| directory.join("report.html"));
    if arguments.out.is_some() {
        may_write(&to, arguments.force)?;
    }
    let text = page(&read(directory)?);
    write(&to, text.as_bytes())?;
    output.result(&format!("{}\n", to.display()))?;
    Ok(DONE)
}

/// A run with something to show.
pub(super) fn read(directory: &Path) -> Result<Run, Trouble> {
    Run::read(directory).and_then(Run::with_something).map_err(|error| refused(error, directory))
}

/// A directory that cannot be shown.
pub(super) fn refused(error: ReportError, directory: &Path) -> Trouble {
    let path = directory.display();
    match error {
        ReportError::NoRun { .. } => show::no_run(directory),
        ReportError::Store(error) => stored::trouble(error, directory),
        ReportError::Nothing { .. } => {
            let hint = format!("counterpoise watch {path} shows a run that goes on");
            Trouble::input(error, hint)
        }
        ReportError::TooOld { .. } => {
            Trouble::input(error, format!("counterpoise show {path} prints what there is"))
        }
        other => Trouble::input(other, format!("counterpoise verify {path} says what is wrong")),
    }
}

/// Refuses to overwrite.
pub(super) fn may_write(to: &Path, force: bool) -> Result<(), Trouble> {
    if to.exists() && !force {
        let message = anyhow!("{} exists already", to.display());
        return Err(Trouble::input(message, "--force overwrites it".to_owned()));
    }
    Ok(())
}

/// Writes a file, all or nothing.
pub(super) fn write(to: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    let write = || -> anyhow::Result<()> {
        let (partial, mut file) = Partial::create(to)?;
        file.write_all(bytes)?;
        partial.complete(&file)?;
        Ok(())
    };
    write()
        .with_context(|| format!("cannot write {}", to.display()))
        .map_err(|error| Trouble::failed(error, no_folder(to)))
}
