//! The journal of a run that was stopped, as the run reads it that goes on, and as `verify` does.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::Chunk;
use counterpoise_core::table::Table;
use counterpoise_run::store::{Directory, Header, Loss, Store, StoreError, reseal_journal, verify};
use tempfile::TempDir;

use super::{Target, shape};

pub const TARGET: Target = Target {
    name: "chunks",
    about: "the journal of an unfinished generation",
    seeds,
    words: &["\0\0\0\0", "\u{1}\0\0\0", "crashed: ", "declined: ", "timed-out: 1.5", "not-finite: 0"],
    run,
};

/// Simulations of the generation, and statistics of each.
const SIMULATIONS: usize = 50;
const STATISTICS: usize = 2;

thread_local! {
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

fn header() -> Header {
    Header {
        description: serde_json::json!({ "name": "fuzz", "version": env!("CARGO_PKG_VERSION") }),
        parameters: vec!["k".into()],
        statistics: vec!["a".into(), "b".into()],
        units: Vec::new(),
    }
}

fn journal(directory: &Path) -> PathBuf {
    directory.join("generations/000/journal")
}

/// Journals with one record and with several, failures among them.
fn seeds() -> Vec<Vec<u8>> {
    let seed = |sizes: &[usize]| -> Result<Vec<u8>, StoreError> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut store = Directory::new(folder.path());
        store.open(&header())?;
        store.chunks(0, SIMULATIONS, &mut |_| ())?;
        let mut first = 0;
        for &size in sizes {
            let values = (0..size * STATISTICS).map(|at| at as f64 / 3.0).collect();
            let failed = |row: usize| if row % 3 == 1 { Err(Failure::Crashed("why".into())) } else { Ok(()) };
            let outcomes = (first..first + size).map(failed).collect();
            let rows = (first..first + size).collect();
            store.append(Chunk::new(rows, Table::from_rows(STATISTICS, values), outcomes))?;
            store.secure(Loss::Process)?;
            first += size;
        }
        Ok(fs::read(journal(folder.path())).expect("the journal was written"))
    };
    [&[1][..], &[50], &[3, 1, 7]].into_iter().map(|sizes| seed(sizes).expect("a journal")).collect()
}

fn run(input: &[u8]) -> String {
    let directory = FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            // From now on the folder is that of this run, whatever its journal says.
            Directory::new(folder.path()).open(&header()).expect("an empty folder");
            folder
        });
        folder.path().to_path_buf()
    });
    // Every other input gets checksums that fit: without, hardly any would reach what is behind them.
    let mut input = input.to_vec();
    if input.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) % 2 == 0 {
        reseal_journal(&mut input);
    }
    fs::create_dir_all(directory.join("generations/000")).expect("a temporary folder");
    fs::write(journal(&directory), input).expect("a temporary file");
    let mut store = Directory::new(&directory);
    store.open(&header()).expect("the record of the run is whole");
    let mut count = 0_usize;
    let read = store.chunks(0, SIMULATIONS, &mut |chunk| {
        assert!(chunk.rows.iter().all(|&row| row < SIMULATIONS), "{:?}", chunk.rows);
        assert!(chunk.summaries.columns() == STATISTICS && chunk.outcomes.len() == chunk.rows.len());
        let mut outcomes = chunk.summaries.iter().zip(&chunk.outcomes);
        assert!(outcomes.all(|(row, outcome)| outcome.is_err() || row.iter().all(|value| value.is_finite())));
        count += chunk.rows.len();
    });
    let read = read.map_or_else(|error| shape(&error.to_string()), |()| "read".into());
    drop(store);
    let verified = match verify(&directory) {
        Ok(report) => format!("{} problems, {} waiting", report.problems.len(), report.waiting.min(9)),
        Err(error) => shape(&error.to_string()),
    };
    [read, count.min(9).to_string(), verified].join("\n")
}
