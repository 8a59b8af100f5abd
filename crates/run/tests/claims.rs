//! A directory without `run.json`, or with one that says nothing, is that of the run that its generations are of.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use counterpoise_core::simulate::Chunk;
use counterpoise_core::table::Table;
use counterpoise_run::store::{Directory, Header, Loss, RUN_FILE, Store, StoreError};
use serde_json::json;

fn header(seed: u64) -> Header {
    Header {
        description: json!({ "method": { "seed": seed, "simulations": 8 }, "observed": { "s": 1.0 } }),
        parameters: vec!["x".into()],
        statistics: vec!["s".into()],
        units: Vec::new(),
    }
}

/// A directory in which three simulations of generation 0 are done.
fn begun(path: &Path) {
    let mut store = Directory::new(path);
    store.open(&header(1)).unwrap();
    store.chunks(0, 8, &mut |_| ()).unwrap();
    let chunk = Chunk::new(vec![0, 1, 2], Table::from_rows(1, vec![0.5, 1.5, 2.5]), vec![Ok(()); 3]);
    store.append(chunk).unwrap();
    store.secure(Loss::Power).unwrap();
}

#[test]
fn the_wrong_problem_does_not_claim_a_directory_without_a_record() {
    for generation in ["000", "002"] {
        let folder = tempfile::tempdir().unwrap();
        begun(folder.path());
        if generation == "002" {
            // As after a salvage that kept nothing of the first generations.
            let from = folder.path().join("generations");
            fs::create_dir(from.join("002")).unwrap();
            fs::rename(from.join("000/journal"), from.join("002/journal")).unwrap();
        }
        let file = folder.path().join(RUN_FILE);
        fs::remove_file(&file).unwrap();
        let refused = Directory::new(folder.path()).open(&header(2)).unwrap_err();
        let StoreError::Mismatch { differences, .. } = &refused else { panic!("{refused:?}") };
        let expected = format!("generations/{generation}/journal was made by another problem");
        assert!(differences[0].starts_with(&expected), "{differences:?}");
        assert!(!file.exists(), "nothing is claimed");
        let mut store = Directory::new(folder.path());
        store.open(&header(1)).unwrap();
        assert!(file.exists());
        let mut kept = 0;
        if generation == "000" {
            store.chunks(0, 8, &mut |chunk| kept += chunk.rows.len()).unwrap();
            assert_eq!(kept, 3);
        }
    }
}

/// The same problem with keys in another order and without those that have no value finds what it kept.
#[test]
fn the_same_description_written_otherwise_is_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    begun(folder.path());
    let description =
        json!({ "observed": { "s": 1.0 }, "model": null, "method": { "simulations": 8, "seed": 1 } });
    let mut store = Directory::new(folder.path());
    store.open(&Header { description, ..header(1) }).unwrap();
    let mut kept = 0;
    store.chunks(0, 8, &mut |chunk| kept += chunk.rows.len()).unwrap();
    assert_eq!(kept, 3);
}
