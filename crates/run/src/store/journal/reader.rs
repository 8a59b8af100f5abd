//! Reads a journal back, whatever became of it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use counterpoise_core::problem::Failure;
use counterpoise_core::simulate::Chunk;
use counterpoise_core::table::Table;

use super::super::StoreError;
use super::super::error::io;
use super::super::folder::open;
use super::{
    GOOD, HEADER, MARKER, MOST_CELLS, RECORD_HEADER, Shape, checksum, header_checksum, u32_at, u64_at,
};

/// A part of a journal.
#[derive(Debug)]
pub(in crate::store) enum Piece {
    /// A sound record.
    Rows(Chunk),
    /// The first part of a record, at the end of the file: whoever wrote it was killed.
    Torn { at: u64, bytes: u64 },
    /// Bytes that are not what was written.
    Damaged { at: u64, bytes: u64, what: String },
}

/// Reads the records of a journal one after another.
#[derive(Debug)]
pub(in crate::store) struct Reader {
    file: BufReader<File>,
    shape: Shape,
    at: u64,
    length: u64,
}

/// A journal whose header cannot be used.
#[derive(Debug)]
pub(in crate::store) enum Beginning {
    /// Nothing was written yet but part of a header.
    Torn,
    /// The header is not what was written.
    Damaged(String),
    /// It can be read.
    Sound(Reader),
}

impl Reader {
    /// Begins to read; where there is no file, nothing was written yet.
    pub(in crate::store) fn open(path: &Path) -> Result<Beginning, StoreError> {
        let Some(Begun { length, header, file }) = begin(path)? else { return Ok(Beginning::Torn) };
        if length == HEADER as u64 && header == [0; HEADER] {
            return Ok(Beginning::Torn);
        }
        Ok(match Shape::decode(&header) {
            Ok(shape) => Beginning::Sound(Self { file, shape, at: HEADER as u64, length }),
            Err(what) => Beginning::Damaged(what),
        })
    }

    /// Begins to read a journal whose header is damaged, and must have been that of `shape`.
    pub(in crate::store) fn without_header(path: &Path, shape: Shape) -> Result<Option<Self>, StoreError> {
        Ok(begin(path)?.map(|Begun { length, file, .. }| Self { file, shape, at: HEADER as u64, length }))
    }

    /// What it is a journal of.
    pub(in crate::store) fn shape(&self) -> Shape {
        self.shape
    }

    /// How far it has been read.
    pub(in crate::store) fn position(&self) -> u64 {
        self.at
    }

    /// Goes on from a position of an earlier reading, or from the first record; `false` where the file is shorter.
    pub(in crate::store) fn go_to(&mut self, position: u64) -> io::Result<bool> {
        let position = position.max(HEADER as u64);
        if position > self.length {
            return Ok(false);
        }
        self.file.seek(SeekFrom::Start(position))?;
        self.at = position;
        Ok(true)
    }

    /// The next part, until the end.
    pub(in crate::store) fn next(&mut self) -> io::Result<Option<Piece>> {
        let (at, left) = (self.at, self.length - self.at);
        if left == 0 {
            return Ok(None);
        }
        if left < RECORD_HEADER as u64 {
            self.at = self.length;
            return Ok(Some(Piece::Torn { at, bytes: left }));
        }
        let mut header = [0; RECORD_HEADER];
        self.file.read_exact(&mut header)?;
        let Some(length) = self.length_of(&header, at) else {
            return self.skip(at, "this is not the beginning of a record").map(Some);
        };
        if (RECORD_HEADER + 8) as u64 + u64::from(length) > left {
            self.at = self.length;
            return Ok(Some(Piece::Torn { at, bytes: left }));
        }
        let mut payload = vec![0; length as usize + 8];
        self.file.read_exact(&mut payload)?;
        self.at += (RECORD_HEADER + payload.len()) as u64;
        let bytes = self.at - at;
        let (payload, sum) = payload.split_at(length as usize);
        if checksum(payload) != u64_at(sum, 0) {
            // A loss of power may leave room at the end of the file that was set aside and never written.
            if self.at == self.length && u64_at(sum, 0) == 0 {
                return Ok(Some(Piece::Torn { at, bytes }));
            }
            let what = "the checksum of the record does not fit".into();
            return Ok(Some(Piece::Damaged { at, bytes, what }));
        }
        Ok(Some(match decode(payload, &self.shape) {
            Some(chunk) => Piece::Rows(chunk),
            None => Piece::Damaged { at, bytes, what: "the record makes no sense".into() },
        }))
    }

    /// The length that a sound header of a record at `at` gives.
    fn length_of(&self, header: &[u8], at: u64) -> Option<u32> {
        let length = u32_at(header, 4);
        let sound = u32_at(header, 0) == MARKER
            && u64_at(header, 8) == header_checksum(at, length)
            && u64::from(length) <= self.shape.longest_record();
        sound.then_some(length)
    }

    /// Looks for the next sound header after `at`, and goes there.
    fn skip(&mut self, at: u64, what: &str) -> io::Result<Piece> {
        const WINDOW: usize = 1 << 16;
        let mut start = at + 1;
        let mut zeros = true;
        self.file.seek(SeekFrom::Start(at))?;
        let mut first = [0];
        self.file.read_exact(&mut first)?;
        zeros &= first == [0];
        self.at = self.length;
        'search: while start < self.length {
            self.file.seek(SeekFrom::Start(start))?;
            let mut window = Vec::with_capacity(WINDOW);
            (&mut self.file).take(WINDOW as u64).read_to_end(&mut window)?;
            zeros &= window.iter().all(|&byte| byte == 0);
            for (from, header) in window.windows(RECORD_HEADER).enumerate() {
                if header[0] == MARKER.to_le_bytes()[0]
                    && self.length_of(header, start + from as u64).is_some()
                {
                    self.at = start + from as u64;
                    break 'search;
                }
            }
            start += (WINDOW - RECORD_HEADER + 1) as u64;
        }
        self.file.seek(SeekFrom::Start(self.at))?;
        let bytes = self.at - at;
        // A loss of power may leave room that was set aside and never written.
        if zeros && self.at == self.length {
            return Ok(Piece::Torn { at, bytes });
        }
        Ok(Piece::Damaged { at, bytes, what: what.into() })
    }
}

/// A journal that has been read up to its records.
struct Begun {
    length: u64,
    header: [u8; HEADER],
    file: BufReader<File>,
}

/// Reads the header of a journal, whatever stands there; `None` where there is no whole one.
fn begin(path: &Path) -> Result<Option<Begun>, StoreError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let read = || {
        let length = file.metadata()?.len();
        if length < HEADER as u64 {
            return Ok(None);
        }
        let mut begun = Begun { length, header: [0; HEADER], file: BufReader::with_capacity(1 << 18, file) };
        begun.file.read_exact(&mut begun.header)?;
        Ok(Some(begun))
    };
    read().map_err(io("read", path))
}

/// The entries of a record, if they make sense.
fn decode(mut payload: &[u8], shape: &Shape) -> Option<Chunk> {
    let columns = shape.columns as usize;
    let (mut rows, mut summaries, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
    while !payload.is_empty() {
        let (head, rest) = payload.split_at_checked(8)?;
        let (row, size) = (u32_at(head, 0), u32_at(head, 4));
        (u64::from(row) < shape.rows).then_some(())?;
        rows.push(row as usize);
        (rows.len() * columns <= MOST_CELLS).then_some(())?;
        let bytes = if size == GOOD { 8 * columns } else { size as usize };
        let (body, after) = rest.split_at_checked(bytes)?;
        payload = after;
        if size == GOOD {
            summaries.extend(body.chunks_exact(8).map(|value| f64::from_bits(u64_at(value, 0))));
            outcomes.push(Ok(()));
        } else {
            summaries.extend(std::iter::repeat_n(f64::NAN, columns));
            outcomes.push(Err(Failure::from_text(std::str::from_utf8(body).ok()?)?));
        }
    }
    // Whatever the file says, no row without finite numbers has gone well.
    (columns > 0).then(|| Chunk::new(rows, Table::from_rows(columns, summaries), outcomes))
}
