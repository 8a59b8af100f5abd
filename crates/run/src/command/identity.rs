//! Which simulator it is: a fingerprint of each file that belongs to a program.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use twox_hash::XxHash3_128;

/// Files larger than this are not read.
pub const LARGEST_FILE: u64 = 1 << 30;

/// Those of a program's words that name a regular file as seen from its directory.
#[must_use]
pub fn files<'w>(directory: &Path, words: &'w [String]) -> Vec<&'w str> {
    let mut files: Vec<&str> = words.iter().map(String::as_str).collect();
    // A first word without a slash is looked for on the PATH and not in the directory.
    if files.first().is_some_and(|word| !word.contains('/')) {
        files.remove(0);
    }
    files.retain(|word| !word.is_empty() && directory.join(word).is_file());
    files.sort_unstable();
    files.dedup();
    files
}

/// The fingerprint of a file: changed content changes it, short of intent.
///
/// # Errors
/// If it cannot be read, or is larger than [`LARGEST_FILE`].
pub fn fingerprint(path: &Path) -> io::Result<String> {
    // Asked before it is opened: opening a pipe waits for somebody to write into it.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let too_large = || io::Error::other(format!("it is larger than {} MiB", LARGEST_FILE >> 20));
    if metadata.len() > LARGEST_FILE {
        return Err(too_large());
    }
    let mut file = File::open(path)?.take(LARGEST_FILE + 1);
    let (mut hasher, mut buffer, mut length) = (XxHash3_128::new(), vec![0; 1 << 18], 0);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                hasher.write(&buffer[..read]);
                length += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    if length > LARGEST_FILE {
        return Err(too_large());
    }
    Ok(format!("{:032x}", hasher.finish_128()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn words_that_are_files_are_found_and_their_content_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.py"), "one").unwrap();
        fs::write(path("python3"), "not the one that is started").unwrap();
        fs::create_dir(path("data")).unwrap();
        let words = ["python3", "a.py", "data", "-v", "", "a.py", "b.py"].map(str::to_owned);
        assert_eq!(files(folder.path(), &words), ["a.py"]);
        assert_eq!(files(folder.path(), &["./python3".to_owned()]), ["./python3"]);
        let before = fingerprint(&path("a.py")).unwrap();
        assert_eq!(before.len(), 32);
        fs::write(path("a.py"), "two").unwrap();
        assert_ne!(fingerprint(&path("a.py")).unwrap(), before);
        fs::write(path("a.py"), "one").unwrap();
        assert_eq!(fingerprint(&path("a.py")).unwrap(), before);
        assert!(fingerprint(&path("data")).is_err() && fingerprint(&path("b.py")).is_err());
        File::create(path("huge")).unwrap().set_len(LARGEST_FILE + 1).unwrap();
        assert!(fingerprint(&path("huge")).unwrap_err().to_string().contains("larger than 1024 MiB"));
    }
}
