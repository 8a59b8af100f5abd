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

/// A random number below one, for a row.
fn random(row: usize) -> f64 {
    let mut z = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1u64 << 53) as f64
}

/// Bytes of a number in a sheet of so many rows, which come back to the bit.
fn bytes(cell: fn(usize) -> f64) -> f64 {
    const ROWS: usize = 20_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.parquet");
    let mut columns = Columns::default();
    // Neither in order nor positive, but again and again the same differences.
    columns.whole("row", |row| (row as i64 - 500) * 7_919 % 1_009);
    columns.real("x", cell);
    columns.write(File::create(&path).unwrap(), ROWS, |_| ()).unwrap();
    let mut first = 0;
    for group in read_all(&path).unwrap() {
        let [Values::Whole(rows), Values::Real(values)] = &group[..] else { panic!("{group:?}") };
        for (row, value) in rows.iter().zip(values) {
            assert_eq!(*row, (first as i64 - 500) * 7_919 % 1_009);
            assert_eq!(value.to_bits(), cell(first).to_bits(), "row {first}");
            first += 1;
        }
    }
    assert_eq!(first, ROWS);
    let sheet = Sheet::open(&path).unwrap();
    let sizes =
        (0..sheet.groups()).map(|group| sheet.reader.metadata().row_group(group).column(1).compressed_size());
    sizes.sum::<i64>() as f64 / ROWS as f64
}

/// All numbers come back to the bit, also those that the first rows did not show, and take little more room than what they tell.
#[test]
fn numbers_take_no_more_room_than_they_tell() {
    // Eleven counts, as likely as each other: four bits. Mostly nought: a bit and a half; it cannot be below two for pairs of them.
    let even = bytes(|row| (11.0 * random(row)).floor());
    assert!(even < 0.52, "{even}");
    let uneven = bytes(|row| (11.0 * random(row).powi(8)).floor());
    assert!(uneven < 0.35, "{uneven}");
    // One in a thousand decimals: ten bits, and the thousand numbers in each group of rows.
    let decimals = bytes(|row| (1_000.0 * random(row)).floor() / 1_000.0);
    assert!(decimals < 2.5, "{decimals}");
    // Large counts have 17 bits; noise has 52 and a few for the exponent.
    let counts = bytes(|row| (100_000.0 * random(row)).floor());
    assert!(counts < 3.0, "{counts}");
    let noise = bytes(|row| (10.0 * random(row)).exp());
    assert!(noise < 7.3, "{noise}");
    // A few values at first, then others: NaN with a payload, two zeros, and numbers that never repeat.
    bytes(|row| match row {
        0..5_000 => [0.0, -0.0, f64::NAN, f64::from_bits(0x7ff8_0000_0000_0001)][row % 4],
        _ => 1.0 / row as f64,
    });
    bytes(|row| if row < 5_000 { random(row) } else { f64::INFINITY });
}
