use std::fs;
use std::time::{Duration, Instant};

use super::*;

fn sheet(path: &Path, rows: usize) {
    let mut columns = Columns::default();
    columns.whole("row", |row| row as i64);
    columns.real("x", |row| row as f64 / 3.0);
    columns.add("t", Cells::Text(Box::new(|row| (row % 2 == 0).then(|| row.to_string()))));
    columns.write(File::create(path).unwrap(), rows, |_| ()).unwrap();
}

fn read_all(path: &Path) -> Result<Vec<Vec<Values>>, StoreError> {
    let sheet = Sheet::open(path)?;
    (0..sheet.groups()).map(|group| sheet.read(group)).collect()
}

/// Every byte changed and every end missing: an error or some values, no panic and no end of memory.
#[test]
fn broken_files_are_refused_or_read_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.parquet");
    sheet(&path, 20);
    let whole = fs::read(&path).unwrap();
    let groups = read_all(&path).unwrap();
    assert_eq!(groups[0][1], Values::Real((0..20).map(|row| f64::from(row) / 3.0).collect()));
    for at in 0..whole.len() {
        for change in [0xff, 0x80, 0x01] {
            let mut changed = whole.clone();
            changed[at] ^= change;
            fs::write(&path, &changed).unwrap();
            let _ = read_all(&path);
        }
        fs::write(&path, &whole[..at]).unwrap();
        assert!(read_all(&path).is_err(), "cut at {at}");
    }
}

#[test]
fn a_footer_longer_than_the_file_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.parquet");
    sheet(&path, 20);
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let refused = read_all(&path).unwrap_err().to_string();
    assert!(refused.contains("the length of its description makes no sense"), "{refused}");
}

/// Names are told apart in a time that grows with their number; by comparing all pairs this would take minutes.
#[test]
fn names_are_told_apart() {
    let mut columns = Columns::default();
    for name in ["a", "a", "a_", "b", "a", "a__", "b_", "b"] {
        columns.name(name);
    }
    assert_eq!(columns.names, ["a", "a_", "a__", "b", "a___", "a____", "b_", "b__"]);
    let (mut columns, begun) = (Columns::default(), Instant::now());
    (0..300_000).for_each(|number| columns.name(&format!("statistic_{number}")));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
