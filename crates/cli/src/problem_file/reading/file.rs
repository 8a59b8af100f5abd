//! The bytes of a file that a user named.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The bytes of a regular file of at most `most` bytes, or why not.
pub(crate) fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| error.to_string();
    // Asked before it is opened: opening a pipe waits for somebody to write into it.
    let kind = fs::metadata(path).map_err(failed)?.file_type();
    if kind.is_dir() {
        return Err("it is a directory".into());
    }
    if !kind.is_file() {
        return Err("it is a pipe or a device and not a regular file".into());
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(format!("it is larger than {} MiB", most >> 20));
    }
    Ok(bytes)
}
