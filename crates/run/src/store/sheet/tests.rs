use std::fs;
use std::time::{Duration, Instant};

use super::*;
use counterpoise_core::packed::Packed;
use counterpoise_core::table::Table;

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

/// How many of ten are left at a time: each column tells almost all of the one before.
fn left(row: usize, time: usize) -> f64 {
    let slowness = 20f64.powf(random(1_000_000 + row)) - 0.5;
    let died = |particle: usize| 10.0 * slowness * random(10 * row + particle) < time as f64;
    (0..10).filter(|&particle| !died(particle)).count() as f64
}

fn failure(row: usize) -> Option<String> {
    row.is_multiple_of(97).then(|| format!("declined: {row}"))
}

/// Bytes of a file of counts, sorted or as they come.
fn counts(path: &Path, (rows, times): (usize, usize), sorted: bool, is_packed: bool) -> u64 {
    let table = (0..rows).flat_map(|row| {
        (0..times).map(move |time| if failure(row).is_some() { f64::NAN } else { left(row, time) })
    });
    let table = Table::from_rows(times, table.collect());
    let packed = Packed::of(&table).unwrap();
    let table = if is_packed { Layer::from(&packed) } else { Layer::from(&table) };
    let mut columns = Columns::default();
    columns.whole("row", |row| row as i64);
    columns.real("k", random);
    columns.table(&(0..times).map(|time| format!("A@{time}")).collect::<Vec<_>>(), table);
    columns.add("outcome", Cells::Text(Box::new(failure)));
    let columns = if sorted { columns.in_any_order() } else { columns };
    columns.write(File::create(path).unwrap(), rows, |_| ()).unwrap();
    fs::metadata(path).unwrap().len()
}

/// Rows that are alike stand beside each other in the file, take less room, and come back in order to the bit, with what failed.
#[test]
fn rows_are_sorted_within_their_groups_and_read_in_order() {
    const ROWS: usize = 40_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.parquet");
    let plain = counts(&path, (ROWS, 30), false, false);
    let sorted = counts(&path, (ROWS, 30), true, true);
    let packed = fs::read(&path).unwrap();
    counts(&path, (ROWS, 30), true, false);
    assert!(fs::read(&path).unwrap() == packed, "packed or not, the file is the same");
    assert!(10 * sorted < 8 * plain, "{sorted} bytes instead of {plain}");
    let sheet = Sheet::open(&path).unwrap();
    assert_eq!((sheet.groups(), sheet.rows()), (3, ROWS));
    let mut next = 0;
    for group in 0..sheet.groups() {
        let Values::Whole(numbers) = sheet.column(group, 0).unwrap() else { panic!() };
        assert!(!numbers.is_sorted(), "group {group} is as it came");
        let columns = sheet.read_by_row(group).unwrap();
        let Values::Whole(numbers) = &columns[0] else { panic!() };
        let Values::Text(outcomes) = &columns[32] else { panic!() };
        for (at, &row) in numbers.iter().enumerate() {
            assert_eq!(row, next as i64);
            assert_eq!(outcomes[at], failure(next), "row {next}");
            for (time, column) in columns[1..32].iter().enumerate() {
                let Values::Real(values) = column else { panic!() };
                let expected = match time {
                    0 => random(next),
                    _ if failure(next).is_some() => f64::NAN,
                    time => left(next, time - 1),
                };
                assert_eq!(values[at].to_bits(), expected.to_bits(), "row {next}, column {time}");
            }
            next += 1;
        }
    }
    assert_eq!(next, ROWS);
}

/// Row numbers cost more than sorting saves where columns are few, tell different things, or never repeat.
#[test]
fn rows_stay_in_order_where_another_saves_nothing() {
    let sorted = |columns: &[&dyn Fn(usize) -> f64]| {
        let examples: Vec<Values> =
            columns.iter().map(|cell| Values::Real((0..1_000).map(cell).collect())).collect();
        Order::of(&examples).is_some()
    };
    let even = |seed: usize| move |row: usize| (4.0 * random(row + 10_000 * seed)).floor();
    assert!(!sorted(&[]));
    assert!(!sorted(&[&random, &|_| 1.0]));
    assert!(!sorted(&[&even(0), &even(1), &random]));
    let many: Vec<_> = (0..40).map(even).collect();
    let many: Vec<&dyn Fn(usize) -> f64> = many.iter().map(|cell| cell as _).collect();
    assert!((3..40).all(|columns| !sorted(&many[..columns])));
    // The same twelve times over is another matter.
    assert!(sorted(&[&even(0) as &dyn Fn(usize) -> f64; 12]));
}

/// More different numbers than there are codes come later than the rows that were looked at first.
#[test]
fn numbers_that_the_first_rows_did_not_show_are_kept_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.parquet");
    let cell = |row: usize| if row < 5_000 { (4.0 * random(row)).floor() } else { (row % 3_000) as f64 };
    let table = Table::from_rows(12, (0..12_000).flat_map(|row| [cell(row); 12]).collect());
    let mut columns = Columns::default();
    columns.whole("row", |row| row as i64);
    columns.table(&(0..12).map(|j| format!("s{j}")).collect::<Vec<_>>(), &table);
    columns.in_any_order().write(File::create(&path).unwrap(), 12_000, |_| ()).unwrap();
    let sheet = Sheet::open(&path).unwrap();
    assert!(!matches!(sheet.column(0, 0).unwrap(), Values::Whole(numbers) if numbers.is_sorted()));
    for column in &sheet.read_by_row(0).unwrap()[1..] {
        assert_eq!(*column, Values::Real((0..12_000).map(cell).collect()));
    }
}
