//! Why a store cannot keep its promise.

use std::path::{Path, PathBuf};

use super::FORMAT;

/// The store cannot keep its promise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Input or output failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A file could not be written to its end.
    #[error("cannot write {} beyond its first {written} bytes", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// How many bytes it took.
        written: u64,
        /// Why it took no more.
        source: std::io::Error,
    },
    /// A Parquet file could not be written or read.
    #[error("cannot {action} {}", path.display())]
    Parquet {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why it failed.
        source: parquet::errors::ParquetError,
    },
    /// The file is not what it should be.
    #[error("{} does not describe a run", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: serde_json::Error,
    },
    /// The file is larger than any run's.
    #[error("{} is larger than {} MiB", path.display(), limit >> 20)]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// The largest that is read, in bytes.
        limit: u64,
    },
    /// The file was written in a format this version does not know.
    #[error("{} has format {found}; this version reads formats 1 to {FORMAT}", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: String,
    },
    /// The file does not hold what was written into it.
    #[error("{} is damaged{}: {what}", path.display(), at.map_or_else(String::new, |at| format!(" at byte {at}")))]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Where in it, if that is known.
        at: Option<u64>,
        /// What is wrong.
        what: String,
    },
    /// A link inside the directory, which might lead out of it.
    #[error("{} is a symbolic link: nothing is written or deleted through it", path.display())]
    Link {
        /// Which.
        path: PathBuf,
    },
    /// Another process is at work.
    #[error("{} is in use by {holder}", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
        /// Who has it.
        holder: String,
        /// Whether that process may have ended without a trace: it was on another machine.
        elsewhere: bool,
    },
    /// The run was finished by a version that kept no simulations.
    #[error("{} has format 1, without simulations: it cannot be extended", path.display())]
    NotExtendable {
        /// Where.
        path: PathBuf,
    },
    /// The store belongs to a different problem, method, seed or simulator.
    #[error("{} holds another run:{}", path.display(), listed(differences))]
    Mismatch {
        /// Where.
        path: PathBuf,
        /// What differs.
        differences: Vec<String>,
    },
}

impl StoreError {
    /// A damaged file, by what is wrong.
    pub(super) fn damaged(path: &Path, at: Option<u64>, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), at, what: what.into() }
    }

    /// The error of the system behind it, if there is one.
    #[must_use]
    pub fn io(&self) -> Option<&std::io::Error> {
        match self {
            Self::Io { source, .. } | Self::Write { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Turns an error of the system into one that names the action and the file.
pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_path_buf();
    move |source| StoreError::Io { action, path, source }
}

/// One difference in the line, several in lines of their own.
fn listed(differences: &[String]) -> String {
    match differences {
        [one] => format!(" {one}"),
        several => several.iter().map(|line| format!("\n  {line}")).collect(),
    }
}
