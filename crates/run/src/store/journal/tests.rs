use std::fs;

use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::Chunk;
use counterpoise_core::table::Table;

use super::*;

const SHAPE: Shape = Shape { generation: 3, run: 77, rows: 1000, columns: 2 };

fn chunk(first: usize) -> Chunk {
    let values = vec![first as f64 + 0.1, -0.0, f64::NAN, f64::NAN, 1e-310, f64::MAX];
    let outcomes = vec![Ok(()), Err(Failure::Crashed("half\na line".into())), Ok(())];
    Chunk { rows: vec![first, first + 1, first + 2], summaries: Table::from_rows(2, values), outcomes }
}

/// A journal of some chunks, a record each.
fn journal(path: &std::path::Path, chunks: usize) {
    let mut writer = Writer::new(path.into(), SHAPE, 0);
    for at in 0..chunks {
        writer.add(chunk(3 * at)).unwrap();
    }
    writer.settle().unwrap();
}

fn pieces(path: &std::path::Path) -> Vec<Piece> {
    let Beginning::Sound(mut reader) = Reader::open(path).unwrap() else { panic!("no sound beginning") };
    assert_eq!(reader.shape(), SHAPE);
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

fn rows(pieces: &[Piece]) -> Vec<usize> {
    let rows = pieces.iter().map(|piece| if let Piece::Rows(chunk) = piece { &chunk.rows[..] } else { &[] });
    rows.collect::<Vec<_>>().concat()
}

#[test]
fn chunks_read_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    journal(&path, 3);
    let pieces = pieces(&path);
    assert_eq!(rows(&pieces), (0..9).collect::<Vec<_>>());
    let Piece::Rows(second) = &pieces[1] else { panic!() };
    let bits = |chunk: &Chunk| chunk.summaries.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(second), bits(&chunk(3)));
    assert_eq!(second.outcomes, chunk(3).outcomes);
}

/// Cut after any byte: whole records stay, the rest is a torn tail, and writing goes on behind the last whole one.
#[test]
fn a_journal_cut_anywhere_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    journal(&path, 2);
    let bytes = fs::read(&path).unwrap();
    let record = (bytes.len() - HEADER) / 2;
    for cut in 0..bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        let Beginning::Sound(mut reader) = Reader::open(&path).unwrap() else {
            assert!(cut < HEADER);
            continue;
        };
        let (mut whole, mut sound) = (0, HEADER as u64);
        while let Some(piece) = reader.next().unwrap() {
            match piece {
                Piece::Rows(_) => (whole, sound) = (whole + 1, reader.position()),
                Piece::Torn { at, bytes } => assert_eq!((at, at + bytes), (sound, cut as u64)),
                Piece::Damaged { .. } => panic!("cut at {cut}: {piece:?}"),
            }
        }
        assert_eq!(whole, (cut - HEADER) / record);
        let mut writer = Writer::new(path.clone(), SHAPE, sound);
        writer.add(chunk(600)).unwrap();
        writer.write().unwrap();
        let pieces = pieces(&path);
        assert_eq!(pieces.len(), whole + 1);
        assert_eq!(rows(&pieces[whole..]), [600, 601, 602]);
    }
}

/// Any byte changed in any way: never a wrong number, never a torn tail, and every other record is found.
#[test]
fn a_changed_byte_is_damage_and_costs_one_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    journal(&path, 4);
    let bytes = fs::read(&path).unwrap();
    let record = (bytes.len() - HEADER) / 4;
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(&path, &changed).unwrap();
        if at < HEADER {
            assert!(matches!(Reader::open(&path).unwrap(), Beginning::Damaged(_)), "byte {at}");
            continue;
        }
        let (pieces, hit) = (pieces(&path), (at - HEADER) / record);
        let start = (HEADER + hit * record) as u64;
        let damage = pieces.iter().find_map(|piece| match piece {
            Piece::Damaged { at, bytes, .. } => Some((*at, *bytes)),
            _ => None,
        });
        assert_eq!(damage, Some((start, record as u64)), "byte {at}");
        let expected: Vec<usize> = (0..12).filter(|row| row / 3 != hit).collect();
        assert_eq!(rows(&pieces), expected, "byte {at}");
    }
}

/// A length beyond what the header allows is damage, not an allocation, even where its checksum fits.
#[test]
fn a_length_out_of_bounds_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut bytes = SHAPE.encode().to_vec();
    bytes.extend(MARKER.to_le_bytes());
    bytes.extend((u32::MAX - 1).to_le_bytes());
    bytes.extend(header_checksum(HEADER as u64, u32::MAX - 1).to_le_bytes());
    bytes.extend([1; 100]);
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(pieces(&path)[..], [Piece::Damaged { at: 48, bytes: 116, .. }]));
}

#[test]
fn room_that_was_never_written_is_a_torn_tail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    journal(&path, 1);
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length + 100_000).unwrap();
    let pieces = pieces(&path);
    assert!(matches!(pieces[..], [Piece::Rows(_), Piece::Torn { bytes: 100_000, .. }]), "{pieces:?}");
}

/// The length of a file may reach the disk before what was written into it.
#[test]
fn a_last_record_whose_end_was_never_written_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    journal(&path, 2);
    let bytes = fs::read(&path).unwrap();
    let record = (bytes.len() - HEADER) / 2;
    for zeros in [8, 9, 30, record - RECORD_HEADER] {
        let mut cut = bytes.clone();
        let end = cut.len();
        cut[end - zeros..].fill(0);
        fs::write(&path, &cut).unwrap();
        let found = pieces(&path);
        assert!(matches!(found[..], [Piece::Rows(_), Piece::Torn { .. }]), "{zeros}: {found:?}");
        // In the middle of a journal it is damage.
        let mut cut = bytes.clone();
        let end = HEADER + record;
        cut[end - zeros..end].fill(0);
        fs::write(&path, &cut).unwrap();
        let found = pieces(&path);
        assert!(matches!(found[..], [Piece::Damaged { .. }, Piece::Rows(_)]), "{zeros}: {found:?}");
    }
}

/// Rows of 100,000 statistics: each record holds at least one, and reads back within its bounds.
#[test]
fn wide_rows_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let shape = Shape { columns: 400_000, ..SHAPE };
    let values: Vec<f64> = (0..800_000).map(f64::from).collect();
    let wide =
        Chunk { rows: vec![1, 2], summaries: Table::from_rows(400_000, values), outcomes: vec![Ok(()); 2] };
    let mut writer = Writer::new(path.clone(), shape, 0);
    writer.add(wide.clone()).unwrap();
    writer.write().unwrap();
    let Beginning::Sound(mut reader) = Reader::open(&path).unwrap() else { panic!() };
    let Some(Piece::Rows(first)) = reader.next().unwrap() else { panic!() };
    let Some(Piece::Rows(second)) = reader.next().unwrap() else { panic!() };
    assert_eq!((first.rows, second.rows), (vec![1], vec![2]));
    assert_eq!(second.summaries.values(), &wide.summaries.values()[400_000..]);
}

/// A journal of one record, with checksums that fit.
fn sealed(shape: Shape, payload: &[u8]) -> Vec<u8> {
    let mut bytes = shape.encode().to_vec();
    bytes.extend(MARKER.to_le_bytes());
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(header_checksum(HEADER as u64, payload.len() as u32).to_le_bytes());
    bytes.extend(payload);
    bytes.extend(checksum(payload).to_le_bytes());
    bytes
}

/// Failures have no numbers in the file: neither their rows nor the columns in the header may ask for all memory.
#[test]
fn numbers_that_are_not_there_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let entry = |row: u32| [&row.to_le_bytes()[..], &9u32.to_le_bytes(), b"crashed: "].concat();
    fs::write(&path, sealed(Shape { columns: u32::MAX, ..SHAPE }, &entry(0))).unwrap();
    assert!(matches!(Reader::open(&path).unwrap(), Beginning::Damaged(_)));
    let wide = Shape { columns: MOST_COLUMNS, ..SHAPE };
    let payload = |rows: u32| (0..rows).flat_map(entry).collect::<Vec<u8>>();
    for (rows, good) in [(4, true), (900, false)] {
        fs::write(&path, sealed(wide, &payload(rows))).unwrap();
        let Beginning::Sound(mut reader) = Reader::open(&path).unwrap() else { panic!() };
        assert_eq!(matches!(reader.next().unwrap(), Some(Piece::Rows(_))), good, "{rows}");
    }
}

/// What is written stays within what is read, failures of wide rows included.
#[test]
fn failures_of_wide_rows_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let shape = Shape { columns: 1 << 20, ..SHAPE };
    let mut writer = Writer::new(path.clone(), shape, 0);
    for first in [0, 10, 20] {
        let rows: Vec<usize> = (first..first + 10).collect();
        let outcomes = vec![Err(Failure::Crashed(String::new())); 10];
        writer.add(Chunk { rows, summaries: Table::filled(10, 1 << 20, f64::NAN), outcomes }).unwrap();
    }
    writer.write().unwrap();
    let Beginning::Sound(mut reader) = Reader::open(&path).unwrap() else { panic!() };
    let mut read = 0;
    while let Some(piece) = reader.next().unwrap() {
        let Piece::Rows(chunk) = piece else { panic!("{piece:?}") };
        read += chunk.rows.len();
    }
    assert_eq!(read, 30);
}

/// A changed payload is read again, and what is whole stays what it was.
#[test]
fn resealed_journals_reach_the_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    journal(&path, 3);
    let whole = fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    reseal(&mut bytes);
    assert!(bytes == whole);
    // The number of the first row, in the payload of the first record.
    bytes[HEADER + RECORD_HEADER] = 99;
    reseal(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(rows(&pieces(&path)), [99, 1, 2, 3, 4, 5, 6, 7, 8]);
    for length in 0..whole.len() {
        reseal(&mut whole[..length].to_vec());
    }
}

/// A row that is said to have gone well, with a number that is none.
#[test]
fn a_good_entry_is_finite_or_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut payload = [7u32.to_le_bytes(), GOOD.to_le_bytes()].concat();
    payload.extend([1.5, f64::NAN].iter().flat_map(|value: &f64| value.to_le_bytes()));
    fs::write(&path, sealed(SHAPE, &payload)).unwrap();
    let Piece::Rows(chunk) = &pieces(&path)[0] else { panic!() };
    assert_eq!(chunk.outcomes, [Err(Failure::NotFinite { column: 1 })]);
}

/// Whatever stands in a journal: it is read to its end without a panic, and no row is out of bounds.
#[test]
fn anything_may_stand_in_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    journal(&path, 5);
    let bytes = fs::read(&path).unwrap();
    let mut state = 1u64;
    let mut next = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    for _ in 0..3_000 {
        let mut changed = bytes.clone();
        for _ in 0..1 + next(20) {
            let at = HEADER + next(changed.len() - HEADER);
            match next(3) {
                0 => changed[at] = next(256) as u8,
                1 => changed.truncate(at),
                _ => changed.insert(at, next(256) as u8),
            }
            if changed.len() <= HEADER {
                break;
            }
        }
        // A record whose checksums fit and whose payload is anything.
        let payload: Vec<u8> = (0..next(60)).map(|_| next(256) as u8).collect();
        let offset = changed.len() as u64;
        changed.extend(MARKER.to_le_bytes());
        changed.extend((payload.len() as u32).to_le_bytes());
        changed.extend(header_checksum(offset, payload.len() as u32).to_le_bytes());
        changed.extend(&payload);
        changed.extend(checksum(&payload).to_le_bytes());
        fs::write(&path, &changed).unwrap();
        assert!(rows(&pieces(&path)).iter().all(|&row| row < 1000));
    }
}
