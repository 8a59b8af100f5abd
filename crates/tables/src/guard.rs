//! What stands between a Parquet file that may be broken and the library that reads it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::Fault;

/// Does something with a file that may be broken: the library asserts some of what it reads.
///
/// # Errors
/// Where it panics.
pub fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, Fault> {
    let refused = |_| Fault::Inconsistent("its parts contradict each other");
    catch_unwind(AssertUnwindSafe(read)).map_err(refused)
}

/// Looks at the length of a file's description, which stands at its end and is read into memory as a whole. It may not
/// be longer than `most`, nor than the file.
///
/// # Errors
/// Where it makes no sense, or the file cannot be read.
pub fn check_footer(mut file: &File, most: u64) -> Result<(), Fault> {
    let length = file.metadata().map_err(Fault::Io)?.len();
    if length == 0 {
        return Err(Fault::Empty);
    }
    if length < 12 {
        return Err(Fault::Inconsistent("it is too short"));
    }
    let mut tail = [0; 4];
    file.seek(SeekFrom::End(-8)).and_then(|_| file.read_exact(&mut tail)).map_err(Fault::Io)?;
    if u64::from(u32::from_le_bytes(tail)) > most.min(length - 8) {
        return Err(Fault::Inconsistent("the length of its description makes no sense"));
    }
    Ok(())
}
