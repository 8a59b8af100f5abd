//! Inputs to begin with: files of this repository.

use std::fs;
use std::path::Path;

/// Larger files make poor seeds: most of what is changed in them does not matter.
const LARGEST: u64 = 64 << 10;

/// The files below the folders of the repository, with these ends of their names, in the order of their names.
pub fn files(folders: &[&str], ends: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for folder in folders {
        collect(&root.join(folder), ends, &mut found);
    }
    found
}

fn collect(folder: &Path, ends: &[&str], found: &mut Vec<Vec<u8>>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, ends, found);
        } else if ends.iter().any(|end| name.ends_with(end))
            && path.metadata().is_ok_and(|metadata| metadata.len() <= LARGEST)
        {
            found.extend(fs::read(&path).ok());
        }
    }
}
