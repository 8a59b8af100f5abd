//! Files that figures are written to.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use counterpoise_pictures::Figure;
use counterpoise_tables::write::Partial;

use crate::trouble::Trouble;

/// Dots an inch of a PNG.
const DOTS: f64 = 300.0;

/// A file for a figure, looked at before any work is done.
#[derive(Clone, Debug)]
pub(crate) struct PictureFile {
    path: PathBuf,
    png: bool,
}

impl PictureFile {
    /// A new file whose name says what it is to be.
    pub(crate) fn new(path: &Path) -> Result<Self, Trouble> {
        let end = path.extension().and_then(|end| end.to_str()).map(str::to_lowercase);
        let png = match end.as_deref() {
            Some("svg") => false,
            Some("png") => true,
            _ => {
                let message = anyhow!("{} is neither an .svg nor a .png file", path.display());
                return Err(Trouble::input(message, "--plot figure.svg or --plot figure.png".to_owned()));
            }
        };
        if path.exists() {
            let message = anyhow!("{} exists already", path.display());
            return Err(Trouble::input(message, "remove it, or give another name".to_owned()));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let message = anyhow!("{} is no directory: the figure cannot be written there", folder.display());
            return Err(Trouble::input(message, "make it first".to_owned()));
        }
        Ok(Self { path: path.into(), png })
    }

    /// The file of an option, if it was given.
    pub(crate) fn of(path: Option<&Path>) -> Result<Option<Self>, Trouble> {
        path.map(Self::new).transpose()
    }

    /// Writes the figure.
    pub(crate) fn write(&self, figure: &Figure) -> Result<(), Trouble> {
        let bytes = if self.png {
            figure.png(DOTS).map_err(|error| Trouble::failed(error, None))?
        } else {
            figure.svg().into_bytes()
        };
        write_whole(&self.path, &bytes)
    }
}

/// Writes a file that takes its name only when it is complete.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    let write = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let (partial, mut file) = Partial::create(path)?;
        file.write_all(bytes)?;
        partial.complete(&file)
    };
    let written = write().with_context(|| format!("cannot write {}", path.display()));
    written.map_err(|error| Trouble::failed(error, None))
}
