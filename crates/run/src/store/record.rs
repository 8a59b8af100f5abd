//! `run.json`: what a directory is the run of, and its summary.

use std::path::Path;

use serde_json::{Value, json};

use super::folder::Folder;
use super::{StoreError, sealed};

/// Format of the directory; a number that this version does not know is refused. Format 1 had no generations; in format 2 simulations
/// were in order, and particles had all coordinates of unit space.
pub const FORMAT: u64 = 3;
/// Description and summary of the run.
pub const RUN_FILE: &str = "run.json";
/// The kept particles of the last generation.
pub const POSTERIOR_FILE: &str = "posterior.parquet";

/// The largest `run.json` that is read.
const LARGEST: u64 = 256 << 20;

/// What `run.json` says, or shall say.
#[derive(Clone, Debug)]
pub struct RunRecord {
    pub(super) folder: Folder,
    /// The format it was found in.
    pub format: u64,
    /// Problem, method, seed and simulator.
    pub description: Value,
    /// What came of it so far; nothing where nobody has said.
    pub summary: Value,
}

impl RunRecord {
    /// Reads the record in a directory; `None` where there is none.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or is of another format.
    pub fn read(directory: &Path) -> Result<Option<Self>, StoreError> {
        let folder = Folder::new(directory.to_path_buf());
        let path = folder.path(RUN_FILE);
        let Some(bytes) = folder.read(RUN_FILE, LARGEST)? else { return Ok(None) };
        let unreadable = |source| StoreError::Unreadable { path: path.clone(), source };
        // The format comes first: what a newer version writes may be sealed in another way.
        let mut run: Value = match serde_json::from_slice(&bytes) {
            Ok(run) => run,
            Err(source) => return Err(unreadable(source)),
        };
        let format = match run["format"].as_u64() {
            Some(format @ 1..=FORMAT) => format,
            other => {
                let found = other.map_or_else(|| "unknown".into(), |number| number.to_string());
                return Err(StoreError::Format { path, found });
            }
        };
        if format > 1 {
            sealed::open(bytes, &path)?;
        }
        let (description, summary) = (run["run"].take(), run["summary"].take());
        Ok(Some(Self { folder, format, description, summary }))
    }

    /// Whether it says what it is the run of. One that was salvaged may not: then the generations tell.
    #[must_use]
    pub fn is_described(&self) -> bool {
        !self.description.is_null()
    }

    /// Writes it, with this summary.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, summary: &Value) -> Result<(), StoreError> {
        let run = json!({ "format": FORMAT, "run": self.description, "summary": summary });
        let text = sealed::seal(&run, &self.folder.path(RUN_FILE))?;
        self.folder.replace_by(RUN_FILE, text.as_bytes()).map(|_| ())
    }
}
