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
    let mut names = Names::default();
    for name in ["a", "a", "a_", "b", "a", "a__", "b_", "b"] {
        names.add(name);
    }
    assert_eq!(names.list(), ["a", "a_", "a__", "b", "a___", "a____", "b_", "b__"]);
    let (mut names, begun) = (Names::default(), Instant::now());
    (0..300_000).for_each(|number| names.add(&format!("statistic_{number}")));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Counts are written by a dictionary, and all numbers come back to the bit, also those that the first rows did not show.
#[test]
fn numbers_that_repeat_take_little_room() {
    let folder = tempfile::tempdir().unwrap();
    let size = |cell: fn(usize) -> f64| {
        let path = folder.path().join("s.parquet");
        let mut columns = Columns::default();
        // Neither in order nor positive.
        columns.whole("row", |row| (row as i64 - 500) * 7_919 % 1_009);
        columns.real("x", cell);
        columns.write(File::create(&path).unwrap(), 20_000, |_| ()).unwrap();
        let mut first = 0;
        for group in read_all(&path).unwrap() {
            let [Values::Whole(rows), Values::Real(values)] = &group[..] else { panic!("{group:?}") };
            for (row, value) in rows.iter().zip(values) {
                assert_eq!(*row, (first as i64 - 500) * 7_919 % 1_009);
                assert_eq!(value.to_bits(), cell(first).to_bits(), "row {first}");
                first += 1;
            }
        }
        assert_eq!(first, 20_000);
        fs::metadata(&path).unwrap().len()
    };
    // Eleven counts in no order: half a byte each is what four bits take.
    let counts = size(|row| f64::from((row as u32).wrapping_mul(2_654_435_761) >> 16) % 11.0);
    let others = size(|row| (row as f64).sqrt());
    assert!(counts + 7 * 20_000 < others, "{counts} and {others}");
    // A few values at first, then others: NaN with a payload, two zeros, and numbers that never repeat.
    size(|row| match row {
        0..5_000 => [0.0, -0.0, f64::NAN, f64::from_bits(0x7ff8_0000_0000_0001)][row % 4],
        _ => 1.0 / row as f64,
    });
}
